"""Every internal link, anchor and picture of the built documentation site exists."""

from functools import cache
from urllib.parse import unquote, urlsplit

import pytest
from tests.site.pages import Page, find_pages, require_site

pytestmark = pytest.mark.slow


@cache
def read(path):
    return Page(path)


def find_broken(path):
    for link in read(path).links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        is_page = target.suffix == ".html" and target.is_file()
        if not target.is_file() or (
            is_page
            and parts.fragment
            and unquote(parts.fragment) not in read(target).anchors
        ):
            yield link


def test_every_link_leads_somewhere():
    pages = find_pages(require_site())
    broken = {path.name: found for path in pages if (found := list(find_broken(path)))}
    assert len(pages) > 100
    assert broken == {}


def test_nothing_is_loaded_from_elsewhere():
    pages = find_pages(require_site())
    foreign = {
        path.name: found
        for path in pages
        if (found := [one for one in read(path).loaded if urlsplit(one).netloc])
    }
    assert foreign == {}
