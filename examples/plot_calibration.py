"""
Is the level right?
===================

A model can rank machines well and still expect twice as many failures as there are.
Calibration compares expected with observed numbers, group by group: where 5 failures were
expected, were there 5?
"""

# %%
# Judge on machines that the model has not seen
# ---------------------------------------------
# A third of the machines is set aside. They are grouped by predicted risk; each point is
# one group, and points on the line are right.
import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from boostr import BoostR, simulate
from boostr.baselines import HomogeneousPoisson
from boostr.metrics import calibration_slope, calibration_table, capture_curve
from boostr.plotting import plot_calibration, plot_capture

fleet = simulate.dataset_b(n=600, random_state=3, end=(60.0, 100.0))
X_train, X_test, y_train, y_test = train_test_split(
    fleet.X, fleet.y, test_size=1 / 3, random_state=0
)
models = {
    "boostr": BoostR(n_estimators=200, random_state=0).fit(X_train, y_train),
    "Poisson regression": HomogeneousPoisson().fit(X_train, y_train),
}
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    expected = model.predict_count(X_test, y_test.start, y_test.end)
    risk = model.predict(X_test, horizon=60)
    table = calibration_table(y_test, expected, by=risk, n_groups=8)
    plot_calibration(table, ax=ax)
    slope = calibration_slope(y_test, expected, by=risk)
    ax.set_title(f"{name}: slope {slope.slope:.2f}")
    ax.set(xlabel="Expected rate (failures per day)")
    ax.set(ylabel="Observed rate ± 95 % confidence (failures per day)")

# %%
# A slope of 1 means that differences between machines are as large as predicted; below 1
# they are exaggerated, above 1 the model is too cautious. Poisson regression exaggerates:
# it takes effects to go on rising with each feature, while these machines know only "low"
# and "high", and its riskiest group had fewer failures than expected.

# %%
# What do the riskiest hold?
# --------------------------
# Order is another question than level. If only a fifth of the machines can be inspected,
# which share of the failures will be among them?
figure, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
for colour, (name, model) in zip(("#0072B2", "#D55E00"), models.items(), strict=True):
    curve = capture_curve(y_test, model.predict(X_test, horizon=60))
    plot_capture(
        curve,
        ax=ax,
        label=f"{name}: {curve.at(0.2):.0%} in the first fifth",
        show_ideal=name == "boostr",
        line_kwargs={"color": colour},
    )
plt.show()
