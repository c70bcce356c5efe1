import numpy as np
from numpy.testing import assert_allclose
from scipy.interpolate import BSpline

from boostr._kernels.atoms import SensorAtoms, accumulate_atoms

KNOTS = np.array([0.0, 0.0, 0.4, 1.0, 1.0])  # of broken lines: three atoms


def make_atoms(unknown):
    """A sensor of broken lines and one of two categories."""
    return SensorAtoms(
        starts=np.array([0, 3, 5], dtype=np.int32),
        orders=np.array([2, 0], dtype=np.int32),
        knots=KNOTS,
        knot_starts=np.array([0, 5, 5], dtype=np.int32),
        unknown=unknown,
    )


def slow_atoms(value, code, unknown):
    """Evaluate both sensors at one value each; NaN is unknown."""
    lines = unknown[:3]
    if not np.isnan(value):
        units = [BSpline(KNOTS, unit, 1)(np.clip(value, 0.0, 1.0)) for unit in np.eye(3)]
        lines = np.array(units)
    return np.append(lines, unknown[3:] if np.isnan(code) else np.eye(2)[int(code)])


def slow_integral(begins, values, time, unknown):
    """Add up piece by piece what holds from one begin to the next, from zero on."""
    total = np.zeros(5)
    edges = np.clip([-np.inf, *begins, np.inf], 0.0, time)
    columns = np.column_stack([np.full(2, np.nan), values])
    for piece, column in enumerate(columns.T):
        length = edges[piece + 1] - edges[piece]
        total += length * slow_atoms(*column, unknown)
    return total


def test_atoms_are_integrated_along_every_path(rng):
    offsets = np.array([0, 4, 4, 7])  # one individual has no piece at all
    begins = np.array([-1.0, 0.5, 2.0, 5.0, 0.0, 1.0, 1.5])
    values = np.vstack([rng.uniform(-0.2, 1.2, 7), rng.integers(0, 2, 7)])
    values[0, 1] = values[1, 5] = np.nan
    times = np.array([0.0, 0.7, 6.0, 3.0, 1.5, 1.5])
    time_offsets = np.array([0, 3, 4, 6])
    unknown = rng.uniform(size=5)
    out = np.full((6, 5), np.nan)
    accumulate_atoms(
        len(offsets) - 1,
        begins,
        values,
        offsets,
        make_atoms(unknown),
        times,
        time_offsets,
        out,
    )
    owner = np.repeat([0, 1, 2], np.diff(time_offsets))
    expected = [
        slow_integral(
            begins[offsets[own] : offsets[own + 1]],
            values[:, offsets[own] : offsets[own + 1]],
            time,
            unknown,
        )
        for own, time in zip(owner, times, strict=True)
    ]
    assert_allclose(out, expected, atol=1e-14)
