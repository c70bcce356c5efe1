"""
When is the next event?
=======================

For each machine: by when has the next failure happened with a probability of 10, 50 and
90 %? Waiting times are spread widely even for a model that knows everything, so one date
alone would promise too much.
"""

# %%
# The data
# --------
# Machines with a feature that triples their rate, observed for a year.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents

rng = np.random.default_rng(5)
n, days = 300, 365.0
X = pd.DataFrame({"load": rng.uniform(size=n), "age": rng.uniform(0.0, 20.0, n)})
rate = 0.01 * (1.0 + 2.0 * (X["load"] > 0.5)) * rng.gamma(3.0, 1 / 3.0, n)
times = [np.sort(rng.uniform(0.0, days, number)) for number in rng.poisson(rate * days)]
y = RecurrentEvents.from_lists(times, end=days)
wait = rng.exponential(1.0 / rate)  # from the end of follow-up, unknown to the model

# %%
# Three quantiles
# ---------------
# ``forecast`` has the median in its table; ``predict_next_event`` gives any quantiles.
model = BoostR(n_estimators=200, random_state=0).fit(X, y)
early, median, late = model.predict_next_event(X, y, quantiles=[0.1, 0.5, 0.9]).T
for share, limit in ((0.1, early), (0.5, median), (0.9, late)):
    print(f"Predicted to have failed: {share:.0%}; did fail: {np.mean(wait <= limit):.0%}")

# %%
# Thirty machines
# ---------------
# Lines reach from the 10 % to the 90 % quantile. Even the machine that is due first may run
# for weeks: plan spare parts by quantiles, and do not promise dates.
chosen = np.argsort(median)[:: n // 30][:30]
places = np.arange(len(chosen))
figure, ax = plt.subplots(figsize=(7.2, 5.6), layout="constrained")
ax.hlines(
    places, early[chosen], late[chosen], color="#0072B2", linewidth=2, label="10 to 90 %"
)
ax.scatter(median[chosen], places, color="#0072B2", zorder=3, label="median")
ax.scatter(wait[chosen], places, marker="x", color="#D55E00", zorder=4, label="happened")
ax.set_xscale("log")
ax.set_xticks([1, 3, 10, 30, 100, 300, 1000], ["1", "3", "10", "30", "100", "300", "1000"])
ax.set(
    xlabel="Days from now to the next failure",
    ylabel="Machines, those due first at the top",
)
ax.set_yticks([])
ax.invert_yaxis()
figure.legend(loc="outside upper center", ncols=3, frameon=False)
plt.show()
