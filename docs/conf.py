"""Settings of the documentation site; `make docs` builds it, without a network."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import boostr

project = "boostr"
author = "The boostr developers"
copyright = "the boostr developers"
version = release = boostr.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # Our own, in docs/_ext.
    "mathml",
    "name_links",
    "notebooks",
]
# Tables of execution times load scripts from the network.
exclude_patterns = [
    "_build",
    "_ext",
    "_templates",
    "sg_execution_times.rst",
    "**/sg_execution_times.rst",
    "**/GALLERY_HEADER.rst",
    "gallery/*.ipynb",  # for download only
]
templates_path = ["_templates"]
default_role = "code"
nitpicky = True

# Pages in Markdown; headings can be linked to as in other Markdown viewers.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# The reference is written in docstrings, whose types are more legible than annotations.
autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_show_inherited_class_members = False

# `BOOSTR_GALLERY=0` shows examples and notebooks without running them, `BOOSTR_NOTEBOOKS=0`
# notebooks alone.
IS_RUN = os.environ.get("BOOSTR_GALLERY", "1") != "0"
RUNS_NOTEBOOKS = IS_RUN and os.environ.get("BOOSTR_NOTEBOOKS", "1") != "0"
# Guides and concepts are notebooks in Markdown, which are run; code of concepts is folded.
nb_execution_mode = "cache" if RUNS_NOTEBOOKS else "off"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"
os.environ["TQDM_DISABLE"] = "1"  # bars belong on a screen
os.environ.pop("MPLBACKEND", None)  # notebooks show their pictures by another
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("boostr",),
    "reference_url": {"boostr": None},
    "plot_gallery": IS_RUN,
    "parallel": 2,
    "filename_pattern": "plot_",
    "copyfile_regex": r".*\.rst",
    "download_all_examples": False,
    "show_memory": False,
    "within_subsection_order": "reading_order.ReadingOrder",
    "ignore_repr_types": r"matplotlib|list|tuple",
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = "boostr"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_search_summary = False  # browsers forbid pages in files to read other pages
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "boostr"},
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc", "notebook"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
WIDE = ("index", "glossary", "contributing", "changelog", "guides/*", "concepts/*")
html_sidebars = {name: [] for name in WIDE}
