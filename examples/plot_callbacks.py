"""
Watch a fit, and end it early
=============================

Functions given as ``callbacks`` are called after every tree. They can log the losses, draw
them, and end a run of trees when enough is enough.
"""

# %%
# Keep the losses
# ---------------
# A callback gets the label of the run, the number of trees so far, and the losses of the
# machines that trees are grown on and of those held out.
import matplotlib.pyplot as plt

from boostr import BoostR, simulate

fleet = simulate.dataset_b(n=300, random_state=1)
seen = []
params = {"max_leaf_nodes": 8, "min_samples_leaf": 5, "splitter": "best"}
model = BoostR(validation=0.3, learning_rate=0.2, random_state=0, **params)
model.fit(fleet.X, fleet.y, callbacks=[seen.append])

# %%
# The training loss of the first run falls for ever; that of machines which the trees have
# not seen does not.
first = [one for one in seen if one.label == seen[0].label]
n_trees = [one.n_trees for one in first]
fig, ax = plt.subplots(layout="constrained")
ax.plot(n_trees, [one.train_loss for one in first], label="training")
ax.plot(n_trees, [one.validation_loss for one in first], label="validation")
ax.set(xlabel="Trees", ylabel="Mean loss", title=first[0].label)
ax.legend()

# %%
# End when time is up
# -------------------
# A callback that returns True ends the run. Validation stops by itself; without it, a
# callback can. What comes out is the model of the trees grown so far.
import time

deadline = time.monotonic() + 0.5


def is_late(progress):
    """End the run when half a second has passed."""
    return time.monotonic() > deadline


quick = BoostR(n_estimators=100_000, validation=None, random_state=0)
quick.fit(fleet.X, fleet.y, callbacks=[is_late])
print("All trees were grown:", quick.n_estimators_ == 100_000)
plt.show()
