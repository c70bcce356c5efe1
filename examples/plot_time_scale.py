"""
Which time scale: age or calendar?
==================================

The same failures can be counted from each machine's installation or from one date for all.
Wear shows on the scale of age, better software on the calendar. The fit cannot tell
which is right, and pictures hardly can; forecasts at past dates decide.
"""

# %%
# Two fleets
# ----------
# Machines were installed over three years. In one fleet they wear with age. In the other
# the rate falls on all machines at once, as the software that they share is updated.
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, MeanCumulativeFunction, RecurrentEvents, backtest
from boostr.plotting import plot_backtest, plot_mcf

N_MACHINES, LAST = 250, 1300.0
FIRST_DAY = np.datetime64("2021-01-01")

rng = np.random.default_rng(6)
entry = rng.integers(0, 800, N_MACHINES).astype(float)
X = pd.DataFrame({"load": rng.uniform(size=N_MACHINES)})


def draw_failures(rate_at: Callable, most: float) -> RecurrentEvents:
    """Draw failures in calendar time at a rate that depends on age and date."""
    number = rng.poisson(most * (LAST - entry))
    machine = np.arange(N_MACHINES).repeat(number)
    date = rng.uniform(entry[machine], LAST)
    age = date - entry[machine]
    rate = rate_at(age, date) * (0.5 + X["load"].to_numpy()[machine])
    kept = rng.uniform(size=len(date)) < rate / most
    failures = pd.DataFrame({"machine": machine[kept], "age": age[kept]})
    until = dict(enumerate(LAST - entry))
    y = RecurrentEvents.from_long(failures, id="machine", time="age", end=until, unit="D")
    return y.in_calendar_time(since=FIRST_DAY + entry.astype("timedelta64[D]"))


fleets = {
    "wear": draw_failures(lambda age, date: 0.004 * age / 500.0, 0.02),
    "updates": draw_failures(lambda age, date: 0.012 * np.exp(-date / 500.0), 0.02),
}

# %%
# Two pictures of each
# --------------------
# Each fleet bends in the same way on both scales, because it is later when machines are
# older. Pictures alone do not decide.
figure, axes = plt.subplots(2, 2, figsize=(10, 6.6), layout="constrained")
for row, (name, calendar) in zip(axes, fleets.items(), strict=True):
    for ax, y, scale in zip(
        row, (calendar.in_age(), calendar), ("age", "calendar"), strict=True
    ):
        plot_mcf(MeanCumulativeFunction().fit(y), ax=ax)
        ax.set_title(f"{name}: over {scale}", loc="left")
        ax.set_ylabel("Failures per machine")
        ax.set_xlabel("Age (days)" if scale == "age" else "Days since 2021-01-01")

# %%
# Let forecasts decide
# --------------------
# Both scales forecast 120 days from two past dates. The lower deviance wins: age where
# machines wear, the calendar where all improve together.
quick = BoostR(validation=0.2, n_estimators=100, random_state=0)
for name, calendar in fleets.items():
    result = backtest(
        {"age": (quick, calendar.in_age()), "calendar": quick},
        X,
        calendar,
        as_of=["2023-11-01", "2024-02-01"],
        horizon=120,
    )
    summary = result.summary().set_index("candidate")[["ratio", "deviance"]]
    print(f"{name}\n{summary.round(3)}\n")
    plot_backtest(result).set_title(name, loc="left", pad=12)
plt.show()
