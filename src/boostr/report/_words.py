"""Sentences, tiles and tables of a fleet report."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from statistics import NormalDist
from typing import Any

import narwhals as nw

from boostr.data.individuals import count_of
from boostr.data.times import name_length
from boostr.report._content import Content
from boostr.report._fleet import name_some
from boostr.report._quality import Check, list_checks

__all__ = ["name_id", "name_what", "write_past_dates", "write_words"]

_OFF = 0.05  # from which a level is off
_CLEARLY = NormalDist().inv_cdf(0.995)  # standard errors that are no chance
_KNOWN = 1.0  # standard error of a slope that says something
_SOURCES = {
    "out_of_fold": "These are the individuals that the model was trained on. Each of {n} "
    "is predicted by models that were trained without it (out-of-fold), as if it "
    "were new.",
    "in_sample": '{trained_on} Train with validation="cv" and make the report on the same '
    "individuals in the same order, or give it a back-test, to know how good the model is.",
    "new": "These are not the individuals of training, or not with the same histories; {n} "
    "are compared.",
    "unknown": "The file of the model does not tell which individuals it was trained on. "
    "If these {n} were among them, the model looks better here than it is: train it anew "
    "to know.",
}
_CHECKS = {
    True: "Forecasts of the last part of the follow-up, from what was known before it, as "
    "on this page.",
    False: "Predictions of the whole follow-up by features and sensors alone.",
}
_PAST_DATES = {  # measures of a back-test: label, tip and format
    "n_dates": ("Dates", "Number of past dates at which forecasts were made.", ",.0f"),
    "observed": (
        "Observed",
        "What happened after the dates, summed over all of them.",
        ",.0f",
    ),
    "expected": (
        "Expected",
        "Forecasts of the same events, summed over all dates.",
        ",.0f",
    ),
    "deviance": (
        "Error per individual (lower is better)",
        "How far the numbers of single individuals are from their forecasts (mean Poisson "
        "deviance).",
        ".3f",
    ),
    "capture": (
        "Share of events among the riskiest tenth",
        "How much of what happened fell to the tenth of individuals with the highest "
        "forecasts; 10% by chance.",
        ".0%",
    ),
    "coverage": (
        "Individual intervals that held",
        "Share of individuals whose number lay in their own interval.",
        ".0%",
    ),
    "held": (
        "Total intervals that held",
        "Share of dates at which the total of all individuals lay in its interval.",
        ".0%",
    ),
}

_MOST_KINDS = 5  # that are listed
_LARGE = 100.0  # expected number from which decimals are left out

Rows = list[tuple[str, str, tuple[str, ...]]]  # name, tip and values


def write_words(content: Content, title: str, version: str) -> dict[str, Any]:
    """Return the texts of the page that depend on its numbers, by name."""
    what, axis, quality = name_what(content), content.axis, content.quality
    n, n_shown = content.n_individuals, len(content.individuals.ids)
    n_others, past = content.drivers.n_others, content.past_dates
    return {
        "title": title,
        "made": f"Made by boostr {version} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.",
        "what": what,
        "ahead": f"the next {axis.length(content.horizon)}",
        "tiles": _write_tiles(content, what),
        "doubt": _write_doubt(content, what),
        "id_name": name_id(content),
        "table": (
            f"All {n:,} individuals."
            if n_shown == n
            else f"The {n_shown:,} of {n:,} individuals with the highest expected {what}. "
            "Totals, plots and quality are those of all."
        ),
        "sensors": _write_sensors(content),
        "past": f"{count_of(content.n_events, 'event', ',')} of "
        f"{count_of(n, 'individual', ',')} up to the present of each.",
        "timeline": "Lines: time under observation. Dots: events"
        + (", spread over their intervals." if content.has_intervals else ".")
        + (" Crosses: terminal events." if content.n_over else ""),
        "mcf": f"Average {what} per individual up to each time (mean cumulative function), "
        + (
            "where individuals have no more events after their terminal event."
            if content.n_over
            else "over those observed at that time."
        ),
        "reasons": (
            f"{count_of(n_others, 'smaller reason', ',')} "
            f"{'is' if n_others == 1 else 'are'} left out."
            if n_others
            else ""
        ),
        "unused": _write_unused(content),
        "source": _SOURCES[quality.source].format(
            n=f"{quality.n:,}", trained_on=quality.trained_on
        ),
        "checks": [
            (name, _CHECKS["with own" in name]) for name, _ in list_checks(quality, axis)
        ],
        "facts": _write_facts(content, what),
        "past_dates": None if past is None else write_past_dates(past),
    }


def name_what(content: Content) -> str:
    """Return what is counted."""
    return "cost" if content.has_costs else "events"


def name_id(content: Content) -> str:
    """Return what individuals are called."""
    name = content.id_name or "individual"
    if name.lower() == "id":
        name = "individual"
    return name[:1].upper() + name[1:]


def _write_tiles(content: Content, what: str) -> list[tuple[str, str, str, str]]:
    """Return name, value, note and tip of the numbers at the top."""
    total = content.total
    length = content.axis.length(content.horizon)
    return [
        (
            f"Expected {what}, next {length}",
            _round_total(total.expected),
            f"{total.level:.0%} interval {total.lower:,.0f} to {total.upper:,.0f}",
            f"Sum over all individuals; the {what} to come lie in the interval with a "
            f"probability of {total.level:.0%}.",
        ),
        (
            "More likely than not to have an event",
            f"{content.n_likely:,}",
            f"of {count_of(content.n_individuals, 'individual', ',')}",
            f"Individuals with a probability of at least one half in the next {length}.",
        ),
        *_write_kinds(content, what, length),
        (
            f"{what.capitalize()} so far",
            f"{content.so_far:,.0f}",
            f"{count_of(content.n_over, 'terminal event', ',')}" if content.n_over else "",
            f"{what.capitalize()} of all individuals up to the present of each.",
        ),
        (
            "Data warnings",
            f"{len(content.warnings)}",
            "listed at the end",
            "Weaknesses of the data that make forecasts worse than they look.",
        ),
    ]


def _write_kinds(
    content: Content, what: str, length: str
) -> list[tuple[str, str, str, str]]:
    """Return the tile of kinds of events, none without kinds."""
    if not content.kinds:
        return []
    order = sorted(content.kinds, key=lambda kind: -content.kinds[kind])
    digits = 0 if content.kinds[order[0]] >= _LARGE else 1
    numbers = [f"{kind} {content.kinds[kind]:,.{digits}f}" for kind in order]
    return [
        (
            "Kind with the highest expected cost"
            if content.has_costs
            else "Kind with most expected events",
            order[0],
            ", ".join(numbers[:_MOST_KINDS])
            + (", ..." if len(order) > _MOST_KINDS else ""),
            f"Expected {what} of each kind in the next {length}; they sum to the total.",
        )
    ]


def _round_total(total: float) -> str:
    return f"{total:,.3g}" if total < _LARGE else f"{total:,.0f}"


def _write_doubt(content: Content, what: str) -> str:
    """Return a warning if the look back contradicts the level of the forecast."""
    checks = list_checks(content.quality, content.axis)
    label, check = checks[0] if checks else ("", None)
    slope = None if check is None else check.slope
    if slope is None:
        return ""
    off, quality = slope.ratio - 1.0, content.quality
    shared = 0.0 if quality.look_back is None else quality.look_back.common_error
    error = math.hypot(slope.ratio_error, slope.ratio * shared)
    if abs(off) < max(_OFF, _CLEARLY * error):
        return ""
    is_old = quality.source != "out_of_fold"
    again = "train the model anew on all histories up to now; " if is_old else ""
    more, low = ("more", "low") if off > 0.0 else ("fewer", "high")
    total = content.total
    return (
        f"This forecast may be too {low}. Where it can be checked ({label}), "
        f"{abs(off):.0%} {more} {what} were observed than expected: {slope.ratio:.2f} ± "
        f"{slope.ratio_error:.2f} times as many. If that goes on, "
        f"about {slope.ratio * total.expected:,.0f} {what} are to come in place of "
        f"{_round_total(total.expected)}, and the intervals are too {low} as well. What to "
        f"do: {again}look for what has changed and is not among the features; compare "
        "forecasts at past dates (boostr backtest)."
    )


def _write_unused(content: Content) -> str:
    """Return the features and sensors that the model does not use."""
    parts = [
        f"{noun}: {name_some(names)}"
        for noun, names in zip(("features", "sensors"), content.drivers.unused, strict=True)
        if names
    ]
    if not parts:
        return ""
    return f"Not used by the model ({'; '.join(parts)}): other values change no forecast."


def _write_sensors(content: Content) -> str:
    sensors = content.individuals.sensors
    if sensors is None:
        return ""
    n_points = sensors.values.shape[2]
    shown, n = len(sensors.names), sensors.n_sensors
    which = "All" if shown == n else f"The {shown} most influential of {n}"
    return f"{which} sensors, as they stood at {n_points} times from entry to now."


def _write_facts(content: Content, what: str) -> Rows:
    """Return measures of quality, with one value per comparison."""
    quality, columns = content.quality, []
    back, whole, level = quality.look_back, quality.whole, content.level
    if back is not None:
        columns.append(
            {
                "n": f"{back.n:,}",
                "expected": f"{back.expected:,.1f}",
                "observed": f"{back.observed:,.6g}",
                "covered": f"{back.covered:.1%}",
            }
            | _write_check(back.check)
        )
    if whole is not None:
        columns.append(
            {
                "n": f"{quality.n:,}",
                "expected": f"{whole.table.expected.sum():,.1f}",
                "observed": f"{whole.table.observed.sum():,.6g}",
            }
            | _write_check(whole)
        )
    names = {
        "n": ("Individuals", "How many individuals are compared."),
        "expected": (f"{what.capitalize()} expected", "Sum over these individuals."),
        "observed": (f"{what.capitalize()} observed", "Sum over the same individuals."),
        "covered": (
            f"{level:.0%} intervals that held",
            f"Share of individuals whose {what} lie in their interval; {level:.0%} or a "
            "little more at best.",
        ),
        "ratio": (
            "Observed over expected (1 at best)",
            "With its standard error; above 1 the model expects too little, below 1 too "
            "much.",
        ),
        "slope": (
            "Differences between individuals (1 at best)",
            "Observed over predicted differences, with standard error (calibration slope); "
            "below 1 individuals differ less than the model predicts, above 1 more.",
        ),
        "top": (
            f"Share of {what} among the riskiest tenth",
            f"Share of all {what} that fell to the tenth of individuals with the highest "
            "predictions; 10% by chance.",
        ),
    }
    if not columns:
        return []
    return [
        (label, tip, tuple(column.get(name, "-") for column in columns))
        for name, (label, tip) in names.items()
    ]


def _write_check(check: Check | None) -> dict[str, str]:
    if check is None:
        return {}
    found, slope = {"top": f"{check.capture.at(0.1):.0%}"}, check.slope
    if slope is not None:
        found["ratio"] = f"{slope.ratio:.2f} ± {slope.ratio_error:.2f}"
    if slope is not None and slope.slope_error < _KNOWN:
        found["slope"] = f"{slope.slope:.2f} ± {slope.slope_error:.2f}"
    return found


def write_past_dates(result: Any) -> dict[str, Any]:
    """Return caption, columns and rows of the section on forecasts at past dates."""
    ahead = name_length(result.horizon, result.time_unit)
    frame = nw.from_native(result.summary(), eager_only=True)
    return {
        "caption": "Each model was fitted anew to what was known at past dates, and its "
        f"forecasts of the next {ahead} are compared with what happened to the individuals "
        "under observation then.",
        "models": result.candidates,
        "rows": [
            (
                label,
                tip,
                tuple(
                    f"{value:{shape}}" if math.isfinite(value) else "-"
                    for value in frame[name].to_list()
                ),
            )
            for name, (label, tip, shape) in _PAST_DATES.items()
        ],
    }
