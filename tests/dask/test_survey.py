"""What the cluster learns of everybody is what one machine learns."""

import numpy as np
import pytest
from tests.dask.scenes import COLUMNS, make_fleet, spread, write

from boostr._training.features import FeatureEncoder
from boostr._training.inputs import check_training_data
from boostr._training.settings import find_bins
from boostr._training.statistics import compute_statistics, plan_statistics
from boostr.dask._partition import bring_together
from boostr.dask._parts import Roles
from boostr.dask._shards import Recipe, build_training_set
from boostr.dask._survey import find_bins as find_summarized_bins
from boostr.dask._survey import survey
from boostr.data import Trajectories

PARAMS = {
    "clock": "operational",
    "leaf": "power",
    "loss": "intensity",
    "gamma2": 1.0,
    "n_knots": 2,
    "spline_order": 3,
    "baseline": "constant",
    "sensor_penalty": "group_lasso",
}
ROLES = Roles(**COLUMNS, weight="weight")


@pytest.fixture(scope="module")
def fleet():
    return make_fleet(250)


@pytest.fixture(scope="module")
def local(fleet):
    encoder = FeatureEncoder.learn(fleet.X, "from_dtype")
    data = check_training_data(fleet.X, encoder, fleet.y, fleet.Z, fleet.weights)
    return encoder, data, compute_statistics(PARAMS, data)


def look(client, sources):
    data = bring_together(client, ROLES, sources)
    found = survey(
        client,
        data.context,
        data.tasks,
        data.heads,
        (data.meta, "from_dtype"),
        wants_summaries=True,
        wants_used=True,
    )
    return data, found


@pytest.fixture(scope="module", params=["frames", "files"])
def gathered(request, fleet, client, tmp_path_factory):
    if request.param == "frames":
        shuffled = fleet.shuffled(5)
        sources = {
            "X": spread(shuffled.static, 3),
            "events": spread(shuffled.events, 4),
            "sensors": spread(shuffled.sensors, 2),
        }
    else:
        folder = tmp_path_factory.mktemp("tables")
        sources = {
            "X": write(fleet.static, folder / "X", 3),
            "events": write(fleet.events, folder / "events", 2, 200),
            "sensors": write(fleet.sensors, folder / "sensors", 5),
        }
    return *look(client, sources), client


def assert_same_sensors(one, other):
    assert isinstance(one, Trajectories)
    assert one.names == other.names
    assert one.categories == other.categories
    np.testing.assert_array_equal(one.ids, other.ids)
    np.testing.assert_array_equal(one.times, other.times)
    np.testing.assert_array_equal(one.values, other.values)


def test_everybody_is_counted(gathered, fleet):
    data, found, _ = gathered
    assert sum(data.heads.n) == 250
    assert data.heads.total == np.sum(fleet.weights > 0) == found.extent.n
    np.testing.assert_array_equal(found.is_used, fleet.weights > 0)


def test_the_encoder_is_that_of_one_machine(gathered, local):
    encoder, _, _ = local
    found = gathered[1].encoder
    assert found.names == encoder.names
    assert found.categories == encoder.categories


def test_samples_are_those_of_one_machine(gathered, local):
    _, data, _ = local
    found = gathered[1].few
    np.testing.assert_array_equal(found.features, data.features)
    np.testing.assert_array_equal(found.weights, data.weights)
    assert found.events.equals(data.events)
    assert_same_sensors(found.sensors, data.sensors)


def test_bins_are_those_of_one_machine(gathered, local):
    encoder, data, _ = local
    expected = find_bins(data.features, 16, encoder)
    found = find_summarized_bins(
        gathered[1].summaries, 16, encoder.is_categorical, encoder.n_categories
    )
    np.testing.assert_array_equal(found.thresholds, expected.thresholds)
    np.testing.assert_array_equal(found.offsets, expected.offsets)


def test_statistics_and_bins_are_those_of_one_machine(gathered, local):
    data, found, client = gathered
    encoder, own, prepared = local
    plan = plan_statistics(PARAMS, found.pool, found.few, found.extent)
    mapper = find_bins(found.pool.features, 16, found.encoder)
    recipe = Recipe(plan, found.encoder, mapper, found.categories)
    training_set = build_training_set(client, data.context, data.tasks, data.heads, recipe)
    assert len(training_set.shards.futures) == 2
    assert len(training_set) == len(own)
    everybody = training_set.take(np.arange(len(training_set)))
    expected = find_bins(own.features, 16, encoder).transform(own.features)
    np.testing.assert_array_equal(everybody.stats.linear, prepared.stats.linear)
    np.testing.assert_array_equal(everybody.stats.quadratic, prepared.stats.quadratic)
    np.testing.assert_array_equal(everybody.features.bins, expected.bins)
    np.testing.assert_array_equal(everybody.weights, own.weights)


def test_every_so_manieth_individual_is_counted_over_all_parts(
    gathered, fleet, local, monkeypatch
):
    data, _, client = gathered
    monkeypatch.setattr("boostr.dask._survey.N_SAMPLE", 50)
    monkeypatch.setattr("boostr.dask._survey.N_CLOCK_SAMPLE", 80)
    found = survey(
        client,
        data.context,
        data.tasks,
        data.heads,
        (data.meta, "from_dtype"),
        wants_summaries=False,
        wants_used=False,
    )
    own = local[1]
    few, pool = own.sample(50), own.sample(80)
    assert len(few) < len(pool) < len(own)
    assert found.pool.events.equals(pool.events)
    assert found.few.events.equals(few.events)
    assert_same_sensors(found.few.sensors, few.sensors)
    np.testing.assert_array_equal(found.few.features, few.features)
    assert found.summaries == []
    assert found.is_used is None
    numbers = own.sensors.values[0]
    observed = numbers[~np.isnan(numbers)]
    assert observed.min() <= found.extent.ranges[0][0]
    assert found.extent.ranges[1][0] <= observed.max()
