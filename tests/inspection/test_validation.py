import pandas as pd
import polars as pl
import pytest

from boostr.inspection import ValidationResults

RUNS = [
    {"label": "4 leaves", "curve": [3.0, 2.0], "n_trees": 2, "loss": 2.0, "weight": 0.25},
    {"label": "8 leaves", "curve": [3.0, 1.0], "n_trees": 1, "loss": 1.0, "weight": 0.75},
]


def test_it_is_a_list_like_any_other():
    results = ValidationResults(RUNS)
    assert results == RUNS
    assert results[1]["loss"] == 1.0
    assert ValidationResults() == []


@pytest.mark.parametrize(("backend", "kind"), [("pandas", pd), ("polars", pl)])
def test_a_table_has_one_row_per_run(backend, kind):
    table = ValidationResults(RUNS).to_frame(backend=backend)
    assert isinstance(table, kind.DataFrame)
    assert list(table["label"]) == ["4 leaves", "8 leaves"]
    assert list(table["n_trees"]) == [2, 1]
    assert ValidationResults().to_frame(backend=backend).shape == (0, 4)


def test_notebooks_show_the_largest_weight_first():
    html = ValidationResults(RUNS)._repr_html_()
    assert html.index("8 leaves") < html.index("4 leaves")
    assert "75%" in html


def test_notebooks_say_that_there_was_no_validation():
    assert "without" in ValidationResults()._repr_html_()
