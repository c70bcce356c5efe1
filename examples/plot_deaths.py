"""
Patients who die
================

A patient who has died has no further relapses. Methods that take death for the end of an
observation like any other answer another question: how many relapses there were if nobody
could die. In a trial on bladder tumours a quarter of the patients died, nearly all of them
of something else.
"""

# %%
# The data
# --------
# Of 116 patients 28 died. ``terminal=`` of the constructors, or ``y.with_terminal(died)``,
# says whose end of follow-up was a death.
import matplotlib.pyplot as plt
import numpy as np

from boostr import BoostR, MeanCumulativeFunction
from boostr.datasets import load_bladder
from boostr.nonparametric import mcf_by_group

data = load_bladder(deaths=True)
X, y = data.X, data.y
print(y.describe())

# %%
# Without a model
# ---------------
# The estimate of Ghosh and Lin weighs the recurrences among those who are alive by their
# share, which the Kaplan-Meier curve at the right axis shows. With death as censoring the
# mean is too high, the more so the later.
estimate = MeanCumulativeFunction().fit(y)
censored = MeanCumulativeFunction(terminal="censor").fit(y)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
estimate.plot(ax=axes[0], label="death accounted for")
censored.plot(
    ax=axes[0], label="death as censoring", show_band=False, line_kwargs={"color": "0.5"}
)
axes[0].legend(loc="lower right")
figure.get_layout_engine().set(wspace=0.08)
for name, group in mcf_by_group(y, X["treatment"]).items():
    group.plot(ax=axes[1], label=name, show_band=False, show_survival=False)
axes[1].set_title("By treatment, death accounted for")
for months in (24.0, 48.0):
    means = [each.predict([months])[0] for each in (estimate, censored)]
    print(f"By month {months:g}: {means[0]:.2f} recurrences, not {means[1]:.2f}")

# %%
# With a model
# ------------
# The model learns the rate of recurrences while alive, and the hazard of death, from the
# same features. Its predictions are the mean number of a patient who may die;
# ``conditional=True`` gives the number while alive.
model = BoostR(random_state=0).fit(X, y)
months = np.linspace(0.0, 60.0, 61)
mean = model.predict_cumulative(X, months).mean(axis=0)
while_alive = model.predict_cumulative(X, months, conditional=True).mean(axis=0)
alive = model.predict_survival(X, months).mean(axis=0)

figure, axes = plt.subplots(1, 2, figsize=(11, 4.0), layout="constrained")
axes[0].step(estimate.times_, estimate.mcf_, where="post", color="0.5", label="estimate")
axes[0].plot(months, mean, label="model")
axes[0].plot(months, while_alive, linestyle="--", label="model, while alive")
axes[0].set(xlabel="Month", ylabel="Mean number of recurrences")
axes[0].legend()
axes[1].step(
    estimate.terminal_times_,
    estimate.survival_,
    where="post",
    color="0.5",
    label="estimate",
)
axes[1].plot(months, alive, label="model")
axes[1].set(xlabel="Month", ylabel="Share of patients alive", ylim=(0.0, 1.02))
axes[1].legend()

# %%
# Forecasts that know death
# -------------------------
# The next two years of each patient: the chance to die in them, and recurrences that count
# only as long as the patient lives. The dead expect nothing.
forecast = model.forecast(X, y, horizon=24.0)
columns = ["id", "expected", "probability", "lower", "upper", "terminal"]
print(forecast[columns].head(5).round(2).to_string(index=False))

plain = BoostR(random_state=0).fit(X, y.with_terminal(None))
naive = plain.forecast(X, y.with_terminal(None), horizon=24.0)
print(
    f"All patients together: {forecast['expected'].sum():.0f} recurrences; with death as "
    f"censoring {naive['expected'].sum():.0f}, also of the {y.is_terminal.sum()} dead"
)
plt.show()
