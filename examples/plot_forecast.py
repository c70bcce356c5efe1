"""
What will each pump do next?
============================

Three hundred pumps with the same data sheet do not fail alike: some are simply worse than
others. What a pump did so far tells which, and a forecast should know it. The truth is
known here, so that we can see what the own history is worth.
"""

# %%
# The data
# --------
# A feature triples the rate, and a hidden frailty multiplies it. Follow-up ends between day
# 60 and day 100; what happens in the 60 days after it is kept apart.
import matplotlib.pyplot as plt
import numpy as np

from boostr import BoostR, RecurrentEvents

N_PUMPS, HORIZON = 300, 60.0

rng = np.random.default_rng(3)
X = rng.uniform(size=(N_PUMPS, 3))
frailty = rng.gamma(2.0, 0.5, N_PUMPS)
rate = 0.06 * (1.0 + 2.0 * (X[:, 0] > 0.5)) * frailty
now = rng.uniform(60.0, 100.0, N_PUMPS)
failures = [
    np.sort(rng.uniform(0.0, end + HORIZON, rng.poisson(each * (end + HORIZON))))
    for each, end in zip(rate, now, strict=True)
]
known = [times[times <= end] for times, end in zip(failures, now, strict=True)]
y = RecurrentEvents.from_lists(known, end=now)
later = np.array([len(times) for times in failures]) - y.n_events

# %%
# Forecast
# --------
# One row per pump, those at most risk first.
model = BoostR(n_estimators=200, random_state=0).fit(X, y)
table = model.forecast(X, y, horizon=HORIZON)
print(table.head(5).round(2).to_string(index=False))

fleet = model.forecast_fleet(X, y, horizon=HORIZON)
print(
    f"\nAll pumps: {fleet.expected:.0f} failures expected, between {fleet.lower:.0f} and "
    f"{fleet.upper:.0f}; {later.sum()} happened"
)
table = table.sort_values("id")
covered = (table["lower"] <= later) & (later <= table["upper"])
print(f"Pumps within their 90 % interval: {covered.mean():.1%}")
plain = model.forecast(X, y, horizon=HORIZON, own_history=False).sort_values("id")
for name, one in (("without", plain), ("with", table)):
    error = np.sqrt(np.mean((one["expected"] - HORIZON * rate) ** 2))
    print(f"Error of the expected number {name} own history: {error:.2f} failures")

# %%
# Look
# ----
# On the left every pump's forecast beside its true expected number, without and with its
# own history. On the right two pumps with the same features: the failures so far as steps,
# the forecast as a line with its band, and what happened then as thin steps.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
truth = HORIZON * rate
top = 1.05 * truth.max()
left.plot([0, top], [0, top], color="0.6", linewidth=1, label="truth")
left.scatter(truth, plain["expected"], s=12, color="0.6", label="plain model")
left.scatter(truth, table["expected"], s=12, color="#0072B2", label="with own history")
left.set(xlabel="True expected failures in 60 days", ylabel="Forecast failures in 60 days")
left.set(xlim=(0, top), ylim=(0, None), title="What the own history is worth")
left.legend(frameon=False, loc="upper left")

alike = np.flatnonzero((X[:, 0] > 0.5) & (now > 80.0))
ratio = y.n_events[alike] / now[alike]
pair = alike[[np.argmax(ratio), np.argsort(ratio)[len(alike) // 5]]]
for colour, pump in zip(("#D55E00", "#0072B2"), pair, strict=True):
    days = np.linspace(now[pump], now[pump] + HORIZON, 40)
    band = model.predict_band(X[[pump]], days, y=y[[pump]])
    end = now[pump] + HORIZON
    all_times = np.concatenate([[0.0], failures[pump], [end]])
    counts = np.append(np.arange(len(failures[pump]) + 1), len(failures[pump]))
    is_past = all_times <= now[pump]
    past = np.append(all_times[is_past], now[pump])
    right.step(
        past,
        np.append(counts[is_past], y.n_events[pump]),
        where="post",
        color=colour,
        linewidth=2,
        label=f"pump {pump}",
    )
    right.step(all_times, counts, where="post", color=colour, linewidth=0.8)
    right.plot(days, band.expected[0], color=colour, linestyle="--")
    right.fill_between(
        days, band.lower[0], band.upper[0], color=colour, alpha=0.2, linewidth=0
    )
right.set(xlabel="Time (days)", ylabel="Cumulative failures", xlim=(0, None))
right.set(ylim=(0, None), title="Two pumps of the same kind, with 90 % bands")
right.plot([], [], color="0.3", linestyle="--", label="forecast")
right.plot([], [], color="0.3", linewidth=0.8, label="what happened")
right.legend(frameon=False, loc="upper left")

plt.show()
