"""
A fleet on a cluster
====================

The tables of a fleet lie in Parquet files that no machine could hold. Workers read them,
keep the statistics of their own individuals and send sums; the model that comes back is an
ordinary one. Here the cluster is two workers in this process; elsewhere only the address of
the scheduler changes.
"""

# %%
# The data
# --------
# Pumps of two makes with a pressure that makes them fail, in files that are sorted by pump.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

from boostr import BoostR, RecurrentEvents
from boostr.dask import DaskBoostR

N_PUMPS, N_FILES, DAYS = 3000, 4, 100.0
SETTINGS = {
    "n_estimators": 60,
    "learning_rate": 0.2,
    "max_leaf_nodes": 4,
    "splitter": "best",
    "validation": 0.2,
    "random_state": 0,
}


def write_tables(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate pumps, and write both tables in files of consecutive pumps."""
    rng = np.random.default_rng(0)
    pump = np.arange(N_PUMPS)
    static = pd.DataFrame(
        {
            "pump": pump,
            "make": rng.choice(["A", "B"], N_PUMPS),
            "pressure": rng.gamma(4.0, 1.0, N_PUMPS),
        }
    )
    rate = 0.01 * static["pressure"] * np.where(static["make"] == "A", 1.0, 2.0)
    number = rng.poisson(rate * DAYS)
    failures = pd.DataFrame({"pump": np.repeat(pump, number), "failed": 1})
    failures["day"] = rng.uniform(0.0, DAYS, len(failures))
    ends = pd.DataFrame({"pump": pump, "failed": 0, "day": DAYS})
    events = pd.concat([failures, ends]).sort_values(["pump", "day"])
    for name, table in (("static", static), ("events", events)):
        (folder / name).mkdir()
        for part, rows in table.groupby(table["pump"] * N_FILES // N_PUMPS):
            rows.to_parquet(folder / name / f"part-{part}.parquet", index=False)
    return static, events


folder = Path(tempfile.mkdtemp())
static, events = write_tables(folder)
roles = {"id": "pump", "time": "day", "event": "failed"}

# %%
# Fit and forecast
# ----------------
# Paths are enough: workers read the files themselves. Forecasts are lazy: Dask makes
# them where the files are read, and only the five that matter most come here.
with (
    LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster,
    Client(cluster),
):
    estimator = DaskBoostR(local_below=0, **SETTINGS)
    estimator.fit(str(folder / "static"), str(folder / "events"), **roles)
    forecasts = estimator.forecast(
        str(folder / "static"), str(folder / "events"), horizon=30.0
    )
    riskiest = forecasts.nlargest(5, "expected").compute()
    predicted = estimator.predict(str(folder / "static")).compute()
print("Pumps to look after in the next 30 days:")
print(riskiest[["expected", "lower", "upper", "frailty"]].round(2))

# %%
# The same model
# --------------
y = RecurrentEvents.from_long(events, **roles)
local = BoostR(**SETTINGS).fit(static.drop(columns="pump"), y)
own = local.predict(static.drop(columns="pump"))
distance = np.max(np.abs(predicted.to_numpy() - own))
print(f"\nLargest difference from the model of one machine: {distance:.1e}")

figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
for make, colour in (("A", "C0"), ("B", "C1")):
    rows = (static["make"] == make).to_numpy()
    axes.scatter(static["pressure"][rows], predicted[rows], s=6, color=colour, label=make)
    truth = 0.01 * DAYS * (1.0 if make == "A" else 2.0)
    line = np.array([0.0, static["pressure"].max()])
    axes.plot(line, truth * line, color=colour, linewidth=1)
axes.set(xlabel="Pressure (bar)", ylabel=f"Failures expected in {DAYS:.0f} days")
axes.set(title="Predictions (dots) and truth (lines)", xlim=(0, None), ylim=(0, None))
axes.legend(title="Make", frameon=False)
output = Path("demo-output")
output.mkdir(exist_ok=True)
figure.savefig(output / "cluster.png", dpi=150)
print(f"\nPicture: {output / 'cluster.png'}")
plt.show()
