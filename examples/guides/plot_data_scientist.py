"""
For data scientists: pipelines, searches, files
===============================================

``BoostR`` is an estimator of scikit-learn whose target is a list of event histories.
Everything that splits, scores, searches or pipes estimators takes it. This guide shows
where recurrent events need more care than a column of numbers.
"""

# %%
# The target
# ----------
# ``y`` is a ``RecurrentEvents``: it has a length, and it slices like an array, so that
# individuals are split, never their events. Here is a table of events as it comes from a
# database, and a table of features with text and missing values.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import boostr
from boostr import BoostR, BoostRSearch, RecurrentEvents, backtest, metrics
from boostr.baselines import HistGradientBoostingPoisson, HomogeneousPoisson, tune
from boostr.plotting import plot_backtest, plot_comparison, plot_design, plot_validation
from boostr.tuning import AsOfSplit

rng = np.random.default_rng(12)
n = 500
ids = pd.Index([f"M{number:03d}" for number in range(n)], name="machine")
X = pd.DataFrame(
    {
        "load": rng.uniform(size=n),
        "pressure": rng.normal(10.0, 2.0, n),
        "model": rng.choice(["A", "B", "C"], n),
        "age": rng.uniform(0.0, 15.0, n),
    },
    index=ids,
)
risk = np.where(X["load"] > 0.6, 3.0, 1.0) * X["model"].map({"A": 1.0, "B": 1.0, "C": 2.0})
rate = 0.01 * risk.to_numpy() * rng.gamma(4.0, 0.25, n)
end = rng.uniform(150.0, 365.0, n)
X.loc[ids[::7], "pressure"] = np.nan
number = rng.poisson(rate * end)
events = pd.DataFrame({"machine": ids.repeat(number), "failed": 1})
events["day"] = rng.uniform(size=len(events)) * end.repeat(number)
ends = pd.DataFrame({"machine": ids, "failed": 0, "day": end})
table = pd.concat([events, ends], ignore_index=True)

y = RecurrentEvents.from_long(table, id="machine", time="day", event="failed", unit="days")
X = X.loc[y.ids]  # histories come out sorted by id; the index is checked against them
print(y)

# %%
# Fit, score, predict
# -------------------
# Text and missing values need no encoder. ``score`` is the gain in log-likelihood per
# individual over the average one: 0 is no better. Asked about machines of the training
# data, it warns.
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = BoostR(random_state=0).fit(X_train, y_train)
print(f"score on new machines: {model.score(X_test, y_test):.3f}")
plot_validation(model.validation_results_)

# %%
# Pipelines and scorers
# ---------------------
# Transformers go before it as usual. ``metrics.scorer`` makes a scorer from a metric that
# holds under unequal follow-up; a plain mean squared error of counts does not.
encode = make_column_transformer(
    (OneHotEncoder(), ["model"]), remainder="passthrough", verbose_feature_names_out=False
)
quick = BoostR(n_estimators=100, validation=0.2, random_state=0)
pipeline = make_pipeline(encode.set_output(transform="default"), quick)
scoring = metrics.scorer("recurrent_concordance", horizon=150)
for name, estimator in (("as it is", quick), ("one-hot encoded", pipeline)):
    scores = cross_val_score(estimator, X, y, scoring=scoring, cv=4)
    print(f"{name}: concordance {scores.mean():.3f} ± {scores.std() / 2:.3f}")

# %%
# Searching settings
# ------------------
# ``GridSearchCV`` works. ``BoostRSearch`` needs fewer fits: it spreads the settings over
# the whole space and computes the statistics of the events once for all of them. With
# ``AsOfSplit`` settings are chosen by forecasts of the future and not by a shuffle.
grid = GridSearchCV(
    BoostR(n_estimators=60, max_leaf_nodes=4, validation=None, random_state=0),
    {"gamma2": [1.0, 10.0], "learning_rate": [0.05, 0.2]},
    cv=3,
).fit(X_train, y_train)
print("grid:", grid.best_params_)

search = BoostRSearch(
    BoostR(n_estimators=60, max_leaf_nodes=4, splitter="best", validation=None),
    {"learning_rate": (0.02, 0.4, "log"), "gamma2": (0.3, 30.0, "log")},
    n_points=8,
    splits=AsOfSplit([100.0, 140.0], horizon=60.0),
    random_state=0,
).fit(X_train, y_train)
print("search:", {name: round(value, 3) for name, value in search.best_params_.items()})
plot_design(search.results_, marked=[search.best_index_])

# %%
# Baselines
# ---------
# They have the same interface, and ``tune`` chooses their settings, because a comparison
# with untuned baselines proves nothing.
candidates = {
    "Poisson": HomogeneousPoisson(),
    "boosted Poisson": tune(
        HistGradientBoostingPoisson(random_state=0), X_train, y_train, random_state=0
    ),
    "boostr": quick,
}
scores = {
    name: cross_val_score(each, X, y, scoring=scoring, cv=4)
    for name, each in candidates.items()
}
plot_comparison(scores, label="Concordance on new machines")

# %%
# Validate as you will use it
# ---------------------------
# Cross-validation asks about new machines. Most users ask about the machines they have,
# from now on. ``backtest`` refits as of past dates and compares forecasts with what came.
# The boosted Poisson regression is left out: its curves end with the last cell of time, so
# it cannot forecast.
del candidates["boosted Poisson"]
result = backtest(candidates, X, y, as_of=[120, 150], horizon=60)
plot_backtest(result)
print(
    result.summary()[["candidate", "ratio", "deviance", "concordance", "coverage"]].round(3)
)

# %%
# Files
# -----
# A model file holds arrays and JSON, no pickle; it is checked when it is read, and
# predictions are the same to the bit. Pickle works, too, within one version.
folder = Path(tempfile.mkdtemp())
model.save(folder / "machines.boostr")
again = boostr.load(folder / "machines.boostr")
print(np.array_equal(again.predict(X_test), model.predict(X_test)))
print(f"{(folder / 'machines.boostr').stat().st_size / 1024:.0f} kB")

# %%
# More data
# ---------
# ``RecurrentEvents.scan_parquet`` takes the place of ``y`` where the events do not fit into
# memory. On a cluster, ``boostr.dask.DaskBoostR`` has the same parameters and reads the
# files where they lie::
#
#     from distributed import Client
#     from boostr.dask import DaskBoostR
#
#     with Client("scheduler:8786"):
#         estimator = DaskBoostR(random_state=0)
#         estimator.fit("s3://fleet/machines", "s3://fleet/events", id="machine",
#                       time="day", event="failed")
#         table = estimator.forecast("s3://fleet/machines", "s3://fleet/events", horizon=30)
#
# Long fits write a log, ``fit(..., checkpoint="training.log")``, and go on where they were
# stopped.
plt.show()
