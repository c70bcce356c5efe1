"""
What if the load were lower?
============================

The failure rate of a pump rises with its load. A planner asks how many failures a reduction
of the load by a fifth would prevent in the next 30 days. The model answers by forecasting
twice: once with the load as it is, once with a planned series in its place.
"""

# %%
# The data
# --------
# Loads are measured every day; the true rate is known here.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents, Trajectories

N_PUMPS, DAYS, AHEAD = 500, 120, 30

rng = np.random.default_rng(1)
X = pd.DataFrame({"age": rng.uniform(0.0, 20.0, N_PUMPS)})
level = rng.uniform(40.0, 80.0, (N_PUMPS, 1))
load = level + np.cumsum(rng.normal(scale=1.0, size=(N_PUMPS, DAYS)), axis=1)
load = np.clip(load, 20.0, 100.0)


def daily_rate(load: np.ndarray) -> np.ndarray:
    """Return the true failures a day at a load in per cent."""
    return 0.005 + 0.05 * (load / 80.0) ** 3


pump, day = np.nonzero(rng.uniform(size=load.shape) < daily_rate(load))
failures = pd.DataFrame({"pump": pump, "day": day + rng.uniform(size=len(day))})
until = dict.fromkeys(range(N_PUMPS), float(DAYS))
y = RecurrentEvents.from_long(failures, id="pump", time="day", end=until, unit="days")
samples = pd.DataFrame(
    {
        "pump": np.repeat(np.arange(N_PUMPS), DAYS),
        "day": np.tile(np.arange(DAYS), N_PUMPS),
        "load": load.ravel(),
    }
)
Z = Trajectories.from_long(samples, id="pump", time="day", unit="days")
model = BoostR(validation=0.2, n_estimators=200, random_state=0).fit(X, y, Z)

# %%
# Two forecasts
# -------------
# Without a plan the last value of each sensor holds. ``assign`` makes a series with lower
# loads, which goes to ``future=``. What the sensors showed up to today stays as it was.
reduced = Z.assign(load=lambda load: 0.8 * load)
as_it_is = model.forecast_fleet(X, y, AHEAD, Z)
lower = model.forecast_fleet(X, y, AHEAD, Z, future=reduced)
today = load[:, -1]
truth = [AHEAD * daily_rate(share * today).sum() for share in (1.0, 0.8)]
for name, total, true in zip(
    ("as it is", "20 % lower"), (as_it_is, lower), truth, strict=True
):
    print(
        f"Load {name}: {total.expected:.0f} failures in {AHEAD} days "
        f"({total.lower:.0f} to {total.upper:.0f}); expected in truth: {true:.0f}"
    )

# %%
# Which pumps gain most?
# ----------------------
# The difference of the two forecasts, pump by pump. Pumps with a high load gain most.
before = model.forecast(X, y, AHEAD, Z).set_index("id")["expected"]
after = model.forecast(X, y, AHEAD, Z, future=reduced).set_index("id")["expected"]
prevented = (before - after).sort_index().to_numpy()
true_prevented = AHEAD * (daily_rate(today) - daily_rate(0.8 * today))
order = np.argsort(today)

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.scatter(today, prevented, s=10, color="#0072B2", label="estimate, one dot per pump")
ax.plot(today[order], true_prevented[order], color="black", linestyle="--", label="truth")
ax.set(xlabel="Load today (%)", ylabel=f"Failures prevented in {AHEAD} days per pump")
ax.set(title="What a load lower by a fifth would prevent", ylim=(0.0, None))
ax.legend(frameon=False, loc="upper left")

# %%
# A caution
# ---------
# The model says what goes along with a lower load in the data. It is what would happen only
# if the load itself causes the failures, and not something that goes along with it.
plt.show()
