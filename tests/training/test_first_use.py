"""The first fit of an installation, whose kernels two processes compile."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from boostr import BoostR
from boostr._engine.tree._whole import grow_whole_tree
from boostr._training import dozen, first_use
from boostr._training.fit import fit_model
from boostr._training.run import Hooks

needs_compiler = pytest.mark.skipif(
    "NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled"
)

CODE = """
from boostr import BoostR
from boostr._kernels.growth import grow_best_first
from boostr._kernels.histogram import accumulate_histograms
from boostr._training.dozen import draw_dozen
X, y, _ = draw_dozen(has_sensors=False)
BoostR(n_estimators=3, validation=None, min_samples_leaf=2, n_jobs=1).fit(X, y)
for kernel in (grow_best_first, accumulate_histograms):
    print(len(kernel.stats.cache_hits), len(kernel.stats.cache_misses))
"""


@needs_compiler
def test_the_other_process_leaves_kernels_on_disk(tmp_path):
    def run(*arguments, message=None):
        return subprocess.run(
            [sys.executable, *arguments],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            input=message,
            capture_output=True,
            check=True,
        )

    run("-m", first_use._PROGRAM, message=pickle.dumps((None, np.zeros(2, dtype=bool))))
    shown = run("-c", CODE).stdout.decode().splitlines()
    assert shown == ["1 0", "1 0"]  # hits and misses


class FakeProcess:
    def __init__(self, n_polls):
        self.n_polls, self.returncode = n_polls, None

    def poll(self):
        self.n_polls -= 1
        return None if self.n_polls > 0 else 0


def fit_with(other, monkeypatch, growth):
    """Fit a model while another process is still asked so often; return its predictions."""
    monkeypatch.setattr(first_use, "_is_missing", lambda kernel: True)
    monkeypatch.setattr(first_use, "_start", lambda *arguments, **options: other)
    monkeypatch.setattr(first_use, "_running", {})
    monkeypatch.setattr("boostr._engine.tree._grower.grow_whole_tree", growth)
    X, y, _ = dozen.draw_dozen(has_sensors=False)
    model = BoostR(
        n_estimators=6, validation=None, min_samples_leaf=2, n_jobs=2, random_state=0
    )
    return model.fit(X, y).predict_cumulative(X, [5.0, 20.0])


@pytest.mark.parametrize("n_polls", [1, 3, 1000])
def test_trees_do_not_wait_for_the_kernel_and_have_the_same_bits(n_polls, monkeypatch):
    calls = []

    def grow(*arguments):
        calls.append(1)
        return grow_whole_tree(*arguments)

    expected = fit_with(None, monkeypatch, grow)
    n_whole = len(calls)
    calls.clear()
    found = fit_with(FakeProcess(n_polls), monkeypatch, grow)
    assert np.array_equal(found, expected)
    assert len(calls) == max(n_whole - n_polls + 1, 0)


class FakeKernel:
    __module__, __name__ = "boostr._kernels.fake", "fake"
    signatures = ()

    def __init__(self, folder):
        self.stats = type("Stats", (), {"cache_path": None if folder is None else folder})


@needs_compiler
def test_kernels_are_missing_until_they_are_on_disk(tmp_path):
    kernel = FakeKernel(str(tmp_path))
    assert first_use._is_missing(kernel)
    (tmp_path / "fake.fake-12.py311.nbi").touch()
    assert not first_use._is_missing(kernel)


@needs_compiler
def test_without_a_place_on_disk_nothing_is_shared(tmp_path, monkeypatch):
    assert not first_use._is_missing(FakeKernel(None))
    monkeypatch.setattr(sys, "executable", "/opt/program")  # embeds Python
    assert not first_use._is_missing(FakeKernel(str(tmp_path)))


@pytest.mark.parametrize(
    ("n_threads", "settings"),
    [
        (1, {}),
        (2, {"growth": "level"}),
        (2, {"leaf": "spline"}),
        (2, {"monotonic_cst": [1, 0]}),
        (2, {"loss": "cumulative"}),
    ],
    ids=["one thread", "levels", "splines", "limits", "other loss"],
)
def test_unusual_fits_are_compiled_by_one_process(n_threads, settings, monkeypatch):
    def refuse(*arguments, **options):
        pytest.fail("a process was started")

    monkeypatch.setattr(first_use, "_is_missing", lambda kernel: True)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    checked, numeric = BoostR(**settings)._settings(), np.zeros(2, dtype=bool)
    with first_use.compile_side_by_side(checked, n_threads, numeric, has_sensors=False):
        pass


def test_a_fit_needs_no_second_process(monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError

    monkeypatch.setattr(first_use, "_is_missing", lambda kernel: True)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    X, y, _ = dozen.draw_dozen(has_sensors=False)
    model = BoostR(n_estimators=2, validation=None, n_jobs=2, random_state=0)
    assert np.all(model.fit(X, y).predict(X) > 0.0)


def test_a_process_that_ends_at_once_does_no_harm(monkeypatch):
    monkeypatch.setattr(first_use, "_PROGRAM", "boostr.no_such_module")
    numeric = np.zeros(2, dtype=bool)
    other = first_use._start(BoostR()._settings(), numeric, has_sensors=True)
    assert other.wait() != 0


def test_settings_that_cannot_be_sent_start_no_process():
    settings, numeric = BoostR(random_state=lambda: None)._settings(), np.zeros(2, bool)
    assert first_use._start(settings, numeric, has_sensors=True) is None


def test_a_process_that_is_running_is_not_started_again(monkeypatch):
    def refuse(*arguments, **options):
        pytest.fail("a process was started")

    monkeypatch.setattr(first_use, "_start", refuse)
    monkeypatch.setattr(first_use, "_running", {False: FakeProcess(1000)})
    X, y, _ = dozen.draw_dozen(has_sensors=False)
    model = BoostR(n_estimators=2, validation=None, n_jobs=2, random_state=0)
    assert np.all(model.fit(X, y).predict(X) > 0.0)


def test_python_does_not_warn_of_a_process_that_goes_on(monkeypatch):
    running, done = FakeProcess(1000), FakeProcess(0)
    monkeypatch.setattr(first_use, "_running", {False: running, True: done})
    first_use._let_go()
    assert running.returncode == 0


@pytest.mark.parametrize("has_sensors", [False, True])
def test_trees_of_one_leaf_need_no_search(has_sensors, monkeypatch):
    def refuse(*arguments):
        pytest.fail("a split was searched for")

    monkeypatch.setattr("boostr._engine.tree._whole.grow_best_first", refuse)
    monkeypatch.setattr("boostr._engine.tree._search.find_best_split", refuse)
    X, y, Z = dozen.draw_dozen(has_sensors=has_sensors)
    settings = BoostR(n_estimators=1, validation=None, n_jobs=1)._settings()
    fitted = fit_model(settings, X, y, Z, None, Hooks())
    assert len(fitted.trees.ensemble.members) == 1
