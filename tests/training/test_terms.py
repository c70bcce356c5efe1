import numpy as np
import pytest
from tests.fitted import make_settings

from boostr import BoostR, RecurrentEvents
from boostr._training.inputs import TrainingData
from boostr._training.terms import TermJudge


def make_data(times):
    n = len(times)
    events = RecurrentEvents.from_lists(times, end=10.0)
    return TrainingData(np.zeros((n, 1)), events, np.ones(n), None, np.ones(n, dtype=bool))


@pytest.mark.parametrize(
    ("gains", "answer"),
    [((1.0, 1.0, 1.0), True), ((1.0, -1.0, 1.0), False), ((1.0, 1.0, 0.0), False)],
)
def test_all_terms_must_forecast_better_at_every_date(monkeypatch, gains, answer):
    dates = []

    def follow(self, known, data, lead, run):
        """Return what the wide model gains at a date, and nothing for the narrow one."""
        dates.append(known.events.end[0])
        return gains[round(10.0 - known.events.end[0]) - 1] if run == "wide" else 0.0

    monkeypatch.setattr(TermJudge, "_try", follow)
    judge = TermJudge({}, lambda: make_data([[1.0, 2.0, 9.0]] * 20), None, 1)
    assert judge.prefers_all("narrow", "wide") == answer
    assert set(dates) <= {9.0, 8.0, 7.0}


def test_where_little_was_known_at_all_dates_validation_decides(monkeypatch):
    monkeypatch.setattr(TermJudge, "_try", None)  # would fail if it was called
    judge = TermJudge({}, lambda: make_data([[9.5]] * 20), None, 1)
    assert judge.prefers_all("narrow", "wide")


def test_without_earlier_dates_there_is_no_judge():
    assert TermJudge.of(make_settings(n_origins=0), None, None, 1) is None
    assert TermJudge.of(make_settings(n_origins=1), None, None, 1) is not None


@pytest.mark.slow
def test_courses_that_differ_in_the_end_are_kept(rng):
    # Half of all slow down and half wear, also at all earlier dates.
    X = rng.integers(0, 2, (250, 1)).astype(float)
    times = []
    for wears in X[:, 0]:
        tried = rng.uniform(0.0, 10.0, rng.poisson(20.0))
        share = tried / 10.0 if wears else 1.0 - tried / 10.0
        times.append(np.sort(tried[rng.random(len(tried)) < share]))
    events = RecurrentEvents.from_lists(times, end=10.0)
    model = BoostR(n_estimators=15, random_state=0).fit(X, events)
    assert np.any(model.out_of_fold_coefficients_[:, 1] != 0.0)
    slow, wearing = model.predict_intensity([[0.0], [1.0]], [2.0, 9.0])
    assert slow[1] < 0.7 * slow[0]
    assert wearing[1] > 1.5 * wearing[0]
