"""Models that learn each kind of events."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import boostr
from boostr import BoostR, MeanCumulativeFunction, RecurrentEvents
from boostr.exceptions import InvalidEventsError, InvalidParameterError
from boostr.inspection import explain, feature_importance, permutation_importance

N = 200
TIMES = [2.0, 5.0, 9.0]
SMALL = {"n_estimators": 15, "n_origins": 2, "random_state": 0}


def make(seed=0, n=N, rare=4):
    """Return features and histories: motors fail by x0, seals by x1, others by chance."""
    rng = np.random.default_rng(seed)
    X, end = rng.uniform(size=(n, 3)), rng.uniform(5.0, 10.0, size=n)
    events, kinds = [], []
    for who in range(n):
        rates = {
            "motor": 0.1 + 0.5 * (X[who, 0] > 0.5),
            "seal": 0.1 + 0.3 * (X[who, 1] > 0.5),
        }
        counts = {kind: rng.poisson(end[who] * rate) for kind, rate in rates.items()}
        counts["fuse"] = int(who < rare)
        kinds.append([kind for kind, count in counts.items() for _ in range(count)])
        events.append(end[who] * rng.uniform(size=len(kinds[-1])))
    return X, RecurrentEvents.from_lists(events, end=end, kind=kinds)


@pytest.fixture(scope="module")
def fleet():
    return make()


@pytest.fixture(scope="module")
def model(fleet):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of rare kinds
        return BoostR(**SMALL).fit(*fleet)


@pytest.fixture(scope="module")
def total(fleet):
    return BoostR(**SMALL, kinds="total").fit(*fleet)


def test_rare_kinds_are_pooled_and_named(fleet):
    X, y = fleet
    with pytest.warns(UserWarning, match="'other kinds': fuse"):
        model = BoostR(n_estimators=2, n_origins=0, validation=None).fit(X, y)
    assert model.kind_labels_ == ("motor", "seal", "other kinds")


@pytest.mark.parametrize(
    "predict",
    [
        lambda m, X, **kind: m.predict(X, horizon=7.0, **kind),
        lambda m, X, **kind: m.predict_cumulative(X, TIMES, **kind),
        lambda m, X, **kind: m.predict_intensity(X, TIMES, **kind),
        lambda m, X, **kind: m.predict_count(X, 1.0, 4.0, **kind),
        lambda m, X, **kind: m.predict_out_of_fold(TIMES, **kind),
        lambda m, X, **kind: explain(m, X[:5], TIMES, **kind).amounts,
    ],
)
def test_predictions_by_kind_sum_to_the_total(model, fleet, predict):
    parts = [predict(model, fleet[0], kind=kind) for kind in model.kind_labels_]
    assert_allclose(sum(parts), predict(model, fleet[0]), rtol=1e-12)


def test_a_kind_is_predicted_as_by_a_model_of_its_events_alone(model, fleet):
    X, y = fleet
    alone = BoostR(**SMALL, kinds="total").fit(X, y.of_kind("seal"))
    assert_array_equal(
        model.predict_cumulative(X, TIMES, kind="seal"), alone.predict_cumulative(X, TIMES)
    )


def test_without_kinds_nothing_changes(fleet, total):
    X, y = fleet
    plain = BoostR(**SMALL).fit(X, y._with(event_kind=None, kinds=None))
    assert plain.kind_labels_ == total.kind_labels_ == ()
    assert_array_equal(
        plain.predict_cumulative(X, TIMES), total.predict_cumulative(X, TIMES)
    )
    tables = [m.forecast(X, y, horizon=3.0) for m in (plain, total)]
    assert tables[0].equals(tables[1])


def by_id(model, fleet, **options):
    return model.forecast(*fleet, horizon=3.0, **options).set_index("id").sort_index()


def test_forecasts_by_kind_sum_to_the_total(model, fleet):
    parts = [by_id(model, fleet, kind=kind) for kind in model.kind_labels_]
    whole = by_id(model, fleet)
    assert_allclose(sum(part["expected"] for part in parts), whole["expected"])
    assert "likely_kind" not in parts[0]
    most = np.argmax([part["expected"] for part in parts], axis=0)
    assert whole["likely_kind"].tolist() == [model.kind_labels_[k] for k in most]


def test_any_event_is_as_likely_and_as_soon_as_one_of_a_kind():
    # A few machines break their seals again and again; frailties of all events together
    # then spread the motors of the others, too.
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(120, 1))
    motors, seals = rng.poisson(3.0, 120), rng.poisson(30.0 * rng.gamma(0.1, 1.0, 120))
    kind = [["motor"] * m + ["seal"] * s for m, s in zip(motors, seals, strict=True)]
    y = RecurrentEvents.from_lists(
        [rng.uniform(0.0, 10.0, len(each)) for each in kind], end=10.0, kind=kind
    )
    model = BoostR(n_estimators=5, n_origins=2, random_state=0).fit(X, y)
    any_kind = model.forecast(X, y, horizon=3.0).sort_values("id")
    waits = model.predict_next_event(X, y, [0.2, 0.8])
    for label in model.kind_labels_:
        one = model.forecast(X, y, horizon=3.0, kind=label).sort_values("id")
        later = model.predict_next_event(X, y, [0.2, 0.8], kind=label)
        assert np.all(any_kind["probability"].to_numpy() >= one["probability"].to_numpy())
        medians = any_kind["next_event_median"], one["next_event_median"]
        assert np.all(medians[0].to_numpy() <= medians[1].to_numpy())
        assert np.all(waits <= later)


def test_totals_of_the_fleet_sum_as_well(model, fleet):
    parts = [
        model.forecast_fleet(*fleet, horizon=3.0, kind=kind).expected
        for kind in model.kind_labels_
    ]
    assert sum(parts) == pytest.approx(model.forecast_fleet(*fleet, horizon=3.0).expected)


def test_bands_and_reasons_agree_with_forecasts(model, fleet):
    X, y = fleet
    expected = by_id(model, fleet)["expected"].to_numpy()
    assert_allclose(model.explain_forecast(X, y, horizon=3.0).prediction, expected)
    late = np.array([y.end.max() + 3.0])
    ahead = model.forecast(X, y, horizon=late - y.end).set_index("id").sort_index()
    band = model.predict_band(X, late, y=y)
    assert_allclose(band.expected[:, 0] - y.n_events, ahead["expected"])


def test_each_kind_has_its_own_reasons(model, fleet):
    gains = {kind: feature_importance(model, kind=kind) for kind in ("motor", "seal")}
    assert gains["motor"].importances.argmax() == 0
    assert gains["seal"].importances.argmax() == 1
    rises = permutation_importance(model, *make(seed=1, n=100), kind="seal")
    assert rises.importances.argmax() == 1


def test_own_history_is_that_of_the_kind(model, fleet):
    X, y = fleet
    more = RecurrentEvents.from_lists(
        [[*own.times, *[0.5 * own.end[0]] * 6] for own in y],
        end=y.end,
        kind=[[y.kinds[code] for code in own.event_kind] + ["motor"] * 6 for own in y],
    )
    seals = [by_id(model, (X, each), kind="seal")["expected"] for each in (y, more)]
    assert_array_equal(*seals)


def test_each_kind_follows_its_own_cause(model):
    X = np.array([[0.1, 0.1, 0.5], [0.9, 0.1, 0.5], [0.1, 0.9, 0.5]])
    motors, seals = (model.predict(X, kind=kind) for kind in ("motor", "seal"))
    assert motors[1] > 1.5 * motors[0]
    assert seals[2] > 1.5 * seals[0]
    assert_allclose([motors[2], seals[1]], [motors[0], seals[0]], rtol=0.3)


def test_files_keep_kinds(model, fleet, tmp_path):
    model.save(tmp_path / "pumps.boostr")
    again = boostr.load(tmp_path / "pumps.boostr")
    assert again.kind_labels_ == model.kind_labels_
    assert by_id(again, fleet).equals(by_id(model, fleet))
    assert by_id(again, fleet, kind="seal").equals(by_id(model, fleet, kind="seal"))


def test_an_unknown_kind_is_refused_with_the_known_ones(model, total, fleet):
    X, y = fleet
    with pytest.raises(InvalidParameterError, match="'motor', 'seal', 'other kinds'"):
        model.predict(X, kind="rotor")
    with pytest.raises(InvalidParameterError, match="among 'other kinds'"):
        model.forecast(X, y, horizon=1.0, kind="fuse")
    with pytest.raises(InvalidParameterError, match="all events together"):
        total.predict(X, kind="motor")


def test_histories_of_forecasts_need_known_kinds(model, fleet):
    X, y = fleet
    with pytest.raises(InvalidEventsError, match="these events have none"):
        model.forecast(X, y._with(event_kind=None, kinds=None), horizon=1.0)
    new = RecurrentEvents.from_lists([[1.0]], end=2.0, kind=[["gearbox"]])
    with pytest.raises(InvalidEventsError, match="gearbox was not seen"):
        model.forecast(X[:1], new, horizon=1.0)
    quiet = RecurrentEvents.from_lists([[]], end=2.0)
    assert np.isfinite(model.forecast(X[:1], quiet, horizon=1.0)["expected"]).all()


def test_kinds_must_be_known_to_be_learned_each(fleet):
    X, y = fleet
    with pytest.raises(InvalidEventsError, match="they have none"):
        BoostR(**SMALL, kinds="each").fit(X, y._with(event_kind=None, kinds=None))
    with pytest.raises(InvalidParameterError, match="kinds"):
        BoostR(kinds="all").fit(X, y)


def test_terminal_events_end_all_kinds(fleet):
    X, y = make(rare=0)
    died = y.with_terminal(np.arange(N) % 3 == 0)
    model = BoostR(n_estimators=8, n_origins=0, random_state=0).fit(X, died)
    curves = [model.predict_cumulative(X, TIMES, kind=kind) for kind in model.kind_labels_]
    assert_allclose(sum(curves), model.predict_cumulative(X, TIMES))
    assert np.all(sum(curves) < model.predict_cumulative(X, TIMES, conditional=True))
    parts = [by_id(model, (X, died), kind=kind) for kind in model.kind_labels_]
    whole = by_id(model, (X, died))
    assert_allclose(sum(part["expected"] for part in parts), whole["expected"])
    assert_allclose(parts[0]["terminal"], whole["terminal"])
    assert np.all(whole["expected"][died.is_terminal] == 0.0)
    assert_array_equal(whole["likely_kind"].isna(), died.is_terminal)


def test_mean_cumulative_functions_of_kinds_sum_to_that_of_all(fleet):
    y = fleet[1]
    parts = [MeanCumulativeFunction().fit(y, kind=kind).predict(TIMES) for kind in y.kinds]
    assert_allclose(sum(parts), MeanCumulativeFunction().fit(y).predict(TIMES))


def test_scans_learn_the_same_kinds(model, fleet, tmp_path):
    pytest.importorskip("pyarrow")
    X, y = fleet
    y.to_long(backend="pandas").to_parquet(tmp_path / "events.parquet")
    columns = {"id": "id", "time": "time", "event": "event", "start": "start"}
    scan = RecurrentEvents.scan_parquet(tmp_path / "events.parquet", **columns, kind="kind")
    with pytest.warns(UserWarning, match="fuse"):
        scanned = BoostR(**SMALL).fit(X, scan)
    assert_allclose(
        scanned.predict_cumulative(X, TIMES, kind="motor"),
        model.predict_cumulative(X, TIMES, kind="motor"),
    )
