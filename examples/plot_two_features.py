"""
How do two features act together?
=================================

A pump with a high load or with salty water fails five times in 100 days, one with both ten
times, and one with neither once. The maps show what the model has learned of this without
being told where "high" begins.
"""

# %%
# Truth and estimate
# ------------------
# Each dot is a pump that the model has not seen.
import pandas as pd

from boostr import BoostR, simulate
from boostr.inspection import feature_interaction, partial_dependence
from boostr.plotting import plot_feature_map, plot_interaction, plot_partial_dependence

NAMES = ["load", "salinity", "depth", "age"]

train, test = (simulate.dataset_b(n=n, random_state=n) for n in (600, 601))
X = pd.DataFrame(train.X[:, :4], columns=NAMES)
fresh = pd.DataFrame(test.X[:, :4], columns=NAMES)
model = BoostR(n_estimators=200, random_state=0).fit(X, train.y)
plot_feature_map(
    fresh["load"],
    fresh["salinity"],
    test.truth([100.0])[:, 0],
    model.predict(fresh, horizon=100),
    labels=("load", "salinity", "Expected failures by day 100"),
)

# %%
# A map over two features
# -----------------------
# All other features are held at their medians. One map per time: the pattern is the same,
# only the numbers grow.
plot_interaction(feature_interaction(model, "load", "salinity", times=[50, 100], X=X))

# %%
# One feature at a time
# ---------------------
# Every pump gets one load after the other and keeps its other values. The average curve has
# one step. The thin curves of single pumps have steps of different heights: with salty
# water a high load adds 5 failures, without it 4.
curves = partial_dependence(model, X, "load", times=100, kind="individual", n_grid=60)
plot_partial_dependence(curves)
