from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.linalg import block_diag
from tests import oracles
from tests.engine.histories import AWKWARD, clocked, offsets

from boostr._engine.statistics import compute_suffstats, put_on_clock
from boostr._kernels.solve import GROUPED
from boostr.basis import (
    CalendarClock,
    OperationalClock,
    PowerBasis,
    SensorBasis,
    SplineBasis,
    StepBasis,
)
from boostr.basis.sensors import draw_sensor_sample
from boostr.data import RecurrentEvents, Trajectories
from boostr.exceptions import InvalidParameterError

BASELINES = {
    "none": None,
    "constant": PowerBasis((1.0,)),
    "powers": PowerBasis((1.0, 1.5)),
    "step": StepBasis(4),
    "spline": SplineBasis(2),
}
NAMES = ("load", "state", "level", "still")
LOAD, STATE, LEVEL, STILL = range(4)
CATEGORIES = {"state": ("idle", "run", "stop")}

baselines = pytest.mark.parametrize("baseline", BASELINES)
centred = pytest.mark.parametrize("baseline", ["constant", "powers"])
losses = pytest.mark.parametrize("loss", ["intensity", "cumulative"])
clocks = pytest.mark.parametrize("clock", ["calendar", "operational"])


def make_history(rng):
    """Draw up to two windows, events in them, and their costs."""
    cuts = np.sort(rng.uniform(0.0, 10.0, rng.choice([2, 4]))).reshape(-1, 2)
    times = np.sort(np.concatenate([rng.uniform(a, b, rng.integers(4)) for a, b in cuts]))
    costs = rng.choice([0.5, 1.0, 2.0], len(times))
    return [tuple(window) for window in cuts], times.tolist(), costs.tolist()


def make_events(histories):
    """Make histories with several windows, which the constructors read from tables."""
    flat = clocked(histories)
    return RecurrentEvents(
        times=flat.times,
        event_offsets=flat.event_offsets,
        costs=flat.costs,
        has_costs=True,
        window_start=flat.window_start,
        window_stop=flat.window_stop,
        window_offsets=flat.window_offsets,
        ids=np.arange(len(histories)),
        has_ids=False,
    )


class Fleet:
    """Individuals with four sensors: a number, a category, four levels, and a constant.

    The first has no sample; values are unknown before the first sample and three days
    after the last.
    """

    def __init__(self, rng, n=12, before="unknown"):
        self.histories = [make_history(rng) for _ in range(n)]
        self.events = make_events(self.histories)
        counts = np.concatenate([[0], rng.integers(1, 7, n - 1)])
        n_samples = counts.sum()
        values = np.array(
            [
                rng.gamma(2.0, 1.0, n_samples),
                rng.integers(0, 3, n_samples),
                rng.integers(0, 4, n_samples),
                np.full(n_samples, 4.0),
            ]
        )
        values[:, rng.random(n_samples) < 0.2] = np.nan
        self.sensors = Trajectories.from_flat(
            np.concatenate([np.sort(rng.uniform(-2.0, 10.0, count)) for count in counts]),
            offsets(counts),
            values,
            NAMES,
            categories=CATEGORIES,
            max_gap=3.0,
            before=before,
        )

    def __len__(self):
        return len(self.events)

    def clock(self, name="calendar"):
        is_calendar = name == "calendar"
        return CalendarClock() if is_calendar else OperationalClock.from_events(self.events)

    def clocked(self, name="calendar"):
        return put_on_clock(self.events, self.clock(name), self.sensors)

    def place(self, baseline="constant", loss="intensity", clock="calendar", **params):
        family = SensorBasis(baseline=BASELINES[baseline], **params)
        return family.place(self.clocked(clock), loss)

    def take(self, rows):
        part = object.__new__(Fleet)
        part.histories = [self.histories[row] for row in rows]
        part.events, part.sensors = self.events[rows], self.sensors[rows]
        return part


@pytest.fixture
def fleet(rng):
    return Fleet(rng)


def path_of(events, individual):
    """Return where the pieces of one individual begin, and their values."""
    pieces = slice(*events.paths.offsets[individual : individual + 2])
    return events.paths.begins[pieces], events.paths.values[:, pieces].T


def history_of(events, individual):
    windows = slice(*events.window_offsets[individual : individual + 2])
    own = slice(*events.event_offsets[individual : individual + 2])
    starts, stops = events.window_start[windows], events.window_stop[windows]
    return (
        list(zip(starts, stops, strict=True)),
        events.times[own].tolist(),
        events.costs[own].tolist(),
    )


def atoms_of(basis):
    """Return the atoms of all sensors as the oracles know them."""
    is_centred = basis.baseline is not None
    return [
        (own.knots, own.order, 0.0 * own.mean if is_centred else own.mean)
        for own in basis.sensors
    ]


def transform_of(basis):
    parts = [own.transform for own in basis.sensors]
    return block_diag(np.eye(basis.n_baseline), *parts)


def baseline_of(basis, loss):
    """Return the baseline's rates or functions at one time, and where they change."""
    if basis.baseline is None:
        return lambda time: np.zeros(0), ()
    edges = getattr(basis.baseline, "edges", ())
    is_pointwise = loss == "cumulative" and basis.baseline.breaks is not edges
    if is_pointwise and len(edges):
        cells = np.eye(len(edges))[:, :, None]
        return oracles.polynomial_pieces(edges, cells), edges
    evaluate = basis.baseline.rates if loss == "intensity" else basis.baseline.evaluate
    return lambda time: evaluate(np.array([time]))[0], edges


def flatten(linear, quadratic):
    return np.hstack([linear, quadratic])


def statistics(events, basis, loss, weights=None):
    stats = compute_suffstats(events, basis, loss, weights)
    return flatten(stats.linear, stats.quadratic)


# --- Statistics


@pytest.mark.slow
@baselines
@losses
@clocks
def test_statistics_are_the_integrals_of_the_functions(rng, baseline, loss, clock):
    fleet = Fleet(rng, 4)
    events, basis = fleet.clocked(clock), fleet.place(baseline, loss, clock)
    function, breaks = baseline_of(basis, loss)
    transform = transform_of(basis)
    expected = []
    for individual in range(len(fleet)):
        linear, quadratic = oracles.path_statistics(
            loss,
            function,
            path_of(events, individual),
            atoms_of(basis),
            history_of(events, individual),
            breaks,
        )
        product = transform.T @ quadratic @ transform
        expected.append(flatten(linear @ transform, oracles.lower_triangle(product)))
    found = statistics(events, basis, loss)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("baseline", "loss"),
    [
        ("none", "intensity"),
        ("step", "intensity"),
        ("spline", "intensity"),
        ("none", "cumulative"),
        ("powers", "cumulative"),
    ],
)
@clocks
def test_statistics_are_sums_over_short_cells_of_the_calendar(rng, baseline, loss, clock):
    # The clock is read only at the edges of cells, and sensors by their own times.
    fleet = Fleet(rng, 4)
    s, basis = fleet.clock(clock), fleet.place(baseline, loss, clock)
    for individual in range(1, len(fleet)):

        def rates(times, individual=individual):
            shown = fleet.sensors[[individual]].read(times)[0]
            functions = [basis.functions(k, shown[:, k]) for k in range(4)]
            return np.hstack([basis.baseline_rates(s.read(times)), *functions])

        history = fleet.histories[individual]
        linear, quadratic = oracles.dense_path_statistics(loss, s.read, rates, history)
        expected = flatten(linear, oracles.lower_triangle(quadratic))
        found = statistics(fleet.clocked(clock), basis, loss)[individual]
        assert_allclose(found, expected, atol=3e-3 * np.abs(expected).max())


@baselines
@losses
def test_shuffled_individuals_have_shuffled_statistics(rng, fleet, baseline, loss):
    basis = fleet.place(baseline, loss)
    order = rng.permutation(len(fleet))
    shuffled = statistics(fleet.take(order).clocked(), basis, loss)
    assert np.array_equal(shuffled, statistics(fleet.clocked(), basis, loss)[order])


@baselines
@losses
def test_blocks_of_individuals_change_nothing(monkeypatch, fleet, baseline, loss):
    basis = fleet.place(baseline, loss)
    whole = statistics(fleet.clocked(), basis, loss)
    monkeypatch.setattr("boostr.basis.sensors._BLOCK", 5)
    assert np.array_equal(statistics(fleet.clocked(), basis, loss), whole)


@pytest.mark.parametrize("baseline", ["constant", "powers", "step", "spline"])
@losses
@clocks
def test_without_sensors_there_is_the_baseline_alone(fleet, baseline, loss, clock):
    events = put_on_clock(
        fleet.events, fleet.clock(clock), Trajectories.from_events(fleet.events)
    )
    basis = SensorBasis(baseline=BASELINES[baseline]).place(events, loss)
    alone = BASELINES[baseline].place(events, loss)
    expected = compute_suffstats(events, alone, loss)
    assert_allclose(
        statistics(events, basis, loss), flatten(expected.linear, expected.quadratic)
    )


@pytest.mark.parametrize("baseline", ["constant", "powers", "step", "spline"])
@losses
def test_the_baseline_s_own_statistics_do_not_know_of_sensors(fleet, baseline, loss):
    events, basis = fleet.clocked(), fleet.place(baseline, loss)
    alone = basis.baseline.moments(events, loss)
    n_own = alone[1].shape[1]
    linear, quadratic = basis.moments(events, loss)
    found = flatten(linear[:, : basis.n_baseline], quadratic[:, :n_own])
    assert_allclose(found, flatten(*alone))


@baselines
@losses
def test_curvature_is_never_negative(fleet, baseline, loss):
    basis = fleet.place(baseline, loss)
    stats = compute_suffstats(fleet.clocked(), basis, loss)
    for triangle in stats.quadratic:
        matrix = oracles.full_matrix(triangle, basis.n_terms)
        assert np.linalg.eigvalsh(matrix).min() >= -1e-9 * np.trace(matrix)


@pytest.mark.parametrize("start", [1e3, 1e4, 1e5, 1e6])
def test_short_windows_late_in_time_keep_their_digits(start):
    # Curve and accumulated function both rise in a straight line from zero, to 1 and to f.
    events = RecurrentEvents.from_lists(
        [[], []], start=[0.0, start], end=[1.0, start + 1.0]
    )
    sensors = Trajectories.from_flat([-1, 1, 0], [0, 2, 3], [[0, 2, 1]], ["load"])
    late = put_on_clock(events, CalendarClock(), sensors)
    basis = SensorBasis(0, 2).place(late, "cumulative")
    f = basis.functions(0, np.ones(1))[0, 0]
    _, quadratic = basis.moments(late, "cumulative")
    assert_allclose(quadratic[1], np.array([1.0, f, f**2]) / 3.0, rtol=1e-3)


def double_pieces(paths):
    """Cut every piece in its middle, and the last one a day after it began."""
    begins = np.repeat(paths.begins, 2)
    owner = np.repeat(np.arange(len(paths.offsets) - 1), np.diff(paths.offsets))
    ends = np.append(paths.begins[1:], np.inf)
    is_last = np.append(owner[1:] != owner[:-1], True)
    begins[1::2] = np.where(is_last, paths.begins + 1.0, 0.5 * (paths.begins + ends))
    return replace(
        paths,
        begins=begins,
        values=np.repeat(paths.values, 2, axis=1),
        offsets=2 * paths.offsets,
    )


@baselines
@losses
@clocks
def test_samples_that_say_nothing_new_change_nothing(fleet, baseline, loss, clock):
    events, basis = fleet.clocked(clock), fleet.place(baseline, loss, clock)
    doubled = replace(events, paths=double_pieces(events.paths))
    again = SensorBasis(baseline=BASELINES[baseline]).place(doubled, loss)
    assert_allclose(
        statistics(doubled, basis, loss), statistics(events, basis, loss), atol=1e-9
    )
    for one, other in zip(basis.sensors, again.sensors, strict=True):
        assert_allclose(other.knots, one.knots)
        assert_allclose(other.mean, one.mean, atol=1e-12)


@losses
def test_first_values_hold_from_the_beginning_on_demand(rng, loss):
    # The same as if they had been sampled long before.
    fleet = Fleet(rng, before="first")
    early = fleet.sensors.times.copy()
    some = np.diff(fleet.sensors.offsets) > 0
    early[fleet.sensors.offsets[:-1][some]] = -100.0
    events, basis = fleet.clocked(), fleet.place(loss=loss)
    sampled = replace(events.paths, begins=early)
    assert_allclose(
        statistics(replace(events, paths=sampled), basis, loss),
        statistics(events, basis, loss),
    )


# --- Sensors that say nothing


def with_sensor(fleet, values, categories=None):
    """Give everybody one sensor, with a sample at -1 and then every two days."""
    n = len(fleet)
    times = np.tile([-1.0, 2.0, 4.0, 6.0, 8.0], n)
    values = np.broadcast_to(values, (n, 5)).ravel()
    sensors = Trajectories.from_flat(
        times, np.arange(n + 1) * 5, values, ["odd"], categories=categories
    )
    return put_on_clock(fleet.events, CalendarClock(), sensors)


@pytest.mark.parametrize("value", [3.0, np.nan])
def test_a_sensor_that_never_changes_adds_no_terms(fleet, value):
    basis = SensorBasis().place(with_sensor(fleet, value), "intensity")
    assert basis.n_terms == 1


@pytest.mark.parametrize("value", [3.0, np.nan])
def test_without_a_baseline_some_sensor_must_change(fleet, value):
    with pytest.raises(InvalidParameterError, match="constant or unknown") as caught:
        SensorBasis(baseline=None).place(with_sensor(fleet, value), "intensity")
    assert "Hint:" in str(caught.value)


@pytest.mark.parametrize("seed", range(5))
def test_a_category_that_never_changes_adds_no_terms(seed):
    fleet = Fleet(np.random.default_rng(seed))
    events = with_sensor(fleet, 1.0, {"odd": ("a", "b", "c")})
    assert SensorBasis().place(events, "intensity").n_terms == 1


def test_what_nobody_was_observed_at_adds_no_terms():
    # The sensor moves after the end of follow-up alone.
    events = RecurrentEvents.from_lists([[1.0], [2.0]], end=[3.0, 4.0])
    sensors = Trajectories.from_flat([0, 5, 0, 4], [0, 2, 4], [[1, 9, 1, 8]], ["odd"])
    late = put_on_clock(events, CalendarClock(), sensors)
    assert SensorBasis().place(late, "intensity").n_terms == 1


@baselines
@losses
def test_a_constant_sensor_changes_nothing(fleet, baseline, loss):
    speaking = fleet.sensors.select(list(NAMES[:3]))
    others = put_on_clock(fleet.events, CalendarClock(), speaking)
    basis = SensorBasis(baseline=BASELINES[baseline]).place(others, loss)
    assert_allclose(
        statistics(fleet.clocked(), fleet.place(baseline, loss), loss),
        statistics(others, basis, loss),
    )


# --- Functions over the exposure


def exposures(events, sensor):
    """Return values of a sensor and for how long they were observed, where known."""
    values, lengths = [], []
    for individual in range(len(events)):
        begins, shown = path_of(events, individual)
        windows = history_of(events, individual)[0]
        ends = [*begins, np.inf][1:]
        values.extend(shown[:, sensor])
        lengths.extend(map(oracles.observed_length, begins, ends, [windows] * len(ends)))
    values, lengths = np.array(values), np.array(lengths)
    known = ~np.isnan(values) & (lengths > 0.0)
    return values[known], lengths[known]


@centred
@clocks
@pytest.mark.parametrize("sensor", [LOAD, STATE, LEVEL])
def test_functions_have_mean_zero_and_variance_one(fleet, baseline, clock, sensor):
    basis = fleet.place(baseline, clock=clock)
    values, lengths = exposures(fleet.clocked(clock), sensor)
    functions = basis.functions(sensor, values)
    shares = lengths / lengths.sum()
    assert_allclose(shares @ functions, 0.0, atol=1e-9)
    covariance = (shares[:, None] * functions).T @ functions
    assert_allclose(covariance, np.eye(functions.shape[1]), atol=1e-8)


@pytest.mark.parametrize("sensor", [LOAD, STATE, LEVEL])
def test_functions_span_all_that_atoms_can_say_but_the_constant(fleet, sensor):
    basis = fleet.place()
    values, _ = exposures(fleet.clocked(), sensor)
    atoms = np.array([oracles.atoms_at(z, *atoms_of(basis)[sensor]) for z in values])
    both = np.column_stack([np.ones(len(values)), basis.functions(sensor, values)])
    residual = atoms - both @ np.linalg.lstsq(both, atoms, rcond=None)[0]
    assert_allclose(residual, 0.0, atol=1e-4)
    assert both.shape[1] == np.linalg.matrix_rank(atoms, tol=1e-6)


@baselines
@pytest.mark.parametrize("sensor", [LOAD, STATE, LEVEL])
def test_functions_are_combinations_of_the_atoms(fleet, baseline, sensor):
    basis = fleet.place(baseline)
    values = np.array([np.nan, -1.0, 0.0, 0.7, 1.0, 2.0, 2.9, 60.0])
    atoms = np.array([oracles.atoms_at(z, *atoms_of(basis)[sensor]) for z in values])
    expected = atoms @ basis.sensors[sensor].transform
    assert_allclose(basis.functions(sensor, values), expected, atol=1e-9)


@pytest.mark.parametrize("sensor", [LOAD, STATE, LEVEL])
def test_an_unknown_value_adds_nothing_beside_a_baseline(fleet, sensor):
    functions = fleet.place("constant").functions(sensor, np.array([np.nan]))
    assert np.array_equal(functions, np.zeros_like(functions))


@pytest.mark.parametrize("sensor", [LOAD, STATE, LEVEL])
def test_without_a_baseline_an_unknown_value_counts_as_the_average(fleet, sensor):
    basis = fleet.place("none")
    values, lengths = exposures(fleet.clocked(), sensor)
    average = np.average(basis.functions(sensor, values), axis=0, weights=lengths)
    assert_allclose(basis.functions(sensor, np.array([np.nan]))[0], average)


def test_an_unseen_category_is_unknown(fleet):
    basis = fleet.place("constant")
    assert np.array_equal(basis.functions(STATE, np.array([3.0, -1.0])), np.zeros((2, 2)))


@pytest.mark.parametrize("n_knots", [1, 2, 3, 5])
@clocks
def test_knots_stand_at_quantiles_of_the_time_observed(rng, n_knots, clock):
    fleet = Fleet(rng, 60)
    knots = fleet.place(clock=clock, n_knots=n_knots).sensors[LOAD].knots
    values, lengths = exposures(fleet.clocked(clock), LOAD)
    shares = np.arange(1, n_knots + 1) / (n_knots + 1) * lengths.sum()
    inner = knots[3:-3]
    below = np.array([lengths[values < knot].sum() for knot in inner])
    up_to = np.array([lengths[values <= knot].sum() for knot in inner])
    assert len(inner) == n_knots
    assert np.all((below <= shares + 1e-9) & (shares - 1e-9 <= up_to))


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_range_is_that_of_the_values_observed(fleet, order):
    own = fleet.place(order=order).sensors[LOAD]
    values, _ = exposures(fleet.clocked(), LOAD)
    assert (own.low, own.high) == (values.min(), values.max())
    assert np.array_equal(own.knots[[order - 1, -order]], [own.low, own.high])


@pytest.mark.parametrize(("baseline", "lost"), [("none", 0), ("constant", 1)])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("n_knots", [0, 1, 3])
def test_a_constant_is_left_to_the_baseline(rng, baseline, lost, order, n_knots):
    basis = Fleet(rng, 30).place(baseline, order=order, n_knots=n_knots)
    n_atoms = order + n_knots
    expected = max(n_atoms - lost, 0) if n_atoms > 1 else 0  # one atom is a constant
    assert basis.sensors[LOAD].transform.shape[1] == expected
    assert basis.sensors[STATE].transform.shape[1] == 3 - lost


def test_knots_can_be_given_by_name(fleet):
    basis = fleet.place(n_knots={"load": [2.0, 0.9, 2.0]})
    assert np.array_equal(basis.sensors[LOAD].knots[3:-3], [0.9, 2.0])


def test_knots_not_given_stand_at_quantiles(fleet):
    given = fleet.place(n_knots={"level": [1.5]}).sensors[LOAD]
    assert np.array_equal(given.knots, fleet.place(n_knots=2).sensors[LOAD].knots)


def test_given_knots_outside_of_the_range_are_left_out(fleet):
    own = fleet.place(n_knots={"load": [-5.0, 1.0, 500.0]}).sensors[LOAD]
    assert np.array_equal(own.knots[3:-3], [1.0])


def test_tied_quantiles_are_one_knot(fleet):
    knots = fleet.place(n_knots=8).sensors[LEVEL].knots
    assert np.all(np.diff(knots[2:-2]) > 0.0)


@pytest.mark.parametrize("baseline", ["none", "constant"])
@pytest.mark.parametrize("sensor", [LOAD, STATE, LEVEL])
def test_weight_two_is_the_individual_twice(rng, fleet, baseline, sensor):
    weights = rng.choice([1.0, 2.0], len(fleet))
    twice = fleet.take(np.repeat(np.arange(len(fleet)), weights.astype(int)))
    family = SensorBasis(baseline=BASELINES[baseline])
    weighted = family.place(fleet.clocked(), "intensity", weights).sensors[sensor]
    repeated = family.place(twice.clocked(), "intensity").sensors[sensor]
    assert_allclose(weighted.knots, repeated.knots)
    assert_allclose(weighted.mean, repeated.mean)
    # Uncorrelated functions of unit variance are one as good as another, turned.
    assert_allclose(
        weighted.transform @ weighted.transform.T,
        repeated.transform @ repeated.transform.T,
        rtol=1e-6,
        atol=1e-6,
    )


@losses
def test_the_order_of_individuals_does_not_matter(rng, fleet, loss):
    shuffled = fleet.take(rng.permutation(len(fleet)))
    for one, other in zip(
        fleet.place(loss=loss).sensors, shuffled.place(loss=loss).sensors, strict=True
    ):
        assert_allclose(one.knots, other.knots)
        assert_allclose(one.mean, other.mean, atol=1e-12)


def test_the_unit_of_a_sensor_does_not_matter(fleet):
    events, basis = fleet.clocked(), fleet.place()
    scaled = events.paths.values.copy()
    scaled[LOAD] = 1000.0 * scaled[LOAD] + 5.0
    other = replace(events, paths=replace(events.paths, values=scaled))
    turned = SensorBasis().place(other, "intensity")
    values = np.linspace(0.0, 5.0, 7)
    one = basis.functions(LOAD, values)
    two = turned.functions(LOAD, 1000.0 * values + 5.0)
    assert_allclose(one @ one.T, two @ two.T, rtol=1e-6, atol=1e-6)


# --- The exposure


@clocks
def test_the_exposure_of_pieces_is_their_time_in_windows(fleet, clock):
    sample = draw_sensor_sample(fleet.clocked(clock))
    for sensor in range(4):
        values, lengths = exposures(fleet.clocked(clock), sensor)
        known = ~np.isnan(sample.values[sensor])
        assert_allclose(sample.values[sensor][known], values)
        assert_allclose(sample.weights[known], lengths)


def test_the_exposure_counts_by_the_individual_s_weight(rng, fleet):
    weights = rng.uniform(0.5, 2.0, len(fleet))
    plain = draw_sensor_sample(fleet.clocked())
    weighted = draw_sensor_sample(fleet.clocked(), weights)
    parts = [draw_sensor_sample(fleet.take([row]).clocked()) for row in range(len(fleet))]
    owner = np.repeat(np.arange(len(fleet)), [len(part.weights) for part in parts])
    assert_allclose(weighted.weights, plain.weights * weights[owner])


def test_a_sample_of_pieces_keeps_the_ranges_of_all(monkeypatch, fleet):
    plain = draw_sensor_sample(fleet.clocked())
    monkeypatch.setattr("boostr.basis.sensors._SAMPLE_SIZE", 5)
    sampled = draw_sensor_sample(fleet.clocked())
    assert len(sampled.weights) < len(plain.weights)
    assert np.array_equal(sampled.lows, plain.lows, equal_nan=True)
    assert np.array_equal(sampled.highs, plain.highs, equal_nan=True)


@clocks
@pytest.mark.parametrize("sensor", [LOAD, LEVEL])
def test_shares_of_the_time_are_remembered_by_cell(fleet, clock, sensor):
    own = fleet.place(clock=clock).sensors[sensor]
    values, lengths = exposures(fleet.clocked(clock), sensor)
    edges = np.linspace(own.low, own.high, len(own.shares) + 1)
    cells = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    expected = np.bincount(cells, lengths, len(own.shares)) / lengths.sum()
    assert_allclose(own.shares, expected, atol=1e-12)


@clocks
def test_shares_of_the_time_are_remembered_by_category(fleet, clock):
    values, lengths = exposures(fleet.clocked(clock), STATE)
    expected = np.bincount(values.astype(int), lengths) / lengths.sum()
    assert_allclose(fleet.place(clock=clock).sensors[STATE].shares, expected)


# --- What a fitted basis tells


@baselines
def test_terms_are_the_baseline_s_and_then_the_sensors(fleet, baseline):
    basis = fleet.place(baseline)
    sizes = [own.transform.shape[1] for own in basis.sensors]
    n_baseline = 0 if basis.baseline is None else basis.baseline.n_terms
    assert np.array_equal(basis.starts, np.cumsum([n_baseline, *sizes]))
    assert basis.n_terms == n_baseline + sum(sizes)
    assert basis.solver == GROUPED


@baselines
def test_weights_of_atoms_are_those_of_the_functions(rng, fleet, baseline):
    basis = fleet.place(baseline)
    theta = rng.normal(size=(5, basis.n_terms))
    for sensor, own in enumerate(basis.sensors):
        terms = slice(*basis.starts[sensor : sensor + 2])
        atoms = slice(*basis.atoms.starts[sensor : sensor + 2])
        expected = theta[:, terms] @ own.transform.T
        assert_allclose(basis.atom_weights(theta)[:, atoms], expected)


@pytest.mark.parametrize(
    ("baseline", "is_constant"),
    [("none", True), ("constant", True), ("powers", False), ("step", False)],
)
def test_a_constant_baseline_changes_only_where_sensors_do(fleet, baseline, is_constant):
    assert fleet.place(baseline).has_constant_rate == is_constant


def test_rates_without_bound_count_as_zero(fleet):
    basis = SensorBasis(baseline=PowerBasis((0.75, 1.0))).place(
        fleet.clocked(), "intensity"
    )
    assert np.array_equal(basis.baseline_rates(np.zeros(1)), [[0.0, 1.0]])


@pytest.mark.parametrize("cuts", [[0, 12], [0, 1, 12], [0, 3, 3, 8, 12]])
def test_parts_of_the_histories_are_those_of_their_individuals(fleet, cuts):
    events = fleet.clocked()
    blocks = [slice(*cuts[place : place + 2]) for place in range(len(cuts) - 1)]
    for block in blocks:
        part = events.part(block)
        for place, individual in enumerate(range(block.start, block.stop)):
            assert history_of(part, place) == history_of(events, individual)
            for one, other in zip(
                path_of(part, place), path_of(events, individual), strict=True
            ):
                assert np.array_equal(one, other, equal_nan=True)


# --- Integrals of baselines


@losses
@pytest.mark.parametrize("baseline", ["constant", "powers", "step", "spline"])
@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("time", [0.0, 0.3, 7.0, 12.0])
def test_integrals_are_those_of_the_functions(baseline, loss, order, time):
    basis = BASELINES[baseline].place(clocked([AWKWARD], horizon=10.0), loss)
    edges = [*basis.breaks, *getattr(basis, "edges", ())]
    points = [edge for edge in edges if 0.0 < edge < time]
    for term in range(basis.n_terms):
        area, _ = quad(
            lambda s, term=term: basis.integrals(np.array([s]), order - 1)[0, term],
            0.0,
            time,
            points=points or None,
        )
        found = basis.integrals(np.array([time]), order)[0, term]
        assert_allclose(found, area, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("baseline", ["constant", "powers", "spline"])
def test_integrals_of_order_zero_are_the_functions(baseline):
    basis = BASELINES[baseline].place(clocked([AWKWARD]), "cumulative")
    times = np.linspace(0.0, 12.0, 25)
    assert_allclose(basis.integrals(times, 0), basis.evaluate(times))


def test_integrals_of_order_zero_are_the_cells_of_steps():
    basis = StepBasis(4).place(clocked([AWKWARD], horizon=8.0), "cumulative")
    times = np.array([0.0, 1.0, 2.0, 2.1, 8.0, 20.0])
    expected = np.vstack([np.zeros(4), np.eye(4)[[0, 1, 1, 3, 3]]])
    assert np.array_equal(basis.integrals(times, 0), expected)


# --- Errors


def test_functions_of_sensors_need_sensors(fleet):
    events = put_on_clock(fleet.events, CalendarClock())
    with pytest.raises(InvalidParameterError, match="need sensors"):
        SensorBasis().place(events, "intensity")


def test_knots_of_strangers_are_refused_by_name(fleet):
    with pytest.raises(InvalidParameterError, match="lode") as caught:
        fleet.place(n_knots={"lode": [1.0]})
    assert "load" in str(caught.value)
    assert "Hint:" in str(caught.value)


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"order": 0}, "spline_order"),
        ({"order": 1.5}, "spline_order"),
        ({"n_knots": -1}, "n_knots"),
        ({"n_knots": True}, "n_knots"),
    ],
)
def test_knots_and_order_must_be_whole_numbers(params, name):
    with pytest.raises(InvalidParameterError, match=f"`{name}` must be a whole number"):
        SensorBasis(**params)


def test_the_baseline_must_suit_the_loss(fleet):
    family = SensorBasis(baseline=PowerBasis((0.4,)))
    with pytest.raises(InvalidParameterError, match="infinite integral"):
        family.place(fleet.clocked(), "intensity")
