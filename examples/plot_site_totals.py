"""
How many events will a site have?
=================================

Spare parts are ordered per site and month, so a planner needs totals and not a list of
machines. ``forecast_fleet`` adds up the forecasts of a site and gives an interval that also
knows the errors that all machines of a site share.
"""

# %%
# The data
# --------
# Four sites of different sizes; machines differ by load and by luck.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents

AHEAD = 30.0

rng = np.random.default_rng(4)
site = np.repeat(["north", "east", "south", "west"], [150, 100, 60, 30])
n = len(site)
X = pd.DataFrame({"load": rng.uniform(size=n), "site": site})
at_site = {"north": 1.0, "east": 1.5, "south": 0.7, "west": 1.0}
rate = 0.02 * (0.5 + X["load"]) * X["site"].map(at_site) * rng.gamma(3.0, 1 / 3.0, n)
now = rng.uniform(200.0, 365.0, n)
failures = [
    np.sort(rng.uniform(0.0, end + AHEAD, rng.poisson(each * (end + AHEAD))))
    for each, end in zip(rate, now, strict=True)
]
known = [times[times <= end] for times, end in zip(failures, now, strict=True)]
y = RecurrentEvents.from_lists(known, end=now)
later = pd.Series([len(times) for times in failures]) - y.n_events

# %%
# Totals by site
# --------------
# ``by`` is a column of the table, or one label per machine.
model = BoostR(n_estimators=200, random_state=0).fit(X, y)
totals = model.forecast_fleet(X, y, AHEAD, by="site").set_index("site")
totals["happened"] = later.groupby(X["site"]).sum()
print(totals.round(1))

whole = model.forecast_fleet(X, y, AHEAD)
print(
    f"\nAll sites: {whole.expected:.0f} expected, {whole.lower:.0f} to {whole.upper:.0f}; "
    f"{later.sum()} happened"
)

# %%
# Look
# ----
# The interval is what to stock for: its upper end is exceeded about once in twenty months.
# Intervals of small sites are wide relative to their totals; those of large sites never
# become narrow, because machines of a fleet have good and bad months together.
figure, ax = plt.subplots(figsize=(6.8, 3.6), layout="constrained")
places = np.arange(len(totals))
middle = totals["expected"]
ax.errorbar(
    middle,
    places,
    xerr=[middle - totals["lower"], totals["upper"] - middle],
    fmt="o",
    color="#0072B2",
    capsize=4,
    label="forecast with 90 % interval",
)
ax.scatter(
    totals["happened"],
    places,
    marker="x",
    s=60,
    color="#D55E00",
    label="happened",
    zorder=3,
)
labels = [f"{name} ({number} machines)" for name, number in totals["n_individuals"].items()]
ax.set_yticks(places, labels)
ax.set(xlabel=f"Failures in the next {AHEAD:.0f} days", xlim=(0.0, None))
ax.set(ylim=(-0.6, len(totals) - 0.4))
ax.legend(frameon=False, loc="upper right")
plt.show()
