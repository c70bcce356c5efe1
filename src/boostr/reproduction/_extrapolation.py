"""Appendix A: trees with time as a feature are bumpy, and end where training ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.baselines import XGBoostPoisson
from boostr.estimators import BoostR
from boostr.metrics import integrated_squared_error
from boostr.reproduction._extrapolation_pictures import (
    END,
    LAST,
    TIMES,
    Curves,
    draw_bumps,
    draw_extrapolation,
)
from boostr.reproduction._learners import DEFAULT, PAPER, PAPER_SETTINGS, POINTWISE
from boostr.reproduction._numbers import say, say_mean
from boostr.reproduction._page import Block, Chapter, Table
from boostr.reproduction._stopped import build_stopped
from boostr.reproduction._time_feature import (
    RATE,
    make_time_learner,
    name_ad_hoc,
    say_library,
)
from boostr.reproduction._work import Job, Result, Work
from boostr.simulate import Simulation, dataset_d

__all__ = ["build"]

_N_TEST = 500
_N_SHOWN = 3  # individuals in the pictures: a quiet one, a middling one, a busy one
_N_ROWS = 50  # times of the ad hoc learner's rows, one a unit of time
_TRAINING_SEED, _TEST_SEED = 40_000, 50_000
_POISSON = "XGBoost, Poisson, last rate goes on"
# Of events from END to LAST by the rate at END, where they grow as time to the power 1.5.
_HELD_GROWTH = 1.5 * (LAST / END - 1.0) / ((LAST / END) ** 1.5 - 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Scores of one model, one value per repetition."""

    within: FloatArray  # (r,) integrated squared error up to the end of training
    beyond: FloatArray  # (r,) the same beyond it
    growth: FloatArray  # (r,) predicted over true events beyond the end
    falling: FloatArray  # (r,) share of curves that fall somewhere
    bumps: FloatArray  # (r,) total variation of the rate, over that of the true one


def build(work: Work) -> Chapter:
    """Return the chapter of Appendix A."""
    names = list(_make_learners(0))
    jobs: list[Job] = [
        {"learner": name, "repetition": repetition}
        for repetition in range(work.scale.n_repetitions)
        for name in names
    ]
    results = work.run(
        "Extrapolation: learners on D",
        jobs,
        lambda job: _score(job, work.scale.n_maps),
        settings={"n_test": _N_TEST, "end": END},
    )
    runs: dict[str, list[Result]] = {name: [] for name in names}
    for job, result in zip(jobs, results, strict=True):
        runs[str(job["learner"])].append(result)
    scores = {name: _collect(each) for name, each in runs.items()}
    curves = _choose_curves(runs)
    return Chapter(
        key="extrapolation",
        title="Appendix A: time as a feature",
        introduction=(
            f"{work.scale.n_maps} individuals of data set D, whose rates rise with time, "
            f"observed to time {END:g}; {_N_TEST} others are predicted to time {LAST:g}, "
            f"{work.scale.n_repetitions} repetitions. {name_ad_hoc()} regresses the number "
            f"of events so far on the features and time, at {_N_ROWS} times, with its "
            f"usual learning rate of {RATE:g}; nothing is done to its curves. "
            f"{say_library()}"
        ).strip(),
        blocks=(
            _build_bumps(scores, curves),
            _build_beyond(scores, curves),
            build_stopped(work),
        ),
    )


def _make_learners(random_state: int) -> dict[str, Any]:
    settings: dict[str, Any] = dict(PAPER_SETTINGS["D"])
    learners: dict[str, Any] = {
        name_ad_hoc(): make_time_learner(RATE, _N_ROWS, random_state),
        POINTWISE: BoostR.paper(**settings, leaf="step"),
        PAPER: BoostR.paper(**settings),
        DEFAULT: BoostR(random_state=random_state),
    }
    if find_spec("xgboost"):
        learners[_POISSON] = XGBoostPoisson(random_state=random_state)
    return learners


def _score(job: Job, n_train: int) -> Result:
    name, repetition = str(job["learner"]), int(job["repetition"])
    train = dataset_d(n=n_train, random_state=_TRAINING_SEED + repetition, end=END)
    test = dataset_d(n=_N_TEST, random_state=_TEST_SEED + repetition, end=LAST)
    learner = _make_learners(repetition)[name].fit(train.X, train.y)
    predicted = learner.predict_cumulative(test.X, TIMES)
    if name == _POISSON:
        last_rate = learner.predict_intensity(test.X, [END])
        predicted += last_rate * np.maximum(TIMES - END, 0.0)
    true = test.truth(TIMES)
    shown = _choose_shown(test)
    return {
        **_measure(predicted, true),
        "shown": shown.tolist(),
        "predicted": predicted[shown].round(5).tolist(),
        "true": true[shown].round(5).tolist(),
        "events": [test.y[i].times.round(3).tolist() for i in shown],
    }


def _choose_shown(test: Simulation) -> Any:
    """Return individuals from low to high expected numbers."""
    order = np.argsort(test.truth(LAST)[:, 0], kind="stable")
    shares = np.linspace(0.1, 0.9, _N_SHOWN)
    return order[(shares * len(order)).astype(np.int64)]


def _measure(predicted: FloatArray, true: FloatArray) -> Result:
    within, beyond = TIMES <= END, TIMES >= END
    rates = np.diff(predicted[:, within], axis=1)
    true_rates = np.diff(true[:, within], axis=1)
    variation = np.abs(np.diff(rates)).sum(axis=1) / np.abs(np.diff(true_rates)).sum(axis=1)
    gained = predicted[:, -1] - predicted[:, within][:, -1]
    true_gain = true[:, -1] - true[:, within][:, -1]
    parts = {"within": within, "beyond": beyond}
    errors = {
        name: float(
            integrated_squared_error(predicted[:, part], true[:, part], TIMES[part]).mean()
        )
        for name, part in parts.items()
    }
    return {
        **errors,
        "growth": float(gained.mean() / true_gain.mean()),
        "falling": float(np.mean((rates < -1e-9).any(axis=1))),
        "bumps": float(variation.mean()),
    }


def _collect(runs: Sequence[Result]) -> Scores:
    names = ("within", "beyond", "growth", "falling", "bumps")
    return Scores(*(np.array([run[name] for run in runs]) for name in names))


def _choose_curves(runs: Mapping[str, Sequence[Result]]) -> Curves:
    """Return the curves of the first repetition, which are drawn."""
    first = {name: each[0] for name, each in runs.items()}
    anybody = first[DEFAULT]
    return Curves(
        individuals=tuple(anybody["shown"]),
        predicted={name: np.array(each["predicted"]) for name, each in first.items()},
        true=np.array(anybody["true"]),
        events=tuple(np.array(times) for times in anybody["events"]),
    )


def _build_bumps(scores: Mapping[str, Scores], curves: Curves) -> Block:
    ad_hoc, default = scores[name_ad_hoc()], scores[DEFAULT]
    return Block(
        title="Appendix A: bumpy curves",
        paper=(
            "With time as a feature, XGBoost learns the counts at different times "
            "independently: predicted curves are bumpy, those of Boost-R are smooth."
        ),
        paper_settings=(
            f"{_say_bumps(name_ad_hoc(), ad_hoc)}; a cumulative count cannot fall. "
            f"{_say_bumps(POINTWISE, scores[POINTWISE])}. "
            f"{_say_bumps(PAPER, scores[PAPER])}, with power functions in the leaves."
        ),
        default=(
            f"{_say_bumps(DEFAULT, default)}. The error up to the end of training is "
            f"{say(default.within.mean())}, that of {name_ad_hoc()} "
            f"{say(ad_hoc.within.mean())}."
        ),
        pictures=(draw_bumps(curves, (name_ad_hoc(), POINTWISE, DEFAULT)),),
    )


def _say_bumps(name: str, scores: Scores) -> str:
    return (
        f"{name}: {scores.falling.mean():.0%} of the curves fall somewhere, and rates go "
        f"up and down {say(scores.bumps.mean())} times as much as the true ones"
    )


def _build_beyond(scores: Mapping[str, Scores], curves: Curves) -> Block:
    ad_hoc, default = scores[name_ad_hoc()], scores[DEFAULT]
    return Block(
        title="Appendix A: beyond the end of training",
        paper=(
            "Beyond the end of training the prediction of XGBoost remains constant. The "
            "leaves of Boost-R hold functions of time, so its curves go on."
        ),
        paper_settings=(
            f"{name_ad_hoc()} predicts {ad_hoc.growth.mean():.0%} of the true number of "
            f"events between {END:g} and {LAST:g}. Boost-R with power functions predicts "
            f"{scores[PAPER].growth.mean():.0%}, with pointwise leaves, whose last slope "
            f"goes on, {scores[POINTWISE].growth.mean():.0%}."
        ),
        default=(
            f"{default.growth.mean():.0%} of the true number; the error beyond the end is "
            f"{say(default.beyond.mean())}, that of {name_ad_hoc()} "
            f"{say(ad_hoc.beyond.mean())}."
        ),
        caution=_caution_beyond(scores),
        pictures=(draw_extrapolation(curves, [n for n in scores if n != POINTWISE]),),
        tables=(_tabulate(scores),),
    )


def _tabulate(scores: Mapping[str, Scores]) -> Table:
    order = sorted(scores, key=lambda name: float(scores[name].beyond.mean()))
    return Table(
        caption=(
            "Integrated squared error up to the end of training and beyond it, and "
            "predicted over true events beyond it; ± standard error over repetitions."
        ),
        columns=(
            "Learner",
            f"Error to {END:g}",
            f"Error {END:g} to {LAST:g}",
            "Predicted over true",
        ),
        rows=tuple(
            (
                name,
                say_mean(scores[name].within),
                say_mean(scores[name].beyond),
                f"{scores[name].growth.mean():.2f}",
            )
            for name in order
        ),
        marked=frozenset({0}),
    )


def _caution_beyond(scores: Mapping[str, Scores]) -> str:
    text = (
        "What comes after the end is an assumption. With default settings rates go on at "
        "their recent level, as a rise would go on for ever. The rates of data set D do "
        f"go on rising, as a power of time: their true values at {END:g}, held, would give "
        f"{_HELD_GROWTH:.0%} of the true number."
    )
    if _POISSON in scores:
        text += (
            " Nor is it trees that cannot extrapolate but the regression of counts: "
            "XGBoost on the rate of events, with its last rate held, predicts "
            f"{scores[_POISSON].growth.mean():.0%} of the true number, with an error of "
            f"{say(scores[_POISSON].beyond.mean())}."
        )
    return text
