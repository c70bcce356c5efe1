"""What the page says of all individuals does not depend on how many it lists."""

from dataclasses import replace

import pytest
from tests.report.scenes import fitted, pumps

from boostr.report._content import collect
from boostr.report._words import write_words


def tell(**options):
    content = collect(fitted(), *pumps().data, horizon=20.0, **options)
    return {name: (value, note) for name, value, note, _ in tiles(content)}


def tiles(content):
    return write_words(content, "Pumps", "0")["tiles"]


def test_tiles_count_those_that_the_table_leaves_out():
    X, y, Z = pumps().data
    told = tell(max_individuals=7)
    assert told["Events so far"] == (f"{len(y.times):,}", "")
    likely = (fitted().forecast(X, y, 20.0, Z)["probability"] >= 0.5).sum()
    assert likely > 7
    named = told["More likely than not to have an event"]
    assert named == (f"{likely}", f"of {len(y)} individuals")


@pytest.mark.slow
def test_all_tiles_are_the_same_with_a_shorter_table():
    assert tell(max_individuals=3) == tell()


def doubt(ratio, error, common_error=0.0, source="new"):
    content = collect(fitted(), *pumps().data, horizon=20.0)
    back = content.quality.look_back
    slope = replace(back.check.slope, ratio=ratio, ratio_error=error)
    check = replace(back.check, slope=slope)
    back = replace(back, check=check, common_error=common_error)
    quality = replace(content.quality, look_back=back, source=source)
    content = replace(content, quality=quality)
    return write_words(content, "Pumps", "0")["doubt"], content.total.expected


@pytest.mark.slow
def test_a_headline_that_the_look_back_contradicts_is_doubted():
    words, expected = doubt(1.15, 0.03)
    assert "too low" in words
    assert "15% more events" in words
    assert "1.15 ± 0.03" in words
    assert f"about {1.15 * expected:,.0f} events are to come" in words
    assert "train the model anew" in words
    words, _ = doubt(0.8, 0.03)
    assert "too high" in words
    assert "20% fewer events" in words


@pytest.mark.parametrize(("ratio", "error"), [(1.02, 0.001), (1.15, 0.1), (0.9, 0.05)])
def test_a_headline_within_what_chance_allows_is_not_doubted(ratio, error):
    assert doubt(ratio, error)[0] == ""


def test_a_headline_within_the_usual_errors_of_totals_is_not_doubted():
    assert doubt(1.15, 0.03, common_error=0.1)[0] == ""
    assert doubt(1.45, 0.03, common_error=0.1)[0] != ""


def test_a_model_of_these_histories_need_not_be_trained_on_them_again():
    words, _ = doubt(1.15, 0.03, source="out_of_fold")
    assert "What to do: look for what has changed" in words


def test_what_the_model_does_not_use_is_named():
    content = collect(fitted(), *pumps().data, horizon=20.0)
    drivers = replace(content.drivers, unused=(("hue",), ("hum", "smell")))
    words = write_words(replace(content, drivers=drivers), "Pumps", "0")
    assert "Not used by the model (features: hue; sensors: hum, smell)" in words["unused"]
    drivers = replace(content.drivers, unused=((), ()))
    assert write_words(replace(content, drivers=drivers), "Pumps", "0")["unused"] == ""
