"""
Counts from inspections
=======================

Pumps are inspected a few times a year, and each inspection tells how many leaks there were
since the last one. When they happened is not known. How much is lost?
"""

# %%
# The data
# --------
# The leak rate rises with age, and doubles under high load. Every pump is inspected on its
# own days, on average every 60 days; a row has the count of one interval.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, MeanCumulativeFunction, RecurrentEvents

rng = np.random.default_rng(3)
n, last = 400, 360.0
X = pd.DataFrame({"load": rng.uniform(0, 1, n)})
level = np.where(X["load"] > 0.5, 6.0, 3.0)  # leaks in 360 days
leaks = [last * np.sqrt(rng.uniform(size=rng.poisson(mean))) for mean in level]
rows = []
for pump in range(n):
    days = np.sort(rng.choice(np.arange(1, int(last)), 5, replace=False))
    edges = np.concatenate([[0], days, [last]])
    counts = np.histogram(leaks[pump], edges)[0]
    rows += zip([pump] * 6, edges[:-1], edges[1:], counts, strict=True)
table = pd.DataFrame(rows, columns=["pump", "since", "day", "leaks"])
print(table.head(6).to_string(index=False))

counted = RecurrentEvents.from_counts(table, "pump", "since", "day", "leaks")
exact = RecurrentEvents.from_lists(leaks, end=last)

# %%
# Without a model
# ---------------
# The mean cumulative function spreads the events of an interval in proportion to the rate
# that all intervals together imply. Here the curve of the counts follows that of the exact
# times.
fig, ax = plt.subplots(layout="constrained")
for name, y, style in (("exact times", exact, "-"), ("counts", counted, "--")):
    estimate = MeanCumulativeFunction().fit(y)
    ax.step(estimate.times_, estimate.mcf_, style, where="post", label=name)
ax.set(xlabel="Age (days)", ylabel="Mean number of leaks")
ax.legend()

# %%
# With a model
# ------------
# One model is fitted to the exact times, another one to the counts. Their curves for a pump
# under low load and one under high load are nearly the same.
days = np.linspace(0.0, last, 121)
pumps = pd.DataFrame({"load": [0.25, 0.75]})
truth = np.array([[3.0], [6.0]]) * (days / last) ** 2
fig, ax = plt.subplots(layout="constrained")
ax.plot(days, truth.T, color="0.6", linewidth=4.0, label=["truth", None])
for name, y, style in (("exact times", exact, "-"), ("counts", counted, "--")):
    model = BoostR(random_state=0).fit(X, y)
    curves = model.predict_cumulative(pumps, days)
    error = np.sqrt(np.mean((curves - truth) ** 2))
    print(f"{name}: root mean squared error {error:.3f} leaks")
    ax.plot(days, curves.T, style, color="C0" if style == "-" else "C1", label=[name, None])
ax.set(xlabel="Age (days)", ylabel="Expected number of leaks")
ax.text(250, 3.4, "high load", ha="right")
ax.text(250, 0.8, "low load")
ax.legend()
plt.show()
