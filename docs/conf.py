"""The site: ``make docs`` builds it from here, without a network, and any warning is an error."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import figures

import rio_uq
from rio_uq.features.table_encoder import TableEncoder

project = "rio-uq"
version = release = rio_uq.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_figures", "_templates", "gallery/*.py", "gallery/*.ipynb", "gallery/*.zip", "gallery/*.json"]

nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(numpy|scipy|sklearn|matplotlib|torch)\..*")]
default_role = "autolink"
smartquotes = False
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
# What every scikit-learn estimator has is described there.
autosummary_context = {
    "hidden_methods": [
        name
        for kind in (rio_uq.RIOClassifier, rio_uq.RIORegressor, TableEncoder)
        for name in dir(kind)
        if (getattr(getattr(kind, name, None), "__module__", "") or "").startswith("sklearn.")
    ]
}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": r".*\.rst",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "matplotlib_animations": False,
    "min_reported_time": 10,
    "capture_repr": ("_repr_html_",),
    "default_thumb_file": str(HERE / "images" / "demo.png"),
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "reference_url": {"rio_uq": None},
    "backreferences_dir": "api/uses",
    "doc_module": ("rio_uq",),
    "nested_sections": False,
}

templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "rio-uq"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "rio-uq"},
    "header_links_before_dropdown": 8,
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"start": [], "how-it-works": [], "api": ["sidebar-nav-bs"]}
html_context = {"default_mode": "auto"}
copyright = "rio-uq contributors, BSD 3-Clause"


def lead_to_the_site(app, name: str, source: list[str]) -> None:
    """Links to files beside ``docs/``, which work on a code host, lead to the pages that include those files."""
    pages = {"experiments/RESULTS": "results/paper", "CONTRIBUTING": "contributing", "CHANGELOG": "changelog"}
    names = (path.parent.name for path in (ROOT / "benchmarks").glob("*/README.md"))
    pages |= {f"benchmarks/{name}/README": f"results/{name}" for name in names}
    if "/" not in name:
        for file, page in pages.items():
            source[0] = source[0].replace(f"](../{file}.md", f"]({page}.md")


def setup(app) -> None:
    app.connect("builder-inited", lambda app: figures.draw_all(HERE / "_figures"))
    app.connect("source-read", lead_to_the_site)
