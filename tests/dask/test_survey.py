"""What the cluster learns of everybody is what one machine learns."""

import numpy as np
import pytest
from tests.dask.scenes import COLUMNS, make_fleet, spread, write
from tests.fitted import make_settings

from boostr._training.features import FeatureEncoder
from boostr._training.inputs import check_training_data
from boostr._training.settings import find_bins
from boostr._training.statistics import (
    compute_statistics,
    plan_statistics,
)
from boostr.dask._partition import bring_together
from boostr.dask._parts import Roles
from boostr.dask._shards import Recipe, build_training_set
from boostr.dask._survey import find_summarized_bins, survey
from boostr.data import Trajectories

SETTINGS = make_settings()
ROLES = Roles(**COLUMNS, weight="weight")


@pytest.fixture(scope="module")
def fleet():
    return make_fleet(250)


@pytest.fixture(scope="module")
def local(fleet):
    encoder = FeatureEncoder.learn(fleet.X, "from_dtype")
    data = check_training_data(fleet.X, encoder, fleet.y, fleet.Z, fleet.weights)
    return encoder, data, compute_statistics(SETTINGS, data)


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
    assert data.heads.total == np.sum(fleet.weights > 0) == found.summary.n
    np.testing.assert_array_equal(found.is_used, fleet.weights > 0)


def test_the_encoder_is_that_of_one_machine(gathered, local):
    encoder, _, _ = local
    found = gathered[1].encoder
    assert found.names == encoder.names
    assert found.categories == encoder.categories


def test_samples_are_those_of_one_machine(gathered, local):
    _, data, _ = local
    found = gathered[1].sample
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
    plan = plan_statistics(SETTINGS, found.clock_sample, found.sample, found.summary)
    mapper = find_bins(found.clock_sample.features, 16, found.encoder)
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


def test_subsamples_are_evenly_spaced_over_all_parts(gathered, fleet, local, monkeypatch):
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
    sample, clock_sample = own.sample(50), own.sample(80)
    assert len(sample) < len(clock_sample) < len(own)
    assert found.clock_sample.events.equals(clock_sample.events)
    assert found.sample.events.equals(sample.events)
    assert_same_sensors(found.sample.sensors, sample.sensors)
    np.testing.assert_array_equal(found.sample.features, sample.features)
    assert found.summaries == []
    assert found.is_used is None
    numbers = own.sensors.values[0]
    observed = numbers[~np.isnan(numbers)]
    assert observed.min() <= found.summary.ranges[0][0]
    assert found.summary.ranges[1][0] <= observed.max()
