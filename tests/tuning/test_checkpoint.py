import json
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from boostr import BoostR, BoostRSearch, simulate
from boostr.exceptions import InvalidParameterError
from boostr.metrics import scorer
from boostr.tuning import _search as search_module
from boostr.tuning._checkpoint import hash_parts

BASE = BoostR(n_estimators=4, validation=None, learning_rate=0.3, n_origins=0)
SPACE = {"gamma2": (0.1, 9.0, "log"), "learning_rate": (0.1, 0.5)}


@pytest.fixture(scope="module")
def fleet():
    return simulate.dataset_a(n=60, random_state=3)


@pytest.fixture
def search(tmp_path):
    path = tmp_path / "runs.jsonl"
    return BoostRSearch(BASE, SPACE, n_points=3, splits=2, random_state=0, checkpoint=path)


def n_lines(search):
    return len(search.checkpoint.read_text().splitlines())


def same(first, second):
    for one, other in zip(first.results_, second.results_, strict=True):
        assert one["params"] == other["params"]
        assert_array_equal(one["scores"], other["scores"])
        assert_array_equal(one["leaf_counts"], other["leaf_counts"])
        assert_array_equal(one["n_trees"], other["n_trees"])


def interrupt_after(monkeypatch, n_runs):
    """Let so many runs through, then stop from the keyboard."""
    run, calls = search_module._run, []

    def stop(*arguments):
        if len(calls) == n_runs:
            raise KeyboardInterrupt
        calls.append(1)
        return run(*arguments)

    monkeypatch.setattr(search_module, "_run", stop)


@pytest.mark.slow
def test_resumed_is_uninterrupted(fleet, search, monkeypatch):
    plain = clone(search).set_params(checkpoint=None).fit(fleet.X, fleet.y)
    with monkeypatch.context() as patch:
        interrupt_after(patch, 4)
        with pytest.raises(KeyboardInterrupt):
            search.fit(fleet.X, fleet.y)
    assert n_lines(search) == 1 + 4
    with monkeypatch.context() as patch:
        interrupt_after(patch, 2)  # no more than what was left
        search.fit(fleet.X, fleet.y)
    same(search, plain)
    assert n_lines(search) == 1 + 6


@pytest.mark.slow
def test_a_finished_search_runs_nothing(fleet, search, monkeypatch):
    first = clone(search).fit(fleet.X, fleet.y)
    interrupt_after(monkeypatch, 0)
    same(search.fit(fleet.X, fleet.y), first)


@pytest.mark.slow
def test_half_a_line_is_run_again(fleet, search):
    plain = clone(search).fit(fleet.X, fleet.y)
    content = search.checkpoint.read_bytes()
    search.checkpoint.write_bytes(content[:-20])
    same(search.fit(fleet.X, fleet.y), plain)
    lines = search.checkpoint.read_text().splitlines()
    assert len([json.loads(line) for line in lines]) == 7


@pytest.mark.slow
def test_threads_and_words_do_not_matter(fleet, search):
    plain = clone(search).fit(fleet.X, fleet.y)
    same(search.set_params(n_jobs=1, refit=False).fit(fleet.X, fleet.y), plain)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"space": {**SPACE, "gamma2": (0.1, 8.0, "log")}}, "space"),
        ({"n_points": 4}, "space"),
        ({"random_state": 1}, "random_state"),
        ({"splits": 3}, "splits"),
        ({"scoring": scorer("recurrent_concordance")}, "scoring"),
        ({"estimator__n_estimators": 5}, "estimator"),
    ],
)
def test_another_search_is_refused(fleet, search, changes, part):
    search.fit(fleet.X, fleet.y)
    with pytest.raises(InvalidParameterError, match=rf"other values of:.*\b{part}\b"):
        clone(search).set_params(**changes).fit(fleet.X, fleet.y)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["features", "events", "weights"])
def test_other_data_are_refused(fleet, search, what):
    search.fit(fleet.X, fleet.y)
    X, y, weights = fleet.X.copy(), fleet.y, None
    if what == "features":
        X[0, 0] += 0.01
    elif what == "events":
        y = y._with(costs=np.where(np.arange(y.times.size) == 0, 2.0, 1.0))
    else:
        weights = np.linspace(1.0, 2.0, 60)
    with pytest.raises(InvalidParameterError, match=r"other values of:.*\bdata\b"):
        search.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "content", ["my notes\n", '{"format": "other"}\n', "[1]\n", "half"]
)
def test_files_of_others_are_left_alone(fleet, search, content):
    search.checkpoint.write_text(content)
    with pytest.raises(InvalidParameterError, match=re.escape(str(search.checkpoint))):
        search.fit(fleet.X, fleet.y)
    assert search.checkpoint.read_text() == content


def test_a_checkpoint_needs_a_seed(fleet, search):
    with pytest.raises(InvalidParameterError, match="whole number as `random_state`"):
        search.set_params(random_state=None).fit(fleet.X, fleet.y)


def test_digests_do_not_depend_on_where_things_lie():
    early, late, again = (
        hash_parts(scorer("recurrent_concordance", horizon=end)) for end in (8.0, 9.0, 9.0)
    )
    assert late == again != early
    assert hash_parts({"a": 1, "b": [None]}) == hash_parts({"b": [None], "a": 1})
    names = [np.array(["a", None], dtype=object) for _ in range(2)]
    assert hash_parts(names[0]) == hash_parts(names[1])
