"""What a fleet report says in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import NormalDist

from boostr.data.individuals import count_of
from boostr.report._content import Content
from boostr.report._fleet import list_names
from boostr.report._quality import Backtest, Check, Quality, list_checks

__all__ = ["Words", "write_words"]

_OFF = 0.05  # from which a level is off
_CLEARLY = NormalDist().inv_cdf(0.995)  # standard errors that are no chance
_KNOWN = 1.0  # standard error of a slope that says something
_SOURCES = {
    "out_of_fold": "These are the individuals that the model was trained on. Each of {n} "
    "is predicted by the models of the folds that have not seen it (out-of-fold), so that "
    "nothing here was learned by heart.",
    "in_sample": '{trained_on} Train with validation="cv" and make the report on the same '
    "individuals in the same order, or give it a back-test, to know how good the model is.",
    "new": "These are not the individuals of training, or not with the same histories; {n} "
    "are compared.",
    "unknown": "The file of the model does not tell whom it was trained on. If these {n} "
    "individuals were among them, it looks better here than it is: train it anew to know.",
}


_CHECKS = {
    True: "Forecasts of the last part of the follow-up, from what was known before it, as "
    "on this page.",
    False: "Predictions of the whole follow-up by features and sensors alone.",
}


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences and numbers around the table and the plots."""

    title: str
    made: str
    tiles: tuple[tuple[str, str, str, str], ...]  # name, value, note and tip
    doubt: str  # of the headline; empty where the checks below agree with it
    id_name: str
    risk: str
    table: str
    sensors: str  # empty where there are none
    past: str
    mcf: str
    drivers: str
    reasons: str
    unused: str  # empty where all is used
    swarm: str
    source: str
    checks: tuple[tuple[str, str], ...]  # columns of the facts, and their tips
    counts_events: bool
    facts: tuple[tuple[str, str, tuple[str, ...]], ...]  # name, tip and values


def write_words(content: Content, title: str, version: str) -> Words:
    """Write all sentences."""
    what = name_what(content)
    ahead = f"the next {content.axis.length(content.horizon)}"
    shown, n = len(content.individuals.ids), content.n_individuals
    others = content.drivers.n_others
    return Words(
        title=title,
        made=f"Made by boostr {version} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.",
        tiles=_write_tiles(content, what),
        doubt=_write_doubt(content, what),
        id_name=name_id(content),
        risk=(
            f"Every individual is forecast from its own present, the end of its follow-up, "
            f"over {ahead}. What it did so far counts: own history multiplies what the "
            "model expects of its features by the factor shown. Choose a row to see why."
        ),
        table=(
            f"All {n:,} individuals."
            if shown == n
            else f"The {shown:,} of {n:,} individuals with the highest expected {what}. "
            "Totals, plots and quality are those of all."
        ),
        sensors=_write_sensors(content),
        past=(
            f"{count_of(content.n_events, 'event', ',')} of "
            f"{count_of(n, 'individual', ',')} up to the present of each."
        ),
        mcf=(
            f"Mean cumulative function: {what} per individual up to each time, from those "
            "observed at it."
        ),
        drivers=(
            f"A reason is what a feature or sensor adds to the {what} expected of the "
            f"average training individual in {ahead} (its Shapley value)."
        ),
        reasons=_write_others(others),
        unused=_write_unused(content),
        swarm=(
            "One dot per individual. Colours rank numbers from low to high; categories and "
            "own history are grey."
        ),
        source=_SOURCES[content.quality.source].format(
            n=f"{content.quality.n:,}", trained_on=content.quality.trained_on
        ),
        checks=tuple(
            (name, _CHECKS["with own" in name])
            for name, _ in list_checks(content.quality, content.axis)
        ),
        counts_events=not content.has_costs,
        facts=_write_facts(content, what),
    )


def name_what(content: Content) -> str:
    """Return what is counted."""
    return "cost" if content.has_costs else "events"


def name_id(content: Content) -> str:
    """Return what individuals are called."""
    name = content.id_name or "individual"
    if name.lower() == "id":
        name = "individual"
    return name[:1].upper() + name[1:]


def _write_tiles(content: Content, what: str) -> tuple[tuple[str, str, str, str], ...]:
    total = content.total
    length = content.axis.length(content.horizon)
    return (
        (
            f"Expected {what}, next {length}",
            _tell_total(total.expected),
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
        (
            f"{what.capitalize()} so far",
            f"{content.so_far:,.0f}",
            "",
            f"{what.capitalize()} of all individuals up to the present of each.",
        ),
        (
            "Data warnings",
            f"{len(content.warnings)}",
            "listed at the end",
            "What in the data makes forecasts worse than they look.",
        ),
    )


def _tell_total(total: float) -> str:
    return f"{total:,.4g}" if total < 1e4 else f"{total:,.0f}"


def _write_doubt(content: Content, what: str) -> str:
    """Say if the look back contradicts the level of the forecast, and what to do."""
    checks = list_checks(content.quality, content.axis)
    label, check = checks[0] if checks else ("", None)
    slope = None if check is None else check.slope
    if slope is None:
        return ""
    off = slope.ratio - 1.0
    if abs(off) < max(_OFF, _CLEARLY * slope.ratio_error):
        return ""
    more, low = ("more", "low") if off > 0.0 else ("fewer", "high")
    total = content.total
    return (
        f"This forecast may be too {low}. Where it can be checked ({label}), "
        f"{abs(off):.0%} {more} {what} were observed than expected: {slope.ratio:.2f} ± "
        f"{slope.ratio_error:.2f} times as many. If that goes on, "
        f"about {slope.ratio * total.expected:,.0f} {what} are to come in place of "
        f"{_tell_total(total.expected)}, and the intervals are too {low} as well. What to "
        "do: train the model anew on all histories up to now; look for what has changed "
        "and is not among the features; compare forecasts at past dates (boostr backtest)."
    )


def _write_others(n: int) -> str:
    if not n:
        return ""
    return f"{count_of(n, 'smaller reason', ',')} {'is' if n == 1 else 'are'} left out."


def _write_unused(content: Content) -> str:
    """Name what the model does not use, so that nobody expects it to matter."""
    features, sensors = content.drivers.unused
    parts = [
        f"{noun}: {list_names(names)}"
        for noun, names in (("features", features), ("sensors", sensors))
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


def _write_facts(
    content: Content, what: str
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return measures with names and tips, and one value per column of the table."""
    quality = content.quality
    columns = []
    if quality.backtest is not None:
        columns.append(
            _tell_backtest(quality.backtest) | _tell_check(quality.backtest.check)
        )
    if quality.whole is not None:
        columns.append(_tell_whole(quality) | _tell_check(quality.whole))
    names = {
        "n": ("Individuals", "How many individuals are compared."),
        "expected": (f"{what.capitalize()} expected", "Sum over these individuals."),
        "observed": (f"{what.capitalize()} observed", "What came, of the same ones."),
        "covered": (
            f"{content.level:.0%} intervals that held",
            f"Share of individuals whose {what} lie in their interval; "
            f"{content.level:.0%} or a little more at best.",
        ),
        "ratio": (
            "Observed over expected (1 at best)",
            "With its standard error; above 1 the model expects too little, below 1 too "
            "much.",
        ),
        "slope": (
            "Calibration slope (1 at best)",
            "With its standard error; below 1 individuals differ less than the model "
            "says, above 1 more.",
        ),
        "top": (
            f"{what.capitalize()} of the riskiest tenth",
            f"Share of all {what} that fell to the tenth of individuals with the highest "
            "predictions; 10% by chance.",
        ),
    }
    if not columns:
        return ()
    return tuple(
        (label, tip, tuple(column.get(name, "-") for column in columns))
        for name, (label, tip) in names.items()
    )


def _tell_backtest(back: Backtest) -> dict[str, str]:
    return {
        "n": f"{back.n:,}",
        "expected": f"{back.expected:,.1f}",
        "observed": f"{back.observed:,.6g}",
        "covered": f"{back.covered:.1%}",
    }


def _tell_whole(quality: Quality) -> dict[str, str]:
    assert quality.whole is not None  # noqa: S101 - it is not asked for otherwise
    table = quality.whole.table
    return {
        "n": f"{quality.n:,}",
        "expected": f"{table.expected.sum():,.1f}",
        "observed": f"{table.observed.sum():,.6g}",
    }


def _tell_check(check: Check | None) -> dict[str, str]:
    if check is None:
        return {}
    told = {"top": f"{check.capture.at(0.1):.0%}"}
    slope = check.slope
    if slope is not None:
        told["ratio"] = f"{slope.ratio:.2f} ± {slope.ratio_error:.2f}"
    if slope is not None and slope.slope_error < _KNOWN:
        told["slope"] = f"{slope.slope:.2f} ± {slope.slope_error:.2f}"
    return told
