"""What the page says of all individuals does not depend on how many it lists."""

from tests.report.scenes import fitted, pumps

from boostr.report._content import collect
from boostr.report._words import write_words


def tell(**options):
    content = collect(fitted(), *pumps().data, horizon=20.0, **options)
    return {name: (value, note) for name, value, note in tiles(content)}


def tiles(content):
    return write_words(content, "Pumps", "0").tiles


def test_tiles_count_those_that_the_table_leaves_out():
    X, y, Z = pumps().data
    told = tell(max_individuals=7)
    assert told["Events so far"] == (f"{len(y.times):,}", "")
    likely = (fitted().forecast(X, y, 20.0, Z)["probability"] >= 0.5).sum()
    assert likely > 7
    named = told["More likely than not to have an event"]
    assert named == (f"{likely}", f"of {len(y)} individuals")


def test_all_tiles_are_the_same_with_a_shorter_table():
    assert tell(max_individuals=3) == tell()
