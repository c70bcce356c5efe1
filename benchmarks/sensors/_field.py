"""A field of wells with daily samples of several sensors, as large as a real one."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from boostr import RecurrentEvents, Trajectories

FloatArray = NDArray[np.float64]

N_WELLS = 8_232
N_SENSORS = 6
N_SAMPLES = 1_095  # three years of days
HORIZON = 1_095.0
N_FEATURES = 8


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """Samples of all wells, one after the other, and their events."""

    X: FloatArray  # (n_wells, n_features)
    y: RecurrentEvents
    times: FloatArray  # (n_wells * n_samples,)
    values: FloatArray  # (n_sensors, n_wells * n_samples)

    @property
    def n_bytes(self) -> int:
        """Memory of the samples as a table: an id and a time of eight bytes in each row."""
        return 8 * self.times.size * (2 + len(self.values))

    @property
    def offsets(self) -> NDArray[np.int64]:
        n_samples = self.times.size // len(self.X)
        return n_samples * np.arange(len(self.X) + 1)

    @property
    def names(self) -> list[str]:
        return [f"sensor{number + 1}" for number in range(len(self.values))]

    def trajectories(self) -> Trajectories:
        """Return the sensors as if they had been read."""
        return Trajectories.from_flat(self.times, self.offsets, self.values, self.names)

    def write(self, folder: Path) -> None:
        """Write what a process that knows nothing of this one can read."""
        import polars

        folder.mkdir()
        wells = np.repeat(np.arange(len(self.X)), np.diff(self.offsets))
        sensors = dict(zip(self.names, self.values, strict=True))
        table = polars.DataFrame({"well": wells, "day": self.times, **sensors})
        table.write_parquet(folder / "sensors.parquet")
        np.save(folder / "features.npy", self.X)
        with (folder / "events.pkl").open("wb") as file:
            pickle.dump(self.y, file, protocol=5)


def draw_field(
    n_wells: int = N_WELLS,
    n_samples: int = N_SAMPLES,
    n_sensors: int = N_SENSORS,
    seed: int = 0,
) -> Field:
    """Draw wells with as many samples each, evenly spaced, and a few events.

    In one half of the field the first sensor matters where it is high, in the other the
    last one does.
    """
    rng = np.random.default_rng(seed)
    features = rng.random((n_wells, N_FEATURES))
    step = HORIZON / n_samples
    times = step * np.arange(n_samples)
    values = np.stack([_draw_sensor(n_wells, times, rng) for _ in range(n_sensors)])
    is_first = features[:, [0]] > 0.5
    rates = 0.001 + np.where(is_first, 0.006 * (values[0] > 0.6), 0.004 * values[-1])
    return Field(
        features,
        _draw_events(rates, step, rng),
        np.tile(times, n_wells),
        values.reshape(n_sensors, -1),
    )


def _draw_sensor(n_wells: int, times: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw a level, a season of a year and noise, cut off at 0 and 1."""
    level, swing, phase = rng.uniform(
        [[0.2], [0.05], [0.0]], [[0.8], [0.25], [1.0]], (3, n_wells)
    )[:, :, None]
    seasons = np.sin(2.0 * np.pi * (times / 365.0 + phase))
    noise = 0.1 * rng.standard_normal((n_wells, times.size))
    return np.clip(level + swing * seasons + noise, 0.0, 1.0)


def _draw_events(
    rates: FloatArray, step: float, rng: np.random.Generator
) -> RecurrentEvents:
    """Draw events at a rate that is constant from one sample to the next."""
    n_wells, n_samples = rates.shape
    counts = rng.poisson(rates * step)
    well, sample = (np.repeat(place, counts[counts > 0]) for place in np.nonzero(counts))
    # 1 - random() is in (0, 1]: events come after the sample that they follow.
    times = step * (sample + 1.0 - rng.random(len(sample)))
    offsets = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])
    order = np.lexsort((times, well))
    return RecurrentEvents.from_flat(
        times[order], offsets, end=np.full(n_wells, step * n_samples)
    )
