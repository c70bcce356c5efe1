"""
How good are forecasts made at past dates?
==========================================

Before a forecast is used, it should prove itself on dates for which the answer is known.
``backtest`` goes back to three past dates, fits every model to what was known then, and
compares its forecast of the next 60 days with the failures that came.
"""

# %%
# The data
# --------
# Machines were installed over two years. They wear, and they differ: some fail more often
# than others of the same kind.
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents, backtest
from boostr.baselines import HomogeneousPoisson
from boostr.plotting import plot_backtest

N_MACHINES, LAST = 250, 1100.0

rng = np.random.default_rng(2)
entry = rng.integers(0, 600, N_MACHINES).astype(float)
X = pd.DataFrame(
    {"load": rng.uniform(size=N_MACHINES), "site": rng.choice(list("ABC"), N_MACHINES)}
)
frailty = rng.gamma(3.0, 1.0 / 3.0, N_MACHINES)
life = LAST - entry
expected = 4.0 * (life / 500.0) ** 1.5 * (0.5 + X["load"].to_numpy()) * frailty
number = rng.poisson(expected)
ages = life.repeat(number) * rng.uniform(size=number.sum()) ** (1 / 1.5)
failures = pd.DataFrame({"machine": np.arange(N_MACHINES).repeat(number), "age": ages})
until = dict(enumerate(life))
age = RecurrentEvents.from_long(failures, id="machine", time="age", end=until, unit="D")
installed = np.datetime64("2022-01-01") + entry.astype("timedelta64[D]")
calendar = age.in_calendar_time(since=installed)
print(calendar)

# %%
# Three candidates
# ----------------
# The same model on two time scales, and a constant rate for each machine's features.
# ``(model, histories)`` gives a candidate histories on a time scale of its own.
quick = BoostR(validation=0.2, n_estimators=100, random_state=0)
result = backtest(
    {
        "boostr, age": (quick, age),
        "boostr, calendar": quick,
        "constant rate": HomogeneousPoisson(),
    },
    X,
    calendar,
    as_of=["2024-01-01", "2024-05-01", "2024-09-01"],
    horizon=60,
)
print(result.summary()[["candidate", "ratio", "deviance", "capture", "coverage"]].round(2))

# %%
# Totals and individuals
# ----------------------
# On the left, expected over observed totals: 1 is right, and a bar that crosses 1 is an
# interval that held. On the right the error of the individual forecasts; lower is better.
# Both models beat the constant rate. Machines wear, and totals are nearest to 1 on the
# scale of age; at the last date even this forecast was too low.
plot_backtest(result)

# %%
# Do they rank the right machines first?
# --------------------------------------
# The share of all failures that the tenth with the highest forecasts had. A tenth drawn by
# lot would have 0.1.
plot_backtest(result, measure="capture")
