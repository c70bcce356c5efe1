"""
Do failures follow the season?
==============================

Pumps fail three times as often in winter. Follow-up ends in December: a forecast that does
not know the season expects the same number every month, too few until April and too many
after it. The month as a sensor solves this, and forecasts know the months ahead.
"""

# %%
# The data
# --------
# 300 pumps over three years of dates.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr.inspection import sensor_effect
from boostr.plotting import plot_sensor_effect

N_PUMPS = 300
WINTER = [11, 12, 1, 2, 3, 4]

rng = np.random.default_rng(10)
days = pd.date_range("2021-01-02", "2023-12-31")
rate = np.where(days.month.isin(WINTER), 0.03, 0.01)
failures = pd.concat(
    pd.DataFrame({"pump": pump, "day": days.repeat(rng.poisson(rate))})
    for pump in range(N_PUMPS)
)
y = RecurrentEvents.from_long(
    failures,
    id="pump",
    time="day",
    start=pd.Timestamp("2021-01-01"),
    end=pd.Series(pd.Timestamp("2023-12-31"), index=range(N_PUMPS)),
    duplicates="keep",  # a pump may fail twice on a day
)
X = pd.DataFrame({"load": rng.uniform(size=N_PUMPS)})

# %%
# Two models
# ----------
# ``Trajectories.seasonal`` makes a sensor of the month from the dates of the histories.
month = Trajectories.seasonal(y, ["month"])
quick = {"n_estimators": 150, "validation": 0.2, "random_state": 0}
seasonal = BoostR(**quick).fit(X, y, Z=month)
plain = BoostR(**quick).fit(X, y)
plot_sensor_effect(sensor_effect(seasonal, X, "month"), show_shares=False)

# %%
# Month by month
# --------------
# Forecasts of 2024, as differences of forecasts to the end of one month and of the next.
ends = pd.date_range("2024-01-31", periods=10, freq="ME")
ahead = [(end - pd.Timestamp("2023-12-31")).days for end in ends]
months = [end.strftime("%b") for end in ends]
expected = {
    "without season": [plain.forecast(X, y, each)["expected"].sum() for each in ahead],
    "with season": [
        seasonal.forecast(X, y, each, Z=month)["expected"].sum() for each in ahead
    ],
}
truth = [N_PUMPS * end.day * (0.03 if end.month in WINTER else 0.01) for end in ends]

figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
ax.bar(months, truth, color="0.85", label="truth")
for colour, (name, totals) in zip(("#D55E00", "#0072B2"), expected.items(), strict=True):
    ax.plot(months, np.diff(totals, prepend=0.0), "o-", color=colour, label=name)
ax.set(xlabel="Month of 2024", ylabel="Failures of all pumps", ylim=(0.0, None))
ax.legend(frameon=False)
plt.show()
