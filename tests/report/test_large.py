"""Eight thousand individuals: under 15 MB, and quick to sort, search and open."""

import numpy as np
import pytest
from tests.report.scenes import open_page

from boostr import BoostR, RecurrentEvents, Trajectories
from boostr.report import fleet_report

pytest.importorskip("jinja2")
pytest.importorskip("plotly")
pytestmark = pytest.mark.slow

N = 8000


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 20))
    rate = 0.1 * np.exp(0.5 * X[:, 0])
    events = [np.sort(rng.uniform(0.0, 100.0, k)) for k in rng.poisson(100 * rate)]
    ids = [f"machine number {k:05d}" for k in range(N)]
    y = RecurrentEvents.from_lists(events, end=100.0, ids=ids)._with(time_unit="D")
    times = np.tile(np.arange(0.0, 100.0, 2.0), N)
    offsets = np.arange(0, len(times) + 1, 50)
    Z = Trajectories.from_flat(
        times,
        offsets,
        rng.normal(size=(3, len(times))),
        ["torque", "load", "heat"],
        ids=ids,
    )._with(time_unit="D")
    model = BoostR(
        n_estimators=3, max_leaf_nodes=8, n_folds=2, n_knots=0, splitter="best", max_bins=16
    ).fit(X[:400], y[:400], Z[:400])
    path = tmp_path_factory.mktemp("large") / "fleet.html"
    return fleet_report(model, X, y, Z, path=path, horizon=90.0)


def test_the_page_is_small_enough(path):
    assert path.stat().st_size < 15e6


def test_the_page_stays_responsive(path, browser):
    open_page(browser, path)
    seconds = browser.execute_script(
        """const measure = (action) => {
            const before = performance.now(); action();
            document.body.getBoundingClientRect();
            return (performance.now() - before) / 1000;
        };
        const field = document.getElementById("search");
        const type = (text) => {
            field.value = text;
            field.dispatchEvent(new Event("input"));
        };
        const rows = () => document.querySelectorAll("#risk-rows tr");
        return {
            sort: measure(() => document.querySelector("th[data-name=id] button").click()),
            search: measure(() => type("0777")),
            found: rows().length,
            open: measure(() => rows()[1].click()),
        };"""
    )
    assert seconds.pop("found") == sum("0777" in f"{k:05d}" for k in range(N))
    assert max(seconds.values()) < 2.0, seconds
    assert browser.get_log("browser") == []
