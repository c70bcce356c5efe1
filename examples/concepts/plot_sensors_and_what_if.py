"""
Sensors and what-if: two questions that look alike
==================================================

"This pump shows a high temperature: how many failures do we expect?" is a question about
prediction. "How many would there be if we cooled it?" is one about a cause. The model
answers the first. It answers the second only if the sensor is the cause.
"""

# %%
# Load heats, and load breaks
# ---------------------------
# The load makes pumps fail, and it also makes them warm. The temperature itself does
# nothing.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents, Trajectories

N, DAYS = 400, 100
rng = np.random.default_rng(6)
X = pd.DataFrame({"depth": rng.uniform(size=N)})
phase = rng.uniform(size=(N, 1))
load = (
    0.5
    + 0.25 * np.sin(2 * np.pi * (np.arange(DAYS) / 50 + phase))
    + rng.uniform(-0.2, 0.2, (N, 1))
)
temperature = 20.0 + 60.0 * load + rng.normal(scale=4.0, size=(N, DAYS))
rate = 0.005 + 0.12 * load**2
pump, day = np.nonzero(rng.uniform(size=rate.shape) < rate)
failures = pd.DataFrame({"pump": pump, "day": day + rng.uniform(size=len(day))})
until = dict.fromkeys(range(N), float(DAYS))
y = RecurrentEvents.from_long(failures, id="pump", time="day", end=until, unit="days")
samples = pd.DataFrame(
    {
        "pump": np.repeat(np.arange(N), DAYS),
        "day": np.tile(np.arange(DAYS), N),
        "load": load.ravel(),
        "temperature": temperature.ravel(),
    }
)
Z = Trajectories.from_long(samples, id="pump", time="day", unit="days")

# %%
# Two models
# ----------
# One sees the temperature only, the other both sensors. Both predict well, for the
# temperature tells about the load.
settings = {"n_estimators": 150, "validation": 0.2, "random_state": 0}
warm = BoostR(**settings).fit(X, y, Z.select("temperature"))
both = BoostR(**settings).fit(X, y, Z)
days = np.arange(1.0, DAYS, 0.5)
one = 3
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(np.arange(DAYS), rate[one], color="black", linestyle="--", label="truth")
ax.plot(
    days,
    warm.predict_intensity(X[one : one + 1], days, Z.select("temperature")[one])[0],
    color="#D55E00",
    linewidth=1,
    label="from the temperature",
)
ax.plot(
    days,
    both.predict_intensity(X[one : one + 1], days, Z[one])[0],
    color="#0072B2",
    label="from load and temperature",
)
ax.set(
    xlabel="Time (days)",
    ylabel="Rate of one pump (failures per day)",
    xlim=(0, DAYS),
    ylim=(0, None),
)
figure.legend(loc="outside upper center", ncols=3, frameon=False)

# %%
# What if pumps were cooled by 10 degrees?
# ----------------------------------------
# Nothing would change in truth. The model that knows the temperature alone promises a great
# success. The model that also knows the load promises half as much, and not nothing: two
# sensors that move together cannot be told apart in full. What if the load were lower by a
# fifth? Then the temperature would fall as well, and a plan should say so; both models come
# near the truth.
cooler = Z.assign(temperature=lambda value: value - 10.0)
lighter = Z.assign(
    load=lambda value: 0.8 * value, temperature=lambda value: 20.0 + 0.8 * (value - 20.0)
)
after = {"as it is": Z, "10 degrees cooler": cooler, "load lower by a fifth": lighter}
true = {
    "as it is": rate.sum(),
    "10 degrees cooler": rate.sum(),
    "load lower by a fifth": (0.005 + 0.12 * (0.8 * load) ** 2).sum(),
}
rows = []
for name, path in after.items():
    counts = [
        model.predict_count(X, 0.0, DAYS, sensors).sum()
        for model, sensors in ((warm, path.select("temperature")), (both, path))
    ]
    rows.append((*counts, true[name]))
result = pd.DataFrame(
    rows, index=list(after), columns=["temperature alone", "both sensors", "truth"]
)
print(result.round(0).to_string())

ax = (result / result.iloc[0]).plot.bar(
    color=["#D55E00", "#0072B2", "black"], rot=0, figsize=(7, 4), width=0.7
)
ax.set(ylabel="Failures relative to today", ylim=(0.0, 1.25))
ax.legend(frameon=False, ncols=3, loc="upper center")
ax.figure.set_layout_engine("constrained")

# %%
# **The rule.** Put in what causes events, not only what shows it; write plans that change
# together what changes together; and stay inside what the sensors have shown: beyond it,
# the nearest value seen counts, and a warning says so.
plt.show()
