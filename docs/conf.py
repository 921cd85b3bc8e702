"""How Sphinx builds the site: ``make docs``. Nothing that a reader's browser loads is elsewhere."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("OMP_NUM_THREADS", "1")  # examples of the gallery are small

import plausible  # noqa: E402

project = "plausible"
author = "The plausible developers"
copyright = author  # noqa: A001
version = release = plausible.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "extension.gallery",
    "extension.mathml",
    "extension.flowchart",
    "extension.reference",
    "extension.pages",
    "extension.speed",
]
exclude_patterns = ["reproduction.template.md", "extension", "pictures", "gallery/*.ipynb"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "dollarmath", "attrs_inline"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_typehints = "none"  # docstrings say it, and signatures stay short
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 76
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "plausible"
html_context = {"default_mode": "auto"}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
templates_path = ["templates"]
html_sidebars = {
    "index": [],
    "start": [],
    "gallery/*": ["sidebar-nav-bs"],
    "reference/plausible.*": ["room.html"],  # the theme's own would list all names on all pages
}
html_theme_options = {
    "logo": {"text": "plausible"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 5,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("plausible",),
    "backreferences_dir": "gallery/backreferences",
    "reset_modules": ("matplotlib", "extension.gallery.in_the_house_style"),
    "reset_modules_order": "both",
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "min_reported_time": 5,
    "copyfile_regex": "",
    "thumbnail_size": (400, 280),
}
