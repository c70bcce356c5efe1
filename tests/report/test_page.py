"""The page is one file, whatever the names in it."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.fitted import change
from tests.report.scenes import (
    HOSTILE,
    SETTINGS,
    Pumps,
    fitted,
    fitted_plain,
    pumps,
    read_data,
    silent,
    unpack,
)

from boostr import BoostR
from boostr.exceptions import InvalidParameterError, MissingDependencyError
from boostr.report import fleet_report
from boostr.report._content import collect
from boostr.report._figures import draw_figures
from boostr.simulate import dataset_a, patients

pytest.importorskip("jinja2")
plotly = pytest.importorskip("plotly")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "fleet.html"
    X, y, Z = pumps().data
    assert fitted().report(X, y, Z, path=path, horizon=20.0, title=HOSTILE) == path
    return path.read_text(encoding="utf-8")


def without_plotly(page):
    from plotly.offline import get_plotlyjs

    assert get_plotlyjs() in page
    return page.replace(get_plotlyjs(), "")


class Elements(HTMLParser):
    """Lists tags and attributes of a page."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_the_page_loads_nothing(page):
    elements = Elements(page).found
    linked = [
        attributes[name]
        for _, attributes in elements
        for name in ("src", "href", "data", "action", "poster", "srcset")
        if name in attributes
    ]
    assert linked
    assert all(link.startswith(("#", "data:")) for link in linked)
    own = without_plotly(page)
    assert not re.search(r"https?://|@import|url\(|fetch\(|XMLHttpRequest|import\(", own)
    policy = next(a["content"] for t, a in elements if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_hostile_names_stay_text(page):
    elements = Elements(page).found
    assert sum(tag == "script" for tag, _ in elements) == 3
    assert "taken'</script>" not in page
    data = read_data(page)
    assert HOSTILE in data["ids"]
    assert HOSTILE in data["reasonNames"]
    for figure in data["figures"].values():
        assert "<script" not in str(figure)


def test_numbers_survive_the_page(page):
    data, (X, y, Z) = read_data(page), pumps().data
    forecast = fitted().forecast(X, y, 20.0, Z)
    assert data["ids"] == forecast["id"].tolist()
    for name in ("expected", "probability", "lower", "upper"):
        np.testing.assert_allclose(unpack(data["risk"][name]), forecast[name], rtol=1e-6)
    factors = unpack(data["risk"]["own_history"])
    np.testing.assert_allclose(factors, forecast["frailty"], rtol=1e-6)
    now = unpack(data["risk"]["now"])
    stamps = y.origin + np.rint(now * 86_400).astype("timedelta64[s]")
    np.testing.assert_array_equal(stamps, forecast["now"].to_numpy())


def test_figures_are_what_plotly_knows(page):
    graphs = pytest.importorskip("plotly.graph_objects")
    figures = read_data(page)["figures"]
    assert set(figures) == {
        *("timeline", "activity", "mcf", "reasons", "swarm", "importance"),
        *("calibration", "riskiest", "validation"),
    }
    for figure in figures.values():
        graphs.Figure(figure["data"], figure["layout"])


def test_labels_have_units():
    fleet = dataset_a(n=60, random_state=0)
    y = fleet.y._with(time_unit="km")
    model = BoostR(n_estimators=2, n_folds=2, random_state=0).fit(fleet.X, y)
    figures = draw_figures(collect(model, fleet.X, y, horizon=20.0))
    assert figures["mcf"]["layout"]["xaxis"]["title"]["text"] == "Time (km)"
    label = figures["calibration"]["layout"]["xaxis"]["title"]["text"]
    assert label == "Expected events per km"
    assert "20 km" in figures["swarm"]["layout"]["xaxis"]["title"]["text"]


@pytest.fixture(scope="module")
def ill_measured():
    """Return a page on a fleet whose unit of time is markup, and half characters as ids."""
    X, y, _ = pumps().data
    ids = np.array([f"P{k}\ud800" for k in range(len(y))], dtype=object)
    y = y._with(time_unit=HOSTILE, origin=None, ids=ids)
    features = X[[HOSTILE]].to_numpy()
    return BoostR(**SETTINGS).fit(features, y), features, y


def test_hostile_units_stay_text(ill_measured):
    figures = draw_figures(collect(*ill_measured, horizon=20.0))
    assert len(figures) > 6
    assert "&lt;script&gt;" in figures["mcf"]["layout"]["xaxis"]["title"]["text"]
    for figure in figures.values():
        assert "<script" not in str(figure)
        assert "<b>" not in str(figure)


def test_half_characters_do_not_spoil_the_page(ill_measured, tmp_path):
    model, X, y = ill_measured
    path = fleet_report(model, X, y, path=tmp_path / "x.html", horizon=20.0)
    ids = read_data(path.read_text(encoding="utf-8"))["ids"]
    assert sorted(ids) == sorted(f"P{k}?" for k in range(len(y)))


def test_the_page_says_whose_predictions_these_are(page, tmp_path):
    assert "(out-of-fold)" in page
    X, y, _ = pumps().data
    path = fleet_report(fitted_plain(), X[:50], y[:50], path=tmp_path / "x.html", horizon=9)
    assert "These 50 individuals were used in training" in path.read_text(encoding="utf-8")
    X, y, _ = Pumps(50).data
    path = fleet_report(fitted_plain(), X, y, path=tmp_path / "x.html", horizon=9)
    assert "not the individuals of training" in path.read_text(encoding="utf-8")


def test_a_model_from_an_early_file_cannot_tell_its_training_individuals(tmp_path):
    X, y, _ = pumps().data
    early = change(fitted_plain(), fingerprint=None)
    path = fleet_report(early, X[:50], y[:50], path=tmp_path / "x.html", horizon=9)
    assert "does not tell which individuals it was trained on" in path.read_text(
        encoding="utf-8"
    )


def test_every_heading_has_a_tip(page):
    headings = [a for tag, a in Elements(without_plotly(page)).found if tag == "th"]
    assert len(headings) > 10
    assert all(len(a["title"]) > 10 for a in headings if a)


def test_a_page_on_nothing_says_so(tmp_path):
    path = fleet_report(*silent(), path=tmp_path / "x.html", horizon=20.0)
    page = path.read_text(encoding="utf-8")
    assert "There are no events" in page
    assert {"timeline", "activity"} <= set(read_data(page)["figures"])
    assert "riskiest" not in read_data(page)["figures"]


def test_a_part_of_the_table_is_called_that(tmp_path):
    X, y, _ = pumps().data
    path = tmp_path / "x.html"
    fleet_report(fitted_plain(), X, y, path=path, horizon=9.0, max_individuals=10)
    assert "The 10 of 60 individuals with the highest" in path.read_text(encoding="utf-8")


def test_a_folder_must_be_there_and_errors_leave_no_file(tmp_path):
    X, y, Z = pumps().data
    with pytest.raises(InvalidParameterError, match="folder"):
        fleet_report(fitted(), X, y, Z, path=tmp_path / "none" / "x.html")
    with pytest.raises(InvalidParameterError, match="horizon"):
        fleet_report(fitted(), X, y, Z, path=tmp_path / "x.html", horizon=-1.0)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named(monkeypatch, tmp_path):
    import sys

    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    X, y, _ = pumps().data
    with pytest.raises(MissingDependencyError, match=r"boostr\[report\]"):
        fleet_report(fitted_plain(), X, y, path=tmp_path / "x.html")
    assert list(tmp_path.iterdir()) == []


def test_the_chance_of_the_terminal_event_is_on_the_page(page, tmp_path):
    clinic = patients(n=60, random_state=1)
    model = BoostR(n_estimators=5, random_state=0).fit(clinic.X, clinic.y)
    path = model.report(clinic.X, clinic.y, path=tmp_path / "page.html", horizon=20.0)
    data = read_data(path.read_text(encoding="utf-8"))
    assert data["meta"]["hasTerminal"]
    assert not read_data(page)["meta"]["hasTerminal"]
    table = model.forecast(clinic.X, clinic.y, horizon=20.0)
    chances = dict(zip(table["id"].astype(str), table["terminal"], strict=True))
    expected = [chances[one] for one in data["ids"]]
    np.testing.assert_allclose(unpack(data["risk"]["terminal"]), expected, rtol=1e-5)
    names = {trace["name"]: trace for trace in data["figures"]["timeline"]["data"]}
    assert len(names["terminal event"]["x"]) == clinic.y.is_terminal.sum()
    over = dict(zip(data["ids"], unpack(data["isOver"]), strict=True))
    by_id = zip(clinic.y.ids.astype(str), clinic.y.is_terminal, strict=True)
    assert over == dict(by_id)


def test_words_on_the_past_know_terminal_events(page, tmp_path):
    clinic = patients(n=60, random_state=1)
    model = BoostR(n_estimators=5, random_state=0).fit(clinic.X, clinic.y)
    path = model.report(clinic.X, clinic.y, path=tmp_path / "page.html", horizon=20.0)
    text = path.read_text(encoding="utf-8")
    for words in ("Crosses: terminal events", "after their terminal event"):
        assert words in text
        assert words not in page
    assert f"{clinic.y.is_terminal.sum()} terminal events" in text
