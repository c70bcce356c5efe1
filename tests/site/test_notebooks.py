"""Guides and concepts have been run, examples too, and the reference leads to them."""

import json
import re

import pytest
from tests.site.pages import require_site

GUIDES = ["biostatistician", "data-scientist", "marketer", "reliability-engineer"]
CONCEPTS = [
    *("what-is-modelled", "clocks", "own-history", "intervals", "sensors-and-what-if"),
    *("biased-counts", "default"),
]


@pytest.fixture(scope="module")
def site():
    site = require_site()
    if not list((site / "_images").glob("sphx_glr_plot_*_001.png")):
        pytest.skip("the site was built with BOOSTR_GALLERY=0")
    return site


@pytest.fixture(scope="module")
def notebooks(site):
    if not any(cell["outputs"] for guide in GUIDES for cell in read_cells(site, guide)):
        pytest.skip("the site was built with BOOSTR_NOTEBOOKS=0")
    return site


def read_cells(site, guide):
    notebook = json.loads((site / "guides" / f"{guide}.ipynb").read_text())
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("guide", GUIDES)
def test_notebooks_of_guides_hold_results_and_pictures(notebooks, guide):
    outputs = [
        output for cell in read_cells(notebooks, guide) for output in cell["outputs"]
    ]
    pictures = [one for one in outputs if "image/png" in one.get("data", {})]
    assert len(pictures) >= 3
    assert not [one for one in outputs if one.get("name") == "stderr"]


@pytest.mark.parametrize(
    "page",
    [f"guides/{name}.html" for name in GUIDES]
    + [f"concepts/{name}.html" for name in CONCEPTS],
)
def test_pages_show_pictures_and_no_objects(notebooks, page):
    text = (notebooks / page).read_text()
    assert "_images/" in text
    assert not re.search(r"&lt;[\w. ]+ at 0x[0-9a-f]+&gt;|&lt;Axes", text)


def test_every_example_has_a_picture_of_its_own(site):
    pages = sorted((site / "gallery").glob("plot_*.html"))
    assert len(pages) >= 20
    without = [
        page.stem for page in pages if f"sphx_glr_{page.stem}_" not in page.read_text()
    ]
    assert without == []


def test_the_reference_leads_to_examples(site):
    text = (site / "reference" / "generated" / "boostr.BoostR.html").read_text()
    assert "gallery/plot_forecast.html" in text
