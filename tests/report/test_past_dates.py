"""The section on forecasts at past dates says what the back-test says."""

import numpy as np
import pandas as pd
import pytest
from tests.report.scenes import HOSTILE

from boostr.report._figures import _draw_past_dates
from boostr.report._words import write_past_dates
from boostr.tuning import Backtest


@pytest.fixture
def result():
    rows = {
        "candidate": ["ours", "ours", HOSTILE, HOSTILE],
        "date": pd.to_datetime(["2024-01-01", "2024-04-01"] * 2),
        "horizon": 90.0,
        "level": 0.9,
        "n_individuals": 10,
        "observed": [10.0, 20.0, 10.0, 20.0],
        "expected": [12.0, 18.0, 5.0, 30.0],
        "lower": [8.0, 15.0, np.nan, np.nan],
        "upper": [16.0, 25.0, np.nan, np.nan],
        "held": [1.0, 1.0, np.nan, np.nan],
        "coverage": [0.9, 0.8, np.nan, np.nan],
        "deviance": [0.5, 0.7, 1.0, 2.0],
        "capture": 0.25,
    }
    rest = dict.fromkeys(("ratio", "mae", "concordance", "zeros", "seconds"), 0.0)
    return Backtest(pd.DataFrame(rows | rest), "D")


def test_the_table_has_sums_and_means_of_all_dates(result):
    words = write_past_dates(result)
    assert words["models"] == ("ours", HOSTILE)
    ours, other = zip(*(values for _, _, values in words["rows"]), strict=True)
    assert ours == ("2", "30", "30", "0.600", "25%", "85%", "100%")
    assert other[-2:] == ("-", "-")
    assert all(len(tip) > 10 for _, tip, _ in words["rows"])
    assert "the next 90 days" in words["caption"]


def test_the_figure_has_totals_with_their_intervals_and_what_came(result):
    figure = _draw_past_dates(result, "events")
    observed, ours, other = figure["data"]
    assert observed["y"] == [10.0, 20.0]
    assert figure["layout"]["xaxis"]["ticktext"] == ["2024-01-01", "2024-04-01"]
    assert figure["layout"]["yaxis"]["title"]["text"] == "Events in the next 90 days"
    places = [round(x) for x in ours["x"]]
    assert places == [round(x) for x in other["x"]] == observed["x"] == [0, 1]
    assert len({observed["x"][0], ours["x"][0], other["x"][0]}) == 3
    assert ours["y"] == [12.0, 18.0]
    assert ours["error_y"]["array"] == [4.0, 7.0]
    assert ours["error_y"]["arrayminus"] == [4.0, 3.0]
    assert other["error_y"]["array"] == [0.0, 0.0]
    assert "<" not in other["name"]
