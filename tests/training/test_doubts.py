import warnings

import numpy as np
import pytest

from boostr import BoostR, RecurrentEvents
from boostr._training.doubts import warn_of_doubtful_times
from boostr.exceptions import DataWarning


def draw(rng, n=100, until=360.0, end=360.0, rate=0.02):
    """Return histories with a constant rate up to a time, observed to the end."""
    times = [np.sort(rng.uniform(0.0, until, rng.poisson(rate * until))) for _ in range(n)]
    return times, RecurrentEvents.from_lists(times, end=end)


def book(times, end=360.0, month=30.0):
    """Return the same histories with each event at the end of its month."""
    return RecurrentEvents.from_lists(
        [month * np.ceil(own / month) for own in times], end=end
    )


@pytest.fixture
def silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.usefixtures("silent")
def test_usual_times_are_no_reason_to_warn(rng):
    times, y = draw(rng)
    warn_of_doubtful_times(y)
    warn_of_doubtful_times(
        RecurrentEvents.from_lists([np.ceil(own) for own in times], 360.0)
    )
    warn_of_doubtful_times(book(times).in_periods())
    warn_of_doubtful_times(RecurrentEvents.from_lists([[]], end=1.0))


@pytest.mark.usefixtures("silent")
def test_a_short_silence_or_one_of_few_events_is_no_reason_to_warn(rng):
    warn_of_doubtful_times(draw(rng, until=354.0)[1])
    warn_of_doubtful_times(draw(rng, until=300.0, rate=0.003)[1])


def test_an_end_long_after_the_last_event_is_a_warning(rng):
    _, y = draw(rng, until=300.0)
    with pytest.warns(DataWarning, match=r"after 299\.\d+, though .* goes on to 360"):
        BoostR(n_estimators=2, validation=None).fit(np.zeros((100, 1)), y)


def test_events_at_a_few_dates_are_a_warning(rng):
    times, _ = draw(rng)
    with pytest.warns(DataWarning, match="are at 12 times, the last of which are 300, 330"):
        BoostR(n_estimators=2, validation=None).fit(np.zeros((100, 1)), book(times))


def test_forecasts_of_events_in_periods_are_as_high_as_those_of_exact_times(rng):
    times, y = draw(rng, n=200)
    X, months = np.zeros((200, 1)), book(times).in_periods()
    exact, booked = (
        BoostR(n_estimators=2, random_state=0).fit(X, own).forecast_fleet(X, own, 90.0)
        for own in (y, months)
    )
    assert booked.expected == pytest.approx(exact.expected, rel=0.05)
