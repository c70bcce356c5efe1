"""Pieces of time in which exposures are constant."""

from __future__ import annotations

from boostr._kernels._jit import kernel
from boostr._kernels.runs import Runs
from boostr._typing import FloatArray, OffsetArray

__all__ = ["find_pieces", "join_pieces"]


@kernel
def find_pieces(
    pieces: Runs, owner: OffsetArray, times: FloatArray, is_after: bool, out: OffsetArray
) -> None:
    """Find the piece that holds at each time.

    Parameters
    ----------
    pieces : Runs
        Where pieces begin, at least one for every individual. A piece holds up to the next
        one, that time included; the first one also before it begins.
    owner : (k,) int64
        Individual of every time.
    times : (k,) float64
        Times, in any order.
    is_after : bool
        Whether the piece is asked for that holds just after the time.
    out : (k,) int64
        Overwritten with positions in ``pieces.times``.
    """
    for place in range(len(times)):
        low = pieces.offsets[owner[place]]
        high = pieces.offsets[owner[place] + 1]
        while high - low > 1:
            middle = (low + high) // 2
            begin = pieces.times[middle]
            if begin < times[place] or (is_after and begin == times[place]):
                low = middle
            else:
                high = middle
        out[place] = low


@kernel
def join_pieces(
    factors: FloatArray, starts: FloatArray, offsets: OffsetArray, out: FloatArray
) -> None:
    """Find what makes curves continuous that are scaled by another factor in every piece.

    Parameters
    ----------
    factors : (n_pieces,) float64
        Factors, individual after individual.
    starts : (n_pieces,) float64
        Values of the curves, not scaled, where the pieces begin.
    offsets : (n + 1,) int64
        Where the pieces of every individual begin.
    out : (n_pieces,) float64
        Overwritten with what to add to the scaled curve in every piece; 0 in the first.
    """
    for individual in range(len(offsets) - 1):
        shift = 0.0
        for piece in range(offsets[individual], offsets[individual + 1]):
            if piece > offsets[individual]:
                shift -= (factors[piece] - factors[piece - 1]) * starts[piece]
            out[piece] = shift
