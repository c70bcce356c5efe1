"""Every chapter about the data sets A to D, as small as can be."""

import pytest
from tests.reproduction.scenes import TINY, Recorder

from boostr.reproduction import (
    _comparison,
    _leaf_counts,
    _maps,
    _quadrants,
    _ranking,
    _trees,
)
from boostr.reproduction._learners import DEFAULT, make_learners
from boostr.reproduction._page import render
from boostr.reproduction._work import Work

pytest.importorskip("jinja2")
pyplot = pytest.importorskip("matplotlib.pyplot")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.plot,
    pytest.mark.usefixtures("draw_plainly"),
]

BUILDERS = {
    "A": (_quadrants.build_a, 7),
    "B": (_quadrants.build_b, 2),
    "C": (_maps.build_c, 2),
    "D": (_maps.build_d, 2),
}


@pytest.fixture(autouse=True)
def _be_quick(monkeypatch):
    """Grow few trees by default, and draw few of them and few data sets."""

    def make_small(kind, scale, random_state=0):
        learners = make_learners(kind, scale, random_state)
        few = {"n_estimators": 5, "n_folds": 2, "max_leaf_nodes": 3, "n_origins": 0}
        learners[DEFAULT].set_params(**few)
        return learners

    for module in (_comparison, _maps, _quadrants, _ranking):
        monkeypatch.setattr(module, "make_learners", make_small)
    monkeypatch.setattr(_leaf_counts, "_FEWEST_DRAWS", 1)
    monkeypatch.setattr(_trees, "_N_TREES", 2)
    pyplot.switch_backend("Agg")


@pytest.mark.parametrize("part", BUILDERS)
def test_a_chapter_has_its_blocks_and_closes_its_figures(part, tmp_path):
    build, n_blocks = BUILDERS[part]
    chapter = build(Work(tmp_path, TINY, Recorder()))
    assert chapter.key == part
    assert len(chapter.blocks) == n_blocks
    assert all(block.pictures or block.tables for block in chapter.blocks)
    assert not pyplot.get_fignums()


def test_a_chapter_is_computed_once_and_then_read(tmp_path):
    first, again = Recorder(), Recorder()
    pages = [
        render([_maps.build_d(Work(tmp_path, TINY, bar))], []) for bar in (first, again)
    ]
    assert pages[0] == pages[1]
    assert first.n_advanced > 0
    assert again.n_advanced == 0
