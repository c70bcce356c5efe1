"""
Own history: what past events say about the next ones
=====================================================

Two pumps with the same data sheet, age and load: one failed eight times, the other never.
Features cannot tell them apart, their own histories can. Forecasts use both, and this page
shows how much each counts.
"""

# %%
# Luck or character?
# ------------------
# Pumps below all have the same features. On the left they are the same in truth, too, and
# numbers of failures differ by luck alone. On the right each pump has a factor of its own,
# its **frailty**. Only there does the past tell about the future.
import matplotlib.pyplot as plt
import numpy as np

from boostr import BoostR, RecurrentEvents

N, PAST, AHEAD = 800, 100.0, 100.0
rng = np.random.default_rng(4)


def draw_fleet(variance: float) -> tuple[np.ndarray, RecurrentEvents, np.ndarray]:
    """Draw features, past failures and numbers of later ones."""
    frailty = np.ones(N) if variance == 0.0 else rng.gamma(1 / variance, variance, N)
    past, later = (rng.poisson(0.04 * frailty * days) for days in (PAST, AHEAD))
    times = [np.sort(rng.uniform(0.0, PAST, number)) for number in past]
    return rng.uniform(size=(N, 2)), RecurrentEvents.from_lists(times, end=PAST), later


fleets = {"the same pumps": draw_fleet(0.0), "pumps that differ": draw_fleet(0.5)}
models = {name: BoostR(random_state=0).fit(X, y) for name, (X, y, _) in fleets.items()}

figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained", sharey=True)
for ax, (name, (X, y, later)) in zip(axes, fleets.items(), strict=True):
    model = models[name]
    table = model.forecast(X, y, horizon=AHEAD).sort_values("id")
    seen = np.arange(0, 13)
    groups = [later[y.n_events == number] for number in seen]
    means = [group.mean() if len(group) > 4 else np.nan for group in groups]
    forecast = [table["expected"][y.n_events == number].mean() for number in seen]
    ax.plot([0, 12], [0, 12], color="0.7", linewidth=1, label="as many as before")
    ax.axhline(4.0, color="0.7", linewidth=1, linestyle=":", label="fleet average")
    ax.plot(seen, means, "x", color="#D55E00", label="what came, mean")
    ax.plot(seen, forecast, "o-", color="#0072B2", markersize=4, label="forecast")
    ax.set(xlabel="Failures in the past 100 days", title=name, xlim=(0, 12), ylim=(0, 12))
    print(f"{name}: variance of frailties {model.frailty_variance_:.2f}")
axes[0].set_ylabel("Failures in the next 100 days")
axes[0].legend(frameon=False, loc="upper left")

# %%
# How much counts
# ---------------
# After :math:`n` failures where :math:`m` were predicted, the frailty is taken as
#
# .. math:: \xi = \frac{1 + v n}{1 + v m},
#
# where :math:`v` is the variance of frailties over the fleet. It is learned from the fleet,
# by asking which value would have forecast the last third of each history best. If pumps do
# not differ, :math:`v` is 0, and histories change nothing. The longer a pump is observed,
# the more its own number counts.
figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
expected = np.linspace(0.0, 20.0, 100)
for variance, colour in ((0.1, "#009E73"), (0.5, "#0072B2"), (2.0, "#D55E00")):
    factor = (1 + variance * 2 * expected) / (1 + variance * expected)
    ax.plot(expected, factor, color=colour, label=f"variance {variance:g}")
ax.axhline(2.0, color="0.7", linewidth=1)
ax.set(
    xlabel="Failures predicted so far (m); twice as many came",
    ylabel="Factor on the forecast",
)
ax.set(xlim=(0, 20), ylim=(0.95, 2.1))
ax.legend(frameon=False, loc="lower right")

# %%
# In the table of ``forecast`` the factor is the column ``frailty``; in reasons it is called
# "own history". ``own_history=False`` leaves it out.
plt.show()
