"""
Intervals, and what they do not know
====================================

A forecast of 3 failures with an interval from 1 to 6 says that 90 of 100 such intervals
will hold. Which uncertainties are in it, and which are not? This page takes them one by
one.
"""

# %%
# Three sources
# -------------
# The number of failures of a pump is uncertain because events come by chance, because the
# pump's own rate is known only roughly, and because the rate of all pumps together may
# change. The first two average out over many pumps, the third does not.
import matplotlib.pyplot as plt
import numpy as np

from boostr import BoostR, RecurrentEvents

AHEAD = 30.0
rng = np.random.default_rng(5)


def draw_fleet(n: int, later_factor: float = 1.0):
    """Draw features, histories of 100 days, and failures in the 30 days after."""
    X = rng.uniform(size=(n, 3))
    rate = 0.05 * (1.0 + 2.0 * (X[:, 0] > 0.5)) * rng.gamma(2.0, 0.5, n)
    times = [
        np.sort(rng.uniform(0.0, 100.0, number)) for number in rng.poisson(100.0 * rate)
    ]
    later = rng.poisson(later_factor * AHEAD * rate)
    return X, RecurrentEvents.from_lists(times, end=100.0), later


X, y, later = draw_fleet(400)
model = BoostR(random_state=0).fit(X, y)
table = model.forecast(X, y, AHEAD).sort_values("id")
held = (table["lower"] <= later) & (later <= table["upper"])
print(f"Pumps inside their 90 % interval: {held.mean():.1%}")

shown = np.argsort(table["expected"].to_numpy())[::10]
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
places = np.arange(len(shown))
rows = table.iloc[shown]
ax.vlines(
    places,
    rows["lower"] - 0.15,
    rows["upper"] + 0.15,
    color="#0072B2",
    linewidth=3,
    alpha=0.4,
)
ax.plot(
    places,
    rows["expected"],
    "_",
    color="#0072B2",
    markersize=8,
    label="expected, with 90 % interval",
)
inside = held.to_numpy()[shown]
ax.plot(
    places[inside],
    later[shown][inside],
    "o",
    color="black",
    markersize=4,
    label="came, inside",
)
ax.plot(
    places[~inside],
    later[shown][~inside],
    "X",
    color="#D55E00",
    markersize=8,
    label="came, outside",
)
ax.set(
    xlabel="Forty pumps, from low to high forecasts", ylabel=f"Failures in {AHEAD:.0f} days"
)
ax.set_xticks([])
ax.legend(frameon=False, loc="upper left")

# %%
# Totals
# ------
# If pumps were independent, the interval of a total would become ever narrower, relative to
# the total, as the fleet grows. It does not, because pumps share their luck: a cold winter,
# a bad batch of parts. ``fit`` learns from forecasts at earlier dates how large such errors
# are, and counts errors that are usual elsewhere until it knows better.
sizes = [5, 10, 20, 50, 100, 200, 400]
widths = []
for size in sizes:
    part = np.arange(size)
    total = model.forecast_fleet(X[part], y[part], AHEAD)
    widths.append((total.upper - total.lower) / total.expected)
figure, ax = plt.subplots(figsize=(6.2, 4.2), layout="constrained")
ax.plot(sizes, widths, "o-", color="#0072B2", label="forecast_fleet")
ax.plot(
    sizes,
    widths[0] * np.sqrt(sizes[0] / np.array(sizes)),
    "--",
    color="0.5",
    label="independent pumps",
)
ax.set(
    xscale="log",
    xlabel="Pumps in the total",
    ylabel="Width of the interval / expected total",
)
ax.set_xticks(sizes, list(map(str, sizes)))
ax.minorticks_off()
ax.set_ylim(0.0, None)
ax.legend(frameon=False)

# %%
# What no interval knows
# ----------------------
# After the end of the data all rates double: a new operator, a new fuel. Nothing in the
# past hinted at it, and the intervals do not hold. Back-tests on many past dates show how
# often such things happened.
X_new, y_new, doubled = draw_fleet(400, later_factor=2.0)
table = model.forecast(X_new, y_new, AHEAD).sort_values("id")
held = (table["lower"] <= doubled) & (doubled <= table["upper"])
total = model.forecast_fleet(X_new, y_new, AHEAD)
print(f"After the change, pumps inside their 90 % interval: {held.mean():.1%}")
print(f"Total {total.lower:.0f} to {total.upper:.0f} forecast, {doubled.sum()} came")
plt.show()
