"""Appendix B: the Kelly data, and a score that does not favour the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from boostr.reproduction._kelly_pictures import draw_boxes, draw_scatter, tabulate
from boostr.reproduction._kelly_trial import (
    FOLLOW_UP,
    HORIZON,
    SIGMAS,
    TRUTH,
    Scores,
    Trials,
    count_trials,
    list_paper,
    list_rates,
    run_trials,
)
from boostr.reproduction._learners import DEFAULT, FOREST, PAPER_SETTINGS
from boostr.reproduction._numbers import list_names, say, say_mean
from boostr.reproduction._page import Block, Chapter
from boostr.reproduction._time_feature import say_library
from boostr.reproduction._work import Work

__all__ = ["build"]


def build(work: Work) -> Chapter:
    """Return the chapter of Appendix B."""
    trials = run_trials(work)
    n = work.scale.n_subjects
    settings = PAPER_SETTINGS["kelly"]
    return Chapter(
        key="kelly",
        title="Appendix B: the Kelly data",
        introduction=(
            f"{n} subjects of a simulated trial, half of them treated; treatment lowers "
            "the rate for the first one to three events, or always, depending on two "
            f"features. A subject is observed until its 4th event, to day {FOLLOW_UP:g} at "
            "most. A random effect with standard deviation sigma makes subjects differ. "
            f"Learners are fitted to {n // 2} subjects and judged by the others; "
            f"{_say_trials(work)} for each sigma.\n\n"
            "Boost-R-1 to 4 are the paper's settings with its pairs (gamma1, gamma2). For "
            "these data it states neither K nor D.max; they are "
            f"{settings['n_estimators']} and {settings['max_leaf_nodes']} here. In "
            f"brackets behind the others: the learning rate. {say_library()}"
        ).strip(),
        blocks=(
            _build_observed(trials),
            _build_horizon(trials),
            _build_errors(trials),
        ),
    )


def _say_trials(work: Work) -> str:
    n_trials = count_trials(work.scale)
    return "there is one trial" if n_trials == 1 else f"there are {n_trials} trials"


def _build_observed(trials: Trials) -> Block:
    wins = [_find_best(trials[sigma], _mean_observed) for sigma in SIGMAS]
    return Block(
        title="Kelly data: distance from the observed process",
        paper=(
            f"Squared L2 distance between the prediction and the observed process over "
            f"{FOLLOW_UP:g} days, for four settings, RF-R and XGBoost with three learning "
            "rates: Boost-R is best for sigma 0, 0.1 and 0.4, and everybody gets worse as "
            "sigma grows."
        ),
        paper_settings=(
            f"Mean distance of the best of the four settings: "
            f"{_by_sigma(trials, lambda each: _mean_observed(each[_best_setting(each)]))}. "
            f"RF-R: {_by_sigma(trials, lambda each: _mean_observed(each[FOREST]))}; best "
            f"of the ad hoc learners: {_by_sigma(trials, _best_rate)}. "
            + _check_growth(trials)
        ),
        default=(
            f"Mean distance: "
            f"{_by_sigma(trials, lambda each: _mean_observed(each[DEFAULT]))}. "
            f"The lowest have {list_names(sorted(set(wins)))}. What that is worth: below."
        ),
        caution=_caution_observed(trials),
        pictures=(
            draw_boxes(
                trials,
                lambda scores: scores.observed,
                "Squared L2 distance\n(events² · days)",
                "Squared L2 distance from the observed process, one per test subject; "
                "diamonds are means. The truth itself is the first box.",
            ),
        ),
        tables=(
            tabulate(
                trials,
                lambda scores: scores.observed.mean(axis=1),
                "Mean squared L2 distance from the observed process (events² · days), ± "
                "standard error over trials.",
            ),
        ),
    )


def _build_horizon(trials: Trials) -> Block:
    return Block(
        title=f"Kelly data: events by day {HORIZON:g}",
        paper=(
            f"Learning from days 0 to {FOLLOW_UP:g}, the squared error of the predicted "
            f"number of events at day {HORIZON:g} is lower with Boost-R than with XGBoost, "
            "which cannot extrapolate."
        ),
        paper_settings=(
            f"Mean squared error of the best of the four settings: "
            f"{_by_sigma(trials, lambda each: min(map(_mean_squared, _own(each))))}; of "
            f"the best ad hoc learner: "
            f"{_by_sigma(trials, lambda each: min(map(_mean_squared, _ad_hoc(each))))}. "
            "Pointwise leaves go on with their last slope."
        ),
        default=(
            f"Mean squared error: "
            f"{_by_sigma(trials, lambda each: _mean_squared(each[DEFAULT]))}; the truth "
            f"has {_by_sigma(trials, lambda each: _mean_squared(each[TRUTH]))}, since "
            f"counts scatter. HPP, a log-linear rate that does not change with time, has "
            f"{_by_sigma(trials, lambda each: _mean_squared(each['HPP']))}."
        ),
        caution=_caution_horizon(trials),
        pictures=(
            draw_boxes(
                trials,
                lambda scores: scores.squared,
                f"Squared error\nat day {HORIZON:g} (events²)",
                f"Squared error of the predicted number of events by day {HORIZON:g}, one "
                "per test subject; diamonds are means.",
            ),
        ),
        tables=(
            tabulate(
                trials,
                lambda scores: scores.squared.mean(axis=1),
                f"Mean squared error of the number of events by day {HORIZON:g} (events²), "
                "± standard error over trials.",
            ),
        ),
    )


def _caution_horizon(trials: Trials) -> str:
    each = trials[SIGMAS[0]]
    true = each[TRUTH].expected.mean()
    found = [scores.expected.mean() for scores in _own(each)]
    if max(found) >= true:
        return ""
    return (
        f"The predictions of the paper's settings are too low: for sigma {SIGMAS[0]:g} the "
        f"four expect {min(found):.2f} to {max(found):.2f} events by day {HORIZON:g} where "
        f"the truth is {true:.2f}; the default expects "
        f"{each[DEFAULT].expected.mean():.2f}. The curves are biased already within the "
        "follow-up, see below."
    )


def _build_errors(trials: Trials) -> Block:
    return Block(
        title="Kelly data: distance from the truth",
        paper="Not reported: the paper scores by the observed process alone.",
        paper_settings=(
            "Integrated squared error against the true cumulative intensity: "
            f"{_by_sigma(trials, lambda each: _mean_error(each[_best_setting(each)]))} for "
            "the setting with the lowest distance from the observed process."
        ),
        default=(
            f"{_by_sigma(trials, lambda each: _mean_error(each[DEFAULT]))}. "
            f"{_compare_rivals(trials)}"
        ),
        caution=_caution_errors(trials),
        pictures=(draw_scatter(trials),),
        tables=(
            tabulate(
                trials,
                lambda scores: scores.errors,
                "Integrated squared error against the truth (events² · days), ± standard "
                "error over trials.",
            ),
            tabulate(
                trials,
                lambda scores: scores.unstopped,
                "Mean squared L2 distance from the process that is not stopped by the 4th "
                "event: the same subjects and predictions, with everybody observed to day "
                f"{FOLLOW_UP:g} (events² · days).",
            ),
        ),
    )


def _mean_observed(scores: Scores) -> float:
    return float(scores.observed.mean())


def _mean_error(scores: Scores) -> float:
    return float(scores.errors.mean())


def _mean_squared(scores: Scores) -> float:
    return float(scores.squared.mean())


def _own(each: Mapping[str, Scores]) -> list[Scores]:
    return [each[name] for name in list_paper()]


def _ad_hoc(each: Mapping[str, Scores]) -> list[Scores]:
    return [each[name] for name in list_rates()]


def _best_setting(each: Mapping[str, Scores]) -> str:
    return min(list_paper(), key=lambda name: _mean_observed(each[name]))


def _best_rate(each: Mapping[str, Scores]) -> float:
    return min(map(_mean_observed, _ad_hoc(each)))


def _find_best(each: Mapping[str, Scores], measure: Callable[[Scores], float]) -> str:
    return min((name for name in each if name != TRUTH), key=lambda n: measure(each[n]))


def _by_sigma(trials: Trials, value: Callable[[Mapping[str, Scores]], float]) -> str:
    """Return a number for each sigma, as part of a sentence."""
    return ", ".join(f"{say(value(trials[sigma]))} (sigma {sigma:g})" for sigma in SIGMAS)


def _check_growth(trials: Trials) -> str:
    """Return a sentence on whether all models get worse as sigma grows."""
    first, last = trials[SIGMAS[0]], trials[SIGMAS[-1]]
    names = [name for name in first if name != TRUTH]
    worse = [
        name for name in names if _mean_observed(last[name]) > _mean_observed(first[name])
    ]
    return (
        f"From sigma {SIGMAS[0]:g} to {SIGMAS[-1]:g} the distance grows for {len(worse)} "
        f"of {len(names)} learners."
    )


def _caution_observed(trials: Trials) -> str:
    """Return a sentence on models closer to the observed process than the truth."""
    parts, n_closer = [], 0
    for sigma in SIGMAS:
        each = trials[sigma]
        true = _mean_observed(each[TRUTH])
        closer = [n for n in each if n != TRUTH and _mean_observed(each[n]) < true]
        n_closer += len(closer)
        parts.append(
            f"sigma {sigma:g}: the truth {say(true)}, {len(closer)} of {len(each) - 1} "
            "learners lower"
        )
    if n_closer == 0:
        return ""
    return (
        "A score by which the truth loses does not say who is best. Mean distances: "
        f"{'; '.join(parts)}. A subject is observed until its 4th event, so those still "
        "observed late are the ones with few events, and curves that are too low for "
        "everybody come closer to what is left."
    )


def _caution_errors(trials: Trials) -> str:
    """Return a sentence on how the two rankings differ, due to the early stop."""
    parts = []
    for sigma in SIGMAS:
        each = trials[sigma]
        setting = _best_setting(each)
        learners = [name for name in each if name != TRUTH]
        by_error = sorted(learners, key=lambda name: _mean_error(each[name]))
        close = _find_best(each, _mean_observed)
        lead = _mean_observed(each[DEFAULT]) - _mean_observed(each[setting])
        ratio = _mean_error(each[setting]) / _mean_error(each[DEFAULT])
        parts.append(
            f"For sigma {sigma:g}, {close} is closest to the observed process, and number "
            f"{by_error.index(close) + 1} of {len(by_error)} by the truth. The default is "
            f"{say(abs(lead))} {'farther from' if lead > 0 else 'closer to'} the observed "
            f"process than {setting}, whose error against the truth is {ratio:.1f} times "
            "that of the default."
        )
    return "\n\n".join([*parts, _say_unstopped(trials)])


def _say_unstopped(trials: Trials) -> str:
    """Return a sentence on the closest model if no follow-up is stopped by events."""
    sigma = SIGMAS[1]
    each = trials[sigma]
    best = min(each, key=lambda name: each[name].unstopped.mean())
    setting = _best_setting(each)
    return (
        "The early stop is to blame. If nobody leaves after the 4th event, the same "
        "predictions for the same subjects have these distances from the observed process "
        f"(sigma {sigma:g}): the truth {say(each[TRUTH].unstopped.mean())}, the default "
        f"{say(each[DEFAULT].unstopped.mean())}, {setting} "
        f"{say(each[setting].unstopped.mean())}. The lowest of all has "
        f"{'the truth' if best == TRUTH else best}."
    )


def _compare_rivals(trials: Trials) -> str:
    """Return a sentence on the distance of the default from the best model."""
    parts = []
    for sigma in SIGMAS:
        each = trials[sigma]
        best = _find_best(each, _mean_error)
        gap = each[DEFAULT].errors - each[best].errors
        parts.append(
            f"it is the lowest for sigma {sigma:g}"
            if best == DEFAULT
            else f"{best} has {say(_mean_error(each[best]))} for sigma {sigma:g}, lower by "
            f"{say_mean(gap)}"
        )
    return f"Among all learners {'; '.join(parts)}."
