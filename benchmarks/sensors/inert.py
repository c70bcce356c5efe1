"""Sensors that do nothing: how often leaves leave them out, and what they cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks._timing import format_table
from benchmarks.measurements._finding import Finding
from benchmarks.sensors._fleet import N_ACTIVE, N_WITH_INERT, Scale
from boostr import BoostR

_LEAST_SHARE = 0.9  # of leaves without any inert sensor
_MOST_GROWTH = 15.0  # percent of the error without inert sensors


def measure(scale: Scale) -> list[Finding]:
    """Look at leaves with inert sensors; the same wells without them are the yardstick."""
    seeds = range(scale.n_seeds)
    used = [find_used(scale.fit(N_WITH_INERT, seed).model) for seed in seeds]
    errors = np.array(
        [[scale.fit(n, seed).error for n in (N_ACTIVE, N_WITH_INERT)] for seed in seeds]
    )
    _print_shares(used)
    return [_judge_leaves(used), _judge_growth(errors)]


def find_used(model: BoostR) -> NDArray[np.bool_]:
    """Return whether each leaf of each tree uses each sensor, (n_leaves, n_sensors).

    The first tree of every member is a root alone, the average, and does not count.
    """
    trees = [tree for member in model.ensemble_.members for tree in member.trees[1:]]
    leaves = [tree.nodes.value[tree.nodes.feature < 0] for tree in trees]
    starts = model.ensemble_.basis.starts
    values = np.concatenate([np.empty((0, starts[-1])), *leaves])
    sensors = np.split(values != 0.0, starts[:-1], axis=1)[1:]
    return np.column_stack([sensor.any(axis=1) for sensor in sensors])


def _print_shares(used: list[NDArray[np.bool_]]) -> None:
    shares = np.array([leaves.mean(axis=0) for leaves in used])
    rows = [
        [
            f"sensor{number + 1}",
            "inert" if number >= N_ACTIVE else "acts somewhere",
            *[f"{100.0 * share:.1f} %" for share in shares[:, number]],
        ]
        for number in range(N_WITH_INERT)
    ]
    rows.append(["leaves", "", *[f"{len(leaves):,}" for leaves in used]])
    header = [
        "leaves that use a sensor",
        "",
        *[f"seed {seed}" for seed in range(len(used))],
    ]
    print(f"\n{format_table(header, rows)}\n", flush=True)


def _judge_leaves(used: list[NDArray[np.bool_]]) -> Finding:
    clean = [~leaves[:, N_ACTIVE:].any(axis=1) for leaves in used]
    by_seed = [float(leaves.mean()) for leaves in clean]
    everything = np.concatenate(used)
    return Finding.at_least(
        "inert, share of leaves where all inert sensors are exactly zero",
        float(np.concatenate(clean).mean()),
        "",
        _LEAST_SHARE,
        note="by seed " + ", ".join(f"{share:.3f}" for share in by_seed),
        details={
            "by_seed": by_seed,
            "n_leaves": [len(leaves) for leaves in used],
            "share_using_sensor": everything.mean(axis=0).tolist(),
        },
    )


def _judge_growth(errors: NDArray[np.float64]) -> Finding:
    without, with_inert = errors.mean(axis=0)
    return Finding.at_most(
        f"inert, growth of the error from {N_ACTIVE} to {N_WITH_INERT} sensors",
        float(100.0 * (with_inert / without - 1.0)),
        "%",
        _MOST_GROWTH,
        note=f"mean error {without:.2f} to {with_inert:.2f}",
        details={"without": errors[:, 0].tolist(), "with_inert": errors[:, 1].tolist()},
    )
