"""
Why a regression on counts is biased
====================================

It seems natural to compare counted with predicted numbers: after 100 days this machine had
three events, the model said two. The paper's own loss does so. It goes wrong where
observation ends *because of* the events, as in a trial that follows each patient until the
fourth relapse. This page shows the bias, and the loss that does not have it.
"""

# %%
# A trial that stops at the fourth event
# --------------------------------------
# The simulated trial of the paper's Appendix B: follow-up of 120 days, or up to the fourth
# event. We know what would have happened without the rule.
import matplotlib.pyplot as plt
import numpy as np

from boostr import BoostR, MeanCumulativeFunction, simulate

trial = simulate.kelly(n=600, sigma=0.0, random_state=1)
days = np.linspace(0.0, 120.0, 121)
truth = trial.truth(days).mean(axis=0)
watched = [np.mean(trial.y.end >= day) for day in days]
counts = [
    trial.complete.times[trial.complete.event_owner == i] for i in range(len(trial.y))
]
by_day = np.array([[np.sum(times <= day) for day in days[::10]] for times in counts])
still = trial.y.end[:, None] >= days[::10]
of_all = by_day.mean(axis=0)
of_watched = np.array([by_day[still[:, k], k].mean() for k in range(by_day.shape[1])])

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
left.plot(days, watched, color="#0072B2")
left.set(
    xlabel="Time (days)",
    ylabel="Share of subjects still observed",
    ylim=(0, 1.05),
    xlim=(0, 120),
)
right.plot(days, truth, color="black", linestyle="--", label="truth")
right.plot(days[::10], of_all, "o", color="#009E73", label="mean count, all subjects")
right.plot(days[::10], of_watched, "s", color="#D55E00", label="mean count, still observed")
right.set(xlabel="Time (days)", ylabel="Events per subject", xlim=(0, 120), ylim=(0, None))
right.legend(frameon=False, loc="upper left")

# %%
# Those who are still observed late are the quiet ones: they have not had four events.
# Whatever compares their *counts* with a curve draws the curve down to them.
#
# Rates do not have this problem. At each moment, the share of the subjects under
# observation that has an event *now* is right, whoever they are, as long as the decision to
# go on observing them depends only on the past. Added up over time, these shares are the
# mean cumulative function.
mcf = MeanCumulativeFunction().fit(trial.y)
print(f"By day 120: truth {truth[-1]:.2f}")
print(f"Mean cumulative function: {mcf.predict([120.0])[0]:.2f}")
print(f"Mean count of those still observed: {of_watched[-1]:.2f}")

# %%
# Two losses
# ----------
# ``loss="cumulative"`` is the paper's squared distance between counted and predicted
# curves, while a subject is observed. ``loss="intensity"``, the default, is a least squares
# on the rate.
fresh = simulate.kelly(n=500, sigma=0.0, random_state=2)
fitted = {
    "cumulative (paper)": BoostR(loss="cumulative", clock="calendar", random_state=0),
    "intensity (default)": BoostR(random_state=0),
}
figure, ax = plt.subplots(figsize=(6.6, 4.4), layout="constrained")
ax.plot(days, fresh.truth(days).mean(axis=0), color="black", linestyle="--", label="truth")
for colour, (name, model) in zip(("#D55E00", "#0072B2"), fitted.items(), strict=True):
    curve = model.fit(trial.X, trial.y).predict_cumulative(fresh.X, days).mean(axis=0)
    ax.plot(days, curve, color=colour, label=name)
    print(f"{name}: {curve[-1]:.2f} events by day 120")
ax.set(
    xlabel="Time (days)",
    ylabel="Mean prediction for new subjects",
    xlim=(0, 120),
    ylim=(0, None),
)
ax.legend(frameon=False, loc="upper left")

# %%
# And without the rule
# --------------------
# If all subjects are observed for 120 days, both losses are right on average.
for name, model in fitted.items():
    everyone = simulate.kelly(n=600, sigma=0.0, random_state=1, max_events=None)
    curve = model.fit(everyone.X, everyone.y).predict_cumulative(fresh.X, [120.0]).mean()
    print(f"{name}, no early ends: {curve:.2f}; truth {fresh.truth([120.0]).mean():.2f}")

# %%
# Machines that are scrapped after too many failures, and customers who leave after a
# complaint, are of the first kind. If in doubt, keep the default.
plt.show()
