"""Files of every version load, and predict what they did when they were written."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import boostr
from boostr import Trajectories

FILES = sorted(Path(__file__).parent.glob("*.boostr"))


def read_sensors(table, layout):
    if table is None:
        return None
    frame = pd.DataFrame(table)
    frame["time"] = pd.to_datetime(frame["time"], unit="ns")
    clock = {"unit": layout.time_unit, "origin": layout.origin}
    return Trajectories.from_long(frame, "pump", "time", **clock)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_load_for_good(path):
    model = boostr.load(path)
    told = json.loads(path.with_suffix(".boostr.json").read_text())
    frame = pd.DataFrame(told["frame"]).astype({"depth": float, "kind": "category"})
    Z = read_sensors(told["sensors"], model.sensor_layout_)
    features = model.encoder_.transform(frame)
    assert_array_equal(model.ensemble_.coefficients(features), told["coefficients"])
    assert_array_equal(model.feature_importances_, told["importances"])
    # Powers and logarithms may differ in their last bits between machines.
    curves = model.predict_cumulative(frame, told["times"], Z)
    assert_allclose(curves, told["cumulative"], rtol=1e-12)
    assert_allclose(model.predict_count(frame, 10.0, 50.0, Z), told["count"], rtol=1e-12)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_old_categories_may_come_in_another_type(path):
    model = boostr.load(path)
    told = json.loads(path.with_suffix(".boostr.json").read_text())
    frame = pd.DataFrame(told["frame"]).astype({"depth": float})
    features = model.encoder_.transform(frame.assign(kind=frame["kind"].astype(str)))
    assert_array_equal(model.ensemble_.coefficients(features), told["coefficients"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_old_models_tell_what_they_know(path):
    model = boostr.load(path)
    assert model.summary().learned[0].startswith(f"Up to {model.n_estimators_} tree")
    assert model.validation_results_ == model.fitted_.validation_results


def test_there_is_a_file_of_this_version():
    version = ".".join(boostr.__version__.split(".")[:2])
    assert f"boostr-{version}.boostr" in [path.name for path in FILES]
    assert np.all([path.stat().st_size < 30_000 for path in FILES])
