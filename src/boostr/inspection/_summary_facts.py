"""Sentences of a model's summary, each with its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from boostr._frailty.law import FrailtyLaw
from boostr._frailty.own_pace import SecondScale
from boostr.data.times import EPOCH, name_length, name_moment, to_stamps
from boostr.inspection._summary_held_out import HeldOut
from boostr.inspection.model import FittedModel, unused_features, unused_sensors

__all__ = ["Fact", "find_concerns", "list_learned", "list_quality"]

_N_NAMED = 5  # features or sensors, at most
_LEAST_VARIANCE = 0.02  # of frailties that are worth a word
_NEXT_TO_NOTHING = 0.005  # of the average rate
_LEAST_IMPORTANCE = 0.005  # of a feature that is named
_LEAST_SHARE = 0.1  # weight of a size of trees that is named
_LEVEL = 0.8  # of intervals
_FEW_INDIVIDUALS = 100
_FEW_EVENTS = 50
_FEW_WITH_EVENTS = 30
_SMALL_GAIN = 0.01  # of the held-out loss
_LARGE_ERROR = 0.2  # of a forecast total
_LARGE_LEVEL = 0.05  # difference of the recent past
_MUCH_OFF = 0.1  # share of intervals


@dataclass(frozen=True, slots=True)
class Fact:
    """A sentence of a section, with its number if it has one."""

    section: str
    name: str
    value: float
    text: str


def list_learned(model: FittedModel) -> list[Fact]:
    """Return facts on trees, features, sensors and own histories."""
    found = [*_describe_trees(model), _describe_features(model)]
    if model.fitted.sensor_layout is not None:
        found.append(_describe_sensors(model))
    found.append(_describe_history(model))
    if model.fitted.forecast_law.frailty.renewal is not None:
        found.append(_describe_renewal(model))
    paced = model.fitted.forecast_law.paced
    if paced is not None and paced.second is not None:
        found.append(_describe_second_scale(paced.second, model.time_unit))
    return [Fact("learned", *fact) for fact in found]


_Line = tuple[str, float, str]  # name, number and sentence


def _describe_trees(model: FittedModel) -> list[_Line]:
    fitted = model.fitted
    n_trees, n_models = fitted.n_estimators, fitted.n_fold_models
    of_models = f", averaged over {n_models} models of folds" if n_models > 1 else ""
    trees = "1 tree" if n_trees == 1 else f"{n_trees:,} trees"
    lines: list[_Line] = [("n_trees", n_trees, f"Up to {trees}{of_models}.")]
    runs = fitted.validation_results
    if not runs:
        return lines
    sizes: dict[str, float] = {}
    for run in runs:
        size = run["label"].split(",")[0]
        sizes[size] = sizes.get(size, 0.0) + run["weight"]
    ranked = sorted(sizes.items(), key=lambda pair: -pair[1])
    named = [f"{size} ({weight:.0%})" for size, weight in ranked if weight >= _LEAST_SHARE]
    if named:
        text = f"Sizes of trees, by their weight in the model: {', '.join(named)}."
        lines.append(("largest_weight", ranked[0][1], text))
    common = sum(run["weight"] for run in runs if "common curve shape" in run["label"])
    own = sum(run["weight"] for run in runs if "own curve shapes" in run["label"])
    is_any_used = bool(model.used_features()) and common + own > 0.0
    if is_any_used:  # else all curves are the same
        share = common / (common + own)
        text = (
            "Individuals differ in how many events they have, hardly in when: rates rise "
            "and fall together."
            if share >= 0.5
            else "Individuals also differ in when events come: rates rise for some while "
            "they fall for others."
        )
        lines.append(("share_of_common_shape", share, text))
    return lines


def _describe_features(model: FittedModel) -> _Line:
    shares = model.fitted.feature_importances
    order = [place for place in np.argsort(-shares, kind="stable") if shares[place] > 0.0]
    if not order:
        text = "No static feature makes a difference."
        return "most_important_feature", np.nan, text
    named = [
        f"{model.names[place]} {shares[place]:.0%}"
        for place in order[:_N_NAMED]
        if place == order[0] or shares[place] >= _LEAST_IMPORTANCE
    ]
    more = len(order) - len(named)
    rest = f" and {more} more" if more > 0 else ""
    text = f"Most important features, by share of the gain: {', '.join(named)}{rest}."
    return "most_important_feature", float(shares[order[0]]), text


def _describe_sensors(model: FittedModel) -> _Line:
    useful = model.fitted.sensor_usefulness
    unused = unused_sensors(model.estimator)
    if useful is None:
        names = [each.name for each in model.sensor_basis().sensors]
        used = [name for name in names if name not in unused]
        return "n_useful_sensors", np.nan, f"Sensors in use: {_name(used)}."
    clear = [name for name, (rise, error) in useful.items() if rise > 2.0 * error]
    clear.sort(key=lambda name: -useful[name][0])
    text = f"Sensors that clearly help on held-out individuals: {_name(clear)}."
    return "n_useful_sensors", float(len(clear)), text


def _describe_history(model: FittedModel) -> _Line:
    law = model.fitted.forecast_law.frailty
    if law.variance < _LEAST_VARIANCE:
        same = "ndividuals with the same features and sensors have about the same rates"
        text = f"Own history hardly matters: i{same}."
        if law.renewal is not None:
            text = f"I{same} in the long run."
        return "frailty_variance", law.variance, text
    low, high = scipy.special.gammaincinv(1.0 / law.variance, [0.1, 0.9]) * law.variance
    factor = _forecast_factor(law, 4.0, 2.0)
    lowest = f"less than {low:.2g} times" if low >= _NEXT_TO_NOTHING else "next to none"
    text = (
        "Own history matters: of individuals with the same features, a tenth has "
        f"{lowest} and a tenth more than {high:.2g} times the average rate. After 4 "
        f"events where 2 were expected, forecasts are {factor:.2g} times those of similar "
        "individuals"
    )
    if np.isfinite(law.half_life):
        length = name_length(law.half_life, model.time_unit)
        text += f"; what happened {length} ago counts half"
    return "frailty_variance", law.variance, f"{text}."


def _describe_renewal(model: FittedModel) -> _Line:
    renewal = model.fitted.forecast_law.frailty.renewal
    assert renewal is not None  # noqa: S101 - asked by the caller
    factor = float(np.exp(-renewal.drop))
    until = "the rate rises again as the time without an event grows"
    if np.isfinite(renewal.half_life):
        length = name_length(renewal.half_life, model.time_unit)
        until = f"half of that is gone after {length} or sooner"
    text = (
        "Events are rarer for a while after an event: it multiplies the rate by "
        f"{factor:.2g}, and {until}."
    )
    return "renewal_factor", factor, text


def _describe_second_scale(second: SecondScale, unit: str | None) -> _Line:
    if second.counts_dates:  # the last stretch has not been seen
        begins, factors = second.begins[:-1], second.factors[:-1]
        second = replace(second, begins=begins, factors=factors)
    low, high = int(np.argmin(second.factors)), int(np.argmax(second.factors))
    subject = "date" if second.counts_dates else "time since entry"
    text = (
        f"Rates depend on the {subject}, too: {second.factors[low]:.2g} times the usual "
        f"rate {_name_stretch(second, low, unit)}, {second.factors[high]:.2g} times "
        f"{_name_stretch(second, high, unit)}."
    )
    factor = float(second.factors[high] / second.factors[low])
    return "second_time_scale_factor", factor, text


def _name_stretch(second: SecondScale, place: int, unit: str | None) -> str:
    if second.counts_dates:
        stamps = to_stamps(second.begins, EPOCH, str(unit))
        names = [str(stamp) for stamp in stamps.astype("datetime64[D]")]
    else:
        names = [name_length(begin, unit) for begin in second.begins]
    if place == 0:
        return f"before {names[1]}"
    if place == len(names) - 1:
        return f"after {names[place]}"
    return f"between {names[place]} and {names[place + 1]}"


def _forecast_factor(law: FrailtyLaw, events: float, expected: float) -> float:
    return float(law.judge(np.array([events]), np.array([expected])).mean[0])


def list_quality(model: FittedModel, held_out: HeldOut | None) -> list[Fact]:
    """Return facts on individuals that models have not seen, and on earlier dates."""
    found = [
        *_compare_with_average(model),
        *_compare_held_out(model, held_out),
        *_check_intervals(model),
        *_check_totals(model),
    ]
    return [Fact("quality", *fact) for fact in found]


def _find_gain(model: FittedModel) -> float:
    """Return the share of the average individual's held-out loss that is saved, or NaN.

    The first tree is the average individual unless training starts from zero.
    """
    runs = model.fitted.validation_results
    if not runs or model.fitted.settings.init != "mean":
        return np.nan
    average = min(float(run["curve"][0]) for run in runs)
    best = min(run["loss"] for run in runs)
    return (average - best) / abs(average) if average != 0.0 else np.nan


def _compare_with_average(model: FittedModel) -> list[_Line]:
    gain = _find_gain(model)
    if np.isnan(gain):
        return []
    text = (
        f"On individuals left out of training, the loss is {gain:.1%} lower than if all "
        "were predicted as the average individual (0%: features and sensors do not help)."
    )
    return [("held_out_gain", gain, text)]


def _compare_held_out(model: FittedModel, held_out: HeldOut | None) -> list[_Line]:
    if held_out is None or not held_out.observed > 0.0:
        return []
    what = "cost" if model.fitted.has_costs else "events"
    ratio = held_out.observed / held_out.expected
    lines: list[_Line] = [
        (
            "observed_over_expected",
            ratio,
            f"Models that had not seen them expect {held_out.expected:,.0f} {what} of the "
            f"training individuals, where {held_out.observed:,.0f} were observed (training "
            "sets the overall level so that both are close).",
        )
    ]
    if held_out.slope is not None:
        slope, error = held_out.slope.slope, held_out.slope.slope_error
        lines.append(
            (
                "calibration_slope",
                slope,
                f"Differences between individuals are {slope:.2f} ± {error:.2f} times "
                "those predicted (1 is best; below 1 predictions exaggerate).",
            )
        )
    text = (
        f"The tenth with the highest predictions had {held_out.top_tenth:.0%} of the "
        f"{what} (10% by chance)."
    )
    return [*lines, ("share_of_riskiest_tenth", held_out.top_tenth, text)]


def _find_coverage(model: FittedModel) -> float:
    scores = model.fitted.forecast_scores
    return float(np.mean(scores <= _LEVEL)) if len(scores) else np.nan


def _check_intervals(model: FittedModel) -> list[_Line]:
    share = _find_coverage(model)
    if np.isnan(share):
        return []
    text = (
        f"{_LEVEL:.0%} intervals for the second half of each training individual's "
        "follow-up, forecast from the first half, contained the outcome for "
        f"{share:.0%} of individuals."
    )
    return [("interval_coverage", share, text)]


def _find_errors(model: FittedModel) -> Sequence[float]:
    """Return observed over forecast totals at earlier dates minus 1, the latest first."""
    shock = model.fitted.forecast_law.shock
    return [] if shock is None else np.expm1(shock.errors).tolist()


def _check_totals(model: FittedModel) -> list[_Line]:
    errors, shock = _find_errors(model), model.fitted.forecast_law.shock
    if shock is None or not errors or model.fitted.out_of_fold_coefficients is None:
        return []
    size = float(np.mean(np.abs(errors)))
    n = len(errors)
    dates = "1 earlier date" if n == 1 else f"{n} earlier dates"
    text = (
        f"Totals forecast at {dates}, {name_length(shock.lead, model.time_unit)} ahead, "
        f"were off by {size:.0%} on average; at the latest date {abs(errors[0]):.0%} "
        f"{'more' if errors[0] >= 0.0 else 'fewer'} events came than forecast."
    )
    return [("mean_error_of_totals", size, text)]


def find_concerns(model: FittedModel, held_out: HeldOut | None) -> list[Fact]:
    """Return facts on weaknesses of the model and of its data."""
    found = [
        *_mind_validation(model),
        *_mind_size(model, held_out),
        *_mind_limits(model),
        *_mind_unused(model),
        *_mind_recent(model),
        _mind_horizon(model),
    ]
    return [Fact("watch out", *fact) for fact in found]


def _mind_validation(model: FittedModel) -> list[_Line]:
    gain, share = _find_gain(model), _find_coverage(model)
    found: list[_Line] = []
    if not model.fitted.validation_results:
        text = (
            "The model was fitted without validation: nothing is known about individuals "
            "that it has not seen, and figures on training individuals are too good."
        )
        found.append(("no_validation", np.nan, text))
    elif gain < _SMALL_GAIN:
        text = (
            "Features and sensors hardly help on individuals left out of training: compare "
            "the model with baselines in a back-test."
        )
        found.append(("small_gain", gain, text))
    if share < _LEVEL - _MUCH_OFF:
        text = (
            f"{_LEVEL:.0%} intervals contained the outcome for only {share:.0%}: "
            "calibrate_forecast on other individuals corrects them."
        )
        found.append(("narrow_intervals", share, text))
    return found


def _mind_size(model: FittedModel, held_out: HeldOut | None) -> list[_Line]:
    theta, marks = model.fitted.out_of_fold_coefficients, model.fitted.fingerprint
    found: list[_Line] = []
    if theta is not None and len(theta) < _FEW_INDIVIDUALS:
        text = f"Only {len(theta)} individuals: held-out figures are rough."
        found.append(("few_individuals", len(theta), text))
    if held_out is not None and held_out.n_events < _FEW_EVENTS:
        text = f"Only {held_out.n_events} events: held-out figures are rough."
        found.append(("few_events", held_out.n_events, text))
    elif marks is not None and marks.is_whole and len(marks.marks) < _FEW_WITH_EVENTS:
        n = len(marks.marks)
        have = "individual has" if n == 1 else "individuals have"
        found.append(("few_with_events", n, f"Only {n} {have} had events."))
    return found


def _mind_limits(model: FittedModel) -> list[_Line]:
    limit = model.fitted.settings.n_estimators
    reached = [
        run
        for run in model.fitted.validation_results
        if run["n_trees"] >= limit and run["weight"] >= _LEAST_SHARE
    ]
    if not reached or _find_gain(model) < _SMALL_GAIN:
        return []
    text = (
        f"Held-out losses were still falling at the limit of {limit:,} trees: a larger "
        "n_estimators may be better."
    )
    return [("limit_of_trees", limit, text)]


def _mind_unused(model: FittedModel) -> list[_Line]:
    lists = unused_features(model.estimator), unused_sensors(model.estimator)
    return [
        (
            f"unused_{noun}",
            len(names),
            f"Not used, so that other values change no prediction: {noun} {_name(names)}.",
        )
        for noun, names in zip(("features", "sensors"), lists, strict=True)
        if names
    ]


def _mind_recent(model: FittedModel) -> list[_Line]:
    errors, level = _find_errors(model), model.fitted.forecast_law.level
    found: list[_Line] = []
    if errors and max(abs(errors[0]), float(np.mean(np.abs(errors)))) > _LARGE_ERROR:
        text = (
            "Forecasts of totals at earlier dates were far off: look for what has changed "
            "and is not among the features, and train anew as new events come in."
        )
        found.append(("large_errors_of_totals", abs(errors[0]), text))
    if abs(level - 1.0) > _LARGE_LEVEL:
        more = "more" if level > 1.0 else "fewer"
        text = (
            f"The recent past had {more} events than the trees expect: forecasts are "
            f"multiplied by {level:.2f}."
        )
        found.append(("recent_level", level, text))
    return found


def _mind_horizon(model: FittedModel) -> _Line:
    last = name_moment(model.horizon, model.time_unit, model.fitted.time_origin)
    text = f"Curves are learned up to {last}, where follow-up ends; then extrapolated."
    return "horizon", model.horizon, text


def _name(names: Sequence[str]) -> str:
    """Return names separated by commas, the first five and how many more."""
    more = len(names) - _N_NAMED
    listed = ", ".join(names[:_N_NAMED]) or "none"
    return f"{listed} and {more} more" if more > 0 else listed
