"""Notebooks of the guides, with the results of the build, beside their pages."""

from pathlib import Path

import nbformat
from jupyter_cache import get_cache


def _write(app, error):
    if error is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for page in app.env.metadata:
        if page.startswith("guides/"):
            source = site.parent / "jupyter_execute" / f"{page}.ipynb"
            notebook = nbformat.read(source, as_version=4)
            if app.config.nb_execution_mode == "cache":
                cache = get_cache(site.parent / ".jupyter_cache")
                _, notebook = cache.merge_match_into_notebook(notebook)
            nbformat.write(notebook, site / f"{page}.ipynb")


def _open_cache(app):
    """Make the cache of results before processes that read pages would all make it."""
    if app.config.nb_execution_mode == "cache":
        get_cache(Path(app.outdir).parent / ".jupyter_cache").list_cache_records()


def setup(app):
    """Connect to Sphinx."""
    app.connect("builder-inited", _open_cache)
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
