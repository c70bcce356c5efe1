"""
For reliability engineers: what to service next month
=====================================================

You have a list of repairs, a table of machines and perhaps sensors. Two questions come up
again and again: does the fleet wear out, and which machines should be serviced next month?
This guide answers the first on a real fleet of diesel engines and the second on simulated
wells with sensors, where the truth is known and the plan can be judged.
"""

# %%
# Part 1: does the fleet wear out?
# --------------------------------
# The valve seats of 41 diesel engines, observed for up to 761 days (Nelson, 1995). One line
# per engine, one dot per replacement.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, MeanCumulativeFunction, simulate
from boostr.baselines import HomogeneousPoisson, PowerLawProcess
from boostr.datasets import load_valve_seats
from boostr.inspection import sensor_importance
from boostr.metrics import calibration_slope, capture_curve
from boostr.nonparametric import laplace_test, mil_hdbk_189_test
from boostr.plotting import (
    plot_capture,
    plot_sensor_importance,
    plot_sensor_path,
    plot_timeline,
    plot_waterfall,
)
from boostr.tuning import as_of_split

engines = load_valve_seats().y
plot_timeline(engines)

# %%
# The mean cumulative function says how many replacements an engine has had by a given age.
# A straight line would mean a constant rate. This one bends upwards, and both trend tests
# agree that the bend is more than chance.
ax = MeanCumulativeFunction().fit(engines).plot()
ax.set(xlabel="Age (days)", ylabel="Replacements per engine")
for name, test in (
    ("Laplace", laplace_test(engines)),
    ("MIL-HDBK-189", mil_hdbk_189_test(engines)),
):
    print(f"{name}: rate {test.trend}, p = {test.pvalue:.3f}")

# %%
# How much does it matter? A power law (Crow-AMSAA) fitted to the same histories gives the
# rate today and 100 days from now. These engines have no features, so a column of zeros
# stands for them.
nothing = np.zeros((len(engines), 1))
law = PowerLawProcess().fit(nothing, engines)
constant = HomogeneousPoisson().fit(nothing, engines)
for age in (200.0, 400.0, 600.0):
    rising = law.predict_count(nothing[:1], age, age + 100.0)[0]
    steady = constant.predict_count(nothing[:1], age, age + 100.0)[0]
    print(
        f"Day {age:.0f} to {age + 100:.0f}: {rising:.2f} replacements per engine; "
        f"{steady:.2f} at a steady rate"
    )

# %%
# **Decision 1.** Replacements rise from 0.18 to 0.27 per engine and 100 days between day
# 200 and day 700: stock seals by the age of the fleet, not by its average rate.

# %%
# Part 2: which wells to service?
# -------------------------------
# 600 wells with eight static features and three sensors, all of them simulated. It is day
# 70; a crew can service 60 wells, a tenth, in the next 30 days. What the sensors and the
# wells do after day 70 is known here but kept from the model.
fleet = simulate.wells(n=600, random_state=1, end=100.0)
X = pd.DataFrame(fleet.X, columns=fleet.feature_names)
TODAY, AHEAD = 70.0, 30.0
split = as_of_split(fleet.y, TODAY, horizon=AHEAD)
known, later = split.train, split.test
print(known)
print(f"{later.n_events.sum()} failures will come in the next {AHEAD:.0f} days")

well = int(np.argmax(known.n_events))
plot_sensor_path(fleet.Z, well, y=known)

# %%
# Fit
# ---
# Events up to today, the table of features, and the sensors. A fifth of the wells is held
# out to choose the size of the model.
model = BoostR(validation=0.2, n_estimators=200, random_state=0).fit(X, known, fleet.Z)
plot_sensor_importance(sensor_importance(model, X))

# %%
# The list for the crew
# ---------------------
# Expected failures in the next 30 days, most at risk first, with the probability of at
# least one failure and an interval. ``frailty`` compares a well with similar ones: 1.2
# means 1.2 times as many failures as its features and sensors explain.
table = model.forecast(X, known, AHEAD, fleet.Z, now=TODAY)
print(table.head(8).round(2).to_string(index=False))

# %%
# Why the first one?
# ------------------
# Reasons for the number expected of the well at the top of the list.
worst = int(table["id"].iloc[0])
reasons = model.explain_forecast(X, known, AHEAD, fleet.Z)
print(reasons.sentence(worst))
plot_waterfall(reasons, worst)

# %%
# Was the list any good?
# ----------------------
# Now we look at what came. The tenth at the top of the list is compared with two lists that
# need no model: wells with the most failures so far, and wells drawn by lot (the diagonal).
# The forecast holds the last values of the sensors, but these move on; a calibration slope
# below 1 says that the wells will differ less than forecast. Where the operation of the
# next 30 days is planned, the plan goes to ``future=``, and the list gets better.
expected = table.sort_values("id")["expected"].to_numpy()
with_plan = model.forecast(X, known, AHEAD, fleet.Z, future=fleet.Z, now=TODAY)
with_plan = with_plan.sort_values("id")["expected"].to_numpy()
figure, ax = plt.subplots(figsize=(6.2, 4.8), layout="constrained")
lists = {
    "sensors planned": with_plan,
    "sensors as today": expected,
    "most failures so far": known.n_events,
}
for colour, (name, order) in zip(
    ("#009E73", "#0072B2", "#D55E00"), lists.items(), strict=True
):
    curve = capture_curve(later, order)
    plot_capture(
        curve,
        ax=ax,
        label=f"{name}: {curve.at(0.1):.0%} in the first tenth",
        show_ideal=name == "sensors planned",
        line_kwargs={"color": colour},
    )
for name, numbers in (("as today", expected), ("planned", with_plan)):
    slope = calibration_slope(later, numbers).slope
    print(
        f"Sensors {name}: {numbers.sum():.0f} expected, {later.n_events.sum()} observed; "
        f"slope {slope:.2f}"
    )

# %%
# How many wells are worth a visit?
# ---------------------------------
# A visit costs as much as a failure and prevents half of the failures that would have come.
# So a well is worth a visit as long as more than two failures are expected of it. The
# dashed line is the bill that the wells really ran up.
VISIT, FAILURE, PREVENTED = 1.0, 1.0, 0.5
order = np.argsort(-with_plan)
visits = np.arange(len(order) + 1)


def total_cost(failures: np.ndarray) -> np.ndarray:
    """Return the cost of failures and visits, by the number of wells visited."""
    spared = np.concatenate([[0.0], np.cumsum(PREVENTED * failures[order])])
    return VISIT * visits + FAILURE * (failures.sum() - spared)


planned, real = total_cost(with_plan), total_cost(later.n_events.astype(float))
best = int(np.argmin(planned))
figure, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
ax.plot(visits, planned, color="#0072B2", label="forecast")
ax.plot(visits, real, color="black", linestyle="--", label="what came")
ax.axvline(best, color="#D55E00", linewidth=1, label=f"plan: {best} visits")
ax.set(xlabel="Wells visited, riskiest first", ylabel="Cost of visits and failures")
ax.legend(frameon=False)
print(
    f"Cost without visits: {real[0]:.0f}, with the plan: {real[best]:.0f}, "
    f"with a visit to every well: {real[-1]:.0f}"
)

# %%
# **Decision 2.** Visit the wells down to the number at which the forecast cost is lowest,
# in the order of the list. If the crew can do fewer, cut the list from below.
#
# What this does not know: whether a visit prevents half of the failures. Only visits that
# were decided by lot can tell that.
plt.show()
