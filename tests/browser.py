"""A real browser: Chromium without a window."""

import os
import shutil

import pytest

FLAGS = [
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--disable-sync", "--no-first-run", "--window-size=1400,1000"),
]


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Start the browser, or skip, or fail where BOOSTR_REQUIRE_BROWSER=1 is set."""
    refuse = pytest.fail if os.environ.get("BOOSTR_REQUIRE_BROWSER") == "1" else pytest.skip
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        refuse("Chromium and its driver are not installed: apt-get install chromium-driver")
    try:
        from selenium import webdriver
    except ImportError:
        refuse("selenium is not installed: pip install --group test")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for flag in [*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(programs[1])
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()
