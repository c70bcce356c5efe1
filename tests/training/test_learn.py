import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone
from tests.fitted import change_settings
from tests.io.scenes import FEW, PLAIN, SMALL, Scene, assert_same

from boostr import BoostR, load
from boostr._training.run import Progress
from boostr.basis import PowerBasis
from boostr.exceptions import InvalidModelFileError, InvalidParameterError
from boostr.io import checkpoint as checkpoint_module

VALIDATED = SMALL | {
    "n_folds": 2,
    "min_samples_leaf": "auto",
    "max_leaf_nodes": "auto",
    "n_estimators": 3,
    "subsample": 0.9,
    "colsample": 0.7,
}


class StoppedError(Exception):
    """Somebody pulled the plug."""


@pytest.fixture(scope="module")
def scene():
    return Scene(30)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pumps.checkpoint"


def stop_after(monkeypatch, n_rounds):
    """Let so many rounds through, then fail."""
    rounds = []

    def report(self, label, n_trees, loss):
        rounds.append(label)
        if len(rounds) > n_rounds:
            raise StoppedError

    monkeypatch.setattr(Progress, "report", report)


def same(one, other):
    plain = [
        change_settings(model, warm_start=False).set_params(warm_start=False)
        for model in (one, other)
    ]
    assert_same(*map(vars, plain))


KINDS = {
    "cross-validated": (VALIDATED, False, (0, 1, 4, 13)),
    "plain": (PLAIN | {"subsample": 0.8, "splitter": "random"}, False, (0, 2)),
    "refitted": (SMALL | {"validation": 0.3, "average_folds": False}, False, (3, 21)),
    "sensors": (FEW | {"validation": 0.3}, True, (1, 3)),
}
SLOW = pytest.param("sensors", marks=pytest.mark.slow)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["cross-validated", "plain", "refitted", SLOW])
def test_a_stopped_training_ends_with_the_same_model(scene, path, monkeypatch, kind):
    params, with_sensors, stops = KINDS[kind]
    whole = scene.fit(params, with_sensors=with_sensors)
    for n_rounds in stops:  # each goes on from where the last one was stopped
        with monkeypatch.context() as patch:
            stop_after(patch, n_rounds)
            with pytest.raises(StoppedError):
                scene.fit(params, with_sensors=with_sensors, checkpoint=path)
    same(scene.fit(params, with_sensors=with_sensors, checkpoint=path), whole)


@pytest.mark.slow
def test_a_finished_training_grows_nothing(scene, path, monkeypatch):
    whole = scene.fit(VALIDATED, checkpoint=path)
    content = path.read_bytes()
    monkeypatch.setattr("boostr._engine.boosting.grow_tree", None)
    same(scene.fit(VALIDATED, checkpoint=path), whole)
    assert path.read_bytes() == content


def test_trees_reach_the_disk_while_training_goes_on(scene, path, monkeypatch):
    monkeypatch.setattr(checkpoint_module, "_INTERVAL", 0.0)
    sizes = []

    def report(self, label, n_trees, loss):
        sizes.append(path.stat().st_size)

    monkeypatch.setattr(Progress, "report", report)
    scene.fit(PLAIN, checkpoint=path)
    assert sizes == sorted(set(sizes))


@pytest.mark.slow
def test_wherever_the_file_is_cut_training_goes_on(scene, path, monkeypatch):
    monkeypatch.setattr(checkpoint_module, "_INTERVAL", 0.0)
    whole = scene.fit(PLAIN, checkpoint=path)
    content = path.read_bytes()
    header = content.index(b"\x89BOOSTR\n", 1)
    for end in np.linspace(header, len(content) - 1, 12).astype(int):
        path.write_bytes(content[:end])
        same(scene.fit(PLAIN, checkpoint=path), whole)
        assert path.read_bytes() == content


def test_damaged_trees_are_grown_again(scene, path, monkeypatch):
    monkeypatch.setattr(checkpoint_module, "_INTERVAL", 0.0)
    whole = scene.fit(PLAIN, checkpoint=path)
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    same(scene.fit(PLAIN, checkpoint=path), whole)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"learning_rate": 0.4}, "learning_rate"),
        ({"gamma2": 2.0, "n_estimators": 5}, "gamma2, n_estimators"),
        ({"leaf": "step"}, "leaf"),
        ({"random_state": 1}, "random_state"),
    ],
)
def test_other_settings_are_refused_by_name(scene, path, changes, named):
    scene.fit(PLAIN, checkpoint=path)
    with pytest.raises(InvalidParameterError, match=rf"other values of: {named}\."):
        scene.fit(PLAIN | changes, checkpoint=path)


def test_threads_and_words_do_not_matter(scene, path):
    whole = scene.fit(PLAIN, checkpoint=path)
    other = scene.fit(PLAIN | {"n_jobs": 1, "monotone": False}, checkpoint=path)
    assert_same(other.ensemble_, whole.ensemble_)


@pytest.mark.parametrize("what", ["features", "events", "weights"])
def test_other_data_are_refused(scene, path, what):
    X, y, weights = scene.depths, scene.y, None
    BoostR(**PLAIN).fit(X, y, checkpoint=path)
    if what == "features":
        X = -X
    elif what == "events":
        y = y._with(costs=np.where(np.arange(y.times.size) == 0, 2.0, 1.0))
    else:
        weights = np.linspace(1.0, 2.0, len(X))
    with pytest.raises(InvalidParameterError, match=r"other values of: data\."):
        BoostR(**PLAIN).fit(X, y, sample_weight=weights, checkpoint=path)


@pytest.mark.parametrize("content", [b"my notes\n", b"\x89BOOSTR\n", bytes(200)])
def test_files_of_others_are_left_alone(scene, path, content):
    path.write_bytes(content)
    with pytest.raises(InvalidParameterError, match=r"pumps\.checkpoint' is neither"):
        scene.fit(PLAIN, checkpoint=path)
    assert path.read_bytes() == content


def test_models_are_no_checkpoints_and_the_other_way_round(scene, path, tmp_path):
    model = scene.fit(PLAIN, checkpoint=path)
    model.save(tmp_path / "m.boostr")
    with pytest.raises(InvalidParameterError, match="is neither"):
        scene.fit(PLAIN, checkpoint=tmp_path / "m.boostr")
    with pytest.raises(InvalidModelFileError):
        load(path)


@pytest.mark.parametrize("state", [None, np.random.RandomState(0)])
def test_a_checkpoint_needs_a_seed(scene, path, state):
    with pytest.raises(InvalidParameterError, match="whole number as `random_state`"):
        scene.fit(PLAIN | {"random_state": state}, checkpoint=path)


def test_another_version_is_refused(scene, path, monkeypatch):
    scene.fit(PLAIN, checkpoint=path)
    monkeypatch.setattr("boostr._training.fit.own_version", lambda: "99.0")
    with pytest.raises(InvalidParameterError, match="other values of: version of boostr"):
        scene.fit(PLAIN, checkpoint=path)


needs_locks = pytest.mark.skipif(
    checkpoint_module.fcntl is None, reason="this system has other locks"
)


@pytest.mark.slow
@needs_locks
def test_two_trainings_at_once_are_refused(scene, path, monkeypatch):
    whole, contents = scene.fit(PLAIN), []

    def report(self, label, n_trees, loss):
        contents.append(path.read_bytes())
        with pytest.raises(
            InvalidParameterError, match=r"another one is writing.*\n\nHint"
        ):
            checkpoint_module.CheckpointFile(path, {})
        assert path.read_bytes() == contents[-1]

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "report", report)
        scene.fit(PLAIN, checkpoint=path)
    assert contents
    same(scene.fit(PLAIN, checkpoint=path), whole)


HOLDER = """
import sys, time
from boostr.io.checkpoint import CheckpointFile

file = CheckpointFile(sys.argv[1], {})
print("held", flush=True)
time.sleep(600)
"""


@needs_locks
@pytest.mark.slow
def test_the_lock_of_a_killed_process_is_gone(path):
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(InvalidParameterError, match="another one is writing"):
                checkpoint_module.CheckpointFile(path, {})
        finally:
            holder.kill()
    with checkpoint_module.CheckpointFile(path, {}) as file:
        assert file.rounds == []


@pytest.mark.slow
def test_a_refused_file_is_not_held(scene, path):
    scene.fit(PLAIN, checkpoint=path)
    for _ in range(2):
        with pytest.raises(InvalidParameterError, match="other values of: learning_rate"):
            scene.fit(PLAIN | {"learning_rate": 0.4}, checkpoint=path)
    scene.fit(PLAIN, checkpoint=path)


@pytest.mark.slow
@pytest.mark.parametrize("state", ["no locks", "locks fail"])
def test_without_locks_two_trainings_are_found_by_their_rounds(
    scene, path, monkeypatch, state
):
    def fail(file, what):
        raise OSError("no locks available")

    if state == "no locks":
        monkeypatch.setattr(checkpoint_module, "fcntl", None)
    elif checkpoint_module.fcntl is None:
        pytest.skip("this system has other locks")
    else:
        monkeypatch.setattr(checkpoint_module.fcntl, "flock", fail)

    def report(self, label, n_trees, loss):
        if n_trees == 2:  # a second training in the midst of the first
            monkeypatch.setattr(Progress, "report", lambda *given: None)
            scene.fit(PLAIN, checkpoint=path)

    monkeypatch.setattr(checkpoint_module, "_INTERVAL", 0.0)
    monkeypatch.setattr(Progress, "report", report)
    whole = scene.fit(PLAIN, checkpoint=path)
    same(whole, scene.fit(PLAIN))
    content = path.read_bytes()
    with pytest.raises(InvalidParameterError, match=r"more than one has written.*\n\nHint"):
        scene.fit(PLAIN, checkpoint=path)
    assert path.read_bytes() == content


CHILD = """
import os, signal, sys
from boostr._training.run import Progress
from boostr.io import checkpoint as _checkpoint
from tests.training.test_learn import VALIDATED
from tests.io.scenes import Scene

rounds = []

def report(self, label, n_trees, loss):
    rounds.append(label)
    if len(rounds) == 8:
        os.kill(os.getpid(), signal.SIGKILL)

Progress.report = report
_checkpoint._INTERVAL = 0.0
Scene(30).fit(VALIDATED, checkpoint=sys.argv[1])
"""


@pytest.mark.slow
def test_a_killed_process_is_continued_by_another(scene, path, monkeypatch):
    killed = subprocess.run([sys.executable, "-c", CHILD, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    n_grown = []
    grow = checkpoint_module.CheckpointFile.keep

    def count(self, trees):
        n_grown.append(len(trees))
        grow(self, trees)

    whole = scene.fit(VALIDATED, checkpoint=path.with_suffix(".whole"))
    monkeypatch.setattr(checkpoint_module.CheckpointFile, "keep", count)
    same(scene.fit(VALIDATED, checkpoint=path), whole)
    with checkpoint_module.CheckpointFile(path, {}) as file:
        n_all = len(file.rounds)
    assert len(n_grown) == n_all - 8


@pytest.mark.slow
@pytest.mark.parametrize("subsample", [1.0, 0.7])
def test_trees_added_later_are_trees_grown_at_once(scene, subsample):
    params = PLAIN | {"subsample": subsample, "splitter": "random", "warm_start": True}
    whole = scene.fit(params | {"n_estimators": 6})
    model = BoostR(**params).set_params(n_estimators=2)
    for n_trees in (2, 3, 3, 6):
        model.set_params(n_estimators=n_trees).fit(scene.frame, scene.y)
        assert model.n_estimators_ == n_trees
    same(model, whole)


def test_warm_starts_keep_the_trees_there_are(scene, monkeypatch):
    model = scene.fit(PLAIN | {"warm_start": True})
    before = model.ensemble_.members[0].trees
    model.set_params(n_estimators=5, learning_rate=0.1, random_state=9)
    after = model.fit(scene.frame, scene.y).ensemble_.members[0].trees
    assert after[:4] == before
    assert len(after) == 5


@pytest.mark.slow
def test_loaded_models_start_warm_too(scene, tmp_path):
    model = scene.fit(PLAIN | {"warm_start": True})
    model.save(tmp_path / "m.boostr")
    loaded = load(tmp_path / "m.boostr").set_params(n_estimators=7)
    same(loaded.fit(scene.frame, scene.y), scene.fit(PLAIN | {"n_estimators": 7}))


@pytest.mark.slow
def test_a_warm_start_can_be_stopped_and_go_on(scene, path, monkeypatch):
    params = PLAIN | {"warm_start": True}
    whole = scene.fit(PLAIN | {"n_estimators": 8})
    for _ in range(2):
        model = scene.fit(params).set_params(n_estimators=8)
        with monkeypatch.context() as patch:
            stop_after(patch, 5)
            with pytest.raises(StoppedError):
                model.fit(scene.frame, scene.y, checkpoint=path)
    model = scene.fit(params).set_params(n_estimators=8)
    same(model.fit(scene.frame, scene.y, checkpoint=path), whole)
    other = scene.fit(params | {"n_estimators": 3}).set_params(n_estimators=8)
    with pytest.raises(InvalidParameterError, match="other values of: earlier trees"):
        other.fit(scene.frame, scene.y, checkpoint=path)


@pytest.mark.slow
def test_warm_starts_that_make_no_sense_are_refused(scene):
    model = scene.fit(PLAIN | {"warm_start": True})
    with pytest.raises(InvalidParameterError, match="3 for 4 trees"):
        clone_fitted(model).set_params(n_estimators=3).fit(scene.frame, scene.y)
    with pytest.raises(InvalidParameterError, match="of the same data"):
        clone_fitted(model).fit(scene.frame[:20], scene.y[:20])
    with pytest.raises(InvalidParameterError, match="of the same data"):
        clone_fitted(model).set_params(leaf="step").fit(scene.frame, scene.y)
    with pytest.raises(InvalidParameterError, match="needs validation=None"):
        BoostR(warm_start=True).fit(scene.frame, scene.y)
    averaged = scene.fit(SMALL | {"n_folds": 2}).set_params(
        validation=None, warm_start=True
    )
    with pytest.raises(InvalidParameterError, match="has averaged"):
        averaged.fit(scene.frame, scene.y)


class OwnBasis:
    """A family that boostr does not know."""

    def place(self, events, loss):
        return OwnPlaced((1.0, 2.0)).place(events, loss)


class OwnPlaced(PowerBasis):
    """Its functions, which no file can hold."""


@pytest.mark.slow
def test_leaf_functions_of_ones_own_can_go_on_too(scene, path):
    params = PLAIN | {"leaf": OwnBasis(), "warm_start": True}
    whole = scene.fit(params | {"n_estimators": 6}, checkpoint=path)
    same_again = scene.fit(params | {"n_estimators": 6}, checkpoint=path)
    added = scene.fit(params).set_params(n_estimators=6).fit(scene.frame, scene.y)
    for model in (same_again, added):
        assert_same(model.ensemble_.members, whole.ensemble_.members)


def clone_fitted(model):
    copy = clone(model)
    vars(copy).update(vars(model))
    return copy
