"""Data set A: leaves of each tree, and the tree after which none splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boostr._typing import OffsetArray
from boostr.estimators import BoostR
from boostr.inspection import LeafCounts, leaf_counts
from boostr.plotting import plot_leaf_counts
from boostr.reproduction._comparison import Problem
from boostr.reproduction._figures import open_figure
from boostr.reproduction._learners import DEFAULT, PAPER_SETTINGS
from boostr.reproduction._page import Block, Picture, Table, draw
from boostr.reproduction._work import Job, Result, Work
from boostr.simulate import Simulation

__all__ = ["build_leaf_counts"]

_LAST_IN_PAPER = 28  # tree after which all are roots
# gamma1 and gamma2: the paper's example, the ends of the range that it finds suitable, and
# no price for a leaf.
_PAIRS = ((300.0, 100.0), (75.0, 75.0), (220.0, 175.0), (0.0, 100.0))
_FAMILIES = {"step": "pointwise leaves", "power": "power functions"}
_COMMON_END = 100.0
_FEWEST_DRAWS, _MOST_DRAWS = 12, 100
_FIRST_SEED = 30_000

Key = tuple[str, str, tuple[float, float]]  # family, ends, gammas


def build_leaf_counts(
    work: Work, problem: Problem, train: Simulation, models: Mapping[str, Any]
) -> Block:
    """Return the numbers of leaves, and the last tree that splits."""
    lasts = _find_lasts(work, problem)
    main = lasts["step", "staggered", _PAIRS[0]]
    unpriced = lasts["step", "staggered", _PAIRS[-1]]
    limit = PAPER_SETTINGS["A"]["max_leaf_nodes"]
    stopped = np.flatnonzero(_count(train, "step", _PAIRS[0]) >= limit) + 1
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
            f"{', '.join(map(str, stopped)) or 'never'}. Over {len(main)} draws of the "
            f"data, the last tree that splits is number {np.median(main):g} in the middle, "
            f"from {min(main)} to {max(main)}. Without a price for leaves, gamma1 = 0, it "
            f"is number {np.median(unpriced):g} of {PAPER_SETTINGS['A']['n_estimators']}."
        ),
        default=(
            "Numbers of trees and of leaves are chosen by validation, so that no tree is "
            f"grown in vain; a tree has {np.median(sizes):g} leaves in the middle, "
            f"{sizes.max()} at most."
        ),
        caution=_judge(lasts),
        pictures=(_draw_pairs(train), _draw_default(models[DEFAULT])),
        tables=(_tabulate(lasts),),
    )


def _find_lasts(work: Work, problem: Problem) -> dict[Key, list[int]]:
    """Return the last splitting tree of every draw, by family, ends and gammas."""
    n_draws = int(np.clip(work.scale.n_splits, _FEWEST_DRAWS, _MOST_DRAWS))
    keys: list[Key] = [
        (family, "staggered", pair) for pair in _PAIRS for family in _FAMILIES
    ]
    keys += [(family, "common", _PAIRS[0]) for family in _FAMILIES]
    jobs = [
        {"leaf": family, "ends": ends, "gammas": list(pair), "draw": draw}
        for family, ends, pair in keys
        for draw in range(n_draws)
    ]
    results = work.run(
        "A: leaves of trees",
        jobs,
        lambda job: _find_last(problem, job),
        settings={
            "n_train": problem.n_train,
            "common_end": _COMMON_END,
            "first_seed": _FIRST_SEED,
            "paper": PAPER_SETTINGS["A"],
            **problem.options,
        },
    )
    numbers = [int(result["last"]) for result in results]
    return {
        key: numbers[place * n_draws : (place + 1) * n_draws]
        for place, key in enumerate(keys)
    }


def _find_last(problem: Problem, job: Job) -> Result:
    end = problem.options["end"] if job["ends"] == "staggered" else _COMMON_END
    seed = _FIRST_SEED + int(job["draw"])
    train = problem.simulate(n=problem.n_train, random_state=seed, end=end)
    counts = _count(train, str(job["leaf"]), tuple(job["gammas"]))
    splitting = np.flatnonzero(counts > 1)
    return {"last": int(splitting[-1]) + 1 if splitting.size else 0}


def _count(train: Simulation, family: str, gammas: Sequence[float]) -> OffsetArray:
    """Return the number of leaves of each tree by the paper's algorithm."""
    return _grow(train, family, gammas).counts[0]


def _grow(train: Simulation, family: str, gammas: Sequence[float]) -> LeafCounts:
    settings: dict[str, Any] = PAPER_SETTINGS["A"] | {
        "gamma1": gammas[0],
        "gamma2": gammas[1],
    }
    model = BoostR.paper(**settings, leaf=family, n_origins=0)  # forecasts nothing
    return leaf_counts(model.fit(train.X, train.y))


def _judge(lasts: Mapping[Key, Sequence[int]]) -> str:
    """Return a sentence on the paper's number among ours."""
    main = np.array(lasts["step", "staggered", _PAIRS[0]])
    common = lasts["step", "common", _PAIRS[0]]
    share = float(np.mean(main >= _LAST_IN_PAPER))
    where = (
        "lies among ours" if main.min() <= _LAST_IN_PAPER <= main.max() else "is not met"
    )
    return (
        f"The number itself says little: it depends on the draw, the gammas and the time "
        f"scale. The paper's {_LAST_IN_PAPER} {where} with its gammas ({share:.0%} of the "
        f"draws come as far); with gamma1 = gamma2 = 75 the middle is "
        f"{np.median(lasts['step', 'staggered', _PAIRS[1]]):g}. If everybody is followed "
        f"until {_COMMON_END:g} instead, the same gammas weigh more and trees stop to "
        f"split after number {np.median(common):g}."
    )


def _tabulate(lasts: Mapping[Key, Sequence[int]]) -> Table:
    rows = []
    for ends, pair in dict.fromkeys((ends, pair) for _, ends, pair in lasts):
        shown = "171 to 228" if ends == "staggered" else f"{_COMMON_END:g}"
        cells = [_summarise(lasts[family, ends, pair]) for family in _FAMILIES]
        rows.append((f"{pair[0]:g}, {pair[1]:g}", shown, *cells))
    n_draws = len(next(iter(lasts.values())))
    return Table(
        f"The last tree that splits: median (smallest to largest) over {n_draws} draws of "
        f"{PAPER_SETTINGS['A']['n_estimators']} trees.",
        ("gamma1, gamma2", "End of follow-up", *_FAMILIES.values()),
        tuple(rows),
    )


def _summarise(numbers: Sequence[int]) -> str:
    return f"{np.median(numbers):g} ({min(numbers)} to {max(numbers)})"


def _draw_pairs(train: Simulation) -> Picture:
    figure, panels = open_figure(2, 2, (11.0, 6.0), sharey=True)
    for panel, pair in zip(panels, _PAIRS, strict=True):
        plot_leaf_counts(_grow(train, "step", pair), ax=panel)
        panel.set_title(f"gamma1 = {pair[0]:g}, gamma2 = {pair[1]:g}", fontsize="medium")
        panel.axvline(_LAST_IN_PAPER + 0.5, color="0.4", linestyle=":", linewidth=1.2)
    high = max(panel.get_ylim()[1] for panel in panels)
    panels[0].set_ylim(0.0, high)
    return draw(
        figure,
        "The paper's algorithm with pointwise leaves: leaves of every tree for four pairs "
        f"of gammas. The dotted line is at tree {_LAST_IN_PAPER}, after which the paper "
        "has roots alone.",
        "Bars of the number of leaves of fifty trees, for four pairs of gammas",
    )


def _draw_default(model: Any) -> Picture:
    axes = plot_leaf_counts(leaf_counts(model))
    figure: Any = axes.figure
    return draw(
        figure,
        "Default: leaves of the trees of all averaged models.",
        "Mean and range of the number of leaves, by tree",
    )
