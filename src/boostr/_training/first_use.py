"""Kernels of a first fit, compiled by two processes side by side.

Numba compiles a kernel when it is first called and keeps it on disk. At the first fit of an
installation, the kernels that search for splits take about as long as all others together:
this process compiles the former while another one compiles the latter. The one that grows
whole trees contains both, and takes half as long again: trees are grown node by node, with
the same bits, until the other process has compiled it.
"""

from __future__ import annotations

import atexit
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numba
import numpy as np

from boostr._engine.binning import BinMapper
from boostr._engine.tree import compile_search, do_without_kernel, pack_trees
from boostr._kernels.apply import quadratic_loss, sum_leaves
from boostr._kernels.binning import partition_members
from boostr._kernels.growth import grow_best_first
from boostr._kernels.scan_groups import scan_groups
from boostr._training.settings import Settings
from boostr._typing import BoolArray

__all__ = ["compile_side_by_side"]

_PROGRAM = "boostr._training.dozen"
_running: dict[bool, subprocess.Popen[bytes]] = {}  # by whether it is for sensors


@atexit.register
def _let_go() -> None:
    """Let other processes end on their own, which Python would warn about."""
    for other in _running.values():
        if other.poll() is None:
            other.returncode = 0


@contextmanager
def compile_side_by_side(
    settings: Settings, n_threads: int, is_categorical: BoolArray, *, has_sensors: bool
) -> Iterator[None]:
    """Compile the kernels of a default fit, if they are not on disk and cores are free.

    The other process goes on meanwhile: what it has not compiled when it is needed, this
    one compiles itself, but for the kernel that grows whole trees. It comes last, and the
    other process finishes it for the next fit if it is not there in time.
    """
    is_usual = settings.growth == "best" and settings.leaf == "power"
    is_usual &= settings.loss == "intensity"
    has_limits = settings.monotonic_cst is not None or settings.interaction_cst is not None
    other = None
    if n_threads > 1 and is_usual and not has_limits:
        other = _find_other(settings, is_categorical, has_sensors=has_sensors)
    if other is None:
        yield
        return
    compile_search(is_categorical, has_groups=has_sensors)
    if has_sensors:  # that kernel is not among those the other process compiles
        yield
        return
    _compile_small()
    with do_without_kernel(lambda: other.poll() is None):
        yield


def _find_other(
    settings: Settings, is_categorical: BoolArray, *, has_sensors: bool
) -> subprocess.Popen[bytes] | None:
    """Return the other process, started where kernels are missing; None without one."""
    other = _running.get(has_sensors)
    if other is not None and other.poll() is None:
        return other
    if not _is_missing(scan_groups if has_sensors else grow_best_first):
        return None
    other = _start(settings, is_categorical, has_sensors=has_sensors)
    if other is not None:
        _running[has_sensors] = other
    return other


def _start(
    settings: Settings, is_categorical: BoolArray, *, has_sensors: bool
) -> subprocess.Popen[bytes] | None:
    """Start the other process; without it, a first fit is only slower."""
    try:
        # Settings on their own: what they need takes long to load.
        own = pickle.dumps(settings) if has_sensors else None
    except Exception:  # an object of the user's that cannot be pickled
        return None
    try:
        other = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-P", "-m", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except OSError:  # processes are not allowed here
        return None
    assert other.stdin is not None  # noqa: S101 - it is a pipe
    with suppress(OSError), other.stdin as pipe:  # it may have ended already
        pipe.write(pickle.dumps((own, is_categorical)))
    return other


def _compile_small() -> None:
    """Compile small kernels as well, while the other process compiles a large one."""
    bins, members = np.empty((0, 1), dtype=np.uint8), np.empty(0, dtype=np.int32)
    numbers = np.empty((0, 1))
    BinMapper.from_quantiles(numbers, 2).transform(numbers)
    nodes, roots = pack_trees([], 1)
    sum_leaves(bins, 0, nodes, roots, numbers)
    quadratic_loss(numbers, numbers, numbers, members)
    partition_members(bins, 0, np.empty(0, dtype=np.bool_), members, members)


def _is_missing(kernel: Any) -> bool:
    """Return whether a kernel must be compiled, and can be kept for other processes."""
    if numba.config.DISABLE_JIT or kernel.signatures:  # type: ignore[attr-defined]
        return False
    folder = kernel.stats.cache_path
    is_python = Path(sys.executable or "").stem.startswith("python")
    if folder is None or not is_python:
        return False
    name = f"{kernel.__module__.rpartition('.')[2]}.{kernel.__name__}-"
    return not any(Path(folder).glob(f"{name}*.nbi"))
