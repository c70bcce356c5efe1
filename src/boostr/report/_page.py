"""The page of a fleet report: one file that needs no other."""

from __future__ import annotations

from importlib import resources
from typing import Any

from boostr._optional import require
from boostr.report._content import Content, Individuals
from boostr.report._encode import as_integers, as_list, as_steps, as_text, pack, to_json
from boostr.report._figures import draw_figures
from boostr.report._individuals import SensorPaths
from boostr.report._past_dates import write_past_dates
from boostr.report._traces import Figure
from boostr.report._words import name_id, name_what, write_words

__all__ = ["render"]

_FEATURE = "A fleet report"
_RISK = (
    *("so_far", "expected", "probability", "lower", "upper"),
    *("next_event", "frailty"),
)
_CURVES = ("expected", "lower", "upper", "past")
_REASONS = ("amount", "value", "base", "rest")


def render(content: Content, title: str, version: str) -> str:
    """Return the page."""
    jinja2 = require("jinja2", extra="report", feature=_FEATURE)
    plotly = require("plotly.offline", extra="report", feature=_FEATURE)
    figures = draw_figures(content)
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    markup = require("markupsafe", extra="report", feature=_FEATURE).Markup
    page = environment.from_string(_read("fleet.html.j2")).render(
        words=write_words(content, title, version),
        warnings=content.warnings,
        in_sample=content.quality.trained_on is not None,
        drivers=content.drivers,
        past_dates=content.past_dates and write_past_dates(content.past_dates),
        figures=figures,
        style=markup(_read("fleet.css")),
        script=markup(_read("fleet.js")),
        plotly=markup(plotly.get_plotlyjs()),
        data=markup(to_json(_encode(content, figures, title))),
    )
    return str(page)


def _read(name: str) -> str:
    source = resources.files("boostr.report").joinpath(name)
    return source.read_text(encoding="utf-8")


def _encode(content: Content, figures: dict[str, Figure], title: str) -> dict[str, Any]:
    """Return everything that the script of the page reads."""
    axis, what = content.axis, name_what(content)
    meta = {
        "title": title,
        "what": what,
        "What": what.capitalize(),
        "idName": name_id(content),
        "level": f"{content.level * 100:g}%",
        "length": axis.length(content.horizon),
        "unit": axis.unit,
        "timeLabel": axis.label,
        "origin": axis.origin,
        "milliseconds": axis.milliseconds,
    }
    return {"meta": meta, "figures": figures, **_encode_individuals(content.individuals)}


def _encode_individuals(people: Individuals) -> dict[str, Any]:
    risk, curves, reasons = people.risk, people.curves, people.reasons
    return {
        "ids": as_text(people.ids.tolist()),
        "origins": None if people.origins is None else as_steps(people.origins),
        "risk": {"now": as_steps(risk.now)}
        | {name: pack(getattr(risk, name)) for name in _RISK},
        "leads": as_list(curves.leads, 7),
        "curves": {"entry": as_steps(curves.entry)}
        | {name: pack(getattr(curves, name)) for name in _CURVES},
        "events": {
            "offsets": as_integers(people.history.offsets),
            "times": as_steps(people.history.times),
            "totals": pack(people.history.totals),
        },
        "reasons": {"index": as_integers(reasons.index)}
        | {name: pack(getattr(reasons, name)) for name in _REASONS},
        "reasonNames": as_text(reasons.names),
        "reasonCategories": reasons.categories,
        "nValued": reasons.n_valued,
        "unlearned": {str(place): text for place, text in reasons.unlearned.items()},
        "sentences": reasons.sentences,
        "sensors": None if people.sensors is None else _encode_sensors(people.sensors),
    }


def _encode_sensors(sensors: SensorPaths) -> dict[str, Any]:
    return {
        "names": as_text(sensors.names),
        "categories": sensors.categories,
        "values": [
            as_steps(values, "u2") if known is None else pack(values)
            for values, known in zip(sensors.values, sensors.categories, strict=True)
        ],
    }
