"""
How large are the trees?
========================

Trees shrink when there is nothing left to learn. The number of leaves, tree by tree, shows
how much structure a fleet has, and the curve of a single machine shows how a prediction is
built up.
"""

# %%
# Leaves, tree by tree
# --------------------
# ``gamma1`` is the price of one more leaf: a split must lower the loss by more than that.
# The first tree is the average of all machines and has one leaf.
import matplotlib.pyplot as plt
import pandas as pd

from boostr import BoostR, simulate
from boostr.inspection import individual_convergence, leaf_counts
from boostr.plotting import plot_individual, plot_leaf_counts

fleet = simulate.dataset_b(n=400, random_state=1)
X = pd.DataFrame(fleet.X, columns=[f"x{number}" for number in range(1, 11)])
settings = {
    "n_estimators": 60,
    "learning_rate": 0.1,
    "max_leaf_nodes": 8,
    "validation": None,
}

figure, axes = plt.subplots(2, 1, figsize=(8, 5.6), layout="constrained", sharex=True)
for ax, gamma1 in zip(axes, (0.0, 4.0), strict=True):
    model = BoostR(gamma1=gamma1, **settings).fit(X, fleet.y)
    plot_leaf_counts(leaf_counts(model), ax=ax)
    ax.set(title=f"gamma1 = {gamma1:g}", ylim=(0.0, 9.0))
axes[0].set_xlabel("")

# %%
# Without a price all trees have as many leaves as they may, and the later ones fit noise.
# With a price they become smaller, until they have one leaf only and add nothing.

# %%
# The default
# -----------
# The default grows trees of several sizes, stops each kind where machines that were left
# out are predicted best, and averages them. The line is the mean over these models; the
# band reaches from the smallest to the largest.
model = BoostR(n_estimators=200, random_state=0).fit(X, fleet.y)
plot_leaf_counts(leaf_counts(model))

# %%
# One machine
# -----------
# With one tree its curve is that of the average machine. More trees move it towards its own
# group, which has ten failures in 100 days.
machine = int(fleet.truth([100.0])[:, 0].argmax())
plot_individual(
    individual_convergence(model, X, fleet.y, machine, n_trees=[1, 10, 30, 100])
)
plt.show()
