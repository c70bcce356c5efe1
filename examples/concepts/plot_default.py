"""
What the default does
=====================

``BoostR()`` has no settings that must be tuned. This page opens it: what ``fit`` tries, how
it chooses, and what each step is worth on two fleets of different character.
"""

# %%
# Two fleets
# ----------
# In the first, rates jump at thresholds of two features among ten. In the second they
# change smoothly, and rise with time.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, simulate
from boostr.metrics import integrated_squared_error
from boostr.plotting import plot_feature_map, plot_validation

FLEETS = {
    "jumps": [simulate.dataset_b(n=n, random_state=n) for n in (250, 400)],
    "smooth": [simulate.dataset_d(n=n, random_state=n) for n in (250, 400)],
}
TIMES = np.linspace(0.0, 100.0, 51)
models = {
    name: BoostR(random_state=0).fit(train.X, train.y)
    for name, (train, _) in FLEETS.items()
}

# %%
# Several shapes of trees compete
# -------------------------------
# ``fit`` deals the machines out into five folds, leaves one fold out at a time, and boosts
# six shapes: from two large leaves to twenty small ones, with all thresholds or a few
# random ones. Each is stopped where the left-out machines are predicted best. Bent curves
# over time are tried with the best shape.
figure, axes = plt.subplots(1, 2, figsize=(13, 4.8), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    plot_validation(model.validation_results_, ax=ax)
    ax.set_title(name, loc="left")

# %%
# They are weighed, and the folds are averaged
# --------------------------------------------
# Weights are chosen by the predictions for left-out machines. Five folds give five models
# of each shape; all stay in the sum.
for name, model in models.items():
    table = model.validation_to_frame()[["label", "n_trees", "weight"]]
    print(f"{name}: {len(model.ensemble_.members)} models are averaged")
    print(table[table["weight"] > 0.01].round(2).to_string(index=False), "\n")

# %%
# What it is worth
# ----------------
# The error on 400 new machines, with fixed shapes in the place of the choice, and with one
# model on all machines in the place of the average over the folds. No fixed shape is as
# good on both fleets. The average over the folds costs a little in this draw; it is also
# what gives every machine a prediction by models that have not seen it, which intervals
# need.
variants = {
    "default": BoostR(random_state=0),
    "without averaging the folds": BoostR(average_folds=False, random_state=0),
    "2 leaves, all thresholds": BoostR(max_leaf_nodes=2, splitter="best", random_state=0),
    "8 leaves, all thresholds": BoostR(max_leaf_nodes=8, splitter="best", random_state=0),
    "8 leaves, random thresholds": BoostR(
        max_leaf_nodes=8, splitter="random", random_state=0
    ),
    "500 trees, no validation": BoostR(validation=None, random_state=0),
}
errors = pd.DataFrame(index=list(variants), columns=list(FLEETS), dtype=float)
for fleet, (train, test) in FLEETS.items():
    truth = test.truth(TIMES)
    for name, variant in variants.items():
        model = models[fleet] if name == "default" else variant.fit(train.X, train.y)
        curves = model.predict_cumulative(test.X, TIMES)
        errors.loc[name, fleet] = integrated_squared_error(curves, truth, TIMES).mean()
print(errors.round(1).to_string())

relative = errors / errors.loc["default"]
ax = relative.iloc[::-1].plot.barh(
    color=["#0072B2", "#D55E00"], figsize=(8, 4.2), width=0.75
)
ax.axvline(1.0, color="black", linewidth=1)
ax.set(xlabel="Error relative to the default (logarithmic scale)", xscale="log")
ticks = [0.5, 1, 2, 5, 10, 20]
ax.set_xticks(ticks, list(map(str, ticks)))
ax.minorticks_off()
ax.legend(title="fleet", frameon=False)
ax.figure.set_layout_engine("constrained")

# %%
# The result
# ----------
# The fleet with jumps: truth and prediction for new machines.
train, test = FLEETS["jumps"]
plot_feature_map(
    test.X[:, 0],
    test.X[:, 1],
    test.truth([100.0])[:, 0],
    models["jumps"].predict(test.X, horizon=100),
    labels=("feature 1", "feature 2", "Expected events by time 100"),
)
plt.show()
