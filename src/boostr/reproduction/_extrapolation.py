"""Appendix A: trees with time as a feature are bumpy, and end where training ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.baselines import XGBoostPoisson
from boostr.estimators import BoostR
from boostr.metrics import integrated_squared_error
from boostr.plotting.style import CYCLE
from boostr.reproduction._kelly import FOLLOW_UP, HORIZON
from boostr.reproduction._models import (
    DEFAULT,
    PAPER,
    PAPER_SETTINGS,
    POINTWISE,
    RATE,
    make_time_model,
    name_ad_hoc,
    say_library,
)
from boostr.reproduction._page import (
    Block,
    Chapter,
    Picture,
    ResultTable,
    digits,
    draw,
    join_names,
    open_figure,
    say_mean,
)
from boostr.reproduction._work import Result, Scale, Work, rank, stack
from boostr.simulate import dataset_d, kelly

__all__ = ["build_extrapolation"]

END, LAST = 50.0, 100.0  # of training, and of what is predicted
TIMES = np.linspace(0.0, LAST, 201)
_WITHIN, _BEYOND = TIMES <= END, TIMES >= END
_N_TEST = 500
_SHOWN = (0.1, 0.5, 0.9)  # individuals in the pictures: quiet, middling and busy
_N_ROWS = 50  # times of the ad hoc model's rows, one a unit of time
_SEEDS = (40_000, 50_000)  # of training and test
_POISSON = "XGBoost, Poisson, last rate goes on"
# Of events from END to LAST by the rate at END, where they grow as time to the power 1.5.
_HELD_GROWTH = 1.5 * (LAST / END - 1.0) / ((LAST / END) ** 1.5 - 1.0)

_MOST_EVENTS = 4  # of the Kelly data, where follow-up stops
_N_KELLY_ROWS = 24  # times of the ad hoc model's rows, every five days
_KELLY_SEEDS = (80_000, 90_000)

Scores = Mapping[str, Mapping[str, FloatArray]]  # by measure and model, per repetition


def build_extrapolation(work: Work) -> Chapter:
    """Return the chapter of Appendix A."""
    results = work.run(
        "Extrapolation: models on D",
        _score,
        list(_make_models(0)),
        work.scale.n_repetitions,
    )
    measures = ("within", "beyond", "growth", "falling", "bumps")
    scores = {measure: stack(results, measure) for measure in measures}
    first = {name: runs[0] for name, runs in results.items()}  # whose curves are drawn
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
        blocks=[
            _build_bumps(scores, first),
            _build_beyond(scores, first),
            _build_stopped(work),
        ],
    )


def _make_models(random_state: int) -> dict[str, Any]:
    settings: dict[str, Any] = dict(PAPER_SETTINGS["D"])
    models: dict[str, Any] = {
        name_ad_hoc(): make_time_model(RATE, _N_ROWS, random_state),
        POINTWISE: BoostR.paper(**settings, leaf="step"),
        PAPER: BoostR.paper(**settings),
        DEFAULT: BoostR(random_state=random_state),
    }
    if find_spec("xgboost"):
        models[_POISSON] = XGBoostPoisson(random_state=random_state)
    return models


def _score(
    case: str,
    repetition: int,
    scale: Scale,
    n_test: int = _N_TEST,
    seeds: tuple[int, int] = _SEEDS,
) -> Result:
    train = dataset_d(n=scale.n_maps, random_state=seeds[0] + repetition, end=END)
    test = dataset_d(n=n_test, random_state=seeds[1] + repetition, end=LAST)
    model = _make_models(repetition)[case].fit(train.X, train.y)
    predicted = model.predict_cumulative(test.X, TIMES)
    if case == _POISSON:
        last_rate = model.predict_intensity(test.X, [END])
        predicted += last_rate * np.maximum(TIMES - END, 0.0)
    true = test.truth(TIMES)
    order = np.argsort(test.truth(LAST)[:, 0], kind="stable")
    shown = order[(np.array(_SHOWN) * n_test).astype(np.int64)]
    return {
        **_measure(predicted, true),
        "shown": shown,
        "predicted": predicted[shown],
        "true": true[shown],
        "events": [test.y[i].times for i in shown],
    }


def _measure(predicted: FloatArray, true: FloatArray) -> Result:
    """Return errors, growth beyond the end, and how often curves fall or bend."""
    rates, true_rates = (np.diff(each[:, _WITHIN], axis=1) for each in (predicted, true))
    variation, true_variation = (
        np.abs(np.diff(each)).sum(axis=1) for each in (rates, true_rates)
    )
    gain, true_gain = (
        (each[:, -1] - each[:, _WITHIN][:, -1]).mean() for each in (predicted, true)
    )
    within, beyond = (
        integrated_squared_error(predicted[:, part], true[:, part], TIMES[part]).mean()
        for part in (_WITHIN, _BEYOND)
    )
    return {
        "within": float(within),  # integrated squared error up to the end of training
        "beyond": float(beyond),  # the same beyond it
        "growth": float(gain / true_gain),  # predicted over true events beyond the end
        "falling": float(np.mean((rates < -1e-9).any(axis=1))),  # share of curves
        "bumps": float((variation / true_variation).mean()),  # variation of the rate
    }


def _build_bumps(scores: Scores, first: Mapping[str, Result]) -> Block:
    ad_hoc = name_ad_hoc()
    bumps = {
        name: f"{name}: {falling.mean():.0%} of the curves fall somewhere, and rates go up "
        f"and down {digits(scores['bumps'][name].mean())} times as much as the true ones"
        for name, falling in scores["falling"].items()
    }
    within = scores["within"]
    return Block(
        title="Appendix A: bumpy curves",
        paper=(
            "With time as a feature, XGBoost learns the counts at different times "
            "independently: predicted curves are bumpy, those of Boost-R are smooth."
        ),
        paper_settings=(
            f"{bumps[ad_hoc]}; a cumulative count cannot fall. {bumps[POINTWISE]}. "
            f"{bumps[PAPER]}, with power functions in the leaves."
        ),
        default=(
            f"{bumps[DEFAULT]}. The error up to the end of training is "
            f"{digits(within[DEFAULT].mean())}, that of {ad_hoc} "
            f"{digits(within[ad_hoc].mean())}."
        ),
        pictures=[_draw_bumps(first, (ad_hoc, POINTWISE, DEFAULT))],
    )


def _draw_bumps(first: Mapping[str, Result], names: Sequence[str]) -> Picture:
    """Draw curves and rates of the individual with most events, within training."""
    figure, (left, right) = open_figure(1, 2, (12.0, 4.6))
    times = TIMES[_WITHIN]
    middles = 0.5 * (times[1:] + times[:-1])
    curves = {name: first[name]["predicted"][-1, _WITHIN] for name in names}
    styles = [{"color": colour, "linewidth": 1.4} for colour in CYCLE[: len(names)]]
    styles.insert(0, {"color": "black", "linestyle": ":", "linewidth": 1.5})
    shown = {"true": first[DEFAULT]["true"][-1, _WITHIN]} | curves
    for (name, curve), style in zip(shown.items(), styles, strict=True):
        left.plot(times, curve, **style, label=name)
        right.plot(middles, np.diff(curve) / np.diff(times), **style)
    left.set(xlabel="Time", ylabel="Cumulative number of events", xlim=(0.0, END))
    right.set(xlabel="Time", ylabel="Events per unit of time", xlim=(0.0, END))
    right.axhline(0.0, color="0.5", linewidth=0.8)
    left.legend(loc="upper left", fontsize="small")
    return draw(
        figure,
        f"Individual {first[DEFAULT]['shown'][-1] + 1} of those predicted: cumulative "
        "intensity (left) and its slope, the rate of events (right).",
        "Predicted curves of several models and their slopes, beside the truth",
    )


def _build_beyond(scores: Scores, first: Mapping[str, Result]) -> Block:
    ad_hoc, within, beyond = name_ad_hoc(), scores["within"], scores["beyond"]
    growth = {name: each.mean() for name, each in scores["growth"].items()}
    caution = (
        "What comes after the end is an assumption. With default settings rates go on at "
        "their recent level, as a rise would go on for ever. The rates of data set D do "
        f"go on rising, as a power of time: their true values at {END:g}, held, would give "
        f"{_HELD_GROWTH:.0%} of the true number."
    )
    if _POISSON in growth:
        caution += (
            " Nor is it trees that cannot extrapolate but the regression of counts: "
            "XGBoost on the rate of events, with its last rate held, predicts "
            f"{growth[_POISSON]:.0%} of the true number, with an error of "
            f"{digits(beyond[_POISSON].mean())}."
        )
    return Block(
        title="Appendix A: beyond the end of training",
        paper=(
            "Beyond the end of training the prediction of XGBoost remains constant. The "
            "leaves of Boost-R hold functions of time, so its curves go on."
        ),
        paper_settings=(
            f"{ad_hoc} predicts {growth[ad_hoc]:.0%} of the true number of events between "
            f"{END:g} and {LAST:g}. Boost-R with power functions predicts "
            f"{growth[PAPER]:.0%}, with pointwise leaves, whose last slope goes on, "
            f"{growth[POINTWISE]:.0%}."
        ),
        default=(
            f"{growth[DEFAULT]:.0%} of the true number; the error beyond the end is "
            f"{digits(beyond[DEFAULT].mean())}, that of {ad_hoc} "
            f"{digits(beyond[ad_hoc].mean())}."
        ),
        caution=caution,
        pictures=[_draw_extrapolation(first)],
        tables=[
            ResultTable(
                "Integrated squared error up to the end of training and beyond it, and "
                "predicted over true events beyond it; ± standard error over repetitions.",
                (
                    "Model",
                    f"Error to {END:g}",
                    f"Error {END:g} to {LAST:g}",
                    "Predicted over true",
                ),
                [
                    (
                        name,
                        say_mean(within[name]),
                        say_mean(beyond[name]),
                        f"{growth[name]:.2f}",
                    )
                    for name in rank(beyond)
                ],
                best=0,
            )
        ],
    )


def _draw_extrapolation(first: Mapping[str, Result]) -> Picture:
    """Draw several individuals to the last time, with the end of training marked."""
    figure, panels = open_figure(1, len(_SHOWN), (13.0, 4.8))
    names = [name for name in first if name != POINTWISE]
    own = first[DEFAULT]
    for row, panel in enumerate(panels):
        times = own["events"][row]
        steps = np.concatenate([[0.0], times, [LAST]])
        counts = np.concatenate([np.arange(len(times) + 1), [len(times)]])
        panel.step(steps, counts, where="post", color="0.55", label="events")
        panel.plot(TIMES, own["true"][row], "k:", linewidth=1.8, label="true")
        for name, colour in zip(names, CYCLE, strict=False):
            curve = first[name]["predicted"][row]
            panel.plot(TIMES, curve, color=colour, linewidth=1.5, label=name)
        panel.axvline(END, color="black", linewidth=0.8)
        panel.axvspan(END, LAST, color="0.9", zorder=0.0)
        panel.set(xlim=(0.0, LAST), xlabel="Time")
        panel.set_ylim(bottom=0.0)
        title = f"Individual {own['shown'][row] + 1}"
        panel.set_title(title, loc="left", fontsize="medium")
    panels[0].set_ylabel("Cumulative number of events")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    return draw(
        figure,
        f"A quiet, a middling and a busy individual. Models have seen others up to time "
        f"{END:g}; in the grey part they extrapolate.",
        "Predicted curves of three individuals within and beyond the end of training",
    )


def _build_stopped(work: Work) -> Block:
    """Return predictions beyond the event with which follow-up ends."""
    names = [name_ad_hoc(), POINTWISE, DEFAULT]
    results = work.run("Extrapolation: Kelly data", _count_stopped, names, rate=RATE)
    found = {name: runs[0] for name, runs in results.items()}
    ad_hoc, pointwise, default = found.values()
    truth = default["true"]
    least = _MOST_EVENTS + 1
    means = [f"{name} {each['mean']:.2f}" for name, each in found.items()]
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
            f"{join_names(means)}."
        ),
        tables=[
            ResultTable(
                "Predictions for subjects of the Kelly data, sigma 0; everybody is "
                f"observed until the 4th event, to day {FOLLOW_UP:g} at most.",
                (
                    "Model",
                    f"Mean by day {FOLLOW_UP:g}",
                    f"Largest by day {HORIZON:g}",
                    f"Subjects with {least} or more expected by day {HORIZON:g}",
                ),
                [
                    (
                        name,
                        f"{each['mean']:.2f}",
                        f"{each['largest']:.2f}",
                        f"{each['share']:.0%}",
                    )
                    for name, each in ({"The truth": truth} | found).items()
                ],
            )
        ],
    )


def _count_stopped(
    case: str,
    repetition: int,
    scale: Scale,
    rate: float,
    n_rows: int = _N_KELLY_ROWS,
    seeds: tuple[int, int] = _KELLY_SEEDS,
    days: tuple[float, float] = (FOLLOW_UP, HORIZON),
) -> Result:
    """Fit to subjects whose follow-up is stopped by events; predict others."""
    settings: dict[str, Any] = dict(PAPER_SETTINGS["kelly"])
    model = {
        name_ad_hoc(): make_time_model(rate, n_rows, 0),
        POINTWISE: BoostR.paper(**settings, leaf="step"),
        DEFAULT: BoostR(random_state=0),
    }[case]
    train, test = (
        kelly(n=scale.n_subjects // 2, sigma=0.0, random_state=seed) for seed in seeds
    )
    predicted = model.fit(train.X, train.y).predict_cumulative(test.X, days)
    return _summarise(predicted) | {"true": _summarise(test.truth(days))}


def _summarise(counts: FloatArray) -> Result:
    return {
        "mean": float(counts[:, 0].mean()),
        "largest": float(counts[:, 1].max()),
        "share": float(np.mean(counts[:, 1] >= _MOST_EVENTS + 1)),
    }
