"""Histories in another unit, from another origin or with costs: refused by all who ask."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boostr import BoostR, RecurrentEvents, metrics
from boostr.baselines import HomogeneousPoisson
from boostr.exceptions import InvalidEventsError
from boostr.inspection import individual_convergence, permutation_importance

SMALL = BoostR(n_estimators=3, validation=None, n_origins=0)
DAY = pd.Timestamp("2024-01-01")


@pytest.fixture(scope="module")
def rows():
    """Events and ends of forty machines as a table with dates."""
    rng = np.random.default_rng(0)
    ids = np.repeat(np.arange(40), 4)
    days = np.sort(rng.uniform(1.0, 99.0, (40, 4)), axis=1)
    days[:, 3] = 100.0
    moments = DAY + pd.to_timedelta(days.ravel(), unit="D")
    return pd.DataFrame({"id": ids, "time": moments, "event": ids * 0 + 1, "cost": 2.0})


def read(rows, **options):
    """Return histories; the last row of each machine is its end."""
    is_end = rows.index % 4 == 3
    table = rows.assign(event=~is_end, cost=np.where(is_end, 0.0, rows["cost"]))
    options = {"start": DAY, "origin": DAY, "unit": "D"} | options
    return RecurrentEvents.from_long(table, "id", "time", "event", **options)


X = np.arange(40.0)[:, None]
SCORERS = [
    metrics.scorer("recurrent_concordance", horizon=50.0),
    metrics.scorer("poisson_deviance"),
    metrics.scorer("point_process_log_likelihood"),
]
ASKERS = {
    "score": lambda model, y: model.score(X, y),
    "permutation_importance": lambda model, y: permutation_importance(model, X, y),
    "individual_convergence": lambda model, y: individual_convergence(model, X, y),
    "calibrate_forecast": lambda model, y: model.calibrate_forecast(X, y, horizon=10.0),
    "forecast": lambda model, y: model.forecast(X, y, horizon=10.0),
    **{each.name: lambda model, y, each=each: each(model, X, y) for each in SCORERS},
}
OTHERS = {
    "unit": ({"unit": "h"}, "count in 'h' and training counted in 'D'"),
    "origin": (
        {"origin": DAY - pd.Timedelta(days=3)},
        "count from 2023-12-29.* and training counted from 2024-01-01",
    ),
    "costs": ({"cost": "cost"}, "these have costs and those had no costs"),
}


@pytest.fixture(scope="module")
def model(rows):
    return SMALL.fit(X, read(rows))


@pytest.mark.parametrize("ask", ASKERS.values(), ids=ASKERS)
@pytest.mark.parametrize(("other", "message"), OTHERS.values(), ids=OTHERS)
def test_histories_that_mean_something_else_are_refused(model, rows, ask, other, message):
    ask(model, read(rows))
    with pytest.raises(InvalidEventsError, match=message):
        ask(model, read(rows, **other))


@pytest.mark.parametrize(
    "wrap",
    [
        lambda: make_pipeline(StandardScaler(), SMALL),
        lambda: GridSearchCV(SMALL, {"n_estimators": [1]}, cv=2),
        HomogeneousPoisson,
    ],
    ids=["pipeline", "search", "baseline"],
)
@pytest.mark.parametrize(("other", "message"), OTHERS.values(), ids=OTHERS)
def test_scorers_look_into_what_holds_the_model(rows, wrap, other, message):
    fitted, scorer = wrap().fit(X, read(rows)), metrics.scorer("poisson_deviance")
    scorer(fitted, X, read(rows))
    for ask in (scorer, lambda model, X, y: model.score(X, y)):
        with pytest.raises(InvalidEventsError, match=message):
            ask(fitted, X, read(rows, **other))


def test_what_is_not_known_is_not_compared(model, rows):
    y = read(rows)
    plain = y._with(time_unit=None, origin=None)
    assert model.score(X, plain) == model.score(X, y)
