"""Appendix A: follow-up that ends with an event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.estimators import BoostR
from boostr.reproduction._kelly_trial import FOLLOW_UP, HORIZON
from boostr.reproduction._learners import DEFAULT, PAPER_SETTINGS, POINTWISE
from boostr.reproduction._numbers import list_names
from boostr.reproduction._page import Block, Table
from boostr.reproduction._time_feature import RATE, make_time_learner, name_ad_hoc
from boostr.reproduction._work import Result, Work
from boostr.simulate import kelly

__all__ = ["build_stopped"]

_MOST_EVENTS = 4  # of the Kelly data, where follow-up stops
_N_ROWS = 24  # times of the ad hoc learner's rows, every five days
_TRAINING_SEED, _TEST_SEED = 80_000, 90_000


def build_stopped(work: Work) -> Block:
    """Return predictions beyond the event with which follow-up ends."""
    names = [name_ad_hoc(), POINTWISE, DEFAULT]
    found = work.run(
        "Extrapolation: Kelly data",
        [{"learner": name} for name in names],
        lambda job: _count_stopped(str(job["learner"]), work.scale.n_subjects),
        settings={
            "n_rows": _N_ROWS,
            "rate": RATE,
            "seeds": [_TRAINING_SEED, _TEST_SEED],
            "times": [FOLLOW_UP, HORIZON],
        },
    )
    ad_hoc, pointwise, default = found
    truth = found[0]["true"]
    least = _MOST_EVENTS + 1
    return Block(
        title="Appendix A: follow-up that ends with an event",
        paper=(
            "Where follow-up stops with the n-th event, XGBoost with time as a feature "
            "cannot predict more than n events, nor when the next one will come."
        ),
        paper_settings=(
            f"Kelly data, stopped at {_MOST_EVENTS} events. Largest prediction of "
            f"{name_ad_hoc()} by day {HORIZON:g}: {ad_hoc['largest']:.2f} events; Boost-R "
            f"with the paper's settings: {pointwise['largest']:.2f}."
        ),
        default=(
            f"Largest prediction {default['largest']:.2f}, the truth is "
            f"{truth['largest']:.2f}. {truth['share']:.0%} of the subjects are expected to "
            f"have {least} events by day {HORIZON:g}; the default says "
            f"{default['share']:.0%}, {name_ad_hoc()} {ad_hoc['share']:.0%}."
        ),
        caution=(
            "A loss on counts suffers from such an end even before it: by day "
            f"{FOLLOW_UP:g} the truth expects {truth['mean']:.2f} events on average, "
            f"{list_names(list(map(_say_mean, names, found)))}."
        ),
        tables=(_tabulate({"The truth": truth} | dict(zip(names, found, strict=True))),),
    )


def _tabulate(results: Mapping[str, Result]) -> Table:
    return Table(
        "Predictions for subjects of the Kelly data, sigma 0; everybody is observed until "
        f"the 4th event, to day {FOLLOW_UP:g} at most.",
        (
            "Learner",
            f"Mean by day {FOLLOW_UP:g}",
            f"Largest by day {HORIZON:g}",
            f"Subjects with {_MOST_EVENTS + 1} or more expected by day {HORIZON:g}",
        ),
        tuple(
            (name, f"{each['mean']:.2f}", f"{each['largest']:.2f}", f"{each['share']:.0%}")
            for name, each in results.items()
        ),
    )


def _say_mean(name: str, result: Result) -> str:
    return f"{name} {result['mean']:.2f}"


def _count_stopped(name: str, n: int) -> Result:
    """Fit to subjects whose follow-up is stopped by events; predict others."""
    settings: dict[str, Any] = dict(PAPER_SETTINGS["kelly"])
    learner = {
        name_ad_hoc(): make_time_learner(RATE, _N_ROWS, 0),
        POINTWISE: BoostR.paper(**settings, leaf="step"),
        DEFAULT: BoostR(random_state=0),
    }[name]
    train = kelly(n=n // 2, sigma=0.0, random_state=_TRAINING_SEED)
    test = kelly(n=n // 2, sigma=0.0, random_state=_TEST_SEED)
    predicted = learner.fit(train.X, train.y).predict_cumulative(
        test.X, [FOLLOW_UP, HORIZON]
    )
    return _summarise(predicted) | {
        "true": _summarise(test.truth([FOLLOW_UP, HORIZON])),
    }


def _summarise(counts: FloatArray) -> Result:
    return {
        "mean": float(counts[:, 0].mean()),
        "largest": float(counts[:, 1].max()),
        "share": float(np.mean(counts[:, 1] >= _MOST_EVENTS + 1)),
    }
