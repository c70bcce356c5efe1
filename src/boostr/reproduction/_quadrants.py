"""Data sets A and B: constant rates in the quadrants of two features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from boostr._typing import FloatArray
from boostr.estimators import BoostR
from boostr.inspection import (
    LeafCounts,
    TreePartition,
    feature_importance,
    individual_convergence,
    leaf_counts,
    tree_partition,
)
from boostr.plotting import (
    plot_importance,
    plot_individual,
    plot_leaf_counts,
    plot_partition,
)
from boostr.reproduction._comparison import (
    build_error_block,
    compare_models,
    fit_pair,
)
from boostr.reproduction._maps import IntensityMap
from boostr.reproduction._models import DEFAULT, PAPER_SETTINGS, POINTWISE
from boostr.reproduction._page import (
    Block,
    Chapter,
    Picture,
    ResultTable,
    draw,
    open_figure,
)
from boostr.reproduction._ranking import (
    build_design,
    build_ranking,
    find_best,
    try_settings,
)
from boostr.reproduction._work import Result, Results, Scale, Work, stack
from boostr.reproduction.problems import Problem
from boostr.simulate import Simulation, dataset_a, dataset_b

__all__ = ["build_a", "build_b"]

_SEED = 0
_N = 200  # as in the paper
_ENDS = (171.0, 228.0)  # of follow-up in the authors' own copy of A
A = Problem("A", partial(dataset_a, end=_ENDS), _N)
B = Problem("B", partial(dataset_b, end=_ENDS), _N)
_INFORMATIVE = 2  # features that matter, the first ones
_NO_DISTANCE = (
    "No distance from the truth is reported, although it is known: the paper compares the "
    "C-index, which only sees the order of individuals."
)
_N_TREES = 10  # drawn in the paper
_DEFAULT_TREES = (1, 2)  # the first tree of a model is a root, the average individual
_INDIVIDUALS = (0, 1)
_LAST_IN_PAPER = 28  # tree after which all are roots
# gamma1 and gamma2: the paper's example, the ends of the range that it finds suitable, and
# no price for a leaf.
_PAIRS = ((300.0, 100.0), (75.0, 75.0), (220.0, 175.0), (0.0, 100.0))
_FAMILIES = {"step": "pointwise leaves", "power": "power functions"}
_COMMON_END = 100.0
_FEWEST_DRAWS, _MOST_DRAWS = 12, 100
_FIRST_SEED = 30_000

Models = Mapping[str, Any]
# The last tree that splits, by leaf family, end of follow-up and gammas, one per draw.
Lasts = Mapping[tuple[str, Any, tuple[float, float]], FloatArray]


def build_a(work: Work) -> Chapter:
    """Return the chapter of data set A."""
    train = A.draw(_N, _SEED)
    models = fit_pair(A, work.scale, train)
    settings = try_settings(work, A, _SEED)
    best = find_best(settings)
    errors = stack(compare_models(work, A), "error")
    return Chapter(
        key="A",
        title="Data set A: four quadrants",
        introduction=(
            f"{_N} individuals with two features on the unit interval; events come at a "
            "constant rate of 0.01, 0.05 or 0.10, depending on how many features are above "
            "one half. The paper does not state the end of follow-up; in the authors' own "
            "copy of the data it lies between 171 and 228, and ends are drawn from there."
            "\n\nWherever the paper's settings are drawn tree by tree, leaf functions are "
            "pointwise, as in its Algorithm 1."
        ),
        blocks=[
            _build_trees(train, models),
            _build_convergence(train, models),
            _build_leaf_counts(work, train, models),
            _build_map(train, models),
            build_design(settings, best),
            build_ranking(
                work, A, {place + 1: settings[place]["params"] for place in best}
            ),
            build_error_block(A, work.scale, errors, _NO_DISTANCE),
        ],
    )


def build_b(work: Work) -> Chapter:
    """Return the chapter of data set B."""
    train = B.draw(_N, _SEED)
    results = compare_models(work, B)
    return Chapter(
        key="B",
        title="Data set B: four quadrants and eight useless features",
        introduction=(
            "The individuals of data set A with eight more features, uniform on the unit "
            "interval, on which nothing depends."
        ),
        blocks=[
            _build_importance(train, fit_pair(B, work.scale, train), results),
            build_error_block(B, work.scale, stack(results, "error"), _NO_DISTANCE),
        ],
    )


def _build_trees(train: Simulation, models: Models) -> Block:
    partitions = [_read_tree(train, models[POINTWISE], 0, k) for k in range(_N_TREES)]
    largest = [float(np.abs(each.curves).max()) for each in partitions]
    n_below = [int(np.sum(each.curves.min(axis=1) < 0.0)) for each in partitions]
    lowering = [str(k) for k, n in enumerate(n_below, 1) if n]
    members = models[DEFAULT].ensemble_.members
    strongest = int(np.argmax([member.weight for member in members]))
    ours = [_read_tree(train, models[DEFAULT], strongest, k) for k in _DEFAULT_TREES]
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
            "Trees are taken in small steps from the average individual, and "
            f"{len(members)} models are averaged, which differ in folds, tree sizes and "
            "thresholds."
        ),
        caution=_judge_first_tree(partitions[0]),
        pictures=[
            _draw_partitions(
                partitions, "The paper's settings: partitions, and what leaves add."
            ),
            _draw_partitions(ours, "Default: two trees of the model of largest weight."),
        ],
        tables=[
            ResultTable(
                "The paper's settings: sizes of adjustments.",
                (
                    "Tree",
                    "Leaves",
                    "Largest adjustment (events)",
                    "Leaves below zero somewhere",
                ),
                [
                    (str(k + 1), str(each.n_leaves), f"{largest[k]:.2f}", str(n_below[k]))
                    for k, each in enumerate(partitions)
                ],
            )
        ],
    )


def _read_tree(train: Simulation, model: Any, member: int, tree: int) -> TreePartition:
    found = tree_partition(model, member=member, tree=tree)
    return replace(found, features=train.feature_names)


def _judge_first_tree(first: TreePartition) -> str:
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


def _draw_partitions(partitions: Sequence[TreePartition], caption: str) -> Picture:
    n_rows = (len(partitions) + 1) // 2
    figure, panels = open_figure(n_rows, 2, (16.0, 3.3 * n_rows))
    for panel, partition in zip(panels, partitions, strict=True):
        plot_partition(partition, ax=panel)
        panel.set_title(f"Tree {partition.tree + 1}", loc="left", fontweight="bold")
    return draw(
        figure,
        caption,
        "For each tree the rectangles of its leaves, and the functions of time they add",
    )


def _build_convergence(train: Simulation, models: Models) -> Block:
    figure, panels = open_figure(2, 2, (11.0, 8.0))
    missed = {}
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
            gaps.append(f"{abs(float(result.curves[-1, -1] - true[-1])):.2f}")
        missed[name] = f"at the end they miss the truth by {' and '.join(gaps)} events."
    return Block(
        title="A: convergence for two individuals",
        paper=(
            "The curves of individuals 1 and 2 grow from zero towards their final form as "
            "trees are added."
        ),
        paper_settings=f"They do; {missed[POINTWISE]}",
        default=(
            "Curves start from the average individual and part from there; "
            f"{missed[DEFAULT]}"
        ),
        pictures=[
            draw(
                figure,
                "Curves after more and more trees, the observed counts, and the truth.",
                "Convergence of the cumulative intensity of two individuals",
            )
        ],
    )


def _build_leaf_counts(work: Work, train: Simulation, models: Models) -> Block:
    """Return the numbers of leaves, and the last tree that splits."""
    n_draws = int(np.clip(work.scale.n_splits, _FEWEST_DRAWS, _MOST_DRAWS))
    cases: list[Any] = [(family, _ENDS, pair) for pair in _PAIRS for family in _FAMILIES]
    cases += [(family, _COMMON_END, _PAIRS[0]) for family in _FAMILIES]
    settings = PAPER_SETTINGS["A"]
    found = work.run("A: leaves of trees", _find_last, cases, n_draws, settings=settings)
    lasts = stack(found, "last")
    main, unpriced = (lasts["step", _ENDS, pair] for pair in (_PAIRS[0], _PAIRS[-1]))
    counts = _grow(train, "step", _PAIRS[0], settings).counts[0]
    stopped = np.flatnonzero(counts >= settings["max_leaf_nodes"]) + 1
    sizes = np.concatenate(leaf_counts(models[DEFAULT]).counts)
    return Block(
        title="A: leaves of every tree",
        paper=(
            "With gamma1 = 300 and gamma2 = 100 the limit of 4 leaves stops trees 7, 10, "
            f"15 and 17, and all trees after the {_LAST_IN_PAPER}th are roots alone. "
            "Without the penalty this would not be seen."
        ),
        paper_settings=(
            "On the data shown the limit stops trees "
            f"{', '.join(map(str, stopped)) or 'never'}. Over {n_draws} draws of the "
            f"data, the last tree that splits is number {np.median(main):g} in the middle, "
            f"from {min(main)} to {max(main)}. Without a price for leaves, gamma1 = 0, it "
            f"is number {np.median(unpriced):g} of {settings['n_estimators']}."
        ),
        default=(
            "Numbers of trees and of leaves are chosen by validation, so that no tree is "
            f"grown in vain; a tree has {np.median(sizes):g} leaves in the middle, "
            f"{sizes.max()} at most."
        ),
        caution=_judge_last_tree(lasts),
        pictures=[
            _draw_pairs(train, settings),
            draw(
                plot_leaf_counts(leaf_counts(models[DEFAULT])).figure,
                "Default: leaves of the trees of all averaged models.",
                "Mean and range of the number of leaves, by tree",
            ),
        ],
        tables=[_tabulate_lasts(lasts, n_draws)],
    )


def _find_last(
    case: tuple[str, Any, tuple[float, float]],
    repetition: int,
    scale: Scale,
    settings: Mapping[str, Any],
    first_seed: int = _FIRST_SEED,
) -> Result:
    """Return the last tree that splits, on one draw of the data."""
    family, end, pair = case
    train = dataset_a(n=_N, random_state=first_seed + repetition, end=end)
    splitting = np.flatnonzero(_grow(train, family, pair, settings).counts[0] > 1)
    return {"last": int(splitting[-1]) + 1 if splitting.size else 0}


def _grow(
    train: Simulation, family: str, pair: tuple[float, float], settings: Mapping[str, Any]
) -> LeafCounts:
    """Return the number of leaves of each tree by the paper's algorithm."""
    options = {**settings, "gamma1": pair[0], "gamma2": pair[1]}
    model = BoostR.paper(**options, leaf=family, n_origins=0)  # forecasts nothing
    return leaf_counts(model.fit(train.X, train.y))


def _judge_last_tree(lasts: Lasts) -> str:
    """Return a sentence on the paper's number among ours."""
    main = lasts["step", _ENDS, _PAIRS[0]]
    is_met = main.min() <= _LAST_IN_PAPER <= main.max()
    where = "lies among ours" if is_met else "is not met"
    return (
        f"The number itself says little: it depends on the draw, the gammas and the time "
        f"scale. The paper's {_LAST_IN_PAPER} {where} with its gammas "
        f"({np.mean(main >= _LAST_IN_PAPER):.0%} of the draws come as far); with gamma1 = "
        f"gamma2 = 75 the middle is {np.median(lasts['step', _ENDS, _PAIRS[1]]):g}. If "
        f"everybody is followed until {_COMMON_END:g} instead, the same gammas weigh more "
        "and trees stop to split after number "
        f"{np.median(lasts['step', _COMMON_END, _PAIRS[0]]):g}."
    )


def _tabulate_lasts(lasts: Lasts, n_draws: int) -> ResultTable:
    rows = []
    for end, pair in dict.fromkeys((end, pair) for _, end, pair in lasts):
        shown = "171 to 228" if end == _ENDS else f"{end:g}"
        each = [lasts[family, end, pair] for family in _FAMILIES]
        cells = [f"{np.median(one):g} ({min(one)} to {max(one)})" for one in each]
        rows.append((f"{pair[0]:g}, {pair[1]:g}", shown, *cells))
    return ResultTable(
        f"The last tree that splits: median (smallest to largest) over {n_draws} draws of "
        f"{PAPER_SETTINGS['A']['n_estimators']} trees.",
        ("gamma1, gamma2", "End of follow-up", *_FAMILIES.values()),
        rows,
    )


def _draw_pairs(train: Simulation, settings: Mapping[str, Any]) -> Picture:
    figure, panels = open_figure(2, 2, (11.0, 6.0), sharey=True)
    for panel, pair in zip(panels, _PAIRS, strict=True):
        plot_leaf_counts(_grow(train, "step", pair, settings), ax=panel)
        panel.set_title(f"gamma1 = {pair[0]:g}, gamma2 = {pair[1]:g}", fontsize="medium")
        panel.axvline(_LAST_IN_PAPER + 0.5, color="0.4", linestyle=":", linewidth=1.2)
    panels[0].set_ylim(0.0, max(panel.get_ylim()[1] for panel in panels))
    return draw(
        figure,
        "The paper's algorithm with pointwise leaves: leaves of every tree for four pairs "
        f"of gammas. The dotted line is at tree {_LAST_IN_PAPER}, after which the paper "
        "has roots alone.",
        "Bars of the number of leaves of fifty trees, for four pairs of gammas",
    )


def _build_map(train: Simulation, models: Models) -> Block:
    maps = {
        name: IntensityMap(train, model, _ENDS[0], per_time=True)
        for name, model in models.items()
    }
    ratio = maps[DEFAULT].error / maps[POINTWISE].error
    return Block(
        title="A: the map of the intensity",
        paper=(
            "The true and the estimated intensity, averaged over time, over the feature "
            "space; the four quadrants are found."
        ),
        paper_settings=(
            f"The quadrants are found; the estimate is off by {maps[POINTWISE].error:.4f} "
            "events per unit of time, on average over the map."
        ),
        default=(
            f"Off by {maps[DEFAULT].error:.4f} events per unit of time on average over the "
            f"map, {ratio:.2f} times as much as with the paper's settings."
        ),
        pictures=[each.draw(name) for name, each in maps.items()],
    )


def _build_importance(train: Simulation, models: Models, results: Results) -> Block:
    figure, panels = open_figure(1, 2, (10.0, 4.0))
    for panel, (name, model) in zip(panels, models.items(), strict=True):
        found = feature_importance(model)
        plot_importance(replace(found, features=train.feature_names), ax=panel)
        panel.set_title(name, fontsize="medium")
    shares = stack(results, "importances")
    return Block(
        title="B: importance of the features",
        paper=(
            "The total gain of the splits on a feature, scaled to a largest of 1 and a "
            "smallest of 0: x1 and x2 stand out, the other eight are near 0."
        ),
        paper_settings=_say_importance(shares[POINTWISE]),
        default=_say_importance(shares[DEFAULT]),
        pictures=[
            draw(
                figure,
                "Share of the gain of all splits, by feature; x3 to x10 are useless.",
                "Bars of the importance of ten features, for the paper's settings and the "
                "default",
            )
        ],
    )


def _say_importance(shares: FloatArray) -> str:
    useful, useless = shares[:, :_INFORMATIVE], shares[:, _INFORMATIVE:]
    n_largest = np.count_nonzero(useful.min(axis=1) > useless.max(axis=1))
    return (
        f"Useless features take {useless.sum(axis=1).mean():.1%} of the gain on average; "
        f"x1 and x2 are the two largest in {n_largest} of {len(shares)} draws."
    )
