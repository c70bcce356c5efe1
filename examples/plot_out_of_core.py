"""
More meters than memory
=======================

A utility reads meters for years. Events and sensors of all of them do not fit into memory,
but what trees are grown from does: a few numbers per meter. Here the meters come in Parquet
files, and the same model comes out, however little of them is read at a time.
"""

# %%
# The data
# --------
# Six files of meters with a load every few hours and outages that become likelier with it.
# Rows are in no order at all: they are sorted once, on disk.
import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR
from boostr.data import RecurrentEvents, Trajectories

N_FILES, N_METERS, N_SAMPLES, DAYS = 6, 300, 200, 50.0

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
n = N_FILES * N_METERS
is_old = rng.random(n) < 0.5
times = np.arange(N_SAMPLES) * DAYS / N_SAMPLES
load = np.clip(np.cumsum(rng.normal(scale=0.1, size=(n, N_SAMPLES)), axis=1), -1.5, 1.5)
rate = 0.05 * (1.0 + is_old)[:, None] * np.exp(load)
meter, piece = np.nonzero(rng.random((n, N_SAMPLES)) < rate * DAYS / N_SAMPLES)
outages = pd.DataFrame({"meter": meter, "day": times[piece] + 0.1, "outage": 1})
ends = pd.DataFrame({"meter": np.arange(n), "day": DAYS, "outage": 0})
events = pd.concat([outages, ends]).sample(frac=1.0, random_state=0)
samples = pd.DataFrame(
    {
        "meter": np.repeat(np.arange(n), N_SAMPLES),
        "day": np.tile(times, n),
        "load": load.ravel(),
    }
).sample(frac=1.0, random_state=0)
for name, table in (("events", events), ("samples", samples)):
    (folder / name).mkdir()
    for part in range(N_FILES):
        rows = table.iloc[part::N_FILES]
        rows.to_parquet(folder / name / f"part-{part}.parquet", index=False)

# %%
# Scan and fit
# ------------
# Nothing is read before it is needed, and never more than a chunk at a time.
y = RecurrentEvents.scan_parquet(
    folder / "events", id="meter", time="day", event="outage", cache=folder / "sorted"
)
Z = Trajectories.scan_parquet(
    folder / "samples", id="meter", time="day", cache=folder / "sorted"
)
print(y, Z, sep="\n")
X = pd.DataFrame({"old": is_old.astype(float)})
model = BoostR(n_estimators=50, validation=0.2, random_state=0).fit(X, y, Z)

in_memory = BoostR(n_estimators=50, validation=0.2, random_state=0)
in_memory.fit(X, y.collect(), Z.collect())
steady = Trajectories.from_flat(
    np.zeros(6), np.arange(7), [[-1.0, 0.0, 1.0, -1.0, 0.0, 1.0]], ["load"]
)
asked = pd.DataFrame({"old": [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]})
expected, same = (
    each.predict(asked, horizon=DAYS, Z=steady, hold_last=True)
    for each in (model, in_memory)
)
print("\nOutages in 50 days by age and load, from files and from memory:")
print(pd.DataFrame({**asked, "load": steady.values[0], "files": expected, "memory": same}))


# %%
# What it holds in memory
# -----------------------
# The sensors of more and more meters, gone through in chunks or read as a whole.
def peak_of(scan, task):
    len(scan)  # sorted, if need be
    tracemalloc.start()
    task()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return peak


rows = samples.sort_values(["meter", "day"], kind="stable")
sizes, chunked, collected = [], [], []
for n_files in range(1, N_FILES + 1):
    part = rows[rows["meter"] < n_files * N_METERS]
    part.to_parquet(folder / "some.parquet", index=False, row_group_size=10_000)
    scan = Trajectories.scan_parquet(folder / "some.parquet", id="meter", time="day")
    sizes.append(len(part))
    chunked.append(peak_of(scan, lambda scan=scan: [None for _ in scan.chunks(10_000)]))
    collected.append(peak_of(scan, scan.collect))

figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
axes.plot(sizes, collected, marker="o", color="C1", label="collect(): all at once")
axes.plot(sizes, chunked, marker="o", color="C0", label="chunks(10_000): the way fit reads")
axes.set(xlabel="Samples in the files", ylabel="Peak memory of arrays (MB)", ylim=(0, None))
axes.set(title="Chunks stay as large as they are", xlim=(0, None))
axes.legend(frameon=False)

output = Path("demo-output")
output.mkdir(exist_ok=True)
figure.savefig(output / "out_of_core.png", dpi=150)
print(f"\nPicture: {output / 'out_of_core.png'}")
