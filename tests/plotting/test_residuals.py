import numpy as np
import pytest
from numpy.testing import assert_allclose

from boostr.data import RecurrentEvents
from boostr.exceptions import InvalidParameterError
from boostr.inspection import CumulativeResiduals, RescaledTimes
from boostr.metrics import calibration_table
from boostr.plotting import (
    plot_calibration,
    plot_cumulative_residuals,
    plot_rescaled_times,
)

pytestmark = pytest.mark.plot


@pytest.fixture
def residuals(rng):
    values = np.cumsum(rng.standard_normal((500, 4)), axis=1)
    values[0] = np.nan
    return CumulativeResiduals(np.arange(4.0), values, "D")


def test_the_mean_is_drawn_over_some_individuals(residuals):
    ax = plot_cumulative_residuals(residuals)
    assert_allclose(ax.lines[-2].get_ydata(), residuals.mean)
    assert 100 <= len(ax.lines) - 2 <= 200
    assert ax.get_xlabel() == "Time (days)"


def test_individuals_can_be_left_out(residuals):
    ax = plot_cumulative_residuals(residuals, show_individuals=False)
    assert len(ax.lines) == 2


def test_the_band_has_the_confidence(residuals):
    ax = plot_cumulative_residuals(residuals, confidence=0.5, show_individuals=False)
    heights = ax.collections[0].get_paths()[0].vertices[:, 1]
    top = residuals.mean + 0.6744897501960817 * residuals.error
    assert_allclose(heights.max(), top.max())


def test_a_confidence_of_one_is_refused(residuals):
    with pytest.raises(InvalidParameterError, match="confidence"):
        plot_cumulative_residuals(residuals, confidence=1.0)


def test_observed_gaps_are_drawn_against_expected_ones():
    gaps, is_censored = np.array([1.0, 2.0, 4.0]), np.array([False, True, False])
    found = RescaledTimes(gaps, is_censored, np.zeros(3), 1.0, 0.2)
    ax = plot_rescaled_times(found)
    line = ax.lines[-1]
    assert_allclose(line.get_xdata(), [0.0, 3.0, 5.0, 7.0])
    assert_allclose(line.get_ydata(), [0.0, 1.0, 1.0, 2.0])
    assert ax.get_title() == "p = 0.2"


def test_tables_of_chances_are_drawn_as_shares():
    y = RecurrentEvents.from_lists([[], [1.0], [2.0], [1.0]], end=4.0)
    table = calibration_table(y, [0.2, 0.4, 0.5, 0.9], n_groups=2, window=(0.0, 3.0))
    ax = plot_calibration(table)
    assert ax.get_xlabel() == "Expected chance of an event"
    points = ax.containers[0][0]
    assert_allclose(points.get_xdata(), [0.3, 0.7])
    assert_allclose(points.get_ydata(), [0.5, 1.0])
