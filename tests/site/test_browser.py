"""The documentation site in a real browser, opened from files: there is no server."""

import pytest
from tests.report.scenes import wait_for
from tests.site.pages import find_pages, require_site

pytestmark = pytest.mark.slow

BROKEN = """return [...document.images].filter((one) => {
    one.loading = "eager";
    return one.complete && one.naturalWidth === 0 && one.offsetParent !== null;
}).map((one) => one.src)"""


@pytest.fixture(scope="module")
def site():
    return require_site()


@pytest.fixture(autouse=True)
def _no_complaints(site, browser):
    browser.get_log("browser")
    yield
    assert browser.get_log("browser") == []


def open_page(browser, path):
    browser.get(path.as_uri())


def set_theme(browser, theme):
    browser.execute_script("document.documentElement.dataset.theme = arguments[0]", theme)


def test_the_start_page_shows_a_forecast_in_both_themes(site, browser):
    open_page(browser, site / "index.html")
    for theme in ("light", "dark"):
        set_theme(browser, theme)
        shown = browser.execute_script(
            "return [...document.querySelectorAll('.hero img')]"
            ".filter((one) => one.offsetParent && one.naturalWidth).map((one) => one.src)"
        )
        assert [name.rpartition("/")[2] for name in shown] == [f"forecast-{theme}.svg"]


def test_every_link_of_the_start_page_can_be_followed(site, browser):
    open_page(browser, site / "index.html")
    links = browser.execute_script(
        "return [...new Set([...document.links].map((one) => one.href.split('#')[0]))]"
    )
    inside = [link for link in links if link.startswith("file:")]
    assert len(inside) > 10
    for link in inside:
        browser.get(link)
        assert browser.find_element("css selector", "h1").text


def test_no_page_lacks_a_picture(site, browser):
    # Pages of single names are all made from two templates; two of them are enough.
    pages = [path for path in find_pages(site) if path.parent.name != "generated"]
    names = ("boostr.BoostR.html", "boostr.nonparametric.compare_mcf.html")
    pages += [site / "reference" / "generated" / name for name in names]
    broken = {}
    for path in pages:
        open_page(browser, path)
        found = browser.execute_script(BROKEN)
        if found:
            broken[path.name] = found
    assert broken == {}


@pytest.mark.parametrize(
    ("words", "page"),
    [("forecast_fleet", "boostr.BoostR.html"), ("frailty", "forecasts.html")],
)
def test_search_finds_pages_without_a_server(site, browser, words, page):
    browser.get(f"{(site / 'search.html').as_uri()}?q={words}")
    script = "return [...document.querySelectorAll('#search-results a')].map((a) => a.href)"
    wait_for(lambda: any(page in link for link in browser.execute_script(script)))


@pytest.mark.parametrize(
    "name",
    [
        "index",
        "guide",
        "comparison",
        "reference/index",
        "reference/generated/boostr.BoostR",
    ],
)
def test_a_phone_does_not_scroll_sideways(site, browser, name):
    phone = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    open_page(browser, site / f"{name}.html")
    script = "return document.documentElement.scrollWidth - window.innerWidth"
    too_wide = browser.execute_script(script)
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert too_wide <= 0
