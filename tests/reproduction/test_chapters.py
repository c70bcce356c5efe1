"""Every chapter, as small as can be."""

from contextlib import ExitStack

import pytest
from tests.reproduction.scenes import FEW, TINY, FewTrees

from boostr.reproduction import (
    _comparison,
    _extrapolation,
    _kelly,
    _quadrants,
    _ranking,
    _wells,
)
from boostr.reproduction._models import DEFAULT, PAPER, POINTWISE, make_models
from boostr.reproduction._page import render_page
from boostr.reproduction._reproduce import _CHAPTERS
from boostr.reproduction._work import Work

pytest.importorskip("jinja2")
pyplot = pytest.importorskip("matplotlib.pyplot")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.plot,
    pytest.mark.usefixtures("draw_plainly"),
]

N_BLOCKS = {"A": 7, "B": 2, "C": 2, "D": 2, "kelly": 3, "wells": 6, "extrapolation": 3}


def make_small(kind, scale, random_state=0):
    models = make_models(kind, scale, random_state)
    models[DEFAULT].set_params(**FEW)
    for name in (PAPER, POINTWISE):
        models[name].set_params(n_estimators=12, n_origins=0)
    return models


def fit_few(model, X, y, Z, **options):
    return model.set_params(n_estimators=5).fit(X, y, Z)


@pytest.fixture(scope="module", autouse=True)
def _be_quick():
    """Grow and draw few trees, and compute few maps."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for module in (_comparison, _ranking):
            patch.setattr(module, "make_models", make_small)
        for module in (_extrapolation, _kelly, _quadrants, _ranking, _wells):
            patch.setattr(module, "BoostR", FewTrees)
        patch.setattr(_quadrants, "_FEWEST_DRAWS", 1)
        patch.setattr(_quadrants, "_N_TREES", 2)
        patch.setattr(_wells, "_N_GRID", 10)
        patch.setattr(_wells, "_QUICK_TREES", 2)
        patch.setattr(_wells, "tune", fit_few)
        pyplot.switch_backend("Agg")
        yield


@pytest.mark.slow
@pytest.mark.parametrize("part", N_BLOCKS)
def test_a_chapter_has_its_blocks_and_closes_its_figures(part, tmp_path):
    chapter = _CHAPTERS[part](Work(tmp_path, TINY))
    assert chapter.key == part
    assert len(chapter.blocks) == N_BLOCKS[part]
    assert all(block.pictures or block.tables for block in chapter.blocks)
    assert not pyplot.get_fignums()
    assert "nan" not in render_page([chapter], []).split("base64")[0]


@pytest.mark.slow
def test_a_chapter_is_computed_once_and_then_read(tmp_path, monkeypatch):
    build = _CHAPTERS["D"]
    first = render_page([build(Work(tmp_path, TINY))], [])
    with monkeypatch.context() as patch:
        patch.setattr(_comparison, "integrated_squared_error", None)
        assert render_page([build(Work(tmp_path, TINY))], []) == first
