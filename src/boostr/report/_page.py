"""The report on a fleet: one file that needs no other, with compact numbers inside."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from boostr._optional import require
from boostr._typing import AnyArray, FloatArray
from boostr.data import RecurrentEvents, SharedSensors, Trajectories
from boostr.inspection.model import find_unused_plan, warn_of_unused
from boostr.io.files import check_output, write_atomically
from boostr.io.model import own_version
from boostr.report._content import Content, TopRisks, collect
from boostr.report._figures import PlotlyFigure, as_list, draw_figures
from boostr.report._individuals import SensorPaths
from boostr.report._words import name_id, name_what, write_words

__all__ = ["fleet_report", "render_report"]

_FEATURE = "A fleet report"
_RISK = (
    *("so_far", "expected", "probability", "lower", "upper"),
    *("next_event", "own_history", "terminal"),
)
_CURVES = ("expected", "lower", "upper", "past")
_REASONS = ("amount", "value", "base", "rest")


def render_report(content: Content, title: str, version: str) -> str:
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


def _encode(
    content: Content, figures: dict[str, PlotlyFigure], title: str
) -> dict[str, Any]:
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
        "hasTerminal": not bool(np.isnan(content.individuals.risk.terminal).any()),
    }
    kinds = {
        "kinds": as_text(list(content.kinds)),
        "likelyKind": as_integers(content.individuals.risk.kind),
        "isOver": as_integers(content.individuals.risk.is_over),
    }
    people = _encode_individuals(content.individuals)
    return {"meta": meta, "figures": figures, **kinds, **people}


def _encode_individuals(people: TopRisks) -> dict[str, Any]:
    risk, curves, reasons = people.risk, people.curves, people.reasons
    return {
        "ids": as_text(people.ids.tolist()),
        "origins": None if people.origins is None else as_steps(people.origins),
        "risk": {"now": as_steps(risk.now)}
        | {name: pack_floats(getattr(risk, name)) for name in _RISK},
        "leads": as_list(curves.leads, 7),
        "curves": {"entry": as_steps(curves.entry)}
        | {name: pack_floats(getattr(curves, name)) for name in _CURVES},
        "events": {
            "offsets": as_integers(people.history.offsets),
            "times": as_steps(people.history.times),
            "totals": pack_floats(people.history.totals),
        },
        "reasons": {"index": as_integers(reasons.index)}
        | {name: pack_floats(getattr(reasons, name)) for name in _REASONS},
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
            as_steps(values, "u2") if known is None else pack_floats(values)
            for values, known in zip(sensors.values, sensors.categories, strict=True)
        ],
    }


def pack_floats(values: AnyArray) -> dict[str, Any]:
    """Return numbers with seven digits each, in four bytes; NaN and infinity as such."""
    return {"t": "f4", "d": _to_base64(np.asarray(values, dtype="<f4"))}


def as_integers(values: AnyArray) -> dict[str, Any]:
    """Return whole numbers from 0 on, in two bytes each if that is enough."""
    kind = "u2" if np.max(values, initial=0) < 2**16 else "u4"
    return {"t": kind, "d": _to_base64(np.asarray(values, dtype=f"<{kind}"))}


def as_steps(values: FloatArray, kind: str = "u4") -> dict[str, Any]:
    """Return finite numbers as steps between the lowest and the highest; NaN stays NaN.

    Four bytes ("u4") tell moments of twenty years a second apart, two ("u2") are enough to
    draw. The highest step stands for NaN.
    """
    top = np.iinfo(kind).max - 1
    is_known = np.isfinite(values)
    known = values[is_known]
    low = float(known.min()) if known.size else 0.0
    width = (float(known.max()) - low) / top if known.size else 0.0
    steps = np.full(values.shape, top + 1, dtype=f"<{kind}")
    steps[is_known] = np.rint((known - low) / width) if width > 0.0 else 0
    return {"t": kind, "d": _to_base64(steps), "low": low, "width": width}


def as_text(values: Iterable[Any]) -> list[str]:
    """Return ids or names as texts, numbers without needless digits."""
    return [f"{value:.15g}" if isinstance(value, float) else str(value) for value in values]


def to_json(value: Any) -> str:
    """Return JSON that can stand inside a script of a page, whatever the texts in it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Only texts can hold these: in there, they may be written as numbers.
    for mark in ("<", ">", "&", "\u2028", "\u2029"):
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _to_base64(values: AnyArray) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def fleet_report(  # noqa: PLR0913 - all but the first four are by name
    model: Any,
    X: Any,
    y: RecurrentEvents,
    Z: Trajectories | SharedSensors | None = None,
    *,
    path: str | os.PathLike[str] = "report.html",
    horizon: float | None = None,
    future: Trajectories | SharedSensors | None = None,
    level: float = 0.9,
    title: str = "Fleet report",
    max_individuals: int = 10_000,
    backtest: Any = None,
) -> Path:
    """Write a page on a fleet: the risk of individuals, why, and how good the model is.

    One HTML file that opens in any browser without a network. Its plots are interactive;
    its table can be searched and sorted, and a click on a row shows the individual's curve,
    interval, sensors and reasons.

    Parameters
    ----------
    model : BoostR
        A fitted model.
    X : array-like or DataFrame of shape (n, p), or Panel
        Static features of the individuals.
    y : RecurrentEvents
        Their histories, up to the present of each.
    Z : Trajectories or SharedSensors, default=None
        Their sensors, for a model that was fitted with them.
    path : str or path, default="report.html"
        The file; one that is there is replaced, and it is never written in part.
    horizon : float, default=None
        Length of the time ahead; by default as long as the training data, from the first
        start to the last end.
    future : Trajectories or SharedSensors, default=None
        What the sensors will show; by default their last values hold.
    level : float, default=0.9
        Probability of the intervals.
    title : str, default="Fleet report"
        Title of the page.
    max_individuals : int, default=10000
        How many individuals the table holds, those with the highest risk. Totals, plots and
        quality are always those of all.
    backtest : Backtest, default=None
        Forecasts at past dates, to be shown beside the quality of the model;
        `boostr.backtest` makes it.

    Returns
    -------
    Path
        The file.

    See Also
    --------
    boostr.BoostR.forecast : The table of risks as a DataFrame.
    boostr.inspection.explain : The reasons.

    Notes
    -----
    How good the model is, is measured by out-of-fold predictions if the individuals are
    those of training, and the page says which it is. Forecasts with own history are tested
    on the last part of the follow-up, from what was known before it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from boostr import BoostR
    >>> from boostr.report import fleet_report
    >>> from boostr.simulate import dataset_a
    >>> fleet = dataset_a(n=100, random_state=1)
    >>> model = BoostR(n_estimators=20, random_state=0).fit(fleet.X, fleet.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "fleet.html"
    ...     fleet_report(model, fleet.X, fleet.y, path=path, horizon=20).name
    'fleet.html'
    """
    target = Path(path)
    check_output(target, "The report")
    warn_of_unused(find_unused_plan(model, future), "sensor")
    content = collect(
        model,
        X,
        y,
        Z,
        horizon=horizon,
        future=future,
        level=level,
        max_individuals=max_individuals,
        backtest=backtest,
    )
    page = render_report(content, title, own_version())
    # Names may hold halves of characters, which no encoding has: a question mark each.
    write_atomically(target, page.encode("utf-8", errors="replace"))
    return target
