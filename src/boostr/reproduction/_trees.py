"""Data set A, tree by tree: partitions, and convergence of the curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from boostr.inspection import TreePartition, individual_convergence, tree_partition
from boostr.plotting import plot_individual, plot_partition
from boostr.reproduction._figures import open_figure
from boostr.reproduction._learners import DEFAULT, PAPER_SETTINGS, POINTWISE
from boostr.reproduction._page import Block, Picture, Table, draw
from boostr.simulate import Simulation

__all__ = ["build_convergence", "build_trees"]

_N_TREES = 10  # drawn in the paper
_DEFAULT_TREES = (1, 2)
_INDIVIDUALS = (0, 1)

Models = Mapping[str, Any]


def build_trees(train: Simulation, models: Models) -> Block:
    """Return the first trees of an ensemble."""
    partitions = [_read(train, models[POINTWISE], 0, k) for k in range(_N_TREES)]
    largest = [_find_largest(partition) for partition in partitions]
    lowering = [str(k) for k, each in enumerate(partitions, 1) if _count_below(each)]
    members = models[DEFAULT].ensemble_.members
    strongest = int(np.argmax([member.weight for member in members]))
    # The first tree of a model is a root, the average individual.
    ours = [_read(train, models[DEFAULT], strongest, k) for k in _DEFAULT_TREES]
    settings = PAPER_SETTINGS["A"]
    return Block(
        title="A: the first ten trees",
        paper=(
            f"With K = {settings['n_estimators']}, gamma1 = {settings['gamma1']:g}, gamma2 "
            f"= {settings['gamma2']:g} and D.max = {settings['max_leaf_nodes']}, later "
            "trees adjust less than earlier ones, and some adjustments are negative, as on "
            "two leaves of tree 7."
        ),
        paper_settings=(
            f"The first tree adds up to {largest[0]:.1f} events, the tenth changes "
            f"{largest[-1]:.2f} at most. Trees with leaves that lower a curve somewhere: "
            f"{', '.join(lowering) or 'none'}."
        ),
        default=(
            "Trees are taken in small steps (a learning rate of "
            f"{models[DEFAULT].learning_rate:g}) from the average individual, and "
            f"{len(members)} models are averaged, which differ in folds, tree sizes and "
            "thresholds."
        ),
        caution=_find_caution(partitions[0]),
        pictures=(
            _draw_partitions(
                partitions, "The paper's settings: partitions, and what leaves add."
            ),
            _draw_partitions(ours, "Default: two trees of the model of largest weight."),
        ),
        tables=(_tabulate_trees(partitions, largest),),
    )


def _read(train: Simulation, model: Any, member: int, tree: int) -> TreePartition:
    found = tree_partition(model, member=member, tree=tree)
    return replace(found, features=train.feature_names)


def _find_caution(first: TreePartition) -> str:
    """Return a sentence on pointwise leaves where few are still observed."""
    curve = first.curves[np.argmax(first.curves.max(axis=1))]
    top = int(np.argmax(curve))
    if curve[-1] > 0.9 * curve[top]:
        return ""
    return (
        "A pointwise leaf function is a mean of those who are still observed, drawn to "
        "zero by gamma2. Once follow-up begins to end, fewer are observed and the penalty "
        f"takes over: the first tree's curve falls from {curve[top]:.1f} at time "
        f"{first.times[top]:.0f} to {curve[-1]:.1f} at {first.times[-1]:.0f}, although "
        "counts cannot fall. Later trees have to mend this."
    )


def _find_largest(partition: TreePartition) -> float:
    return float(np.abs(partition.curves).max())


def _count_below(partition: TreePartition) -> int:
    return int(np.count_nonzero(partition.curves.min(axis=1) < 0.0))


def _tabulate_trees(partitions: Sequence[TreePartition], largest: Sequence[float]) -> Table:
    rows = [
        (str(k), str(each.n_leaves), f"{size:.2f}", str(_count_below(each)))
        for k, (each, size) in enumerate(zip(partitions, largest, strict=True), 1)
    ]
    return Table(
        "The paper's settings: sizes of adjustments.",
        ("Tree", "Leaves", "Largest adjustment (events)", "Leaves below zero somewhere"),
        tuple(rows),
    )


def _draw_partitions(partitions: Sequence[TreePartition], caption: str) -> Picture:
    n_rows = (len(partitions) + 1) // 2
    figure, panels = open_figure(n_rows, 2, (16.0, 3.3 * n_rows))
    for panel, partition in zip(panels, partitions, strict=True):
        plot_partition(partition, ax=panel)
        panel.set_title(f"Tree {partition.tree + 1}", loc="left", fontweight="bold")
    for panel in panels[len(partitions) :]:
        panel.set_axis_off()
    return draw(
        figure,
        caption,
        "For each tree the rectangles of its leaves, and the functions of time they add",
    )


def build_convergence(train: Simulation, models: Models) -> Block:
    """Return the convergence of the curves of two individuals."""
    figure, panels = open_figure(2, 2, (11.0, 8.0))
    distances = {}
    for row, (name, model) in enumerate(models.items()):
        gaps = []
        for column, person in enumerate(_INDIVIDUALS):
            panel = panels[2 * row + column]
            result = individual_convergence(model, train.X, train.y, person)
            plot_individual(result, ax=panel)
            true = train.truth(result.times)[person]
            panel.plot(result.times, true, color="black", linestyle=":", label="true")
            panel.legend(loc="best", fontsize="x-small")
            panel.set_title(f"{name}: individual {person + 1}", loc="left", fontsize=10)
            gaps.append(abs(float(result.curves[-1, -1] - true[-1])))
        distances[name] = gaps
    return Block(
        title="A: convergence for two individuals",
        paper=(
            "The curves of individuals 1 and 2 grow from zero towards their final form as "
            "trees are added."
        ),
        paper_settings=(
            f"They do; at the end they miss the truth {_say(distances[POINTWISE])}."
        ),
        default=(
            "Curves start from the average individual and part from there; at the end they "
            f"miss the truth {_say(distances[DEFAULT])}."
        ),
        pictures=(
            draw(
                figure,
                "Curves after more and more trees, the observed counts, and the truth.",
                "Convergence of the cumulative intensity of two individuals",
            ),
        ),
    )


def _say(gaps: Sequence[float]) -> str:
    first, second = gaps
    return f"by {first:.2f} and {second:.2f} events"
