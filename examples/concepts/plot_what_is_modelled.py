"""
What is modelled: rates and expected numbers
============================================

Recurrent events happen again and again to the same machine, patient or customer. The model
predicts, for each individual, the expected number of events by any time, and its slope, the
rate. This page shows both beside the events of one machine.
"""

# %%
# From events to a curve
# ----------------------
# Draw the events of one machine as a staircase. Many machines with the same features have
# many staircases; their average is the **cumulative intensity** :math:`\mu(t \mid x)`, the
# expected number of events by time :math:`t`. Its slope is the **rate** (intensity)
# :math:`\lambda(t \mid x)`, in events per day.
import matplotlib.pyplot as plt
import numpy as np

from boostr import BoostR, simulate

train = simulate.dataset_d(n=500, random_state=1)
kind = np.array([[0.5, 0.9]])  # one kind of machine
rng = np.random.default_rng(0)
days = np.linspace(0.0, 100.0, 201)
truth = train.truth(days, X=kind)[0]
counts = rng.poisson(truth[-1], 40)
histories = [100.0 * np.sort(rng.uniform(size=number)) ** (2 / 3) for number in counts]

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
for number, times in enumerate(histories):
    steps = np.concatenate([[0.0], times, [100.0]])
    heights = np.append(np.arange(len(times) + 1), len(times))
    colour, width = ("#D55E00", 2.0) if number == 0 else ("0.8", 0.8)
    left.step(
        steps, heights, where="post", color=colour, linewidth=width, zorder=2 - (number > 0)
    )
left.plot([], [], color="#D55E00", label="events of one machine")
left.plot([], [], color="0.8", label="other machines of its kind")
left.plot(days, truth, color="black", label="their mean: cumulative intensity")
left.set(xlabel="Time (days)", ylabel="Number of events", xlim=(0, 100), ylim=(0, None))
left.legend(frameon=False, loc="upper left")
right.plot(days[1:], np.diff(truth) / np.diff(days), color="black", label="rate")
right.eventplot(histories[0], lineoffsets=0.006, linelengths=0.012, colors="#D55E00")
right.plot([], [], color="#D55E00", label="events of the machine")
right.set(
    xlabel="Time (days)", ylabel="Rate (events per day)", xlim=(0, 100), ylim=(0, None)
)
right.legend(frameon=False, loc="upper left")

# %%
# The model estimates both
# ------------------------
# From 500 machines of all kinds, each observed once. ``predict_cumulative`` gives the
# curve, ``predict_intensity`` its slope, ``predict_count`` the expected number in a window.
# Numbers are known better than rates: the slope is bumpy where the curve is smooth.
model = BoostR(random_state=0).fit(train.X, train.y)
figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
left.plot(days, truth, color="black", linestyle="--", label="truth")
left.plot(days, model.predict_cumulative(kind, days)[0], color="#0072B2", label="estimate")
left.set(
    xlabel="Time (days)", ylabel="Expected number of events", xlim=(0, 100), ylim=(0, None)
)
right.plot(
    days[1:], np.diff(truth) / np.diff(days), color="black", linestyle="--", label="truth"
)
right.plot(days, model.predict_intensity(kind, days)[0], color="#0072B2", label="estimate")
right.set(
    xlabel="Time (days)", ylabel="Rate (events per day)", xlim=(0, 100), ylim=(0, None)
)
for ax in (left, right):
    ax.legend(frameon=False, loc="upper left")
print(f"Expected from day 60 to day 90: {model.predict_count(kind, 60, 90)[0]:.1f}")
print(f"In truth: {np.diff(train.truth([60, 90], X=kind)[0])[0]:.1f}")

# %%
# What it is not
# --------------
# It is no survival model: a machine does not leave after its first event. And the curve is
# a mean: the orange staircase differs from it by chance, which :doc:`forecasts
# </forecasts>` express by intervals.
plt.show()
