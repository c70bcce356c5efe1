"""Small pages and scales for the tests of the reproduction."""

from boostr.reproduction._page import Block, Chapter, Picture, Table
from boostr.reproduction._work import Scale

TINY = Scale(
    name="tiny",
    n_splits=1,
    n_forest_trees=3,
    n_design=4,
    n_repetitions=1,
    n_subjects=60,
    n_wells=20,
    n_maps=60,
    has_slow_rivals=False,
)


def make_chapter(key="A", text="words"):
    block = Block(
        title=f"{key}: a block",
        paper=text,
        paper_settings="first\n\nsecond",
        default="numbers",
        caution="does not hold",
        pictures=(Picture("a picture", "what is seen", b"not really a picture"),),
        tables=(
            Table("a table", ("name", "value"), (("a", "1"), ("b", "2")), frozenset({1})),
        ),
    )
    return Chapter(key, f"Data set {key}", "introduction", (block,))


class Recorder:
    """A bar that remembers what it was told."""

    def __init__(self):
        self.stages = []
        self.n_advanced = 0

    def begin(self, label, n_jobs, n_done):
        self.stages.append((label, n_jobs, n_done))

    def advance(self):
        self.n_advanced += 1
