"""How long every piece of a path was observed."""

from __future__ import annotations

from boostr._kernels._jit import kernel
from boostr._typing import FloatArray, OffsetArray

__all__ = ["measure_pieces"]


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
