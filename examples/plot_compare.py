"""
How does it compare with other models?
======================================

Baselines have the same interface as ``BoostR``, so that a comparison is one loop. Here they
predict machines that were set aside, in three repetitions, and are judged by their distance
from the true curves.
"""

# %%
# The models
# ----------
# From no features at all to a boosted Poisson regression on cells of time.
import matplotlib.pyplot as plt
import numpy as np

from boostr import BoostR, simulate
from boostr.baselines import (
    HistGradientBoostingPoisson,
    HomogeneousPoisson,
    McfRegressor,
    RandomForestRecurrence,
)
from boostr.metrics import integrated_squared_error
from boostr.plotting import plot_comparison

MODELS = {
    "average machine": McfRegressor(),
    "Poisson regression": HomogeneousPoisson(),
    "random forest": RandomForestRecurrence(n_estimators=20, random_state=0),
    "boosted Poisson": HistGradientBoostingPoisson(random_state=0),
    "boostr": BoostR(n_estimators=200, random_state=0),
}
TIMES = np.linspace(0.0, 100.0, 51)

# %%
# The comparison
# --------------
# Each repetition draws a fleet of 200 machines to learn from, and 300 to predict.
scores = {name: [] for name in MODELS}
for repetition in range(3):
    train = simulate.dataset_b(n=200, random_state=repetition)
    test = simulate.dataset_b(n=300, random_state=100 + repetition)
    truth = test.truth(TIMES)
    for name, model in MODELS.items():
        curves = model.fit(train.X, train.y).predict_cumulative(test.X, TIMES)
        scores[name].append(integrated_squared_error(curves, truth, TIMES).mean())
for name, errors in scores.items():
    print(f"{name:20}{np.mean(errors):8.1f}")

# %%
# Look
# ----
# Lower is better. The baselines have their default settings here; ``boostr.baselines.tune``
# chooses them by cross-validation, which a fair comparison on your own data should do.
ax = plot_comparison(scores, label="Mean integrated squared error")
ax.set_yscale("log")
plt.show()
