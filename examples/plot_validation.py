"""
What does validation choose?
============================

The best trees have two leaves on one fleet and twenty on another. ``fit`` finds out by
itself: it tries several shapes of trees on machines that were left out, and weighs them by
how well they did.
"""

# %%
# Effects that jump
# -----------------
# Rates of this fleet jump at thresholds. Each line is one shape of trees; the loss on
# machines that were left out first falls and then rises again, when trees fit noise. Dots
# mark where each shape was stopped.
import matplotlib.pyplot as plt

from boostr import BoostR, simulate
from boostr.plotting import plot_validation

jumps = simulate.dataset_b(n=300, random_state=1)
model = BoostR(random_state=0).fit(jumps.X, jumps.y)
plot_validation(model.validation_results_)

# %%
# ``weight`` is the share of each shape in the final model.
columns = ["label", "n_trees", "loss", "weight"]
print(model.validation_to_frame()[columns].round(3).to_string(index=False))

# %%
# Effects that are smooth
# -----------------------
# Here rates change gradually with the features and rise with time. The order of the shapes
# is another one, and a single shape gets all the weight.
smooth = simulate.dataset_d(n=300, random_state=1)
model = BoostR(random_state=0).fit(smooth.X, smooth.y)
plot_validation(model.validation_results_)
print(model.validation_to_frame()[columns].round(3).to_string(index=False))

# %%
# When it should be quick
# -----------------------
# ``validation=0.2`` holds out a fifth of the machines once, which takes a fraction of the
# time; ``validation=None`` grows all ``n_estimators`` trees.
plt.show()
