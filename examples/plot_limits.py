"""
What engineers know already
===========================

More load never makes a pump last longer, but with few pumps the data may say so by chance.
Limits tell the model what is known: directions of features, and which of them act together.
"""

# %%
# Pumps that wear out
# -------------------
# The rate of failures rises with load and falls with the quality of the oil; half of the
# differences between pumps are chance.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents

rng = np.random.default_rng(4)
n = 120
X = pd.DataFrame({"load": rng.uniform(0, 1, n), "oil": rng.uniform(0, 1, n)})
rate = 0.04 * (1.0 + 3.0 * X["load"]) * (1.5 - X["oil"]) * rng.gamma(2.0, 0.5, n)
events = [np.sort(rng.uniform(0, 100, count)) for count in rng.poisson(100 * rate)]
y = RecurrentEvents.from_lists(events, end=100.0)

# %%
# With and without directions
# ---------------------------
# ``monotonic_cst`` says that curves rise with load and fall with oil quality, at all times.
# The free model has dips, the other one cannot have any.
params = {"max_leaf_nodes": 8, "min_samples_leaf": 5, "random_state": 0}
free = BoostR(**params).fit(X, y)
bound = BoostR(monotonic_cst={"load": 1, "oil": -1}, **params).fit(X, y)

grid = pd.DataFrame({"load": np.linspace(0, 1, 201), "oil": 0.5})
truth = 4.0 * (1.0 + 3.0 * grid["load"])
fig, ax = plt.subplots(layout="constrained")
ax.plot(grid["load"], free.predict(grid), label="free")
ax.plot(grid["load"], bound.predict(grid), label="rises with load")
ax.plot(grid["load"], truth, "--", color="grey", label="truth")
ax.set(xlabel="Load", ylabel="Failures in 100 days")
ax.legend()

# %%
# The whole curves are in order, not only their ends.
times = np.linspace(0.0, 300.0, 61)
for name, model in (("free", free), ("bound", bound)):
    steps = np.diff(model.predict_intensity(grid, times), axis=0)
    print(f"{name}: rates fall with load at {np.mean(steps < -1e-12):.0%} of all steps")

# %%
# Features that act alone
# -----------------------
# ``interaction_cst`` says which features may meet on the way to a leaf. Without
# interactions the effects add up (but for low rates, which are kept above zero), and each
# of them can be drawn by itself.
alone = BoostR(interaction_cst="no_interactions", **params).fit(X, y)
corners = pd.DataFrame({"load": [0.2, 0.8, 0.2, 0.8], "oil": [0.2, 0.2, 0.8, 0.8]})
for name, model in (("free", free), ("no interactions", alone)):
    bad, good = np.diff(model.predict(corners).reshape(2, 2), axis=1).ravel()
    print(f"{name}: load adds {bad:.1f} failures with bad oil, {good:.1f} with good")
plt.show()
