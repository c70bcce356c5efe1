"""Curves within and beyond the follow-up of training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from boostr._typing import FloatArray
from boostr.plotting.style import CYCLE
from boostr.reproduction._figures import open_figure
from boostr.reproduction._page import Picture, draw

__all__ = ["END", "LAST", "TIMES", "Curves", "draw_bumps", "draw_extrapolation"]

END, LAST = 50.0, 100.0  # of training, and of what is predicted
TIMES = np.linspace(0.0, LAST, 201)


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """Curves of a few individuals, at `TIMES`."""

    individuals: tuple[int, ...]
    predicted: Mapping[str, FloatArray]  # (n_shown, n_times), by learner
    true: FloatArray  # (n_shown, n_times)
    events: tuple[FloatArray, ...]


def draw_bumps(curves: Curves, names: Sequence[str]) -> Picture:
    """Draw curves and rates of the individual with most events, within training."""
    figure, panels = open_figure(1, 2, (12.0, 4.6))
    within = TIMES <= END
    times = TIMES[within]
    middles = 0.5 * (times[1:] + times[:-1])
    panels[0].plot(times, curves.true[-1, within], "k:", linewidth=1.5, label="true")
    true_rate = np.diff(curves.true[-1, within]) / np.diff(times)
    panels[1].plot(middles, true_rate, "k:", linewidth=1.5)
    for name, colour in zip(names, CYCLE, strict=False):
        curve = curves.predicted[name][-1, within]
        panels[0].plot(times, curve, color=colour, linewidth=1.4, label=name)
        rate = np.diff(curve) / np.diff(times)
        panels[1].plot(middles, rate, color=colour, linewidth=1.2)
    panels[0].set(xlabel="Time", ylabel="Cumulative number of events", xlim=(0.0, END))
    panels[1].set(xlabel="Time", ylabel="Events per unit of time", xlim=(0.0, END))
    panels[1].axhline(0.0, color="0.5", linewidth=0.8)
    panels[0].legend(loc="upper left", fontsize="small")
    return draw(
        figure,
        f"Individual {curves.individuals[-1] + 1} of those predicted: cumulative intensity "
        "(left) and its slope, the rate of events (right).",
        "Predicted curves of several learners and their slopes, beside the truth",
    )


def draw_extrapolation(curves: Curves, names: Sequence[str]) -> Picture:
    """Draw several individuals to the last time, with the end of training marked."""
    figure, panels = open_figure(1, len(curves.individuals), (13.0, 4.8))
    for row, panel in enumerate(panels):
        times = curves.events[row]
        steps = np.concatenate([[0.0], times, [LAST]])
        counts = np.concatenate([np.arange(len(times) + 1), [len(times)]])
        panel.step(steps, counts, where="post", color="0.55", label="events")
        panel.plot(TIMES, curves.true[row], "k:", linewidth=1.8, label="true")
        for name, colour in zip(names, CYCLE, strict=False):
            panel.plot(
                TIMES,
                curves.predicted[name][row],
                color=colour,
                linewidth=1.5,
                label=name,
            )
        panel.axvline(END, color="black", linewidth=0.8)
        panel.axvspan(END, LAST, color="0.9", zorder=0.0)
        panel.set(xlim=(0.0, LAST), xlabel="Time")
        panel.set_ylim(bottom=0.0)
        panel.set_title(
            f"Individual {curves.individuals[row] + 1}", loc="left", fontsize="medium"
        )
    panels[0].set_ylabel("Cumulative number of events")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3)
    return draw(
        figure,
        f"A quiet, a middling and a busy individual. Learners have seen others up to time "
        f"{END:g}; in the grey part they extrapolate.",
        "Predicted curves of three individuals within and beyond the end of training",
    )
