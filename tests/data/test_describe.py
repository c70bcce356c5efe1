"""Histories and sensors in figures, as text, tables and HTML."""

from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

from boostr.data import RecurrentEvents, Trajectories
from boostr.plotting import plot_timeline

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def windows():
    table = pd.DataFrame(
        [
            ("A", 0, 2, 1, 5.0),
            ("A", 6, 8, 1, 1.0),
            ("B", 3, 5, 0, 0.0),
            ("C", 0, 4, 0, 0.0),
        ],
        columns=["pump", "start", "stop", "event", "cost"],
    )
    return RecurrentEvents.from_start_stop(
        table, "pump", "start", "stop", "event", "cost", unit="D"
    )


def test_counts_and_follow_up_are_those_of_the_histories(windows):
    found = windows.describe()
    assert (found.n_individuals, found.n_events, found.max_events) == (3, 2, 2)
    assert (found.median_events, found.total_follow_up) == (0.0, 10.0)
    assert (found.min_follow_up, found.median_follow_up, found.max_follow_up) == (2, 4, 4)
    assert_allclose([found.mean_events, found.share_without_events], [2 / 3, 2 / 3])
    assert (found.rate, found.first_time, found.last_time) == (0.2, 0.0, 8.0)


def test_late_entry_gaps_and_costs_are_told(windows):
    found = windows.describe()
    assert (found.n_late_entries, found.n_with_gaps) == (1, 1)
    assert_allclose(found.share_in_gaps, 4 / 14)
    assert (found.total_cost, found.mean_cost, found.max_cost) == (6.0, 3.0, 5.0)
    assert found.median_time_between_events == 6.0


def test_rates_are_per_unit_of_exposure():
    y = RecurrentEvents.from_lists([[1.0, 1.0], []], end=[4.0, 6.0])
    found = y.with_exposure([2.0, 0.5]).describe()
    assert_allclose(found.rate, 2 / (4 * 2.0 + 6 * 0.5))
    assert (found.min_exposure, found.median_exposure, found.max_exposure) == (0.5, 1.25, 2)
    assert "events per unit of time and unit of exposure" in str(found)
    assert found.n_ties == 1


@pytest.mark.slow
def test_exposures_that_change_are_averaged_over_the_time_observed():
    y = RecurrentEvents.from_lists([[1.0]], end=4.0, ids=["A"])
    flights = Trajectories.from_flat([0, 3], [0, 2], [[2.0, 6.0]], ["flights"], ids=["A"])
    assert_allclose(y.with_exposure(flights).describe().median_exposure, 3.0)


def test_what_there_is_none_of_is_left_out():
    text = str(RecurrentEvents.from_lists([[1.0], []], end=2.0).describe())
    assert text.startswith("individuals")
    for word in ("late entry", "gaps", "costs", "exposure", "same time", "between"):
        assert word not in text


def test_equal_follow_ups_are_told_once():
    text = str(RecurrentEvents.from_lists([[1.0], []], end=2.0).describe())
    assert "4 units of time in total; 2 each\n" in text


def test_no_individuals_have_figures_too():
    y = RecurrentEvents.from_lists([[1.0]], end=2.0)[:0]
    assert str(y.describe()) == "individuals  0\nevents       0"
    assert "0" in y._repr_html_()


END = pd.DataFrame({"id": ["a"], "time": pd.to_datetime(["2024-03-01"]), "event": [0]})
DATED = {"id": "id", "time": "time", "event": "event", "start": pd.Timestamp("2024-01-01")}


@pytest.mark.parametrize(("backend", "kind"), [("pandas", pd), ("polars", pl)])
def test_a_table_has_one_row_and_dates(backend, kind):
    y = RecurrentEvents.from_long(END, **DATED)
    frame = y.describe().to_frame(backend=backend)
    assert isinstance(frame, kind.DataFrame)
    assert frame.shape == (1, 27)
    assert pd.Timestamp(frame["last_time"][0]) == pd.Timestamp("2024-03-01")


def drawing_of(html):
    return ET.fromstring(html).find(f"{SVG}svg")


def test_the_timeline_has_a_line_per_window_and_a_dot_per_event(windows):
    drawing = drawing_of(windows._repr_html_())
    lines = drawing.findall(f"{SVG}line")
    assert len(lines) == 4 + 1  # windows and the axis
    dots = [float(dot.get("cx")) for dot in drawing.findall(f"{SVG}circle")]
    assert_allclose(dots, [110 + 450 * 2 / 8, 560])


def test_the_timeline_has_a_cross_of_two_lines_per_terminal_event():
    y = RecurrentEvents.from_lists([[1.0], []], end=[2.0, 4.0], terminal=[True, False])
    drawing = drawing_of(y._repr_html_())
    lines = drawing.findall(f"{SVG}line")
    assert len(lines) == 2 + 2 + 1  # windows, the cross and the axis
    assert "terminal" in ET.tostring(drawing, encoding="unicode")


def test_the_timeline_shows_the_first_individuals():
    y = RecurrentEvents.from_lists([[1.0]] * 30, end=2.0)
    html = y._repr_html_()
    assert len(drawing_of(html).findall(f"{SVG}circle")) == 12
    assert "The first 12 of 30 individuals." in html


def test_many_events_of_an_individual_are_thinned():
    y = RecurrentEvents.from_lists([np.arange(1.0, 5001.0)], end=5000.0)
    assert len(drawing_of(y._repr_html_()).findall(f"{SVG}circle")) == 150


def test_the_timeline_has_dates_where_there_is_one_origin():
    dated = RecurrentEvents.from_long(END, **DATED)
    texts = [text.text for text in drawing_of(dated._repr_html_()).findall(f"{SVG}text")]
    assert texts[-3:] == ["2024-01-01", "date", "2024-03-01"]
    aged = RecurrentEvents.from_long(END, **DATED, origin="individual")
    texts = [text.text for text in drawing_of(aged._repr_html_()).findall(f"{SVG}text")]
    assert texts[-3:] == ["0", "time (days)", "60"]


@pytest.mark.plot
@pytest.mark.slow
def test_plot_draws_the_timeline(windows):
    ax = windows.plot(max_individuals=2)
    other = plot_timeline(windows, max_individuals=2)
    assert ax.get_ylabel() == other.get_ylabel() == "Pump (2 of 3 shown)"
    assert windows.plot(ax=ax) is ax


def rows_of(html):
    rows = ET.fromstring(html).findall(".//table")[1].findall("tbody/tr")
    return [[cell.text for cell in row] for row in rows]


def test_sensors_show_ranges_categories_and_unknown_values():
    table = pd.DataFrame(
        {
            "id": ["a", "a", "b", "b"],
            "time": [0.0, 4.0, 1.0, 2.0],
            "torque": [5.0, 7.5, None, 6.0],
            "mode": ["run", "idle", "run", "run"],
            "dead": [np.nan] * 4,
        }
    )
    Z = Trajectories.from_long(table, "id", "time", ids=["a", "b", "c"], unit="D")
    html = Z._repr_html_()
    assert rows_of(html) == [
        ["torque", "5 to 7.5", "25.0%", "no"],
        ["mode", "idle, run", "0.0%", "no"],
        ["dead", "-", "100.0%", "no"],
    ]
    text = "".join(ET.fromstring(html).itertext())
    assert "without samples1 individual" in text
    assert "sampledfrom 0 to 4 days" in text


def test_many_sensors_and_categories_are_cut():
    codes = np.arange(6.0)
    Z = Trajectories.from_flat(
        np.arange(6.0),
        [0, 6],
        np.tile(codes, (40, 1)),
        [f"s{number}" for number in range(40)],
        categories={"s0": list("abcdef")},
    )
    html = Z._repr_html_()
    assert rows_of(html)[0][1] == "a, b, c, d and 2 more"
    assert len(rows_of(html)) == 30
    assert "The first 30 of 40 sensors." in html


def test_sensors_without_samples_are_shown():
    y = RecurrentEvents.from_lists([[1.0]], end=2.0)
    html = Trajectories.from_events(y)._repr_html_()
    assert "samples" in html
    assert rows_of(html) == []


def test_sensors_with_a_known_future_say_so():
    Z = Trajectories.from_flat([0], [0, 1], [[1]], ["month"])._with(known_ahead=("month",))
    assert rows_of(Z._repr_html_())[0][3] == "yes"
