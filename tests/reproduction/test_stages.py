"""Results are kept under the name of all that they depend on."""

import pytest

from boostr.reproduction import _kelly_trial, _leaf_counts, _ranking, _stopped
from boostr.reproduction._comparison import Problem
from boostr.reproduction._scales import QUICK
from boostr.simulate import dataset_a

pytest.importorskip("matplotlib")
PROBLEM = Problem("A", dataset_a, 20, {"end": (10.0, 20.0)})


class AskedError(Exception):
    """A stage has said what it depends on."""


class Listener:
    """Work that is not done: it tells the settings of the first stage."""

    scale = QUICK

    def run(self, stage, jobs, compute, *, settings=None):
        raise AskedError(settings)


STAGES = {
    _kelly_trial: _kelly_trial.run_trials,
    _leaf_counts: lambda work: _leaf_counts._find_lasts(work, PROBLEM),
    _ranking: lambda work: _ranking.build_ranking(work, PROBLEM, {}),
    _stopped: _stopped.build_stopped,
}
CONSTANTS = [
    *[(_kelly_trial, name) for name in ("_FIRST_SEED", "HORIZON")],
    *[(_leaf_counts, name) for name in ("_FIRST_SEED", "_COMMON_END")],
    *[(_ranking, name) for name in ("_N_TRAIN", "_N_DRAWS", "_FIRST_SEED")],
    *[(_stopped, name) for name in ("_N_ROWS", "RATE", "_TEST_SEED", "HORIZON")],
]


def ask(stage):
    with pytest.raises(AskedError) as caught:
        STAGES[stage](Listener())
    return caught.value.args[0]


@pytest.mark.parametrize(("stage", "constant"), CONSTANTS)
def test_other_constants_are_other_settings(monkeypatch, stage, constant):
    before = ask(stage)
    assert ask(stage) == before
    monkeypatch.setattr(stage, constant, 7)
    assert ask(stage) != before
