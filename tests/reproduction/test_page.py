import math
import re

import pytest
from tests.reproduction.scenes import make_chapter

from boostr.reproduction._page import (
    digits,
    draw,
    join_names,
    render_page,
    say_mean,
    standard_error,
)

pytest.importorskip("jinja2")


def test_the_page_needs_no_other_file():
    page = render_page([make_chapter()], [("boostr", "1.0")])
    assert not re.search(r"https?://", page)
    assert "<link" not in page
    assert "<script" not in page
    assert "@import" not in page
    sources = re.findall(r'src="([^"]*)"', page)
    assert sources
    assert all(source.startswith("data:image/png;base64,") for source in sources)


def test_words_are_escaped():
    page = render_page([make_chapter(text="<b>1 < 2</b>")], [("<i>", "&")])
    assert "<b>" not in page
    assert "&lt;b&gt;1 &lt; 2&lt;/b&gt;" in page
    assert "<dt>&lt;i&gt;</dt><dd>&amp;</dd>" in page


def test_every_block_is_in_the_contents():
    page = render_page([make_chapter("A"), make_chapter("B")], [])
    targets = re.findall(r'href="#([^"]*)"', page)
    assert targets == ["A", "A-1", "B", "B-1"]
    assert all(f'id="{target}"' in page for target in targets)


def test_blank_lines_separate_paragraphs():
    assert "<p>first</p><p>second</p>" in render_page([make_chapter()], [])


def test_the_best_row_of_a_table_is_marked():
    rows = re.findall(r"<tr([^>]*)><td>(.)</td>", render_page([make_chapter()], []))
    assert rows == [("", "a"), (' class="best"', "b")]


@pytest.mark.plot
def test_a_drawn_figure_is_closed():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    figure, _ = pyplot.subplots()
    picture = draw(figure, "caption", "alternative")
    assert picture.png.startswith(b"\x89PNG")
    assert not pyplot.fignum_exists(figure.number)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.012345, "0.0123"), (12.345, "12.3"), (1234.5, "1234"), (math.nan, "-")],
)
def test_numbers_have_three_digits_or_all_whole_ones(value, text):
    assert digits(value) == text


def test_a_standard_error_needs_two_values():
    assert math.isnan(standard_error([3.0]))
    assert standard_error([1.0, 3.0]) == pytest.approx(1.0)


def test_a_mean_shows_its_error_where_there_is_one():
    assert say_mean([1.0, 3.0]) == "2.0 ± 1.0"
    assert say_mean([0.0157, 0.0175]) == "0.01660 ± 0.00090"
    assert say_mean([100.0, 1100.0]) == "600 ± 500"
    assert say_mean([5.0, 5.0]) == "5 ± 0"
    assert say_mean([2.0]) == "2"


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b and c")]
)
def test_names_are_joined_as_in_a_sentence(names, text):
    assert join_names(names) == text
