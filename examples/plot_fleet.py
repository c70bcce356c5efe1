"""
Which pumps will fail next?
===========================

Four hundred pumps were watched for 100 days. How often a pump fails depends on its load and
on the salt in the water, and on nothing else, although the table holds more columns than
that. The law is known here, so that we can see whether the model finds it.
"""

# %%
# The data
# --------
# Events as a long table, one row per failure and one for the end of follow-up; features as
# a table with one row per pump.
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, MeanCumulativeFunction, RecurrentEvents, simulate

FEATURES = ["load", "salinity", "depth", "age", "flow", "pressure"]
HORIZON = 100.0


def make_fleet(n: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Simulate pumps; return their features, their failures and the true expected count."""
    fleet = simulate.dataset_b(n=n, random_state=seed, end=(60.0, HORIZON))
    pumps = pd.Index([f"P{number:03d}" for number in range(n)], name="pump")
    features = pd.DataFrame(fleet.X[:, : len(FEATURES)], columns=FEATURES, index=pumps)
    failures = fleet.y.to_long().rename(columns={"id": "pump", "time": "day"})
    failures["pump"] = pumps[failures["pump"]]
    return features, failures, fleet.truth([HORIZON])[:, 0]


features, failures, truth = make_fleet(400, seed=1)
y = RecurrentEvents.from_long(
    failures, id="pump", time="day", event="event", start="start", unit="days"
)
print(y)

# %%
# Fit and rank
# ------------
# Nothing to tune: cross-validation inside `fit` picks the number and the size of the trees.
model = BoostR(random_state=0, verbose=1).fit(features, y)

ranking = (
    features[["load", "salinity"]]
    .assign(
        seen=y.n_events,
        expected=model.predict(features, horizon=HORIZON),
        truth=truth,
    )
    .sort_values("expected", ascending=False)
)
print(f"\nThe ten pumps at most risk: failures expected by day {HORIZON:.0f}")
print(ranking.head(10).round(2).to_string())

importance = pd.Series(model.feature_importances_, index=FEATURES)
print("\nShare of the gain:", importance.round(2).to_dict())
new_features, new_failures, new_truth = make_fleet(1000, seed=2)
error = np.abs(model.predict(new_features, horizon=HORIZON) - new_truth).mean()
naive = np.abs(truth.mean() - new_truth).mean()
print(f"Mean error on 1000 new pumps: {error:.2f} failures")
print(f"Error of the fleet's average: {naive:.2f} failures")

# %%
# Look
# ----
# The fleet's average on the left, single pumps on the right: observed failures as steps,
# predictions as lines.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
MeanCumulativeFunction().fit(y).plot(ax=left)
left.legend(frameon=False, loc="upper left")
left.set_title("The fleet: mean cumulative function")

days = np.linspace(0.0, HORIZON, 101)
chosen = [ranking.index[place] for place in (0, len(ranking) // 2, -1)]
curves = model.predict_cumulative(features.loc[chosen], days)
colours = ("#D55E00", "#0072B2", "#009E73")
for colour, pump, curve in zip(colours, chosen, curves, strict=True):
    own = y[np.flatnonzero(y.ids == pump)]
    steps = np.concatenate([[0.0], own.times, own.end])
    counts = np.append(np.arange(len(own.times) + 1), len(own.times))
    right.plot(days, curve, color=colour, linewidth=2, label=f"{pump}, predicted")
    right.step(steps, counts, color=colour, where="post", linestyle=":")
right.set(xlabel="Time (days)", ylabel="Cumulative failures")
right.plot([], [], color="0.3", linestyle=":", label="observed")
right.set(xlim=(0, HORIZON), ylim=(-0.15, None))
right.set_title("Three pumps: most, average and least at risk")
right.legend(frameon=False, ncols=1)

output = Path("demo-output")
output.mkdir(exist_ok=True)
figure.savefig(output / "fleet.png", dpi=150)
print(f"\nPicture: {output / 'fleet.png'}")
