"""
Why is this pump at risk?
=========================

Six hundred pumps were watched for 100 days. A pump has 1 failure in that time; with a high
load or with salty water it has 5, and with both it has 10. Nothing else matters. So we know
the reasons of every pump in advance, and can see whether the model finds them.
"""

# %%
# What the reasons are
# --------------------
# Half of the pumps have a high load and half have salty water, so the average is
# (1 + 5 + 5 + 10) / 4 = 5.25 failures. If only the load is known to be high, 7.5 are
# expected, and 3 if it is known to be low; the same for salt. A reason is the mean of what
# a feature adds when it is learned first and when it is learned last (Shapley's rule). For
# a pump with both: ((7.5 - 5.25) + (10 - 7.5)) / 2 = 2.375 each.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, simulate
from boostr.inspection import explain, partial_dependence, permutation_importance
from boostr.plotting import (
    plot_beeswarm,
    plot_partial_dependence,
    plot_permutation_importance,
    plot_waterfall,
)

NAMES = ["load", "salinity", "depth", "age", "flow", "pressure"]
HORIZON = 100.0
TRUTH = {  # what load and salt add, by whether each is high
    (False, False): (-2.125, -2.125),
    (False, True): (-2.375, 2.125),
    (True, False): (2.125, -2.375),
    (True, True): (2.375, 2.375),
}


def make_pumps(n: int, seed: int) -> tuple[pd.DataFrame, simulate.Simulation]:
    """Simulate pumps; return their features and all that is known of them."""
    fleet = simulate.dataset_b(n=n, random_state=seed)
    pumps = pd.Index([f"P{number:03d}" for number in range(n)], name="pump")
    return pd.DataFrame(fleet.X[:, : len(NAMES)], columns=NAMES, index=pumps), fleet


features, fleet = make_pumps(600, seed=1)
model = BoostR(n_estimators=200, random_state=0).fit(features, fleet.y)

# %%
# One sentence a pump
# -------------------
# Every sentence starts with the two numbers whose difference it explains.
reasons = explain(model, features, horizon=HORIZON)
is_high = features[["load", "salinity"]].to_numpy() > 0.5
for case, (load, salt) in TRUTH.items():
    pump = int(np.flatnonzero((is_high == case).all(axis=1))[0])
    print(f"{features.index[pump]}: {reasons.sentence(pump, n_reasons=2)}")
    print(f"      truth: {load:+.1f} load, {salt:+.1f} salinity")

truth = np.array([TRUTH[tuple(row)] for row in is_high.tolist()])
error = np.abs(reasons.values[:, :2] - truth).mean()
others = np.abs(reasons.values[:, 2:]).sum(axis=1).mean()
print(f"\nMean error of the two reasons: {error:.2f} failures")
print(f"All other features together: {others:.2f} failures")

# %%
# Look
# ----
# One pump from the average to its own number; all pumps; what would be expected with
# another load; and what features are good for on pumps that the model has not seen.
fresh, unseen = make_pumps(300, seed=2)
pump = int(np.flatnonzero(is_high.all(axis=1))[0])
figure, axes = plt.subplots(2, 2, figsize=(12, 8), layout="constrained")
plot_waterfall(reasons, pump, ax=axes[0, 0])
plot_beeswarm(reasons, ax=axes[0, 1])
curves = partial_dependence(
    model, features, "load", times=[25, 50, 100], kind="individual", n_grid=60
)
plot_partial_dependence(curves, ax=axes[1, 0])
plot_permutation_importance(permutation_importance(model, fresh, unseen.y), ax=axes[1, 1])
titles = (
    f"Reasons of pump {features.index[pump]}",
    "Reasons of all pumps",
    "If all pumps had this load",
    "What features are good for, on new pumps",
)
for ax, title in zip(axes.flat, titles, strict=True):
    ax.set_title(title, loc="left", pad=20 if ax is axes[0, 0] else 6)

plt.show()
