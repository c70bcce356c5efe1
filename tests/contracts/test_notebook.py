"""Whatever shows as HTML in notebooks is well formed, self-contained and safe."""

import re
from functools import cache
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from tests.report.scenes import HOSTILE, fitted, pumps

from boostr import MeanCumulativeFunction, backtest
from boostr.baselines import HomogeneousPoisson
from boostr.inspection import explain

SVG = "{http://www.w3.org/2000/svg}"


def parse(html):
    """Read HTML, which is XML too: all tags are closed and all attributes quoted."""
    return ET.fromstring(f"<div>{html}</div>")


def text_of(html):
    return "".join(parse(html).itertext())


@cache
def results():
    fleet, model = pumps(), fitted()
    data = fleet.data
    dates = backtest({HOSTILE: HomogeneousPoisson()}, fleet.X, fleet.y, as_of=2, horizon=10)
    return {
        "RecurrentEvents": fleet.y[::-1],
        "EventsSummary": fleet.y.describe(),
        "Trajectories": fleet.Z,
        "MeanCumulativeFunction": MeanCumulativeFunction().fit(fleet.y),
        "Explanation": explain(model, fleet.X[::-1], 30.0, fleet.Z[::-1]),
        "ModelSummary": model.summary(fleet.y, fleet.Z),
        "ValidationResults": model.validation_results_,
        "FleetForecast": model.forecast_fleet(*data[:2], 10.0, fleet.Z),
        "CurveBand": model.predict_band(fleet.X[:2], [9.0, 30.0], Z=fleet.Z[:2]),
        "ForecastCalibration": model.calibrate_forecast(*data[:2], 10.0, fleet.Z),
        "Backtest": dates,
    }


NAMES = [
    *("RecurrentEvents", "EventsSummary", "Trajectories", "MeanCumulativeFunction"),
    *("Explanation", "ModelSummary", "ValidationResults", "FleetForecast", "CurveBand"),
    *("ForecastCalibration", "Backtest"),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_html_is_well_formed_and_needs_nothing_else(name):
    html = results()[name]._repr_html_()
    tags = {each.tag.removeprefix(SVG) for each in parse(html).iter()}
    assert not tags & {"script", "style", "link", "img", "iframe", "image", "use"}
    assert not re.search(r"(?i)\bon\w+=|href=|src=|url\(", html.replace(HOSTILE, ""))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_html_has_no_colours_for_text_or_background(name):
    html = results()[name]._repr_html_()
    assert not re.search(r"background:(?!transparent)|[;\"]color:", html)


@pytest.mark.slow
@pytest.mark.parametrize("name", [NAMES[0], "Explanation", "ModelSummary", "Backtest"])
def test_names_are_shown_as_text(name):
    html = results()[name]._repr_html_()
    assert HOSTILE[:9] in text_of(html)
    assert "<script" not in html


@pytest.mark.slow
def test_a_band_shows_curves_and_their_ends():
    html = results()["CurveBand"]._repr_html_()
    assert len(parse(html).findall(f".//{SVG}polyline")) == 2
    assert "expected by 30" in text_of(html)


@pytest.mark.slow
def test_a_calibration_shows_how_often_intervals_held():
    result = results()["ForecastCalibration"]
    cells = [cell.text for cell in parse(result._repr_html_()).findall(".//tbody/tr/td")]
    assert cells[3:5] == ["50%", f"{np.mean(result.scores <= 0.5):.1%}"]


@pytest.mark.slow
def test_a_total_shows_its_interval():
    total = results()["FleetForecast"]
    text = text_of(total._repr_html_())
    assert f"90% interval{total.lower:.0f} to {total.upper:.0f}" in text


@pytest.mark.slow
def test_a_back_test_shows_one_row_per_candidate():
    assert len(parse(results()["Backtest"]._repr_html_()).findall(".//tbody/tr")) == 1
