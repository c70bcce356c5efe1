"""The first fit of an installation, whose kernels two processes compile."""

import multiprocessing
import os
import pickle
import subprocess
import sys

import numba
import numpy as np
import pytest

import boostr
from boostr import BoostR
from boostr._engine.tree import _whole
from boostr._kernels import compiling
from boostr._kernels.growth import grow_best_first, grow_groups_best_first
from boostr._kernels.rounds_together import boost_together
from boostr._training import dozen, first_use, other_process
from boostr._training.fit import fit_model
from boostr._training.run import Hooks
from boostr.basis import PowerBasis

needs_compiler = pytest.mark.skipif(
    "NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled"
)

CODE = """
from boostr.estimators import BoostR
from boostr._kernels.apply import add_grown_tree
from boostr._kernels.growth import grow_best_first
from boostr._kernels.histogram import accumulate_few
from boostr._training.dozen import draw_dozen
X, y, _ = draw_dozen(has_sensors=False)
BoostR(n_estimators=3, validation=None, min_samples_leaf=2, n_jobs=1).fit(X, y)
for kernel in (grow_best_first, add_grown_tree, accumulate_few):
    print(len(kernel.stats.cache_hits), len(kernel.stats.cache_misses))
"""
# Kernels, all called by a fit before, that the calls of the other process compile anew.
COMPILE_AGAIN = """
from boostr import BoostR, MeanCumulativeFunction, simulate
from boostr._kernels import apply, atoms, binning, counts, curves, histogram, marks, mcf
from boostr._kernels import compiling, moments, path_curves, shap, solve, split
from boostr._training import dozen
from boostr.inspection import explain
rooms = (apply, atoms, binning, counts, curves, histogram, marks, mcf, moments, path_curves,
         shap, solve, split)
kernels = {name: own for room in rooms for name, own in vars(room).items()
           if hasattr(own, "signatures") and own.__module__ == room.__name__}
compiling.do_without(lambda: True)
compiling.is_missing = lambda kernel: True
for data in (simulate.dataset_a(60, random_state=0), simulate.wells(60, random_state=0)):
    sensors = getattr(data, "Z", None)
    model = BoostR(n_estimators=3, n_jobs=1).fit(data.X, data.y, sensors)
    model.predict(data.X, Z=sensors)
    model.forecast(data.X, data.y, 1.0, sensors)
    explain(model, data.X, Z=sensors)
    MeanCumulativeFunction().fit(data.y)
before = {name: len(kernel.signatures) for name, kernel in kernels.items()}
dozen._compile_first()
dozen._compile_sums()
dozen._compile_moments()
dozen._compile_many_sums()
dozen._read_curves()
dozen._compile_last()
dozen._compile_forecasts()
dozen._compile_reports()
print([name for name, kernel in kernels.items() if len(kernel.signatures) > before[name]])
"""
SHARE_AGAIN = """
import numpy as np
from boostr import BoostR, RecurrentEvents
from boostr._engine.tree import compile_rounds
from boostr._kernels.rounds import boost
from boostr._kernels.rounds_together import boost_together
from boostr._training import other_process
other_process.start = lambda: False
X = np.arange(30_000.0)[:, None]
y = RecurrentEvents.from_flat(np.ones(30_000), np.arange(30_001), end=np.full(30_000, 2.0))
for n_jobs in (1, 2):
    BoostR(n_estimators=3, validation=None, n_jobs=n_jobs).fit(X, y)
before = [len(kernel.signatures) for kernel in (boost, boost_together)]
for is_shared in (False, True):
    compile_rounds(np.zeros(1, dtype=bool), is_shared=is_shared)
print(before, [len(kernel.signatures) for kernel in (boost, boost_together)])
"""
PLAIN = None, np.zeros(2, dtype=bool), False, False
HURRY = None, np.zeros(2, dtype=bool), True, False


@needs_compiler
@pytest.mark.parametrize(
    ("news", "own_sums"),
    [(HURRY, 1), (PLAIN, 0), (None, 0)],
    ids=["in a hurry", "told", "silent"],
)
def test_the_other_process_leaves_kernels_on_disk(news, own_sums, tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", other_process._PROGRAM]
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as process:
        if news is not None:
            pickle.dump(news, process.stdin)
            process.stdin.close()
        assert process.wait() == 0
    shown = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, check=True
    )
    # Hits and misses; in a hurry, sums are left to the process that fits.
    sums = f"{1 - own_sums} {own_sums}"
    assert shown.stdout.decode().splitlines() == ["1 0", "1 0", sums]


@needs_compiler
def test_the_other_process_compiles_for_reports_if_it_is_told_so(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", other_process._PROGRAM]
    told = pickle.dumps((other_process.REPORTS,))
    subprocess.run(command, input=told, env=environment, check=True)
    kernels = {path.name.partition("-")[0] for path in tmp_path.rglob("*.nbc")}
    assert {"shap.add_shares", "counts.score_counts", "marks.mark_times"} <= kernels
    assert "growth.grow_best_first" not in kernels


@needs_compiler
def test_the_other_process_compiles_for_the_types_of_fits():
    run = subprocess.run(
        [sys.executable, "-c", COMPILE_AGAIN], capture_output=True, check=True, text=True
    )
    assert run.stdout.strip() == "[]"


@needs_compiler
@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="one thread only")
def test_the_other_process_compiles_for_the_types_of_large_fits():
    run = subprocess.run(
        [sys.executable, "-c", SHARE_AGAIN], capture_output=True, check=True, text=True
    )
    assert run.stdout.strip() == "[1, 1] [1, 1]"


class FakeProcess:
    def __init__(self, *, is_running=True):
        self.returncode = None if is_running else 0
        self.stdin = FakePipe()

    def poll(self):
        return self.returncode


class FakePipe:
    def __init__(self):
        self.news, self.is_closed = None, False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def close(self):
        self.is_closed = True

    def write(self, message):
        self.news = pickle.loads(message)


@pytest.fixture
def started(monkeypatch):
    """Return the processes that are started, none of them for real."""
    processes = []

    def start(*arguments, **options):
        processes.append(FakeProcess())
        return processes[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(other_process, "_waiting", [])
    monkeypatch.setattr(other_process, "_busy", [])
    monkeypatch.setattr(other_process, "_reporting", [])
    monkeypatch.setattr(compiling, "_compiling", [])
    monkeypatch.setattr(compiling, "_found", set())
    return processes


@pytest.fixture
def missing(monkeypatch):
    """Let all kernels be missing on disk, and ask for them every time."""
    for room in (first_use, compiling):
        monkeypatch.setattr(room, "is_missing", lambda kernel: True)
    monkeypatch.setattr(compiling, "_MOMENT", 0.0)


def fit_dozen(**params):
    X, y, _ = dozen.draw_dozen(has_sensors=False)
    params = {"n_estimators": 2, "validation": None, "random_state": 0} | params
    return BoostR(**params).fit(X, y).predict(X)


@pytest.mark.usefixtures("missing")
def test_a_first_fit_tells_the_other_process_what_it_fits(started):
    fit_dozen(n_jobs=2)
    settings, is_categorical, grows_many, is_large = started[0].stdin.news
    assert settings is None
    assert not grows_many
    assert not is_large
    assert is_categorical.tolist() == [False, False]
    assert len(started) == 1


def test_a_first_model_that_is_loaded_tells_the_other_process_of_reports(
    started, monkeypatch, tmp_path
):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.delitem(vars(boostr), "load", raising=False)
    assert callable(boostr.load)
    other_process.start_for_reports()  # once is enough
    assert [process.stdin.news for process in started] == [(other_process.REPORTS,)]


def test_explanations_wait_for_a_kernel_while_the_other_process_may_compile_it(started):
    other_process.start()
    other_process._reporting.append(started[0])
    asked = []

    def is_missing():
        asked.append(len(asked))
        return len(asked) < 3

    other_process.wait_while(is_missing)
    assert len(asked) == 3
    started[0].returncode = 0
    other_process.wait_while(lambda: True)  # a process that has ended leaves nothing more


@pytest.mark.usefixtures("missing")
def test_a_first_fit_with_sensors_does_not_wait_for_the_kernel_of_whole_trees(started):
    settings, numeric = BoostR()._settings(), np.zeros(2, dtype=bool)
    first_use.compile_side_by_side(settings, 2, 12, numeric, has_sensors=True)
    assert started[0].stdin.news[0] is not None
    assert not compiling.has_kernel(grow_groups_best_first)
    started[0].returncode = 0
    assert compiling.has_kernel(grow_groups_best_first)


@pytest.mark.usefixtures("started", "missing")
def test_a_kernel_is_used_as_soon_as_it_is_on_disk(monkeypatch):
    numeric = np.zeros(2, dtype=bool)
    first_use.compile_side_by_side(BoostR()._settings(), 2, 12, numeric, has_sensors=False)
    assert not compiling.has_kernel(grow_best_first)
    monkeypatch.setattr(compiling, "is_missing", lambda kernel: kernel is boost_together)
    assert compiling.has_kernel(grow_best_first)
    assert not compiling.has_kernel(boost_together)


def test_the_disk_is_looked_at_seldom(monkeypatch):
    now, looked = [0.0], []
    monkeypatch.setattr(compiling.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(compiling, "_compiling", [lambda: True])
    monkeypatch.setattr(compiling, "_asked", {})
    monkeypatch.setattr(compiling, "_found", set())
    monkeypatch.setattr(
        compiling, "is_missing", lambda kernel: looked.append(now[0]) is None and now[0] < 1
    )
    for now[0] in (0.0, 0.05, 0.12, 0.2, 0.3):
        assert not compiling.has_kernel("kernel")
    assert looked == [0.0, 0.12, 0.3]
    now[0] = 2.0
    assert compiling.has_kernel("kernel")


@pytest.mark.usefixtures("started")
@pytest.mark.parametrize("n", [12, 10_000])
def test_only_large_trees_need_the_kernel_of_several_threads(n, started, monkeypatch):
    monkeypatch.setattr(first_use, "is_missing", lambda kernel: kernel is boost_together)
    numeric = np.zeros(2, dtype=bool)
    given = BoostR()._settings(), 2, n, numeric
    for _ in range(2):  # the second one knows that a process is busy
        first_use.compile_side_by_side(*given, has_sensors=False)
        assert [process.stdin.news[-1] for process in started] == [True] * (n > 12)


@pytest.mark.usefixtures("missing")
def test_given_exponents_are_as_usual_as_chosen_ones(started):
    fit_dozen(n_jobs=2, leaf=PowerBasis([1.0, 1.5]))
    assert len(started) == 1


@pytest.mark.usefixtures("missing")
def test_a_process_that_waits_is_not_started_again(started):
    assert other_process.start()
    fit_dozen(n_jobs=2)
    assert len(started) == 1
    assert started[0].stdin.news is not None


@pytest.mark.usefixtures("missing")
def test_a_process_that_has_ended_is_started_again(started):
    assert other_process.start()
    started[0].returncode = 1
    fit_dozen(n_jobs=2)
    assert [process.stdin.news is None for process in started] == [True, False]
    assert started[0].stdin.is_closed


@pytest.mark.usefixtures("missing")
@pytest.mark.parametrize("n_more", [0, 1, 100])
def test_trees_do_not_wait_for_the_kernel_and_have_the_same_bits(
    n_more, started, monkeypatch
):
    whole = []  # trees that kernels have grown

    def grow(*arguments):
        whole.append(1)
        return _whole.grow_whole_tree(*arguments)

    def grow_several(*arguments):
        rounds = _whole.grow_ahead(*arguments)
        whole.extend([1] * len(rounds))
        return rounds

    def poll(process, asked=[]):  # noqa: B006 - counts
        asked.append(1)
        return None if len(asked) <= n_more else 0

    monkeypatch.setattr("boostr._engine.tree._grower.grow_whole_tree", grow)
    monkeypatch.setattr("boostr._engine.tree._grower.grow_ahead", grow_several)
    params = {"min_samples_leaf": 2, "n_estimators": 6}
    expected = fit_dozen(n_jobs=1, **params)
    n_whole = len(whole)
    whole.clear()
    monkeypatch.setattr(FakeProcess, "poll", poll)
    assert np.array_equal(fit_dozen(n_jobs=2, **params), expected)
    n_not_whole = n_whole - len(whole)
    assert n_not_whole <= n_more
    assert (n_not_whole == n_whole) == (n_more == 100)
    assert len(started) == 1


# --- Early


@pytest.fixture
def alone(monkeypatch, tmp_path):
    """Return an empty folder that kernels are kept in, of a process with two cores."""
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    return tmp_path


@pytest.mark.usefixtures("alone")
def test_whoever_imports_an_estimator_starts_a_process(started, monkeypatch):
    monkeypatch.delitem(boostr.__dict__, "BoostR", raising=False)
    assert boostr.BoostR is BoostR
    assert len(started) == 1
    other_process.start_early()
    assert len(started) == 1


def test_with_kernels_on_disk_no_process_is_started(started, alone):
    (alone / "kernels").mkdir()
    (alone / "kernels" / f"{other_process._LAST}-1.py311.nbi").touch()
    other_process.start_early()
    assert started == []


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("reason", ["core", "child", "no compiler", "no folder"])
def test_nothing_is_started_early_where_it_is_of_no_use(reason, started, monkeypatch):
    if reason == "core":
        monkeypatch.setattr(os, "cpu_count", lambda: 1)
    elif reason == "child":
        monkeypatch.setattr(multiprocessing, "parent_process", object)
    elif reason == "no compiler":
        monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    else:
        monkeypatch.delenv("NUMBA_CACHE_DIR")
        monkeypatch.setattr(os, "access", lambda path, mode: False)
    other_process.start_early()
    assert started == []


def test_a_program_that_embeds_python_starts_no_process(started, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/opt/program")
    assert not other_process.start()
    assert started == []


@pytest.mark.parametrize(
    ("n_threads", "settings"),
    [
        (1, {}),
        (2, {"growth": "level"}),
        (2, {"leaf": "spline"}),
        (2, {"leaf": PowerBasis([1.0, 2.0, 3.0])}),
        (2, {"monotonic_cst": [1, 0]}),
        (2, {"loss": "cumulative"}),
    ],
    ids=["one thread", "levels", "splines", "many powers", "limits", "other loss"],
)
@pytest.mark.usefixtures("missing")
def test_unusual_fits_are_compiled_by_one_process(n_threads, settings, started):
    checked, numeric = BoostR(**settings)._settings(), np.zeros(2, dtype=bool)
    first_use.compile_side_by_side(checked, n_threads, 12, numeric, has_sensors=False)
    assert started == []


@pytest.mark.usefixtures("missing", "started")
def test_a_fit_needs_no_second_process(monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError

    monkeypatch.setattr(subprocess, "Popen", refuse)
    assert np.all(fit_dozen(n_jobs=2) > 0.0)


def test_a_process_that_ends_at_once_does_no_harm(monkeypatch):
    monkeypatch.setattr(other_process, "_PROGRAM", "boostr.no_such_module")
    monkeypatch.setattr(other_process, "_waiting", [])
    assert other_process.start()
    process = other_process._waiting[0]
    assert process.wait() != 0
    other_process.tell(*PLAIN)
    assert other_process._waiting == []


@pytest.mark.usefixtures("missing")
def test_settings_that_cannot_be_sent_do_no_harm(started):
    settings, numeric = BoostR(random_state=lambda: None)._settings(), np.zeros(2, bool)
    first_use.compile_side_by_side(settings, 2, 12, numeric, has_sensors=True)
    assert started[0].stdin.news is None


def test_python_does_not_warn_of_a_process_that_goes_on(monkeypatch):
    waiting, running, done = FakeProcess(), FakeProcess(), FakeProcess(is_running=False)
    monkeypatch.setattr(other_process, "_waiting", [waiting])
    monkeypatch.setattr(other_process, "_busy", [running, done])
    other_process._let_go()
    assert waiting.returncode == running.returncode == 0
    assert waiting.stdin.is_closed


@pytest.mark.parametrize("has_sensors", [False, True])
def test_trees_of_one_leaf_need_no_search(has_sensors, monkeypatch):
    def refuse(*arguments):
        pytest.fail("a split was searched for")

    monkeypatch.setattr("boostr._kernels.compiling._compiling", [])
    monkeypatch.setattr("boostr._engine.tree._whole.grow_best_first", refuse)
    monkeypatch.setattr("boostr._engine.tree._search.find_best_split", refuse)
    X, y, Z = dozen.draw_dozen(has_sensors=has_sensors)
    settings = BoostR(n_estimators=1, validation=None, n_jobs=1)._settings()
    fitted = fit_model(settings, X, y, Z, None, Hooks())
    assert len(fitted.trees.ensemble.members) == 1
