import copy
import os
import subprocess
import sys
import threading
from io import FileIO

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from tests.io.scenes import PLAIN, SENSOR_SETTINGS, SETTINGS, Scene, assert_same
from tests.oracles_model_file import read_file, write_file

import boostr
from boostr import BoostR, inspection, io, simulate
from boostr.basis import PowerBasis
from boostr.exceptions import InvalidModelFileError, InvalidParameterError
from boostr.io import model as model_module
from boostr.io._container import HEAD_SIZE

TIMES = [0.0, 1.5, 30.0, 60.0, 200.0, 1e5]
NAMES = [*SETTINGS, "sensors", "bare sensors"]
NAMES += [pytest.param("validated sensors", marks=pytest.mark.slow)]


def reload(model):
    return io.from_bytes(io.to_bytes(model))


def predictions(model, X, y, Z=None):
    window = np.linspace(0.0, 30.0, len(X)), np.linspace(40.0, 90.0, len(X))
    yield model.predict(X, Z)
    yield model.predict_cumulative(X, TIMES, Z)
    yield model.predict_intensity(X, TIMES, Z)
    yield model.predict_count(X, *window, Z)
    yield from model.staged_predict_cumulative(X, TIMES, Z)
    yield np.float64(model.score(X, y, Z=Z))
    if model.out_of_fold_coefficients_ is not None:
        yield model.predict_out_of_fold(TIMES, Z)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_fitted_attribute_and_parameter_comes_back(models, name):
    model = models(name)
    loaded = reload(model)
    assert sorted(vars(loaded)) == sorted(vars(model))
    for attribute in vars(model):
        assert_same(getattr(model, attribute), getattr(loaded, attribute), attribute)


@pytest.mark.parametrize("name", NAMES)
def test_predictions_are_the_same_to_the_bit(models, scene, name):
    model = models(name)
    data = scene.frame, scene.y, scene.Z if name in SENSOR_SETTINGS else None
    ours, theirs = predictions(model, *data), predictions(reload(model), *data)
    for one, other in zip(ours, theirs, strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_scalar_or_array_of_the_future_needs_no_change(models):
    document, raw = read_file(io.to_bytes(models("plain")))
    document["attributes"] |= {"expected_count_": 1.5, "notes_": [1, None]}
    later = io.from_bytes(write_file(document, raw))
    assert_same(vars(later), vars(models("plain")))


def test_loaded_models_can_be_inspected_and_fitted_again(models, scene):
    model, loaded = models("sensors"), reload(models("sensors"))
    for inspect in (
        inspection.feature_importance,
        inspection.leaf_counts,
        inspection.tree_partition,
        lambda one: inspection.sensor_effect(one, scene.frame, "load"),
        lambda one: inspection.sensor_importance(one, scene.frame),
    ):
        assert_same(inspect(model), inspect(loaded))
    again = reload(models("plain")).fit(scene.frame, scene.y)
    assert_same(vars(again), vars(models("plain")))


def test_files_are_replaced_as_a_whole_and_leave_nothing_else(models, tmp_path):
    path = tmp_path / "pumps.boostr"
    path.write_bytes(b"old")
    path.chmod(0o640)
    models("plain").save(str(path))
    assert_same(vars(boostr.load(path)), vars(models("plain")))
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name != "posix", reason="no rights of this kind")
def test_new_files_have_the_rights_of_any_new_file(models, tmp_path, monkeypatch):
    (tmp_path / "any").write_bytes(b"")

    def fail(mask):
        raise AssertionError("the mask belongs to the whole process")

    monkeypatch.setattr(os, "umask", fail)
    models("plain").save(tmp_path / "pumps.boostr")
    modes = {path.stat().st_mode for path in tmp_path.iterdir()}
    assert len(modes) == 1


@pytest.mark.skipif(os.name != "posix", reason="links need rights of their own")
def test_links_stay_and_what_they_lead_to_is_replaced(models, tmp_path):
    target, link = tmp_path / "there" / "pumps.boostr", tmp_path / "pumps.boostr"
    target.parent.mkdir()
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    models("plain").save(link)
    assert link.is_symlink()
    assert_same(vars(boostr.load(target)), vars(models("plain")))
    assert target.stat().st_mode & 0o777 == 0o600
    assert list(target.parent.iterdir()) == [target]


def test_a_failed_write_leaves_the_old_file(models, tmp_path, monkeypatch):
    path = tmp_path / "pumps.boostr"
    path.write_bytes(b"old")

    def fail(handle):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        models("plain").save(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_model_gives_the_same_bytes(scene, models):
    again = scene.fit(SETTINGS["validated"])
    assert io.to_bytes(again) == io.to_bytes(models("validated"))


class OwnBasis:
    """A family that boostr does not know."""

    def place(self, events, loss):
        return PowerBasis().place(events, loss)


class OwnBoostR(BoostR):
    """A class of the user's."""


@pytest.mark.slow
def test_what_cannot_be_saved_is_named(scene, tmp_path):
    path = tmp_path / "x.boostr"
    model = BoostR(**PLAIN | {"leaf": OwnBasis()}).fit(scene.depths, scene.y)
    with pytest.raises(InvalidParameterError, match=r"`leaf` is a OwnBasis.*\n\nHint"):
        model.save(path)
    frame = pd.DataFrame({"band": pd.cut(scene.frame["depth"], 2)}, index=scene.ids)
    model = BoostR(**PLAIN).fit(frame, scene.y)
    with pytest.raises(InvalidParameterError, match=r"`encoder_\.categories.* Interval"):
        model.save(path)
    with pytest.raises(InvalidParameterError, match="must be one of BoostR"):
        OwnBoostR(**PLAIN).fit(scene.depths, scene.y).save(path)
    with pytest.raises(InvalidParameterError, match="best_estimator_"):
        io.save(object(), path)
    with pytest.raises(NotFittedError):
        BoostR().save(path)
    assert not path.exists()


def test_a_model_that_could_not_be_read_is_not_written(models):
    model = copy.copy(models("plain"))
    model.n_estimators = -1
    with pytest.raises(InvalidParameterError, match=r"cannot be saved.*`n_estimators`"):
        io.to_bytes(model)


def test_missing_files_and_folders_are_the_errors_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        boostr.load(tmp_path / "none.boostr")
    with pytest.raises(OSError, match=r"."):
        boostr.load(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_endless_files_are_not_read():
    with pytest.raises(InvalidModelFileError, match="'/dev/zero' is none"):
        boostr.load("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_pipes_are_not_waited_for(tmp_path):
    path, raised = tmp_path / "pipe", []
    os.mkfifo(path)

    def load():
        with pytest.raises(InvalidModelFileError, match="pipe' is none") as caught:
            boostr.load(path)
        raised.append(caught)

    waiting = threading.Thread(target=load, daemon=True)
    waiting.start()
    waiting.join(30.0)
    assert raised


def test_files_that_are_too_long_are_not_read(models, tmp_path):
    path = tmp_path / "x.boostr"
    models("plain").save(path)
    os.truncate(path, 2**40)  # holes, which take no room on disk
    with pytest.raises(InvalidModelFileError, match="followed by something else"):
        boostr.load(path)
    path.write_bytes(b"something else")
    os.truncate(path, 2**40)
    with pytest.raises(InvalidModelFileError, match="it is something else"):
        boostr.load(path)


def test_files_larger_than_memory_are_refused(models, tmp_path, monkeypatch):
    path = tmp_path / "x.boostr"
    models("plain").save(path)

    def fail(*given):
        raise MemoryError

    class Large(FileIO):
        def read(self, size=-1):
            return super().read(size) if size == HEAD_SIZE else fail()

    with Large(path) as file, pytest.raises(InvalidModelFileError, match="fit into memory"):
        model_module._read_all(file)
    monkeypatch.setattr(model_module, "unpack", fail)
    with pytest.raises(InvalidModelFileError, match=r"reading it fails \(MemoryError"):
        boostr.load(path)


def test_a_package_that_is_not_installed_has_no_version(models, monkeypatch):
    def fail(name):
        raise model_module.PackageNotFoundError

    monkeypatch.setattr(model_module, "version", fail)
    model_module.own_version.cache_clear()
    assert b'"boostr": "unknown"' in io.to_bytes(models("plain"))
    model_module.own_version.cache_clear()


CHILD = """
import sys
import numpy as np
import boostr
model = boostr.load(sys.argv[1])
np.save(sys.argv[3], model.predict_cumulative(np.load(sys.argv[2]), [1.0, 50.0, 500.0]))
"""


@pytest.mark.slow
def test_another_process_predicts_the_same_bits(tmp_path):
    train, test = (simulate.dataset_a(n=80, random_state=seed) for seed in (1, 2))
    model = BoostR(n_estimators=30, n_folds=2, random_state=0).fit(train.X, train.y)
    model.save(tmp_path / "m.boostr")
    np.save(tmp_path / "x.npy", test.X)
    files = [str(tmp_path / name) for name in ("m.boostr", "x.npy", "p.npy")]
    subprocess.run([sys.executable, "-c", CHILD, *files], check=True)
    expected = model.predict_cumulative(test.X, [1.0, 50.0, 500.0])
    assert_array_equal(np.load(files[2]), expected)


def test_scenes_have_what_files_must_hold(models):
    scene = Scene(12)
    assert scene.Z.categories[scene.Z.names.index("mode")]
    assert models("validated").validation_results_
    layout = models("sensors").sensor_layout_
    assert layout.origin == np.datetime64("2024-01-01")
    trees = [t for m in models("plain").ensemble_.members for t in m.trees]
    assert any((tree.nodes.category_set >= 0).any() for tree in trees)


def test_files_keep_validation_results_as_a_plain_list(models):
    model = models("validated")
    again = reload(model)
    assert type(again.fitted_.validation_results) is list
    labels = [run["label"] for run in again.validation_results_]
    assert labels == [run["label"] for run in model.validation_results_]
    assert again.validation_results_.to_frame().equals(model.validation_to_frame())


def test_models_without_features_come_back(scene):
    X = np.empty((len(scene.y), 0))
    model = BoostR(**PLAIN).fit(X, scene.y)
    assert_same(vars(reload(model)), vars(model))
    assert_array_equal(reload(model).predict(X), model.predict(X))
