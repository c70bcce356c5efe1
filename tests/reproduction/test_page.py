import re

import pytest
from tests.reproduction.scenes import make_chapter

from boostr.reproduction._page import draw, render

pytest.importorskip("jinja2")


def test_the_page_needs_no_other_file():
    page = render([make_chapter()], [("boostr", "1.0")])
    assert not re.search(r"https?://", page)
    assert "<link" not in page
    assert "<script" not in page
    assert "@import" not in page
    sources = re.findall(r'src="([^"]*)"', page)
    assert sources
    assert all(source.startswith("data:image/png;base64,") for source in sources)


def test_words_are_escaped():
    page = render([make_chapter(text="<b>1 < 2</b>")], [("<i>", "&")])
    assert "<b>" not in page
    assert "&lt;b&gt;1 &lt; 2&lt;/b&gt;" in page
    assert "<dt>&lt;i&gt;</dt><dd>&amp;</dd>" in page


def test_every_block_is_in_the_contents():
    page = render([make_chapter("A"), make_chapter("B")], [])
    targets = re.findall(r'href="#([^"]*)"', page)
    assert targets == ["A", "A-1", "B", "B-1"]
    assert all(f'id="{target}"' in page for target in targets)


def test_blank_lines_separate_paragraphs():
    assert "<p>first</p><p>second</p>" in render([make_chapter()], [])


def test_the_best_row_of_a_table_is_marked():
    rows = re.findall(r"<tr([^>]*)><td>(.)</td>", render([make_chapter()], []))
    assert rows == [("", "a"), (' class="best"', "b")]


@pytest.mark.plot
def test_a_drawn_figure_is_closed():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    figure, _ = pyplot.subplots()
    picture = draw(figure, "caption", "alternative")
    assert picture.png.startswith(b"\x89PNG")
    assert not pyplot.fignum_exists(figure.number)
