"""
What will the repairs cost?
===========================

Not every event counts the same: a replaced seal costs 1, a replaced motor 20. With a cost
per event, every expected number becomes an expected cost, and the machines at the top of
the list are those that cost most, not those that stop most often.
"""

# %%
# The data
# --------
# Machines with a high load fail often but cheaply. Old ones fail seldom, and then the motor
# is broken. Costs are in hundreds of euros.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents
from boostr.nonparametric import mcf_by_group
from boostr.plotting import plot_mcf_groups

DAYS, AHEAD = 200.0, 60.0

rng = np.random.default_rng(8)
n = 500
X = pd.DataFrame({"load": rng.uniform(size=n), "age": rng.uniform(0.0, 20.0, n)})
seals = np.where(X["load"] > 0.5, 0.04, 0.01)  # failures a day
motors = np.where(X["age"] > 10.0, 0.006, 0.001)
rows = []
for machine in range(n):
    for rate, mean in ((seals[machine], 1.0), (motors[machine], 20.0)):
        days = rng.uniform(0.0, DAYS, rng.poisson(rate * DAYS))
        rows += [(machine, day, 1, mean * rng.gamma(4.0, 0.25)) for day in days]
    rows.append((machine, DAYS, 0, 0.0))
orders = pd.DataFrame(rows, columns=["machine", "day", "failed", "cost"])
arguments = {"id": "machine", "time": "day", "event": "failed", "unit": "days"}
y = RecurrentEvents.from_long(orders, cost="cost", **arguments)
counts = RecurrentEvents.from_long(orders, **arguments)
print(orders.head(3).round(2))

# %%
# Numbers and costs side by side
# ------------------------------
# The same groups, counted and weighed.
kind = np.where(X["age"] > 10.0, "old", "new") + np.where(
    X["load"] > 0.5, ", high load", ", low load"
)
kind = pd.Series(kind).str.replace(",", "", n=1).to_numpy()
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
plot_mcf_groups(mcf_by_group(counts, kind), ax=axes[0])
plot_mcf_groups(mcf_by_group(y, kind), ax=axes[1])
axes[0].set(title="Failures", ylabel="Failures per machine")
axes[1].set(title="Costs", ylabel="Cost per machine (100 euros)")

# %%
# Two models, two orders
# ----------------------
# The first is told only when machines failed, the second what it cost. If half of the
# machines can be overhauled, the second list saves more.
by_number = BoostR(n_estimators=200, random_state=0).fit(X, counts)
by_cost = BoostR(n_estimators=200, random_state=0).fit(X, y)
number = by_number.forecast(X, counts, AHEAD).set_index("id")["expected"].sort_index()
cost = by_cost.forecast(X, y, AHEAD).set_index("id")["expected"].sort_index()
truth = AHEAD * (seals + 20.0 * motors)
for name, order in (("number", number), ("cost", cost)):
    top = np.argsort(-order.to_numpy())[: n // 2]
    print(f"True cost of the half with the highest {name}: {truth[top].sum():.0f}")

figure, ax = plt.subplots(figsize=(6.2, 4.4), layout="constrained")
points = ax.scatter(number, cost, c=X["age"], s=14, cmap="viridis")
figure.colorbar(points, label="Age (years)")
ax.set(xlabel=f"Expected failures in {AHEAD:.0f} days")
ax.set(
    ylabel=f"Expected cost in {AHEAD:.0f} days (100 euros)", xlim=(0, None), ylim=(0, None)
)
plt.show()
