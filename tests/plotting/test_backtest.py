import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from boostr.exceptions import InvalidParameterError
from boostr.plotting import plot_backtest
from boostr.tuning import Backtest

pytestmark = pytest.mark.plot


@pytest.fixture
def result():
    dates = pd.to_datetime(["2024-01-01", "2024-04-01"] * 2)
    rows = {
        "candidate": ["a", "a", "b", "b"],
        "date": dates,
        "horizon": 90.0,
        "level": 0.9,
        "n_individuals": 10,
        "observed": [10.0, 20.0, 10.0, 20.0],
        "expected": [12.0, 18.0, 5.0, 30.0],
        "lower": [8.0, 15.0, np.nan, np.nan],
        "upper": [16.0, 25.0, np.nan, np.nan],
        "deviance": [0.5, 0.7, 1.0, 2.0],
    }
    rest = ("ratio", "held", "mae", "concordance", "capture", "coverage", "zeros")
    return Backtest(pd.DataFrame(rows | dict.fromkeys((*rest, "seconds"), np.nan)), "D")


def test_totals_are_drawn_over_what_came_with_their_intervals(result):
    totals = plot_backtest(result).child_axes[0]
    first, second = totals.containers
    assert_allclose(first.lines[0].get_ydata(), [1.2, 0.9])
    assert_allclose(second.lines[0].get_ydata(), [0.5, 1.5])
    bars = [segment[:, 1] for segment in first.lines[2][0].get_segments()]
    assert_allclose(bars, [[0.8, 1.6], [0.75, 1.25]])


def test_the_measure_is_drawn_date_by_date_with_its_mean(result):
    scores = result.plot().child_axes[1]
    assert_allclose(scores.lines[1].get_ydata(), [1.0, 2.0])
    texts = [text.get_text() for text in scores.get_legend().get_texts()]
    assert texts == ["a (0.6)", "b (1.5)"]
    assert [label.get_text() for label in scores.get_xticklabels()] == [
        "2024-01-01",
        "2024-04-01",
    ]
    assert scores.get_xlabel() == "Forecast as of, 90 days ahead"


def test_another_measure_can_be_drawn(result):
    scores = plot_backtest(result, measure="concordance").child_axes[1]
    assert scores.get_ylabel() == "Concordance"
    with pytest.raises(InvalidParameterError, match="must be one of 'deviance', 'mae'"):
        plot_backtest(result, measure="x")
