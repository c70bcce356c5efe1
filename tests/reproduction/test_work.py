from dataclasses import replace

import pytest
from tests.reproduction.scenes import TINY, Recorder

from boostr.reproduction._work import Work

JOBS = [{"number": number} for number in range(5)]


class Squares:
    """Squares numbers and counts how often it was asked."""

    def __init__(self, stop_at=None):
        self.asked = []
        self.stop_at = stop_at

    def __call__(self, job):
        if job["number"] == self.stop_at:
            raise KeyboardInterrupt
        self.asked.append(job["number"])
        return {"square": job["number"] ** 2}


def run(folder, compute, scale=TINY, bar=None, **options):
    work = Work(folder, scale, bar or Recorder())
    return work.run("squares", JOBS, compute, **options)


def test_results_are_in_the_order_of_the_jobs(tmp_path):
    assert [each["square"] for each in run(tmp_path, Squares())] == [0, 1, 4, 9, 16]


def test_a_second_run_computes_nothing(tmp_path):
    first, again = run(tmp_path, Squares()), Squares()
    assert run(tmp_path, again) == first
    assert again.asked == []


def test_a_stopped_run_goes_on_where_it_was(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, Squares(stop_at=3))
    rest, bar = Squares(), Recorder()
    run(tmp_path, rest, bar=bar)
    assert rest.asked == [3, 4]
    assert bar.stages == [("squares", 5, 3)]
    assert bar.n_advanced == 2


@pytest.mark.parametrize("n_lost", [1, 5, 20])
def test_a_cut_line_is_computed_again(tmp_path, n_lost):
    run(tmp_path, Squares())
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-n_lost])
    rest = Squares()
    assert [each["square"] for each in run(tmp_path, rest)] == [0, 1, 4, 9, 16]
    assert rest.asked == [4]
    complete = Squares()
    run(tmp_path, complete)
    assert complete.asked == []


@pytest.mark.parametrize(
    "damaged", [b"\x00\xff{", b"{", b"[]", b"{}", b"3", b'{"job": [], "result": {}}', b""]
)
def test_a_damaged_line_is_computed_again(tmp_path, damaged):
    run(tmp_path, Squares())
    (path,) = tmp_path.iterdir()
    lines = path.read_bytes().splitlines()
    lines[2] = damaged
    path.write_bytes(b"\n".join(lines) + b"\n")
    rest = Squares()
    assert [each["square"] for each in run(tmp_path, rest)] == [0, 1, 4, 9, 16]
    assert rest.asked == [2]
    complete = Squares()
    run(tmp_path, complete)
    assert complete.asked == []


@pytest.mark.parametrize(
    ("scale", "settings"), [(replace(TINY, n_splits=7), None), (TINY, {"n": 3})]
)
def test_other_settings_do_not_meet_old_results(tmp_path, scale, settings):
    run(tmp_path, Squares())
    compute = Squares()
    run(tmp_path, compute, scale, settings=settings)
    assert compute.asked == [0, 1, 2, 3, 4]


def test_another_version_does_not_meet_old_results(tmp_path, monkeypatch):
    run(tmp_path, Squares())
    monkeypatch.setattr("boostr.__version__", "99.0")
    compute = Squares()
    run(tmp_path, compute)
    assert compute.asked == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_several_processes_give_what_one_gives(tmp_path):
    work = Work(tmp_path, TINY, Recorder(), 2)
    found = work.run("squares", JOBS, lambda job: {"square": job["number"] ** 2})
    assert found == run(tmp_path / "one", Squares())


def test_what_is_kept_in_memory_is_computed_here(tmp_path):
    kept = []
    jobs = [{"number": 1}, {"number": 2}]
    work = Work(tmp_path, TINY, Recorder(), 2)
    work.run("kept", jobs, lambda job: kept.append(job["number"]) or {}, keeps=True)
    assert kept == [1, 2]
