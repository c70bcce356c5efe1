"""
Which columns matter?
=====================

Of ten columns two decide how often a machine fails. There are three ways to ask which: what
the trees used, how much predictions change, and what is lost on new machines when a column
is shuffled. They answer different questions.
"""

# %%
# What the trees used
# -------------------
# Every split lowers the loss on the training data; the gains of a column's splits add up to
# its importance. A useless column may get a little by chance.
import pandas as pd

from boostr import BoostR, simulate
from boostr.inspection import explain, feature_importance, permutation_importance
from boostr.plotting import plot_importance, plot_permutation_importance, plot_reason_bars

NAMES = [
    "load",
    "salinity",
    "depth",
    "age",
    "flow",
    "pressure",
    "width",
    "weight",
    "pH",
    "slope",
]

train, test = (simulate.dataset_b(n=n, random_state=n) for n in (300, 301))
X = pd.DataFrame(train.X, columns=NAMES)
fresh = pd.DataFrame(test.X, columns=NAMES)
model = BoostR(random_state=0).fit(X, train.y)
plot_importance(feature_importance(model))

# %%
# How much predictions change
# ---------------------------
# The mean size of what each column adds to the expected number of failures, or takes away.
# It is in failures, so it can be told to anybody.
plot_reason_bars(explain(model, X, horizon=100))

# %%
# What is lost without a column
# -----------------------------
# On machines that the model has not seen, the values of one column after the other are
# dealt out anew. Columns that do not help end up around zero; the lines are standard errors
# over the machines. Of the three this is the only one that can tell a useful column from
# one that the model merely uses.
plot_permutation_importance(permutation_importance(model, fresh, test.y))
