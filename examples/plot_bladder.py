"""
Which patients will have tumours again?
=======================================

Patients whose bladder tumours had been removed got a placebo, pyridoxine or thiotepa, and
were watched for up to five years. Do the treatments keep tumours away, and what else tells
who will have them again? The data are those of a trial of the Veterans Administration,
which have been analysed many times: the effect of thiotepa is weak, and the number of
tumours at the start says more than the treatment.
"""

# %%
# The data
# --------
# Features as a table with one row per patient, recurrences as histories in months.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR
from boostr.datasets import load_bladder
from boostr.nonparametric import compare_mcf, mcf_by_group
from boostr.plotting import plot_mcf_groups

data = load_bladder()
X, y = data.X, data.y
print(y)
print(X.describe(include="all").loc[["count", "unique", "mean", "min", "max"]].round(1))

# %%
# Three treatments
# ----------------
# One mean cumulative function for each treatment, and one test for all three. Its variance
# holds although the recurrences of a patient depend on each other. Counting recurrences as
# if they were independent would more than double the statistic.
print()
print(compare_mcf(y, X["treatment"]))
for other in ("pyridoxine", "thiotepa"):
    pair = X["treatment"].isin(["placebo", other]).to_numpy()
    result = compare_mcf(y[pair], X["treatment"][pair])
    print(f"placebo against {other}: p = {result.pvalue:.2f}")

plot_mcf_groups(mcf_by_group(y, X["treatment"])).set(ylim=(0.0, 8.0))

# %%
# Tumours at the start
# --------------------
# The same with patients grouped by the number of tumours that were removed at the start.
start = pd.cut(X["number"], [0, 1, 3, 8], labels=["1 tumour", "2 or 3", "4 or more"])
print()
print(compare_mcf(y, start))
plot_mcf_groups(mcf_by_group(y, start)).set(ylim=(0.0, 8.0))

# %%
# All at once
# -----------
# The model gets the table as it is; cross-validation inside `fit` decides how much of it is
# worth learning. Below is its answer for four years; placebo and pyridoxine fall on the
# same line.
MONTHS = 48.0
model = BoostR(n_estimators=200, random_state=0).fit(X, y)
importance = pd.Series(model.feature_importances_, index=X.columns)
print("\nShare of the gain:", importance.round(2).to_dict())

TREATMENTS = {"placebo": "#0072B2", "pyridoxine": "#D55E00", "thiotepa": "#009E73"}
numbers = np.arange(1, 9)
figure, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
SIZES = (10, 5, 5)  # what lies below stays visible
for (name, colour), size in zip(TREATMENTS.items(), SIZES, strict=True):
    patients = pd.DataFrame({"treatment": name, "number": numbers, "size": 1})
    expected = model.predict(patients, horizon=MONTHS)
    ax.plot(numbers, expected, "o-", color=colour, markersize=size, label=name)
    print(f"Expected by month {MONTHS:.0f}, {name}:", expected.round(1))
ax.set(xlabel="Tumours at the start (8: 8 or more)")
ax.set(ylabel=f"Expected recurrences by month {MONTHS:.0f}", ylim=(0.0, 8.0))
ax.legend(frameon=False, loc="upper left")

plt.show()
