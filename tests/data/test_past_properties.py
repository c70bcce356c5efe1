"""Whatever happens after a time, nothing that remembers knows of it at that time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from boostr.data import RecurrentEvents, Trajectories

END = 12.0
instants = st.integers(1, 48).map(lambda k: k / 4)
measured = st.sampled_from([np.nan, -1.0, 0.1, 2.5, 1e9])
samples = st.lists(st.tuples(instants, measured), max_size=8)
events = st.lists(instants, max_size=5)

TRANSFORMS = {
    "lag": lambda Z, y: Z.lag("load", 0.7),
    "running_mean": lambda Z, y: Z.running_mean("load", 1.3, step=0.3),
    "fading_sum": lambda Z, y: Z.fading_sum("load", 0.9, step=0.4),
    "running_max": lambda Z, y: Z.running_max("load"),
    "running_max in a window": lambda Z, y: Z.running_max("load", 1.1),
    "time_since_event": lambda Z, y: Z.time_since_event(y, step=0.35),
    "events_in_window": lambda Z, y: Z.events_in_window(y, 1.7),
    "mean of a lag": lambda Z, y: Z.lag("load", 0.7, name="x").running_mean("x", 2.0),
    "sum of time": lambda Z, y: Z.time_since_event(y, name="x").fading_sum("x", 1.0, 0.5),
}


def make(found, when, transform):
    """Make the new sensor of one individual."""
    found = sorted(found, key=lambda one: one[0])
    times, values = [t for t, _ in found], [v for _, v in found]
    Z = Trajectories.from_flat(times, [0, len(times)], [values], ["load"], max_gap=3.0)
    y = RecurrentEvents.from_lists([when], end=END)
    return transform(Z, y)


@pytest.mark.parametrize("name", list(TRANSFORMS))
@given(samples, samples, events, events, instants)
def test_the_future_changes_nothing(name, past, other, when, other_when, now):
    def join(early, late, time):
        return [x for x in early if time(x) < now] + [x for x in late if time(x) >= now]

    one = make(past, when, TRANSFORMS[name])
    two = make(
        join(past, other, lambda sample: sample[0]),
        join(when, other_when, lambda event: event),
        TRANSFORMS[name],
    )
    times = np.union1d(np.arange(-4, 52) / 8, one.times)
    times = np.append(times[times <= now], now)
    assert_array_equal(one.read(times), two.read(times))
