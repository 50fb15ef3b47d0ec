"""The site: ``make docs`` builds it from here, without a network, and any warning is an error."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE))

import figures

import rio_uq

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
        for name in dir(rio_uq.RIORegressor)
        if (getattr(getattr(rio_uq.RIORegressor, name), "__module__", "") or "").startswith("sklearn.")
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


MAY_BE_ABSENT = ("command-line", "deployment", "report", "scale")
"""Pages that the guide lists, and that are not in every checkout."""


def write_further_results() -> None:
    """A page for each page of benchmarks that has none yet."""
    known = {"engine", "shift"}
    folder = HERE / "results" / "more"
    folder.mkdir(exist_ok=True)
    found = {path.stem: path for path in sorted((ROOT / "benchmarks").glob("*.md")) if path.stem not in known}
    for path in folder.glob("*.md"):
        if path.stem not in found:
            path.unlink()
    for name in found:
        text = f"```{{include}} ../../../benchmarks/{name}.md\n:relative-images:\n```\n"
        (folder / f"{name}.md").write_text(text)


def drop_absent_pages(app, name: str, source: list[str]) -> None:
    """Take the lines that name pages which are not there out of the guide and of the results."""
    if name == "guide":
        absent = {page for page in MAY_BE_ABSENT if page not in app.env.found_docs}
        lines = source[0].split("\n")
        source[0] = "\n".join(
            line for line in lines if line not in absent and not any(f"({page}.md)" in line for page in absent)
        )
    if name == "results/index" and not any(page.startswith("results/more/") for page in app.env.found_docs):
        source[0] = source[0].replace("more/*\n", "")


def lead_to_the_site(app, name: str, source: list[str]) -> None:
    """Links to files beside ``docs/``, which work on a code host, lead to the pages that include those files."""
    pages = {"experiments/RESULTS": "results/paper", "CONTRIBUTING": "contributing", "CHANGELOG": "changelog"}
    for path in (ROOT / "benchmarks").glob("*.md"):
        is_known = (HERE / "results" / path.name).exists()
        pages[f"benchmarks/{path.stem}"] = f"results/{path.stem}" if is_known else f"results/more/{path.stem}"
    if "/" not in name:
        for file, page in pages.items():
            source[0] = source[0].replace(f"](../{file}.md", f"]({page}.md")


def setup(app) -> None:
    write_further_results()
    app.connect("builder-inited", lambda app: figures.draw_all(HERE / "_figures"))
    app.connect("source-read", drop_absent_pages)
    app.connect("source-read", lead_to_the_site)
