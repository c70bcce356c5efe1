"""Small pages, scales and models for the tests of the reproduction."""

from boostr import BoostR
from boostr.reproduction._page import Block, Chapter, Picture, ResultTable
from boostr.reproduction._work import Scale

TINY = Scale(
    name="tiny",
    n_splits=1,
    n_forest_trees=3,
    n_design=4,
    n_repetitions=1,
    n_subjects=60,
    n_wells=60,
    n_maps=60,
    n_sensors=2,
    has_slow_baselines=False,
)
FEW = {"n_estimators": 5, "n_folds": 2, "max_leaf_nodes": 3, "n_origins": 0}


class FewTrees:
    """Stands in for `BoostR`: fitted at once, for tests of pages rather than numbers."""

    @staticmethod
    def paper(**params):
        most = min(params.pop("n_estimators"), 12)
        return BoostR.paper(**params | {"n_estimators": most, "n_origins": 0})

    def __new__(cls, **params):
        return BoostR(**FEW, **params)


def make_chapter(key="A", text="words"):
    block = Block(
        title=f"{key}: a block",
        paper=text,
        paper_settings="first\n\nsecond",
        default="numbers",
        caution="does not hold",
        pictures=(Picture("a picture", "what is seen", b"not really a picture"),),
        tables=(
            ResultTable("a table", ("name", "value"), (("a", "1"), ("b", "2")), best=1),
        ),
    )
    return Chapter(key, f"Data set {key}", "introduction", (block,))
