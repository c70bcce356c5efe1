"""The page in a real browser: it loads, sorts, searches, and opens the right individual."""

from io import StringIO

import numpy as np
import pandas as pd
import pytest
from tests.report.scenes import (
    HOSTILE,
    SETTINGS,
    fitted,
    open_page,
    pumps,
    silent,
    wait_for,
)

from boostr import BoostR
from boostr.report import fleet_report

pytest.importorskip("jinja2")
pytest.importorskip("plotly")
pytestmark = pytest.mark.slow

FIRST_COLUMN = "#risk-rows tr td:first-child"


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """Open the page; whatever the browser complains about afterwards is an error."""
    path = tmp_path_factory.mktemp("browser") / "fleet.html"
    fleet_report(fitted(), *pumps().data, path=path, horizon=20.0, title="Pumps")
    open_page(browser, path)
    return browser


@pytest.fixture(autouse=True)
def _no_complaints(page):
    yield
    assert page.get_log("browser") == []


@pytest.fixture
def whole(page):
    """Show all pumps in one page of the table, as in the beginning."""
    page.execute_script(
        """const size = document.getElementById("size");
        size.value = "200"; size.dispatchEvent(new Event("change"));"""
    )
    search(page, "")
    press(page, "id")
    press(page, "expected")
    return page


def search(page, text):
    page.execute_script(
        """const field = document.getElementById("search");
        field.value = arguments[0]; field.dispatchEvent(new Event("input"));""",
        text,
    )


def press(page, column):
    page.find_element("css selector", f"th[data-name={column}] button").click()


def shown(page, place=1):
    script = f"""return [...document.querySelectorAll(
        "#risk-rows tr td:nth-child({place})")].map((cell) => cell.textContent)"""
    return page.execute_script(script)


def cut(names):
    return [name if len(name) <= 28 else name[:27] + "…" for name in names]


def forecast():
    X, y, Z = pumps().data
    return fitted().forecast(X, y, 20.0, Z)


def test_the_table_begins_with_the_highest_risk(whole):
    assert shown(whole) == cut(forecast()["id"])


def test_a_click_on_a_heading_sorts_and_another_turns_round(whole):
    press(whole, "id")
    upward = shown(whole)
    press(whole, "id")
    assert shown(whole) == upward[::-1]
    names = [name for name in upward if name.startswith("P")]
    assert names == sorted(names)
    press(whole, "next_event")
    dates = shown(whole, 7)
    assert dates == sorted(dates, reverse=True)
    assert dates[0].startswith("2024-")
    heading = whole.find_element("css selector", "th[data-name=next_event]")
    assert heading.get_attribute("aria-sort") == "descending"


def test_numbers_are_sorted_as_numbers(whole):
    press(whole, "expected")
    table = forecast()
    assert shown(whole) == cut(table.sort_values("expected", kind="stable")["id"])


def test_search_filters_by_id(whole):
    search(whole, "p1")
    assert sorted(shown(whole)) == [f"P{k}" for k in range(10, 20)]
    search(whole, "nobody is called so")
    assert shown(whole) == []
    assert whole.find_element("id", "where").text == "none found"
    search(whole, "")
    assert len(shown(whole)) == len(pumps().ids)


def test_pages_of_the_table_make_up_all_rows(whole):
    everybody = shown(whole)
    whole.execute_script(
        """const size = document.getElementById("size");
        size.value = "50"; size.dispatchEvent(new Event("change"));"""
    )
    first = shown(whole)
    whole.find_element("id", "next").click()
    assert first + shown(whole) == everybody
    assert not whole.find_element("id", "next").is_enabled()


def traces(page, name):
    return page.execute_script(
        """const plot = document.getElementById(arguments[0]);
        return plot.data.map((one) => ({ name: one.name, x: Array.from(one.x),
            y: Array.from(one.y) }));""",
        name,
    )


@pytest.mark.parametrize("sort", ["expected", "id", "own_history"])
def test_a_click_opens_the_right_individual(whole, sort):
    press(whole, sort)
    row = whole.find_elements("css selector", "#risk-rows tr")[4]
    name = row.find_element("css selector", "td").get_attribute("title")
    row.click()
    assert whole.find_element("id", "individual-title").text == f"Individual {name}"
    assert row.get_attribute("aria-selected") == "true"
    y = pumps().y
    who = y.ids.tolist().index(name)
    one = forecast().set_index("id").loc[name]
    curve = {trace["name"]: trace for trace in traces(whole, "individual-curve")}
    n_events = int(y.n_events[who])
    assert curve["observed"]["y"] == [*range(n_events + 1), n_events]
    day = 86_400_000
    start = y.origin.astype("datetime64[ms]").astype(int)
    moments = start + day * np.array([0.0, *y[[who]].times, y.end[who]])
    np.testing.assert_allclose(curve["observed"]["x"], moments, atol=501.0, rtol=0.0)
    assert curve["forecast"]["y"][-1] == pytest.approx(n_events + one["expected"])
    assert curve["90% interval"]["y"][-1] == pytest.approx(n_events + one["lower"])
    sensors = traces(whole, "individual-sensors")
    assert len(sensors) == 2


def test_the_title_of_reasons_is_not_cut_off(page):
    script = """
        const frame = document.querySelector("#individual-reasons .main-svg");
        const title = document.querySelector("#individual-reasons .xtitle");
        if (!frame || !title) return null;
        const [outer, inner] = [frame, title].map((one) => one.getBoundingClientRect());
        return inner.left >= outer.left && inner.right <= outer.right
            && inner.bottom <= outer.bottom;
    """
    wait_for(lambda: page.execute_script(script) is not None)
    assert page.execute_script(script)


def test_the_keyboard_opens_an_individual_too(whole):
    from selenium.webdriver.common.keys import Keys

    row = whole.find_elements("css selector", "#risk-rows tr")[7]
    row.send_keys(Keys.ENTER)
    assert row.get_attribute("aria-selected") == "true"


def test_hostile_names_are_shown_and_not_run(whole):
    search(whole, "</script>")
    whole.find_element("css selector", "#risk-rows tr").click()
    assert whole.find_element("id", "individual-title").text == f"Individual {HOSTILE}"
    assert whole.title == "Pumps"
    assert HOSTILE in whole.find_element("id", "individual-sentence").text


def test_an_address_leads_to_the_individual(whole):
    search(whole, "P07")
    whole.find_element("css selector", "#risk-rows tr").click()
    assert whole.current_url.endswith("#individual=P07")
    whole.refresh()
    wait_for(
        lambda: (
            whole.execute_script(
                "return document.getElementById('individual-title').textContent"
            )
            == "Individual P07"
        )
    )
    chosen = whole.find_element("css selector", "#risk-rows tr[aria-selected=true]")
    assert chosen.text.startswith("P07")


CSV = """const done = arguments[0], make = URL.createObjectURL;
URL.createObjectURL = (blob) => {
  URL.createObjectURL = make;
  blob.text().then((text) => done(text));
  return "data:,";
};
document.getElementById("csv").click();"""


def read_csv(page):
    return pd.read_csv(StringIO(page.execute_async_script(CSV)))


def test_the_table_is_saved_as_it_is_sorted_and_searched(whole):
    table, known = read_csv(whole), forecast()
    assert table["Individual"].tolist() == known["id"].tolist()
    for name, column in {
        "Expected events, next 20 days": "expected",
        "90% interval, lower": "lower",
        "90% interval, upper": "upper",
        "Probability of any event": "probability",
        "Next event (days)": "next_event_median",
        "Own history, factor": "frailty",
    }.items():
        np.testing.assert_allclose(table[name], known[column], rtol=1e-5)
    dates = pd.to_datetime(table["Next event by"])
    far = (dates - known["next_event_date"]).abs() > pd.Timedelta(days=1)
    assert not far.any()
    search(whole, "p1")
    assert sorted(read_csv(whole)["Individual"]) == [f"P{k}" for k in range(10, 20)]


def test_figures_are_drawn_when_they_come_into_sight(page):
    figures = page.find_elements("css selector", "[id^=figure-]")
    assert len(figures) == 9
    for figure in figures:
        page.execute_script("arguments[0].scrollIntoView({ behavior: 'instant' })", figure)
        wait_for(lambda figure=figure: figure.find_elements("css selector", ".main-svg"))


def test_nothing_is_loaded_and_nothing_can_be_sent(page):
    loaded = page.execute_script(
        "return performance.getEntriesByType('resource').map((one) => one.name)"
    )
    assert [name for name in loaded if not name.startswith("data:")] == []
    buttons = page.find_elements("css selector", ".modebar-btn")
    titles = {button.get_attribute("data-title") for button in buttons}
    assert titles
    assert not any("loud" in title or "tudio" in title for title in titles)


def test_a_narrow_window_does_not_scroll_sideways(page):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": True},
    )
    script = "return document.documentElement.scrollWidth <= window.innerWidth"
    wait_for(lambda: page.execute_script(script))
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_page_on_nothing_opens_as_well(page, tmp_path):
    path = fleet_report(*silent(), path=tmp_path / "x.html", horizon=20.0)
    open_page(page, path)
    assert shown(page) == list("01234")
    page.find_elements("css selector", "#risk-rows tr")[2].click()
    assert page.find_element("id", "individual-title").text == "Individual 2"


def test_a_hostile_unit_of_time_stays_text(page, tmp_path):
    fleet = pumps()
    y = fleet.y._with(time_unit="<b>km</b>", origin=None)
    X = fleet.X[[HOSTILE]].to_numpy()
    model = BoostR(**SETTINGS).fit(X, y)
    open_page(page, fleet_report(model, X, y, path=tmp_path / "x.html", horizon=20.0))
    script = """const [one] = document.querySelectorAll("#individual-curve .xtitle");
        return one ? one.textContent : null"""
    wait_for(lambda: page.execute_script(script) == "Time (<b>km</b>)")


def test_texts_like_formulas_are_no_formulas_in_the_file(page, tmp_path):
    fleet = pumps()
    ids = np.array([f'=HYPERLINK("http://x";"{k}")' for k in range(60)], dtype=object)
    ids[:4] = ["+1", "-1", "@sum", "\t=1"]
    y = fleet.y._with(ids=ids)
    model = BoostR(**SETTINGS).fit(fleet.X.to_numpy()[:, 1:].astype(float), y)
    X = fleet.X.to_numpy()[:, 1:].astype(float)
    open_page(page, fleet_report(model, X, y, path=tmp_path / "x.html", horizon=20.0))
    found = read_csv(page)["Individual"].tolist()
    assert sorted(found) == sorted(f"'{one}" for one in ids)


def test_every_heading_of_the_table_has_a_tip(page):
    buttons = page.find_elements("css selector", "#risk-head button")
    assert len(buttons) == 9
    assert all(len(button.get_attribute("title")) > 20 for button in buttons)


def test_categories_that_are_not_learned_are_named(page, tmp_path):
    X, y, Z = pumps().data
    X = X.assign(site=["lonely", *X["site"][1:]])
    model = BoostR(**SETTINGS).fit(X, y, Z)
    open_page(page, fleet_report(model, X, y, Z, path=tmp_path / "x.html", horizon=20.0))
    search(page, "P00")
    page.find_element("css selector", "#risk-rows tr").click()
    script = """return [...document.querySelectorAll("#individual-reasons .ytick text")]
        .map((one) => one.textContent)"""
    wait_for(lambda: "site = rare (lonely)" in page.execute_script(script))
