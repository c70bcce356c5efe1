"""
Pipes of different lengths
==========================

A water main of 10 km breaks ten times as often as one of 1 km in the same soil. Length is
an exposure, not a feature: breaks are in proportion to it. Told so, the model learns breaks
per kilometre, and needs no data to learn the proportion.
"""

# %%
# The data
# --------
# Lengths span a factor of 100. The soil matters, the year does not.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents

YEARS = 5.0

rng = np.random.default_rng(9)


def make_pipes(n: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Draw features and lengths of pipes; return them with true breaks per year."""
    X = pd.DataFrame({"acidity": rng.uniform(size=n), "year": rng.integers(1950, 2010, n)})
    km = np.exp(rng.uniform(np.log(0.1), np.log(10.0), n))
    return X, km, np.where(X["acidity"] > 0.5, 0.6, 0.2) * km


X, km, rate = make_pipes(500)
breaks = [np.sort(rng.uniform(0.0, YEARS, number)) for number in rng.poisson(YEARS * rate)]
y = RecurrentEvents.from_lists(breaks, end=YEARS)

# %%
# Two ways to give the length
# ---------------------------
# As an exposure, which goes with the histories, or as one more feature.
model = BoostR(n_estimators=200, random_state=0).fit(X, y, exposure=km)
as_feature = BoostR(n_estimators=200, random_state=0).fit(X.assign(km=km), y)

new, new_km, new_rate = make_pipes(1000)
predictions = {
    "length as exposure": model.predict(new, horizon=1.0, exposure=new_km),
    "length as feature": as_feature.predict(new.assign(km=new_km), horizon=1.0),
}
for name, predicted in predictions.items():
    error = np.abs(predicted - new_rate).mean()
    print(f"{name}: mean error {error:.3f} breaks a year")
per_km = model.predict(pd.DataFrame({"acidity": [0.2, 0.8], "year": 1980}), horizon=1.0)
print(f"Breaks per km and year: {per_km[0]:.2f} and {per_km[1]:.2f}; true: 0.20 and 0.60")

# %%
# Look
# ----
# New pipes, on logarithmic scales. As a feature, the length is learned in steps, and short
# pipes come out too high.
figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", sharey=True)
for ax, (name, predicted) in zip(axes, predictions.items(), strict=True):
    ax.scatter(new_rate, predicted, s=6, color="#0072B2")
    ax.plot([0.02, 6.0], [0.02, 6.0], color="black", linewidth=1)
    ax.set(xscale="log", yscale="log", title=name, xlabel="True breaks per year")
axes[0].set_ylabel("Predicted breaks per year")
plt.show()
