from xml.etree import ElementTree as ET

import numpy as np
import pytest

from boostr._html import (
    Curve,
    draw_curves,
    escape,
    format_cell,
    format_id,
    make_facts,
    make_grid,
    thin,
)

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (np.int64(5), "5"),
        (0.123456, "0.1235"),
        (12345.6, "12,346"),
        (np.nan, "-"),
        (None, "-"),
        (np.datetime64("NaT"), "-"),
        (np.datetime64("2024-02-01T00:00:00.000000"), "2024-02-01"),
        (np.datetime64("2024-02-01T06:30:00"), "2024-02-01 06:30:00"),
        (True, "True"),
        ("x" * 50, "x" * 39 + "…"),
    ],
)
def test_values_are_short_texts(value, text):
    assert format_cell(value) == text


def test_ids_have_no_commas():
    assert [format_id(one) for one in (12345, np.float64(7.0), "W1")] == [
        "12345",
        "7",
        "W1",
    ]


def test_text_stays_text():
    assert escape("<b>'\"&") == "&lt;b&gt;&#x27;&quot;&amp;"
    assert escape("half \ud800") == "half ?"


def test_facts_are_shown_in_full():
    assert "y" * 100 in make_facts([("name", "y" * 100)])


def test_numbers_and_shares_are_aligned_to_the_right():
    rows = [("a", 1, "5%"), ("b", None, "9%")]
    table = ET.fromstring(make_grid(("id", "n", "share"), rows))
    cells = table.findall(".//tbody/tr")[0]
    sides = [cell.get("style").rsplit(":", 1)[1] for cell in cells]
    assert sides == ["left", "right", "right"]


def test_few_positions_keep_both_ends():
    assert thin(5, 10).tolist() == [0, 1, 2, 3, 4]
    assert thin(1000, 3).tolist() == [0, 500, 999]


def points_of(drawing, kind="polyline"):
    shapes = ET.fromstring(drawing).findall(f"{SVG}{kind}")
    return [
        [tuple(map(float, pair.split(","))) for pair in shape.get("points").split()]
        for shape in shapes
    ]


def test_steps_hold_until_the_next_time():
    curve = Curve(np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 3.0]), is_step=True)
    (line,) = points_of(draw_curves([curve], "Time", "steps"))
    assert [x for x, _ in line] == [46.0, 223.0, 223.0, 400.0, 400.0]
    assert line[0][1] == line[1][1] > line[2][1] == line[3][1] > line[4][1] == 10.0


def test_a_band_goes_there_and_back():
    times = np.array([0.0, 1.0])
    curve = Curve(times, times, lower=times - 1.0, upper=times + 1.0)
    (band,) = points_of(draw_curves([curve], "Time", "band"), "polygon")
    assert [x for x, _ in band] == [46.0, 400.0, 400.0, 46.0]
    assert band[2][1] == band[3][1] == 150.0  # not below zero


@pytest.mark.parametrize("top", [1e-9, 0.99, 1.0, 7.3, 9.99, 10.0, 3e6])
def test_axes_have_a_few_round_numbers(top):
    curve = Curve(np.array([0.0, 1.0]), np.array([0.0, top]))
    root = ET.fromstring(draw_curves([curve], "Time", "curve"))
    ticks = [one.text for one in root.findall(f"{SVG}text") if one.get("x") == "41.0"]
    assert 2 <= len(ticks) <= 6
    assert float(ticks[-1].replace(",", "")) <= top * (1.0 + 1e-9)


@pytest.mark.parametrize("values", [[0.0, 0.0], [2.0, 2.0]])
def test_flat_curves_are_drawn(values):
    curve = Curve(np.array([3.0, 3.0]), np.array(values))
    (line,) = points_of(draw_curves([curve], "Time", "flat"))
    assert np.isfinite(line).all()
