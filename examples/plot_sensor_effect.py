"""
What does a sensor do?
======================

Pumps carry a torque sensor and a temperature sensor. Pumps fail more often while the torque
is above 0.6; the temperature does nothing. The model gets both sensors and returns, for
each of them, what it adds to the failure rate at every value.
"""

# %%
# One pump
# --------
# Static features stay the same for the whole life of a pump; sensors change. ``Z`` holds
# their series, ``y`` the failures. Failures are the vertical lines.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr.inspection import coefficient_map, sensor_effect, sensor_importance
from boostr.plotting import (
    plot_coefficient_map,
    plot_sensor_effect,
    plot_sensor_importance,
    plot_sensor_path,
)

N_PUMPS, DAYS = 600, 100

rng = np.random.default_rng(0)
X = pd.DataFrame({"depth": rng.uniform(size=N_PUMPS), "salt": rng.uniform(size=N_PUMPS)})


def draw_series(level: np.ndarray) -> np.ndarray:
    """Draw one value a day that swings around a level of its own."""
    swing = np.sin(2 * np.pi * (np.arange(DAYS) / 40 + rng.uniform(size=(N_PUMPS, 1))))
    noise = rng.normal(scale=0.05, size=(N_PUMPS, DAYS))
    return np.clip(level[:, None] + 0.25 * swing + noise, 0.0, 1.0)


torque = draw_series(rng.uniform(0.3, 0.7, N_PUMPS))
temperature = draw_series(rng.uniform(0.3, 0.7, N_PUMPS))


def added_rate(torque: np.ndarray) -> np.ndarray:
    """Return the failures a day that the torque adds in a deep well."""
    return 0.08 / (1.0 + np.exp(-20.0 * (torque - 0.6)))


is_deep = X["depth"].to_numpy() > 0.5
rate = 0.01 + added_rate(torque) * np.where(is_deep, 1.0, 0.3)[:, None]
pump, day = np.nonzero(rng.uniform(size=rate.shape) < rate)
failures = pd.DataFrame({"pump": pump, "day": day + rng.uniform(size=len(day))})
until = dict.fromkeys(range(N_PUMPS), float(DAYS))
y = RecurrentEvents.from_long(failures, id="pump", time="day", end=until, unit="days")
samples = pd.DataFrame(
    {
        "pump": np.repeat(np.arange(N_PUMPS), DAYS),
        "day": np.tile(np.arange(DAYS), N_PUMPS),
        "torque": torque.ravel(),
        "temperature": temperature.ravel(),
    }
)
Z = Trajectories.from_long(samples, id="pump", time="day", unit="days")
busiest = int(np.argmax(y.n_events))
plot_sensor_path(Z, busiest, y=y)

# %%
# Which sensor matters?
# ---------------------
# ``sensor_importance`` measures by how much a sensor changes the rate over time. A sensor
# that does not help to predict gets exactly zero.
model = BoostR(validation=0.2, n_estimators=200, random_state=0).fit(X, y, Z)
importance = sensor_importance(model, X)
plot_sensor_importance(importance)
for name, norm in zip(importance.sensors, importance.norms, strict=True):
    print(f"{name}: {norm:.4f}")

# %%
# What does the torque add?
# -------------------------
# The line is the average over all pumps, and the band holds four pumps of five. The grey
# area is the share of time that the pumps spent at each value: trust the curve where it is
# high. The dashed line is the truth, less its average, because the average is part of the
# rate that is always there.
effect = sensor_effect(model, X, "torque")
ax = plot_sensor_effect(effect, label="estimate")
panel = ax.child_axes[0] if ax.child_axes else ax
share = np.where(is_deep, 1.0, 0.3).mean()
truth = share * (added_rate(effect.grid) - added_rate(torque).mean())
panel.plot(effect.grid, truth, color="black", linestyle="--", label="truth")
panel.legend(frameon=False, loc="upper left")

# %%
# Where does it act?
# ------------------
# In deep wells (depth above 0.5) the torque does three times as much harm. The map shows
# what a torque of 0.8 adds to the rate over two static features.
plot_coefficient_map(coefficient_map(model, "depth", "salt", sensor="torque", at=0.8, X=X))
plt.show()
