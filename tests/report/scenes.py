"""A small fleet with dates, categories, sensors, gaps, and names that are no friends."""

import base64
import json
import re
import time
from functools import cache

import numpy as np
import pandas as pd

from boostr import BoostR, RecurrentEvents, Trajectories

HOSTILE = "</script><script>document.title='taken'</script><b>&amp;"
ORIGIN = np.datetime64("2024-01-01", "us")
SETTINGS = {
    "n_estimators": 4,
    "learning_rate": 0.5,
    "max_leaf_nodes": 4,
    "min_samples_leaf": 5,
    "max_bins": 8,
    "n_folds": 2,
    "n_knots": 0,
    "spline_order": 2,
    "splitter": "best",
    "random_state": 0,
}


class Pumps:
    """Two sites with different rates, two sensors, one pump and one feature ill named."""

    def __init__(self, n=60):
        rng = np.random.default_rng(3)
        self.ids = np.array([f"P{k:02d}" for k in range(n - 1)] + [HOSTILE], dtype=object)
        site = np.where(np.arange(n) % 3, "north", HOSTILE)
        depth = rng.uniform(0.0, 9.0, n)
        depth[::7] = np.nan
        self.X = pd.DataFrame({"site": site, HOSTILE: depth}, index=self.ids)
        rate = np.where(site == "north", 0.02, 0.08) * (1.0 + np.nan_to_num(depth) / 5.0)
        end = rng.integers(40, 60, n).astype(float)
        events = [
            np.sort(rng.uniform(0.0, stop, count))
            for stop, count in zip(end, rng.poisson(end * rate), strict=True)
        ]
        y = RecurrentEvents.from_lists(events, end=end, ids=self.ids)
        self.y = y._with(time_unit="D", origin=ORIGIN)
        samples = pd.DataFrame(
            {
                "pump": np.repeat(self.ids, 4),
                "day": ORIGIN + np.tile([0, 15, 30, 45], n) * np.timedelta64(1, "D"),
                "mode": rng.choice(["idle", "run"], 4 * n),
                "load": rng.uniform(0.0, 1.0, 4 * n),
            }
        )
        self.Z = Trajectories.from_long(
            samples, "pump", "day", ids=self.ids, unit="D", origin=ORIGIN
        )

    @property
    def data(self):
        return self.X, self.y, self.Z


@cache
def pumps():
    return Pumps()


@cache
def fitted():
    fleet = pumps()
    return BoostR(**SETTINGS).fit(*fleet.data)


@cache
def fitted_plain():
    """Return a model without sensors."""
    fleet = pumps()
    return BoostR(**SETTINGS).fit(fleet.X, fleet.y)


def silent():
    """Return a model and individuals without features, sensors and events."""
    known = pumps().y
    model = BoostR(n_estimators=2, random_state=0).fit(np.empty((len(known), 0)), known)
    y = RecurrentEvents.from_lists([[]] * 5, end=50.0)
    return model, np.empty((5, 0)), y._with(time_unit="D", origin=known.origin)


def read_data(page):
    """Return what the script of a page reads."""
    text = re.search(r'id="fleet-data">(.*?)</script>', page, re.DOTALL).group(1)
    return json.loads(text)


def unpack(field):
    """Return numbers as the script of the page would."""
    raw = np.frombuffer(base64.b64decode(field["d"]), dtype=f"<{field['t']}")
    if "width" not in field:
        return raw.astype(float)
    unknown = np.iinfo(field["t"]).max
    return np.where(raw == unknown, np.nan, field["low"] + raw * field["width"])


def wait_for(condition, describe=lambda: "the page did not get there"):
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end, describe()
        time.sleep(0.05)


def open_page(browser, path):
    """Open a page, and wait until its script is through."""
    browser.get(path.as_uri())
    script = "return document.documentElement.dataset.ready === 'yes'"
    wait_for(
        lambda: browser.execute_script(script), lambda: str(browser.get_log("browser"))
    )
