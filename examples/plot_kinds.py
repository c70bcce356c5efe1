"""
Which failure mode comes next?
==============================

Pumps fail because of their motor or their seal. Heat burns motors, sand wears out seals. A
planner needs to know which part to stock for which pump.
"""

# %%
# The data
# --------
# Each pump has its own heat and sand. Some also break their seals more often than others
# for reasons that no feature explains. The kind of every failure is known.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, MeanCumulativeFunction, RecurrentEvents

rng = np.random.default_rng(1)
n = 300
X = pd.DataFrame({"heat": rng.uniform(20, 90, n), "sand": rng.uniform(0, 1, n)})
motor = np.where(X["heat"] > 60, 0.03, 0.005)  # failures a day
seal = np.where(X["sand"] > 0.5, 0.03, 0.01) * rng.gamma(2.0, 0.5, n)
kinds = [
    ["motor"] * rng.poisson(100 * a) + ["seal"] * rng.poisson(100 * b)
    for a, b in zip(motor, seal, strict=True)
]
times = [rng.uniform(0, 100, len(each)) for each in kinds]
y = RecurrentEvents.from_lists(times, end=100.0, kind=kinds)
for kind in y.kinds:
    estimate = MeanCumulativeFunction().fit(y, kind=kind)
    print(f"{kind}: {estimate.predict([100.0])[0]:.2f} failures per pump in 100 days")

# %%
# One model, two kinds
# --------------------
# Each kind has trees of its own, and these find its own cause: the motor curve jumps at 60
# degrees, the seal curve where sand is above one half.
model = BoostR(random_state=0).fit(X, y)
fig, axes = plt.subplots(1, 2, figsize=(8.5, 3.6), sharey=True, layout="constrained")
for ax, name, other, label in (
    (axes[0], "heat", {"sand": 0.5}, "Heat (°C)"),
    (axes[1], "sand", {"heat": 50.0}, "Sand (share of capacity)"),
):
    grid = pd.DataFrame({name: np.linspace(X[name].min(), X[name].max(), 200), **other})
    for kind in model.kind_labels_:
        curve = model.predict(grid[list(X)], horizon=100, kind=kind)
        ax.plot(grid[name], curve, label=kind)
    ax.set(xlabel=label, ylim=(0, None))
axes[0].set_ylabel("Failures in 100 days")
axes[0].legend(title="Kind")

# %%
# Forecasts by kind
# -----------------
# Past seal failures of a pump count for its seals, past motor failures for its motor.
# ``likely_kind`` is the kind with most expected failures in the next 30 days. Expected
# numbers of the kinds add up to the total.
ahead = model.forecast(X, y, horizon=30.0)
print(ahead[["id", "expected", "probability", "likely_kind"]].head().round(2))
for kind in model.kind_labels_:
    total = model.forecast_fleet(X, y, horizon=30.0, kind=kind)
    print(f"{kind}: {total.expected:.0f} failures of the fleet expected in 30 days")

# %%
# The kind to expect of each pump
# -------------------------------
# Every dot is a pump; dashed lines show where heat and sand start to matter, as simulated.
# Cool pumps mostly break their seals, hot pumps without sand their motors. Where it is hot
# and sandy, the own history of a pump decides.
likely = ahead.set_index("id")["likely_kind"].loc[X.index]
fig, ax = plt.subplots(layout="constrained")
for kind in model.kind_labels_:
    rows = (likely == kind).to_numpy()
    ax.scatter(X["heat"][rows], X["sand"][rows], s=16, label=kind)
ax.axvline(60.0, color="0.5", linestyle="--", linewidth=1.0)
ax.axhline(0.5, color="0.5", linestyle="--", linewidth=1.0)
ax.set(xlabel="Heat (°C)", ylabel="Sand (share of capacity)")
fig.legend(title="Likely kind", loc="outside right upper")
plt.show()
