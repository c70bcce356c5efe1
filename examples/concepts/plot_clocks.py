"""
Clocks: time as the average machine counts it
=============================================

Fleets have a common history: running-in, quiet years, wear. Trees should learn how machines
*differ*, and not this history again in every leaf. So time is first measured on a clock
that ticks faster when the average machine has more events.
"""

# %%
# A fleet with running-in and wear
# --------------------------------
# Many failures in the first weeks, few after that, more at the end. Machines with a high
# load have three times as many all along.
import matplotlib.pyplot as plt
import numpy as np

from boostr import BoostR, MeanCumulativeFunction, RecurrentEvents

rng = np.random.default_rng(3)
N, LAST = 400, 100.0
X = rng.uniform(size=(N, 2))
factor = np.where(X[:, 0] > 0.5, 1.5, 0.5)


def bathtub(t: np.ndarray) -> np.ndarray:
    """Return the rate of the average machine, in failures a day."""
    return 0.02 + 0.25 * np.exp(-t / 5.0) + 0.1 * np.clip(t - 60.0, 0.0, None) / 40.0


times = []
for each in factor:
    tried = np.sort(rng.uniform(0.0, LAST, rng.poisson(0.45 * LAST)))
    times.append(tried[rng.uniform(size=len(tried)) < each * bathtub(tried) / 0.45])
y = RecurrentEvents.from_lists(times, end=LAST)

# %%
# The clock
# ---------
# The operational clock is the smoothed mean cumulative function of all machines: time in
# events of the average machine. On it the average machine has one event per unit, and
# groups are straight lines, so a leaf needs one number instead of a curve.
model = BoostR(random_state=0).fit(X, y)
days = np.linspace(0.0, LAST, 201)
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
for high, colour, name in ((False, "#0072B2", "low load"), (True, "#D55E00", "high load")):
    group = y[(X[:, 0] > 0.5) == high]
    curve = MeanCumulativeFunction().fit(group).predict(days)
    left.step(days, curve, where="post", color=colour, label=name)
    right.step(model.clock_.read(days), curve, where="post", color=colour, label=name)
left.plot(days, model.clock_.read(days), color="black", linestyle="--", label="clock")
left.set(xlabel="Time (days)", ylabel="Failures per machine", title="In days")
right.set(
    xlabel="Operational clock (failures of the average machine)",
    ylabel="Failures per machine",
)
right.set(title="On the clock")
for ax in (left, right):
    ax.legend(frameon=False, loc="upper left")
    ax.set(xlim=(0.0, None), ylim=(0.0, None))

# %%
# With and without
# ----------------
# The same model with ``clock="calendar"``: powers of the days alone cannot follow a
# bathtub.
plain = BoostR(clock="calendar", random_state=0).fit(X, y)
kinds = np.array([[0.25, 0.5], [0.75, 0.5]])
figure, ax = plt.subplots(figsize=(6.6, 4.4), layout="constrained")
for row, each in enumerate((0.5, 1.5)):
    ax.plot(
        days,
        each * bathtub(days),
        color="black",
        linestyle="--",
        label="truth" if row else None,
    )
for fitted, colour, name in (
    (model, "#0072B2", "operational clock"),
    (plain, "#D55E00", "calendar clock"),
):
    rates = fitted.predict_intensity(kinds, days[1:])
    ax.plot(days[1:], rates.T, color=colour, label=[name, None])
ax.set(
    xlabel="Time (days)", ylabel="Rate (failures per day)", ylim=(0.0, 0.45), xlim=(0, LAST)
)
ax.legend(frameon=False, loc="upper center")

# %%
# Which time goes in is still your choice: the clock is made from the time that ``y`` has,
# age or calendar date. See the example on time scales.
plt.show()
