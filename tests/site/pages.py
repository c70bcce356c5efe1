"""The built documentation site, and what its pages refer to."""

import os
from html.parser import HTMLParser
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"


def require_site():
    """Return the folder of the site; skip, or fail where a browser is required."""
    if not (SITE / "index.html").is_file():
        must = os.environ.get("BOOSTR_REQUIRE_BROWSER") == "1"
        (pytest.fail if must else pytest.skip)("the site is not built: make docs")
    return SITE


def find_pages(site):
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


class Page(HTMLParser):
    """Links, anchors and loaded files of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors, self.loaded = [], set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        is_style = tag == "link" and values.get("rel") in {"stylesheet", "icon", "preload"}
        source = values.get("href") if is_style else values.get("src")
        if source and not source.startswith("data:"):
            self.loaded.append(source)
            self.links.append(source)
