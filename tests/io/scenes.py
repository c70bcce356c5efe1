"""Tiny fitted models of every kind, and comparison to the bit."""

from dataclasses import fields, is_dataclass

import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr._training.fitted import LawOnDemand
from boostr.basis import PowerBasis, SplineBasis, StepBasis

SMALL = {
    "n_estimators": 4,
    "learning_rate": 0.5,
    "max_leaf_nodes": 4,
    "min_samples_leaf": 5,
    "max_bins": 8,
    "random_state": 0,
}
PLAIN = SMALL | {"validation": None}
FEW = SMALL | {"n_estimators": 2, "n_knots": 0, "spline_order": 2, "splitter": "best"}


class Scene:
    """Pumps with names, categories, missing values, time stamps and two sensors."""

    def __init__(self, n=40):
        rng = np.random.default_rng(5)
        self.ids = np.array([f"P{number:02d}" for number in range(n)])
        site = np.where(np.arange(n) % 3, "north", "süd")
        depth = rng.uniform(0, 9, n)
        depth[::7] = np.nan
        self.frame = pd.DataFrame(
            {"site": site, "depth": depth, "kind": pd.Categorical(np.arange(n) % 4)},
            index=self.ids,
        )
        rate = np.where(site == "north", 0.02, 0.08) * (1.0 + np.nan_to_num(depth) / 5.0)
        events = [
            np.sort(rng.uniform(0.0, 60.0, count)) for count in rng.poisson(60 * rate)
        ]
        origin = np.datetime64("2024-01-01", "us")
        y = RecurrentEvents.from_lists(events, end=np.full(n, 60.0), ids=self.ids)
        self.y = y._with(time_unit="D", origin=origin)
        samples = pd.DataFrame(
            {
                "pump": np.repeat(self.ids, 4),
                "day": origin + np.tile([0, 15, 30, 45], n) * np.timedelta64(1, "D"),
                "mode": rng.choice(["idle", "run", "rush"], 4 * n),
                "load": rng.uniform(0.0, 1.0, 4 * n),
                "stuck": 3.0,
            }
        )
        self.Z = Trajectories.from_long(samples, "pump", "day", unit="D", origin=origin)

    @property
    def depths(self):
        return self.frame[["depth"]].to_numpy()

    def fit(self, params, *, with_sensors=False, **given):
        model = BoostR(**params)
        return model.fit(self.frame, self.y, self.Z if with_sensors else None, **given)


SETTINGS = {
    "validated": SMALL | {"n_folds": 2, "splitter": "best"},
    "held out": SMALL | {"validation": 0.3, "average_folds": False, "subsample": 0.8},
    "plain": PLAIN,
    "paper": PLAIN | {"loss": "cumulative", "clock": "calendar", "init": "zero"},
    "step": PLAIN | {"leaf": StepBasis(4), "monotone": False},
    "spline": PLAIN | {"leaf": SplineBasis(2, 2), "loss": "cumulative"},
    "powers": PLAIN
    | {"leaf": PowerBasis([1.0, 2.0], joint=False), "gamma2": np.float32(2)},
    "random": PLAIN | {"random_state": np.random.RandomState(3)},
    "named": PLAIN | {"categorical_features": np.array(["site", "kind"])},
}
SENSOR_SETTINGS = {
    "sensors": FEW | {"n_knots": {"load": [0.4]}, "validation": None},
    "validated sensors": FEW | {"validation": 0.3, "baseline": "power"},
    "bare sensors": FEW | {"baseline": None, "validation": None, "sensor_penalty": "ridge"},
}


def assert_same(one, other, place="model"):
    """Compare types and bits, into the depth of all objects."""
    if isinstance(one, float) and isinstance(other, float):  # NumPy's is one as well
        assert np.float64(one).tobytes() == np.float64(other).tobytes(), place
        return
    assert type(one) is type(other), place
    if isinstance(one, np.ndarray):
        _assert_same_array(one, other, place)
        return
    parts, other_parts = _take_apart(one), _take_apart(other)
    if parts is None:
        assert one == other, place
        return
    assert list(parts) == list(other_parts), place
    for name in parts:
        assert_same(parts[name], other_parts[name], f"{place}.{name}")


def _assert_same_array(one, other, place):
    assert (one.dtype, one.shape) == (other.dtype, other.shape), place
    if one.dtype == object:
        assert one.tolist() == other.tolist(), place
    else:
        assert one.tobytes() == other.tobytes(), place
        assert one.flags.f_contiguous == other.flags.f_contiguous, place


def _take_apart(thing):
    """Return the parts of a thing by name, None if it has none."""
    if isinstance(thing, np.random.RandomState):
        return thing.get_state(legacy=False)
    if isinstance(thing, dict):
        return thing
    if isinstance(thing, list | tuple):
        return dict(enumerate(thing))
    if isinstance(thing, LawOnDemand):
        return thing.learned._asdict()
    if is_dataclass(thing):
        return {field.name: getattr(thing, field.name) for field in fields(thing)}
    return None
