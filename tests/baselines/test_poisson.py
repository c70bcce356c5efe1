import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning
from tests import oracles

from boostr.baselines import HomogeneousPoisson, PowerLawProcess
from boostr.data import RecurrentEvents


def simulate(rng, n, intercept, coefficients, shape, *, gaps=False):
    """Draw power-law processes, on windows with late entry and a gap if asked for."""
    X = rng.normal(size=(n, len(coefficients)))
    end = rng.uniform(5.0, 10.0, n)
    scale = np.exp(intercept + X @ coefficients)
    rows = []
    for i in range(n):
        count = rng.poisson(scale[i] * end[i] ** shape)
        times = np.sort(end[i] * rng.uniform(size=count) ** (1.0 / shape))
        windows = [(0.0, end[i])]
        if gaps:
            windows = [(0.1 * end[i], 0.4 * end[i]), (0.6 * end[i], end[i])]
        for start, stop in windows:
            inside = times[(times > start) & (times <= stop)]
            cuts = np.concatenate([[start], inside, [stop]])
            flags = [1] * len(inside) + [0]
            rows += [
                (i, a, b, f) for a, b, f in zip(cuts[:-1], cuts[1:], flags, strict=True)
            ]
    table = pd.DataFrame(rows, columns=["id", "start", "stop", "event"])
    return X, RecurrentEvents.from_start_stop(table, "id", "start", "stop", "event")


def unpack(y):
    """Return windows and event times as lists."""
    windows, events = [], []
    for own in y:
        windows.append(list(zip(own.window_start, own.window_stop, strict=True)))
        events.append(own.times.tolist())
    return windows, events


@pytest.mark.parametrize("gaps", [False, True])
def test_recovers_known_parameters_within_their_standard_errors(rng, gaps):
    X, y = simulate(rng, 1500, -1.0, np.array([0.6, -0.3]), 1.4, gaps=gaps)
    table = PowerLawProcess().fit(X, y).summary()
    away = (table.estimate - [-1.0, 0.6, -0.3, 1.4]) / table.standard_error
    assert np.abs(away).max() < 3.0


@pytest.mark.slow
def test_standard_errors_are_those_of_repeated_simulations(rng):
    found = []
    for _ in range(60):
        X, y = simulate(rng, 80, 0.0, np.array([0.5]), 0.8)
        table = PowerLawProcess().fit(X, y).summary()
        found.append((table.estimate, table.standard_error))
    estimates, errors = np.array(found).transpose(1, 0, 2)
    assert_allclose(estimates.std(axis=0), errors.mean(axis=0), rtol=0.35)


@pytest.mark.parametrize("gaps", [False, True])
def test_no_other_parameters_are_more_likely(rng, gaps):
    X, y = simulate(rng, 60, -1.0, np.array([0.6, -0.3]), 1.4, gaps=gaps)
    weights = rng.uniform(0.5, 2.0, 60)
    model = PowerLawProcess().fit(X, y, sample_weight=weights)
    windows, events = unpack(y)
    design = np.column_stack([np.ones(60), X])

    def likelihood(theta):
        return oracles.power_law_log_likelihood(
            windows, events, design, theta[:-1], np.exp(theta[-1]), weights
        )

    best = np.array([model.intercept_, *model.coef_, np.log(model.shape_)])
    assert_allclose(likelihood(best), model.log_likelihood_)
    information = -oracles.numerical_hessian(likelihood, best)
    assert_allclose(np.linalg.inv(information), model.covariance_, rtol=1e-3, atol=1e-6)
    for step in 1e-3 * np.vstack([np.eye(4), -np.eye(4)]):
        assert likelihood(best + step) < model.log_likelihood_


def test_constant_rates_are_events_over_time_in_each_group(rng):
    group = np.repeat([0.0, 1.0], 20)
    end = rng.uniform(1.0, 5.0, 40)
    y = RecurrentEvents.from_lists(
        [rng.uniform(0, e, rng.poisson(2 * e)) for e in end], end=end
    )
    model = HomogeneousPoisson().fit(group[:, None], y)
    rates = [y.n_events[group == g].sum() / end[group == g].sum() for g in (0.0, 1.0)]
    assert_allclose(model.predict_intensity([[0.0], [1.0]], [2.0])[:, 0], rates)


def test_without_features_the_shape_has_a_closed_form(rng):
    times = [10.0 * rng.uniform(size=5) ** 2 for _ in range(10)]
    y = RecurrentEvents.from_lists(times, end=10.0)
    model = PowerLawProcess().fit(np.zeros((10, 1)), y)
    assert_allclose(model.shape_, 50 / np.log(10.0 / np.concatenate(times)).sum())
    assert_allclose(model.predict([[0.0]]), 5.0)


def test_unit_of_time_changes_nothing_but_the_intercept(rng):
    X, y = simulate(rng, 60, -1.0, np.array([0.6]), 1.4)
    minutes = RecurrentEvents.from_lists([60 * own.times for own in y], end=60 * y.end)
    hours, finer = PowerLawProcess().fit(X, y), PowerLawProcess().fit(X, minutes)
    assert_allclose(finer.coef_, hours.coef_, rtol=1e-6)
    assert_allclose(finer.predict(X, horizon=300.0), hours.predict(X, horizon=5.0))


def test_features_that_others_determine_have_no_standard_error(rng):
    X, y = simulate(rng, 60, -1.0, np.array([0.6]), 1.0)
    doubled = np.column_stack([X, 2.0 * X, np.ones(60)])
    model, plain = HomogeneousPoisson().fit(doubled, y), HomogeneousPoisson().fit(X, y)
    assert_allclose(model.predict(doubled), plain.predict(X))
    assert np.isnan(model.summary().standard_error).sum() == 2


def test_a_category_without_events_has_a_rate_near_zero():
    y = RecurrentEvents.from_lists([[1.0], [2.0, 3.0], [], []], end=4.0)
    table = pd.DataFrame({"kind": ["a", "a", "b", "b"]})
    model = HomogeneousPoisson().fit(table, y)
    assert_allclose(model.predict(table), [1.5, 1.5, 0.0, 0.0], atol=1e-6)


def test_categories_are_compared_with_the_first(rng):
    X, y = simulate(rng, 60, 0.0, np.array([0.6]), 1.0)
    table = pd.DataFrame({"size": X[:, 0], "kind": np.tile(["b", "a", "c"], 20)})
    summary = HomogeneousPoisson().fit(table, y).summary()
    assert summary.names == ("intercept", "size", "kind=b", "kind=c")


def test_shape_is_tested_against_one_and_shown_as_it_is(rng):
    X, y = simulate(rng, 100, 0.0, np.array([0.6]), 2.0)
    model = PowerLawProcess().fit(X, y)
    summary = model.summary()
    assert summary.names[-1] == "shape"
    assert_allclose(summary.estimate[-1], model.shape_)
    assert summary.lower[-1] < model.shape_ < summary.upper[-1]
    assert summary.pvalue[-1] < 1e-6
    assert "shape" in str(summary)


def test_power_laws_go_on_beyond_the_data(rng):
    X, y = simulate(rng, 60, 0.0, np.array([0.6]), 1.5)
    model = PowerLawProcess().fit(X, y)
    curves = model.predict_cumulative(X, [10.0, 20.0])
    assert_allclose(curves[:, 1] / curves[:, 0], 2.0**model.shape_)


def test_units_of_features_do_not_matter(rng):
    X, y = simulate(rng, 60, -1.0, np.array([0.6, -0.3]), 1.4)
    units = np.array([1e6, 1e-6])
    plain, scaled = PowerLawProcess().fit(X, y), PowerLawProcess().fit(X * units, y)
    assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-8)
    errors = [model.summary().standard_error[1:3] for model in (scaled, plain)]
    assert_allclose(errors[0] * units, errors[1], rtol=1e-8)


def test_events_at_the_very_end_have_the_largest_shape():
    y = RecurrentEvents.from_lists([[10.0], [10.0, 10.0], []], end=10.0)
    model = PowerLawProcess().fit(np.zeros((3, 1)), y)
    assert 100.0 < model.shape_ < 149.0
    assert_allclose(model.predict([[0.0]]), 1.0, rtol=1e-6)


def test_stopping_too_early_is_said(rng, monkeypatch):
    monkeypatch.setattr("boostr.baselines._power_law._MAX_STEPS", 1)
    X, y = simulate(rng, 60, -1.0, np.array([0.6]), 1.4)
    with pytest.warns(ConvergenceWarning, match="after 1 steps"):
        PowerLawProcess().fit(X, y)
