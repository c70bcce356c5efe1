"""Notebooks of the guides, as the build has run them, beside their pages."""

import shutil
from pathlib import Path


def _copy(app, error):
    if error is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for page in app.env.metadata:
        if page.startswith("guides/"):
            run = site.parent / "jupyter_execute" / f"{page}.ipynb"
            shutil.copy(run, site / f"{page}.ipynb")


def setup(app):
    """Connect to Sphinx."""
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
