"""
What has the model missed?
==========================

Residuals compare each machine's events with those that the model expects over the same
time. Here a model does not know one of two features; its residuals show it.
"""

# %%
# A model that knows too little
# -----------------------------
# The rate depends on two features. One model gets both, the other one the first alone.
import matplotlib.pyplot as plt
import numpy as np

from boostr import BoostR, simulate
from boostr.inspection import rescaled_times, residuals
from boostr.plotting import plot_cumulative_residuals, plot_rescaled_times

train = simulate.dataset_a(n=300, random_state=1)
test = simulate.dataset_a(n=300, random_state=2)
whole = BoostR(random_state=0).fit(train.X, train.y)
poor = BoostR(random_state=0).fit(train.X[:, :1], train.y)

# %%
# Residuals against a feature
# ---------------------------
# Deviance residuals of the poor model depend on the feature that it does not know: below
# and above one half they are of different sizes. Those of the other model do not.
fig, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharey=True, layout="constrained")
for ax, model, X, name in (
    (axes[0], poor, test.X[:, :1], "one feature"),
    (axes[1], whole, test.X, "both features"),
):
    left = residuals(model, X, test.y, kind="deviance")
    ax.plot(test.X[:, 1], left, ".", alpha=0.5)
    ax.axhline(0.0, color="black", linewidth=0.8)
    ax.set(title=f"Model with {name}", xlabel="Second feature")
    above = test.X[:, 1] > 0.5
    print(f"{name}: mean {left[~above].mean():+.2f} below, {left[above].mean():+.2f} above")
axes[0].set_ylabel("Deviance residual")

# %%
# Residuals over time
# -------------------
# The mean of cumulative residuals stays near zero where the level is right at all times.
plot_cumulative_residuals(residuals(whole, test.X, test.y, kind="cumulative"))

# %%
# Do the events come when the model says?
# ---------------------------------------
# Counted in expected events, gaps between the events of a machine are exponential if the
# model is right. The poor model has too many short gaps, those of the machines that fail
# often for a reason that it does not know.
fig, axes = plt.subplots(1, 2, figsize=(8.5, 4.2), layout="constrained")
tests = [rescaled_times(poor, test.X[:, :1], test.y), rescaled_times(whole, test.X, test.y)]
for ax, found in zip(axes, tests, strict=True):
    plot_rescaled_times(found, ax=ax)
print("p-values:", np.array([found.p_value for found in tests]).round(3))
plt.show()
