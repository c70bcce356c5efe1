"""The documentation site in a real browser, opened from files: there is no server."""

import pytest
from tests.report.scenes import wait_for
from tests.site.pages import require_site

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
    said = browser.get_log("browser")
    assert [one for one in said if one["level"] in {"WARNING", "SEVERE"}] == []


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
        assert [name.rpartition("/")[2] for name in shown] == [
            f"forecast-{theme}.svg",
            f"reasons-{theme}.svg",
        ]


def crawl(browser, site):
    """Follow all internal links from the start page; yield each page while it is open.

    Pages of single names are all made from two templates, and two of them are enough:
    `test_links` reads the others.
    """
    waiting, seen = [(site / "index.html").as_uri()], set()
    n_names = 0
    while waiting:
        page = waiting.pop(0)
        is_name = "/generated/" in page
        n_names += is_name
        if page in seen or (is_name and n_names > 2):
            continue
        seen.add(page)
        browser.get(page)
        links = browser.execute_script("return [...document.links].map((one) => one.href)")
        inside = dict.fromkeys(link.split("#")[0] for link in links)
        waiting += [link for link in inside if link.startswith("file:") and ".html" in link]
        yield page


@pytest.mark.timeout(1800)
def test_every_page_opens_with_its_title_and_its_pictures(site, browser):
    broken = {}
    n_pages = 0
    for page in crawl(browser, site):
        n_pages += 1
        found = browser.execute_script(BROKEN)
        if found or not browser.find_elements("css selector", "h1"):
            broken[page] = found
    assert broken == {}
    assert n_pages > 40


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
