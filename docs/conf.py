"""The documentation site: ``make docs`` builds it into out/site, without the network."""

import os
import re
from pathlib import Path

from sphinx_gallery import notebook
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

import graftwork

project = "graftwork"
author = "The graftwork developers"
copyright = author
version = release = graftwork.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery", "gallery/**", "_templates", "auto_gallery/**.ipynb"]
templates_path = ["_templates"]
highlight_language = "none"  # indented blocks hold commands and formulas
nitpicky = True
# Single backticks in docstrings: a link where there is such an object, else code.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", ".*"), ("py:(class|data)", ".*")]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"  # docstrings say the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

# Links to other libraries: only where asked for, since inventories are fetched from the network.
intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "networkx": ("https://networkx.org/documentation/stable", None),
        "matplotlib": ("https://matplotlib.org/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }
    if os.environ.get("GRAFTWORK_DOCS_ONLINE")
    else {}
)


HERE = Path(__file__).parent
ROOT_PAGES = {
    "README": "index",
    **{page.stem.upper(): f"project/{page.stem}" for page in (HERE / "project").glob("*.md")},
}


def read_source(app, docname, source):
    """Put root pages where project/ names them; lead links out of docs/ to pages, or to none."""
    folder, name = Path(docname).parent, Path(docname).name
    if str(folder) == "project":
        text = (HERE.parent / f"{name.upper()}.md").read_text(encoding="utf-8")
        source[0] = re.sub(r"\]\((?=[\w./-]+[)#])", "](../../", text)
    up = "../" * len(folder.parts)

    def link(match):
        text, target, heading = match.groups(default="")
        if target.startswith("docs/"):
            return f"[{text}]({up}{target[5:]}{heading})"
        page = ROOT_PAGES.get(target.removesuffix(".md"))
        return f"[{text}]({up}{page}.md{heading})" if page else text

    out = re.escape(up + "../")
    source[0] = re.sub(rf"\[([^\]]*)\]\({out}(?!\.\.)([\w./-]+)(#[^)]*)?\)", link, source[0])
    # In toctrees, "?name" is an entry for pages that a checkout may lack.
    source[0] = re.sub(r"^   \?(.+)\n", lambda entry: optional(entry[1]), source[0], flags=re.M)


def optional(pattern):
    return f"   {pattern}\n" if any(HERE.glob(f"{pattern}.md")) else ""


def set_lists_off(app, what, name, obj, options, lines):
    """Put a blank line before each list in a docstring, which docutils asks for."""
    for k in range(len(lines) - 1, 0, -1):
        begins = lines[k].lstrip().startswith("- ") and lines[k - 1].rstrip().endswith((":", "."))
        if begins and not starts_in_list(lines, k - 1):
            lines.insert(k, "")


def starts_in_list(lines, k):
    """Whether line k belongs to an item of a list."""
    while k >= 0 and lines[k].startswith(" ") and not lines[k].lstrip().startswith("- "):
        if k and len(lines[k - 1]) - len(lines[k - 1].lstrip()) < indent(lines[k]):
            return lines[k - 1].lstrip().startswith("- ")
        k -= 1
    return k >= 0 and lines[k].lstrip().startswith("- ")


def indent(line):
    return len(line) - len(line.lstrip())


def setup(app):
    app.connect("autodoc-process-docstring", set_lists_off, priority=100)  # before numpydoc
    app.connect("source-read", read_source)


class Pictures:
    """Save the picture that is a block's value: graftwork's figures belong to no window."""

    saved = None

    def __repr__(self):
        return "Pictures"

    def __call__(self, block, block_vars, gallery_conf):
        value = block_vars["example_globals"].get("___")
        if value is self.saved or not hasattr(value, "_repr_png_"):
            return ""
        self.saved = value
        figure = getattr(value, "figure", None) or value
        path = next(block_vars["image_path_iterator"])
        figure.savefig(path, dpi=130, bbox_inches="tight")
        return figure_rst([path], gallery_conf["src_dir"])


def without_links(convert):
    """Let a page that a text of the gallery links to be named in its notebook, in italics."""
    link = re.compile(r":doc:`([^`<]+?)\s*<[^`>]*>`")
    return lambda text, *args, **options: convert(link.sub(r"*\1*", text), *args, **options)


notebook.rst2md = without_links(notebook.rst2md)

#: Examples in the order in which the gallery shows them; others come last.
EXAMPLES = (
    "mushrooms",
    "boredom_languages",
    "adhd_groups",
    "market_baskets",
    "genotypes",
    "planted_truth",
    "choosing_lambda",
    "ordered_answers",
    "missing_cells",
    "pruning_tying",
    "what_if",
    "streaming",
    "chunking",
    "own_method",
)


def place_of_example(name):
    """Return what to sort the files of the gallery by."""
    stem = name.removeprefix("plot_").removesuffix(".py")
    return (EXAMPLES.index(stem) if stem in EXAMPLES else len(EXAMPLES), stem)


sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": "/plot_",
    "within_subsection_order": place_of_example,
    "image_scrapers": (Pictures(), matplotlib_scraper),
    "ignore_repr_types": r"graftwork\.report\.pictures|matplotlib",
    "plot_gallery": "True",
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1_000,
    "reference_url": {"graftwork": None},
    "backreferences_dir": "api/examples",
    "doc_module": ("graftwork",),
}

html_theme = "pydata_sphinx_theme"
html_title = "graftwork"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
toc_object_entries_show_parents = "hide"  # the page is that of the class
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "navigation_with_keys": False,
}
html_sidebars = {"index": [], "start": [], "cite": []}
