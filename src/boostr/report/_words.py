"""What a fleet report says in words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from boostr.report._content import Content
from boostr.report._quality import Backtest, Check, Quality, list_checks

__all__ = ["Words", "write_words"]

_KNOWN = 1.0  # standard error of a slope that says something
_SOURCES = {
    "out_of_fold": "These are the individuals that the model was trained on. Each of {n} "
    "is predicted by the models of the folds that have not seen it (out-of-fold), so that "
    "nothing here was learned by heart.",
    "new": "These are not the individuals of training, or not with the same histories; {n} "
    "are compared. Where some of them were in training after all, the model looks better "
    "here than it is.",
    "unknown": "The model was trained without validation. If {n} of these individuals, or "
    "some of them, are those of training, it looks better here than it is: train with "
    'validation="cv" to know.',
}


@dataclass(frozen=True, slots=True)
class Words:
    """Sentences and numbers around the table and the plots."""

    title: str
    made: str
    tiles: tuple[tuple[str, str, str], ...]
    id_name: str
    risk: str
    table: str
    sensors: str  # empty where there are none
    past: str
    mcf: str
    drivers: str
    reasons: str
    swarm: str
    source: str
    checks: tuple[str, ...]  # columns of the facts
    facts: tuple[tuple[str, tuple[str, ...]], ...]


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
            f"{content.n_events:,} events of {n:,} individuals up to the present of each."
        ),
        mcf=f"Mean cumulative {what} per individual, from those observed at each time.",
        drivers=(
            f"Reasons are exact Shapley values: what each adds to the {what} expected of "
            f"the average training individual in {ahead}."
        ),
        reasons=f"{others} smaller reasons are left out." if others else "",
        swarm=(
            "One dot per individual. Colours rank numbers from low to high; categories and "
            "own history are grey."
        ),
        source=_SOURCES[content.quality.source].format(n=f"{content.quality.n:,}"),
        checks=tuple(name for name, _ in list_checks(content.quality, content.axis)),
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


def _write_tiles(content: Content, what: str) -> tuple[tuple[str, str, str], ...]:
    total = content.total
    length = content.axis.length(content.horizon)
    return (
        (
            f"Expected {what}, next {length}",
            f"{total.expected:,.4g}" if total.expected < 1e4 else f"{total.expected:,.0f}",
            f"{total.level:.0%} interval {total.lower:,.0f} to {total.upper:,.0f}",
        ),
        (
            "More likely than not to have an event",
            f"{content.n_likely:,}",
            f"of {content.n_individuals:,} individuals",
        ),
        (f"{what.capitalize()} so far", f"{content.so_far:,.0f}", ""),
        ("Data warnings", f"{len(content.warnings)}", "listed at the end"),
    )


def _write_sensors(content: Content) -> str:
    sensors = content.individuals.sensors
    if sensors is None:
        return ""
    n_points = sensors.values.shape[2]
    shown, n = len(sensors.names), sensors.n_sensors
    which = "All" if shown == n else f"The {shown} most influential of {n}"
    return f"{which} sensors, as they stood at {n_points} times from entry to now."


def _write_facts(content: Content, what: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return measures by name, one value per column of the table."""
    quality = content.quality
    columns = []
    if quality.backtest is not None:
        columns.append(
            _tell_backtest(quality.backtest) | _tell_check(quality.backtest.check)
        )
    if quality.whole is not None:
        columns.append(_tell_whole(quality) | _tell_check(quality.whole))
    names = {
        "n": "Individuals",
        "expected": f"{what.capitalize()} expected",
        "observed": f"{what.capitalize()} observed",
        "covered": f"{content.level:.0%} intervals that held",
        "ratio": "Observed over expected",
        "slope": "Calibration slope (1 at best)",
        "top": f"Share of the {what} of the top tenth",
    }
    if not columns:
        return ()
    return tuple(
        (label, tuple(column.get(name, "-") for column in columns))
        for name, label in names.items()
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
