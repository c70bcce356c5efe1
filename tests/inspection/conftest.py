from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr.simulate import dataset_a, wells

SMALL = {
    "n_estimators": 3,
    "learning_rate": 0.5,
    "max_leaf_nodes": 3,
    "min_samples_leaf": 10,
    "max_bins": 8,
    "gamma2": 5.0,  # so that some leaves do without some sensors
    "validation": None,
    "n_origins": 0,
    "random_state": 0,
}


@pytest.fixture(scope="session")
def fleet():
    fleet = wells(n=80, random_state=1, interpolation="last")
    return replace(fleet, X=fleet.X[:, :3])


@pytest.fixture(scope="session")
def model(fleet):
    return BoostR(**SMALL).fit(fleet.X, fleet.y, fleet.Z)


@pytest.fixture(scope="session")
def validated(fleet):
    params = SMALL | {"validation": 0.3, "splitter": "best", "n_estimators": 2}
    return BoostR(**params).fit(fleet.X, fleet.y, fleet.Z)


@pytest.fixture(scope="session")
def bare(fleet):
    params = SMALL | {"baseline": None, "clock": "calendar", "sensor_penalty": "ridge"}
    return BoostR(**params).fit(fleet.X, fleet.y, fleet.Z)


@pytest.fixture(scope="session")
def plain():
    train = dataset_a(n=100, random_state=1)
    return BoostR(**SMALL).fit(train.X, train.y)


class Pumps:
    """Pumps by name, with categories among features and sensors and one dead sensor."""

    def __init__(self):
        rng = np.random.default_rng(7)
        names = np.array([f"P{number:02d}" for number in range(60)])
        site = np.where(np.arange(60) % 3, "north", "south")
        self.X = pd.DataFrame({"site": site, "depth": rng.uniform(0, 9, 60)}, index=names)
        samples = pd.DataFrame(
            {
                "pump": np.repeat(names, 6),
                "day": np.tile(np.arange(6.0) * 10.0, 60),
                "mode": rng.choice(["idle", "run", "rush"], 360),
                "load": rng.uniform(0.0, 1.0, 360),
                "stuck": 3.0,
            }
        )
        self.Z = Trajectories.from_long(samples, "pump", "day", unit="D")
        rate = np.where(samples["mode"] == "rush", 0.3, 0.05) * (1 + 3 * samples["load"])
        rate *= np.where(np.repeat(site, 6) == "south", 3.0, 1.0)
        counts = rng.poisson(10.0 * rate).reshape(60, 6)
        events = [
            np.sort(np.concatenate([10.0 * k + rng.uniform(0, 10, c[k]) for k in range(6)]))
            for c in counts
        ]
        y = RecurrentEvents.from_lists(events, end=np.full(60, 60.0), ids=names)
        self.y = y._with(time_unit="D")
        self.model = BoostR(**SMALL).fit(self.X, self.y, self.Z)


@pytest.fixture(scope="session")
def pumps():
    return Pumps()
