"""
Which settings are best?
========================

``BoostR()`` chooses the number, the size and the thresholds of its trees by itself, and
most data need no more. ``BoostRSearch`` searches other settings: it tries a few
combinations that are spread over the whole range, and scores each by cross-validation.
"""

# %%
# The search
# ----------
# Two ranges on a logarithmic scale: the learning rate, and ``gamma2``, which draws leaves
# towards zero. Machines are dealt out into three folds; their events are never split.
import matplotlib.pyplot as plt

from boostr import BoostR, BoostRSearch, simulate
from boostr.plotting import plot_design, plot_setting_boxes

fleet = simulate.dataset_b(n=150, random_state=1)
search = BoostRSearch(
    BoostR(n_estimators=60, max_leaf_nodes=4, splitter="best", validation=0.2),
    {"learning_rate": (0.02, 0.5, "log"), "gamma2": (0.1, 100.0, "log")},
    n_points=8,
    splits=3,
    random_state=0,
).fit(fleet.X, fleet.y)
print({name: round(value, 3) for name, value in search.best_params_.items()})
print(f"score {search.best_score_:.3f}")

# %%
# Where are the points?
# ---------------------
# A maximum projection design: no two settings share a value on either axis, so eight points
# try eight learning rates and eight values of ``gamma2``. The best three are marked.
best = [place for place, result in enumerate(search.results_) if result["rank"] <= 3]
plot_design(search.results_, marked=best)

# %%
# How do they differ?
# -------------------
# One box per setting over the three folds. With the two smallest learning rates (1 and 3)
# 60 trees are not enough. The boxes of the others overlap: between them the choice hardly
# matters.
plot_setting_boxes(
    search.results_, measure="scores", marked=best, label="Score (higher is better)"
)

# %%
# Leaves of the trees that each setting grew, four at most. The average that every model
# starts from counts as one leaf.
plot_setting_boxes(search.results_, marked=best)
plt.show()
