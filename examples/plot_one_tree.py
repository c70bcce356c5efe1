"""
One tree, drawn
===============

A model is a sum of trees. Each tree cuts the machines into groups, its leaves, and each
leaf adds a curve over time. The very first tree of the plain algorithm shows how: it finds
the four groups of this fleet by itself.
"""

# %%
# A map of the leaves
# -------------------
# Where a tree splits on two columns only, its leaves are rectangles. Numbers are the
# failures that a leaf adds by day 100; the curves on the right show how they come about.
# The truth has borders at 0.5 and 1, 5, 5 and 10 failures.
import pandas as pd

from boostr import BoostR, simulate
from boostr.inspection import tree_partition, trees_frame
from boostr.plotting import plot_partition

fleet = simulate.dataset_a(n=400, random_state=1)
X = pd.DataFrame(fleet.X, columns=["load", "salinity"])
model = BoostR.paper(n_estimators=5, gamma1=10.0, gamma2=1.0).fit(X, fleet.y)
first = tree_partition(model, tree=0)
plot_partition(first)

# %%
# The same as a tree
# ------------------
# Values up to the threshold go to the left.
plot_partition(first, kind="tree", show_curves=False)

# %%
# Later trees
# -----------
# The second tree corrects what the first one left over. There is little, and what it adds
# is small.
plot_partition(tree_partition(model, tree=1), kind="tree")

# %%
# All trees as a table
# --------------------
# For those who want to read the model by a program.
columns = ["tree", "node", "feature", "threshold", "count", "gain"]
print(trees_frame(model)[columns].head(8).round(2).to_string(index=False))
