"""Pieces of time in which an individual was observed, or its exposure is constant."""

from __future__ import annotations

from typing import NamedTuple

from boostr._kernels._jit import kernel
from boostr._typing import FloatArray, OffsetArray

__all__ = ["Runs", "find_pieces", "join_pieces", "measure_pieces"]


class Runs(NamedTuple):
    """Sorted times of all individuals; those of ``i`` are ``offsets[i]:offsets[i + 1]``."""

    times: FloatArray  # (k,)
    offsets: OffsetArray  # (n + 1,)


@kernel
def measure_pieces(
    begins: FloatArray,
    offsets: OffsetArray,
    window_start: FloatArray,
    window_stop: FloatArray,
    window_offsets: OffsetArray,
    out: FloatArray,
) -> None:
    """Write the time that pieces share with the windows of their individual.

    Parameters
    ----------
    begins : (n_pieces,) float64
        Where pieces begin, sorted within individuals; the last one has no end.
    offsets : (n + 1,) int64
        Where the pieces of every individual begin.
    window_start, window_stop : (n_windows,) float64
        When individuals are observed, sorted and disjoint.
    window_offsets : (n + 1,) int64
        Where the windows of every individual begin.
    out : (n_pieces,) float64
        Overwritten.
    """
    for individual in range(offsets.shape[0] - 1):
        last = offsets[individual + 1]
        first_window, last_window = (
            window_offsets[individual],
            window_offsets[individual + 1],
        )
        for piece in range(offsets[individual], last):
            out[piece] = 0.0
            # Pieces are sorted: windows that ended before this one began are done with.
            while first_window < last_window and window_stop[first_window] <= begins[piece]:
                first_window += 1
            for window in range(first_window, last_window):
                end = window_stop[window]
                if piece + 1 < last:
                    end = min(end, begins[piece + 1])
                begin = max(window_start[window], begins[piece])
                if end <= begin and window_start[window] > begins[piece]:
                    break
                out[piece] += max(end - begin, 0.0)


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
