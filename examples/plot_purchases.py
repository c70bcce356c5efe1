"""
Who will buy again?
===================

Customers buy at rates of their own, and some stop for good without saying so. From past
purchases alone we forecast how many each will make in the next quarter, and compare with
what they did.
"""

# %%
# The data
# --------
# 600 customers, each counted from the first purchase. Rates follow a gamma law across
# customers, and after each purchase some lose interest.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents
from boostr.plotting import plot_timeline

N_CUSTOMERS, AHEAD = 600, 90.0

rng = np.random.default_rng(7)
rate = rng.gamma(1.0, 0.03, N_CUSTOMERS)  # purchases a day while active
active = rng.exponential(
    rng.gamma(2.0, 150.0, N_CUSTOMERS)
)  # days until the customer stops
now = rng.uniform(180.0, 270.0, N_CUSTOMERS)
channel = rng.choice(["web", "shop"], N_CUSTOMERS)
rate = rate * np.where(channel == "web", 1.5, 1.0)
purchases = [
    np.sort(rng.uniform(0.0, days, rng.poisson(each * days)))
    for each, days in zip(rate, active, strict=True)
]
known = [times[times <= end] for times, end in zip(purchases, now, strict=True)]
later = np.array(
    [
        np.sum((times > end) & (times <= end + AHEAD))
        for times, end in zip(purchases, now, strict=True)
    ]
)
y = RecurrentEvents.from_lists(known, end=now)
X = pd.DataFrame({"channel": channel})
plot_timeline(y[np.arange(0, N_CUSTOMERS, 15)]).set(
    xlabel="Days since the first purchase", ylabel="Customer"
)

# %%
# Forecast
# --------
# A customer's own past counts most: ``frailty`` says how many times as many purchases as
# similar customers are expected. ``probability`` is that of at least one purchase.
model = BoostR(n_estimators=200, random_state=0).fit(X, y)
table = model.forecast(X, y, horizon=AHEAD)
print(table.head().round(2).to_string(index=False))
total = model.forecast_fleet(X, y, horizon=AHEAD)
print(
    f"\nTotal: {total.expected:.0f} ({total.lower:.0f} to {total.upper:.0f}); "
    f"{later.sum()} came"
)

# %%
# By past purchases
# -----------------
# Mean forecasts and mean numbers that came, for customers with 0, 1, 2, ... past purchases.
frame = table.sort_values("id").assign(past=np.minimum(y.n_events, 7), later=later)
means = frame.groupby("past")[["expected", "later"]].mean()
figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
ax.plot(means.index, means["expected"], "o-", color="#0072B2", label="forecast")
ax.plot(means.index, means["later"], "x--", color="#D55E00", label="came")
ax.set_xticks(range(8), [*map(str, range(7)), "7+"])
ax.set(xlabel="Repeat purchases so far", ylabel=f"Purchases in the next {AHEAD:.0f} days")
ax.set(ylim=(0.0, None))
ax.legend(frameon=False)
plt.show()
