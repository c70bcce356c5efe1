"""
How many infections does a treatment prevent?
=============================================

In a trial, 63 of 128 patients with chronic granulomatous disease got gamma interferon, the
others a placebo. The trial was stopped early because the treatment worked. We see by how
much, and whether a model that is not told about the trial finds the treatment among ten
features.
"""

# %%
# The data
# --------
import matplotlib.pyplot as plt

from boostr import BoostR
from boostr.datasets import load_cgd
from boostr.inspection import feature_importance
from boostr.nonparametric import compare_mcf, mcf_difference
from boostr.plotting import plot_importance, plot_mcf_difference, plot_timeline

data = load_cgd()
X, y = data.X, data.y
treatment = X["treatment"]
print(y)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
for ax, name in zip(axes, ("placebo", "rIFN-g"), strict=True):
    plot_timeline(y[(treatment == name).to_numpy()], ax=ax)
    ax.set_title(name, loc="left")
    ax.set_xlim(-8.0, 450.0)

# %%
# The difference
# --------------
# The mean number of infections per patient under interferon, less that under placebo. Most
# trials report the time to the first infection only; this counts them all.
difference = mcf_difference(y, treatment, reference="placebo")
plot_mcf_difference(difference)
for day in (100, 200, 300):
    place = difference.times.searchsorted(day, side="right") - 1
    print(
        f"By day {day}: {difference.difference[place]:+.2f} infections per patient "
        f"({difference.lower[place]:+.2f} to {difference.upper[place]:+.2f})"
    )

# %%
# One test for the whole difference
# ---------------------------------
# Some patients are infected again and again, so infections are no independent witnesses.
# The test takes this into account.
print()
print(compare_mcf(y, treatment))

# %%
# A model with all features
# -------------------------
# Treatment is one feature of ten. Shares of the gain say which of them the trees used.
model = BoostR(n_estimators=200, random_state=0).fit(X, y)
plot_importance(feature_importance(model))

# %%
# With the treatment exchanged in the table, the model says what each patient would have to
# expect with and without it.
for name in ("placebo", "rIFN-g"):
    expected = model.predict(X.assign(treatment=name), horizon=300.0)
    print(f"Expected infections by day 300, all on {name}: {expected.mean():.2f}")

plt.show()
