"""
For marketers: who will buy again, and whom to contact
======================================================

A shop knows the dates of past purchases and little else. How many purchases will come in
the next half year, from whom, and who is about to be lost? The data are simulated like
those of an online shop for music: customers buy at rates of their own and stop without
notice.
"""

# %%
# The data
# --------
# 900 customers who made their first purchase in the same quarter, counted in weeks from
# it. While active, customer ``i`` buys at rate ``lambda_i``; after a random time the
# customer is lost. Both are gamma distributed over customers (this is the Pareto/NBD
# model). Nobody tells the shop who is lost.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, MeanCumulativeFunction, RecurrentEvents, backtest
from boostr.baselines import HomogeneousPoisson
from boostr.metrics import capture_curve
from boostr.plotting import plot_backtest, plot_capture, plot_mcf, plot_timeline

N_CUSTOMERS, AHEAD = 900, 26.0  # weeks

rng = np.random.default_rng(11)
rate = rng.gamma(0.55, 0.05 / 0.55 * 1.9, N_CUSTOMERS)
active = rng.exponential(1.0 / rng.gamma(0.6, 0.08, N_CUSTOMERS))  # weeks until lost
now = rng.uniform(39.0, 52.0, N_CUSTOMERS)
reach = np.minimum(active, now + AHEAD)
purchases = [
    np.sort(rng.uniform(0.0, weeks, rng.poisson(each * weeks)))
    for each, weeks in zip(rate, reach, strict=True)
]
known = [times[times <= end] for times, end in zip(purchases, now, strict=True)]
later = np.array([len(times) for times in purchases]) - [len(times) for times in known]
first_basket = np.round(rng.gamma(2.0, 15.0, N_CUSTOMERS), 2)
customers = pd.Index([f"C{number:04d}" for number in range(N_CUSTOMERS)], name="customer")
X = pd.DataFrame({"first_basket": first_basket}, index=customers)
y = RecurrentEvents.from_lists(known, end=now, ids=customers)
print(y)
ax = plot_timeline(y[np.arange(0, N_CUSTOMERS, 20)])
ax.set(xlabel="Weeks since the first purchase", ylabel="Customer")

# %%
# Purchases per customer
# ----------------------
# The curve bends down: the average customer buys less and less, because more and more
# customers are lost. A constant rate would promise far too much.
ax = plot_mcf(MeanCumulativeFunction().fit(y))
ax.set(xlabel="Weeks since the first purchase", ylabel="Repeat purchases per customer")

# %%
# Can forecasts be trusted?
# -------------------------
# Ask the past: forecasts of the next 13 weeks as of week 20 and week 26, by a model and by
# a constant rate.
quick = BoostR(validation=0.2, n_estimators=100, random_state=0)
result = backtest(
    {"boostr": quick, "constant rate": HomogeneousPoisson()},
    X,
    y,
    as_of=[20, 26],
    horizon=13,
)
print(result.summary()[["candidate", "ratio", "deviance", "coverage"]].round(2))
plot_backtest(result)

# %%
# The forecast
# ------------
# One row per customer. ``expected`` is the number of purchases in the next 26 weeks,
# ``probability`` that of at least one.
model = BoostR(random_state=0).fit(X, y)
table = model.forecast(X, y, horizon=AHEAD).set_index("id").loc[customers]
total = model.forecast_fleet(X, y, horizon=AHEAD)
print(table.nlargest(5, "expected")[["expected", "probability", "lower", "upper"]].round(2))
print(
    f"\nAll customers: {total.expected:.0f} purchases expected "
    f"({total.lower:.0f} to {total.upper:.0f}); {later.sum()} came"
)

# %%
# How often, how long ago
# -----------------------
# The two numbers that marketers look at, frequency and recency. Each cell is the mean
# forecast of its customers, and below it the mean number of purchases that came.
last = np.array([times[-1] if len(times) else 0.0 for times in known])
silent = pd.cut(now - last, [0, 4, 12, 26, 60], labels=["0-4", "4-12", "12-26", "over 26"])
often = pd.cut(y.n_events, [-1, 0, 1, 3, 7, 1000], labels=["0", "1", "2-3", "4-7", "8+"])
cells = pd.DataFrame(
    {"often": often, "silent": silent, "forecast": table["expected"].to_numpy()}
)
cells["came"] = later
means = cells.groupby(["often", "silent"], observed=False)[["forecast", "came"]].mean()
forecast, came = (means[name].unstack("silent") for name in ("forecast", "came"))

figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
image = ax.imshow(forecast, cmap="viridis", origin="lower", aspect="auto")
figure.colorbar(image, label=f"Purchases expected in {AHEAD:.0f} weeks")
middle = np.nanmax(forecast.to_numpy()) / 2
for row in range(forecast.shape[0]):
    for column in range(forecast.shape[1]):
        value = forecast.iloc[row, column]
        if np.isfinite(value):
            text = f"{value:.1f}\n({came.iloc[row, column]:.1f} came)"
            colour = "black" if value > middle else "white"
            ax.text(column, row, text, ha="center", va="center", color=colour, fontsize=8)
ax.set_xticks(range(4), forecast.columns)
ax.set_yticks(range(5), forecast.index)
ax.set(xlabel="Weeks since the last purchase", ylabel="Repeat purchases so far")

# %%
# The forecast falls with silence, because the past counts less the longer ago it is. It
# does not fall to zero: customers with many purchases who have been silent for more than 26
# weeks are still forecast too high. They belong on the second list below.

# %%
# Whom to contact?
# ----------------
# A mailing reaches 20 % of the customers. To reach those who will buy anyway, take the
# highest forecasts.
figure, ax = plt.subplots(figsize=(6.2, 4.8), layout="constrained")
future = RecurrentEvents.from_lists(
    [times[times > end] for times, end in zip(purchases, now, strict=True)],
    start=now,
    end=now + AHEAD,
)
for colour, name, order in (
    ("#0072B2", "forecast", table["expected"].to_numpy()),
    ("#D55E00", "size of the first basket", first_basket),
):
    curve = capture_curve(future, order)
    label = f"{name}: {curve.at(0.2):.0%} in the first fifth"
    show = name == "forecast"
    plot_capture(curve, ax=ax, label=label, show_ideal=show, line_kwargs={"color": colour})

# %%
# To win back customers, take another list: those whose past was good and whose silence is
# long compared with their own rhythm. A purchase that would have come anyway is not the
# merit of a mailing; who *responds* can only be learned from mailings that were sent by
# lot.
gap = np.array(
    [np.mean(np.diff(times, prepend=0.0)) if len(times) else np.inf for times in known]
)
overdue = pd.DataFrame(
    {
        "purchases": y.n_events,
        "mean_gap": gap,
        "silent": now - last,
        "times_the_gap": (now - last) / gap,
        "expected": table["expected"].to_numpy(),
    },
    index=customers,
)
overdue = overdue[(overdue["purchases"] >= 4) & (overdue["times_the_gap"] > 3.0)]
print(f"{len(overdue)} customers are silent for more than three times their usual gap:")
print(overdue.nlargest(6, "purchases").round(1))

# %%
# **Decision.** Plan stock by the total and its interval, mail the top fifth of the
# forecasts with what is new, and offer the overdue list a reason to come back, to half of
# it drawn by lot, so that next time the effect is known.
plt.show()
