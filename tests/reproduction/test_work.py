from dataclasses import replace

import pytest
from tests.reproduction.scenes import TINY

from boostr.reproduction._work import Work, rank, stack

CASES = list(range(5))
asked = []


def square(case, repetition, scale, stop_at=None):
    if case == stop_at or case in STOP:
        raise KeyboardInterrupt
    asked.append(case)
    return {"square": case**2 + repetition}


STOP = []


@pytest.fixture(autouse=True)
def _forget():
    asked.clear()
    STOP.clear()


def run(folder, scale=TINY, **options):
    return Work(folder, scale).run("squares", square, CASES, **options)


def test_results_are_in_the_order_of_cases_and_repetitions(tmp_path):
    found = run(tmp_path, n_repetitions=2)
    assert list(found) == CASES
    assert stack(found, "square")[3].tolist() == [9, 10]


def test_a_second_run_computes_nothing(tmp_path):
    first = run(tmp_path)
    asked.clear()
    assert run(tmp_path) == first
    assert asked == []


def test_a_stopped_run_goes_on_where_it_was(tmp_path, capsys):
    STOP.append(3)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    asked.clear()
    STOP.clear()
    Work(tmp_path, TINY, progress=True).run("squares", square, CASES)
    assert asked == [3, 4]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "squares" in captured.err
    assert "3/5" in captured.err
    assert "5/5" in captured.err


@pytest.mark.parametrize("damage", [b"", b"\x80"])
def test_a_damaged_result_is_computed_again(tmp_path, damage):
    run(tmp_path)
    path = sorted(tmp_path.rglob("output.pkl"))[2]
    path.write_bytes(path.read_bytes()[:-4] + damage)
    asked.clear()
    assert [each[0]["square"] for each in run(tmp_path).values()] == [0, 1, 4, 9, 16]
    assert len(asked) == 1
    asked.clear()
    run(tmp_path)
    assert asked == []


@pytest.mark.parametrize(
    ("scale", "options"), [(replace(TINY, n_splits=7), {}), (TINY, {"stop_at": 9})]
)
def test_other_arguments_do_not_meet_old_results(tmp_path, scale, options):
    run(tmp_path)
    asked.clear()
    run(tmp_path, scale, **options)
    assert asked == CASES


def test_another_version_does_not_meet_old_results(tmp_path, monkeypatch):
    run(tmp_path)
    monkeypatch.setattr("boostr.__version__", "99.0")
    asked.clear()
    run(tmp_path)
    assert asked == CASES


def give_constant(case, repetition, scale, constant=1):
    asked.append(case)
    return {"constant": constant}


def test_other_constants_in_the_signature_do_not_meet_old_results(tmp_path, monkeypatch):
    work = Work(tmp_path, TINY)
    for constant in (1, 2):
        monkeypatch.setattr(give_constant, "__defaults__", (constant,))
        assert work.run("constant", give_constant, [0]) == {0: [{"constant": constant}]}
    assert asked == [0, 0]


def use_ready(case, repetition, scale, ready):
    asked.append(case)
    return {"value": ready[case]}


def test_ready_models_are_handed_on_and_do_not_change_the_key(tmp_path):
    work = Work(tmp_path, TINY, n_processes=2)
    first = work.run("ready", use_ready, [0, 1], ready={0: 5, 1: 6})
    assert work.run("ready", use_ready, [0, 1], ready={}) == first
    assert asked == [0, 1]


@pytest.mark.slow
def test_several_processes_give_what_one_gives(tmp_path):
    work = Work(tmp_path, TINY, n_processes=2)
    assert work.run("squares", square, CASES) == run(tmp_path / "one")


def test_names_are_ranked_by_their_means():
    found = {"a": [{"x": 3.0}, {"x": 5.0}], "b": [{"x": 1.0}], "c": [{"y": 0.0}]}
    assert rank(stack(found, "x")) == ["b", "a"]
