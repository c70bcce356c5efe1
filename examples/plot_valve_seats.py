"""
Do valve seats wear out?
========================

The valve seats of a fleet of 41 diesel engines were replaced 48 times in up to 761 days. Is
the fleet wearing out, or are the replacements spread evenly over the engines' lives? The
data are those of Nelson (1995).
"""

# %%
# The histories
# -------------
# One line per engine, from its start to the end of its history, and one dot per
# replacement.
import matplotlib.pyplot as plt
import numpy as np

from boostr import MeanCumulativeFunction
from boostr.datasets import load_valve_seats
from boostr.nonparametric import laplace_test, mil_hdbk_189_test
from boostr.plotting import plot_mcf, plot_timeline

data = load_valve_seats()
y = data.y
print(data.description)
print(y)

plot_timeline(y)

# %%
# The mean cumulative function
# ----------------------------
# How many replacements has an engine had by a given age, on average? The estimate needs no
# model: at each replacement it rises by one over the number of engines that are as old. The
# curve bends upwards after day 500.
estimate = MeanCumulativeFunction().fit(y)
print("\n   day  replacements per engine (95% limits)  engines observed")
for day in (100, 200, 300, 400, 500, 600, 650):
    (mean,), ((low,), (high,)) = estimate.predict([day]), estimate.confidence_band([day])
    print(f"{day:6d} {mean:14.2f} ({low:.2f} to {high:.2f}) {np.sum(y.end >= day):19d}")

plot_mcf(estimate)

# %%
# Is the bend more than chance?
# -----------------------------
# Both tests ask whether the replacements of each engine are spread evenly over its life.
# Engines may differ in how often they fail; the tests only look at when they fail.
laplace = laplace_test(y)
military = mil_hdbk_189_test(y)
print(f"\nLaplace:      z = {laplace.statistic:.2f}, p = {laplace.pvalue:.3f}")
print(
    f"MIL-HDBK-189: chi-squared = {military.statistic:.1f} on {military.df} degrees of "
    f"freedom, p = {military.pvalue:.3f}"
)
exponent = military.df / military.statistic
print(f"The rate of replacements is {laplace.trend}, about as t^{exponent - 1:.2f}.")

# %%
# A power law beside the estimate
# -------------------------------
# The second test has the most power against cumulative rates that are proportional to a
# power of age, and estimates the exponent. The power law with that exponent and with as
# many replacements in all stays well within the band.
scale = y.times.size / np.sum(y.end**exponent)
days = np.linspace(0.0, y.end.max(), 200)
ax = plot_mcf(estimate, label="estimate and 95 % limits")
ax.plot(
    days,
    scale * days**exponent,
    color="#D55E00",
    linestyle="--",
    label=f"power law, exponent {exponent:.2f}",
)
ax.legend(frameon=False, loc="upper left")

plt.show()
