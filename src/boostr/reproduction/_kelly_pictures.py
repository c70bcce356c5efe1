"""Figures and tables of the Kelly data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.plotting import plot_comparison
from boostr.reproduction._figures import open_figure
from boostr.reproduction._kelly_trial import (
    SIGMAS,
    TRUTH,
    Scores,
    Trials,
    list_paper,
    list_rates,
)
from boostr.reproduction._learners import DEFAULT, FOREST
from boostr.reproduction._numbers import say_mean
from boostr.reproduction._page import Picture, Table, draw

__all__ = ["draw_boxes", "draw_scatter", "tabulate"]

# Okabe and Ito's colours, one for a family of learners.
_BLUE, _VERMILION, _GREEN, _ORANGE, _PINK = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#E69F00",
    "#CC79A7",
)


def tabulate(trials: Trials, value: Callable[[Scores], FloatArray], caption: str) -> Table:
    """Return a row per model, sorted by the middle sigma; the lowest is marked."""
    middle = trials[SIGMAS[1]]
    order = sorted(middle, key=lambda name: float(np.mean(value(middle[name]))))
    best = next(place for place, name in enumerate(order) if name != TRUTH)
    return Table(
        caption=caption,
        columns=("Learner", *(f"sigma {sigma:g}" for sigma in SIGMAS)),
        rows=tuple(
            (name, *(say_mean(value(trials[sigma][name])) for sigma in SIGMAS))
            for name in order
        ),
        marked=frozenset({best}),
    )


def draw_boxes(
    trials: Trials, value: Callable[[Scores], FloatArray], label: str, caption: str
) -> Picture:
    figure, panels = open_figure(len(SIGMAS), 1, (10.0, 9.0), sharex=True)
    diamond = {"marker": "D", "markerfacecolor": "black", "markeredgecolor": "black"}
    options: dict[str, Any] = {
        "showfliers": False,
        "showmeans": True,
        "meanprops": diamond | {"markersize": 4.0},
    }
    for panel, sigma in zip(panels, SIGMAS, strict=True):
        scores = {name: value(each).ravel() for name, each in trials[sigma].items()}
        plot_comparison(
            scores, label=label, show_points=False, ax=panel, box_kwargs=options
        )
        panel.axhline(scores[TRUTH].mean(), color="0.4", linestyle=":", linewidth=1.0)
        panel.set_title(f"sigma = {sigma:g}", loc="left", fontsize="medium")
        panel.set_ylim(bottom=0.0)
        panel.tick_params(axis="x", labelbottom=panel is panels[-1])
    return draw(
        figure,
        f"{caption} The dotted line is the mean of the truth. Values beyond the whiskers "
        "are not shown.",
        f"Box plots of the learners for three values of sigma: {label}".replace("\n", " "),
    )


def draw_scatter(trials: Trials) -> Picture:
    """Draw the two scores against each other."""
    figure, panels = open_figure(1, len(SIGMAS), (13.0, 4.6))
    styles = _list_styles(trials[SIGMAS[0]])
    for panel, sigma in zip(panels, SIGMAS, strict=True):
        for name, scores in trials[sigma].items():
            place = float(scores.errors.mean()), float(scores.observed.mean())
            panel.scatter(*place, **styles[name], edgecolors="black", linewidths=0.5)
        panel.axhline(
            float(trials[sigma][TRUTH].observed.mean()),
            color="0.4",
            linestyle=":",
            linewidth=1.0,
        )
        panel.set_title(f"sigma = {sigma:g}", loc="left", fontsize="medium")
        panel.set_xlabel("Error against the truth (events² · days)")
        panel.set_xlim(left=-1.0)
    panels[0].set_ylabel("Distance from the observed process\n(events² · days)")
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5
    )
    return draw(
        figure,
        "Each learner's error against the truth and its distance from the observed "
        "process. Below the dotted line are learners that the score of the paper puts "
        "before the truth; the better a learner is, the further left it stands.",
        "Scatter plots of two scores of all learners, for three values of sigma",
    )


def _list_styles(each: Mapping[str, Scores]) -> dict[str, dict[str, Any]]:
    """Return marker and colour of each model, alike within a family."""
    styles: dict[str, dict[str, Any]] = {}
    families = ((list_paper(), _VERMILION, "sDv^"), (list_rates(), _BLUE, "sDv"))
    for names, colour, markers in families:
        for name, marker in zip(names, markers, strict=True):
            styles[name] = {"color": colour, "marker": marker}
    styles[TRUTH] = {"color": "black", "marker": "*", "s": 160.0}
    styles[DEFAULT] = {"color": _GREEN, "marker": "o", "s": 80.0}
    styles[FOREST] = {"color": _ORANGE, "marker": "o"}
    others = [name for name in each if name not in styles]
    for name, marker in zip(others, "Ph<>", strict=False):
        styles[name] = {"color": _PINK, "marker": marker}
    return {name: {"s": 50.0, "label": name} | styles[name] for name in each}
