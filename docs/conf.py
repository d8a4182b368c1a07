"""Sphinx configuration: each Markdown page of the project is a page, and docstrings are the reference.

    sphinx-build -W --keep-going -c docs . site        from the project's root; `site/index.html` is the beginning

The root of the project is the source, so that links between pages mean the same here as in the repository.
"""

from __future__ import annotations

import builtins
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from docutils import nodes
from sphinx import addnodes
from sphinx.util.logging import getLogger

import wholecall.types

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

project = "wholecall"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
include_patterns = [
    "*.md",
    "docs/**.md",
    "benchmarks/README.md",
    "conformance/INTERPRETING.md",
    "conformance/README.md",
    "corpora/README.md",
    "examples/README.md",
    "fuzz/README.md",
]
exclude_patterns = [".*", "site"]
root_doc = "docs/index"
smartquotes_action = "D"  # dashes; quotes are those of Python
default_role = "code"  # docstrings write `code` as Markdown does

myst_heading_anchors = 4
autodoc_member_order = "groupwise"
# What `wholecall.integrations` imports.
autodoc_mock_imports = [
    *("agents", "google", "langchain", "langchain_core", "litellm", "llama_index", "openai"),
    *("pydantic_ai", "smolagents", "strands"),
]
autodoc_preserve_defaults = True  # as the source writes them: `Policy()` and not each of its fields
autodoc_typehints = "signature"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
napoleon_numpy_docstring = False

html_theme = "furo"
html_title = "wholecall"
html_copy_source = False
html_show_copyright = False
html_show_sourcelink = False
html_additional_pages = {"index": "home.html"}
html_static_path = ["static"]
html_css_files = ["site.css"]
templates_path = ["templates"]

_log = getLogger(__name__)
_FIELD: Final = ".. attribute::"
_SHOWN = (classmethod, property, staticmethod)
_ANNOTATED = re.compile(r"Annotated\[(.+), \w+\(.*\)\]\Z")  # the type, and a note for the program
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)([\w./-]+)\.md(#[\w-]*)?\)")
_WORDS = re.compile(rf"\b({'|'.join(wholecall.types.__all__)})\b")


def _skips_data(
    _app: Sphinx, what: str, _name: str, member: object, _skip: bool, _options: object
) -> bool | None:
    """Return True for the data of a class: the docstring of the class describes it."""
    return True if what == "class" and not (callable(member) or isinstance(member, _SHOWN)) else None


def _without_signature(
    _app: Sphinx, what: str, _name: str, described: object, *_more: object
) -> tuple[str, None] | None:
    """Return no signature for a Struct: its fields follow, each with its type and default."""
    return ("", None) if what == "class" and _is_struct(described) else None


def _describe_fields(
    _app: Sphinx, what: str, _name: str, described: Any, _options: object, lines: list[str]
) -> None:
    """Put the fields of a Struct in order, also those that its docstring leaves out."""
    if what == "class" and _is_struct(described):
        lines[:] = _with_fields(described, lines)


def _is_struct(described: object) -> bool:
    return isinstance(described, type) and issubclass(described, msgspec.Struct)


def _with_fields(struct: type[msgspec.Struct], lines: list[str]) -> list[str]:
    """Return the lines of a docstring, as napoleon leaves them, with a part for each field in the end."""
    parts = "\n".join([*lines, ""]).split(_FIELD)
    texts = {name.strip(): text for name, _, text in (part.partition("\n") for part in parts[1:])}
    fields = msgspec.structs.fields(struct)
    made = [_field(struct, field, texts.pop(field.name, "")) for field in fields]
    others = [f"{_FIELD} {name}\n{text}" for name, text in texts.items()]
    return "\n".join([parts[0], *made, *others]).split("\n")


def _field(struct: type[msgspec.Struct], field: msgspec.structs.FieldInfo, text: str) -> str:
    """Return the part of one field: name, type, default, and its text in the docstring."""
    hint = _ANNOTATED.sub(r"\1", str(struct.__annotations__.get(field.name, "")))
    annotated = _WORDS.sub(r"wholecall.types.\1", hint)
    said = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(":type:"))
    default = _default(field)
    value = f"\n   :value: {default}" if default else ""
    return f"{_FIELD} {field.name}\n   :type: {annotated}{value}\n{said}"


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.default_factory is not msgspec.NODEFAULT:
        return f"{field.default_factory.__name__}()"
    return "" if field.default is msgspec.NODEFAULT else repr(field.default)


def _check_complete(_app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of public names that the reference lacks; a name that several modules export is in `wholecall`."""
    described = env.domains["py"].objects
    public = [info.name for info in pkgutil.iter_modules(wholecall.__path__, "wholecall.")]
    for name in ["wholecall", *public]:
        module = import_module(name) if name.rpartition(".")[2] != "__main__" else wholecall
        for export in () if hasattr(module, "_private") else getattr(module, "__all__", ()):
            if not {f"{name}.{export}", f"wholecall.{export}"} & described.keys():
                _log.warning("the reference lacks %s.%s", name, export)


def _keep_builtins(_app: Sphinx, doctree: nodes.document) -> None:
    """Keep the name of a builtin from linking to a field that is called like it, such as `bytes`."""
    for reference in list(doctree.findall(addnodes.pending_xref)):
        if hasattr(builtins, reference.get("reftarget", "")):
            reference.replace_self(nodes.Text(reference["reftarget"]))


def _llms_text(index: str) -> str:
    """Return `llms.txt` (https://llmstxt.org): the index as lists of links, one a line, from the site's root."""
    about = re.sub(r"[*\[\]]|\([\w./]+\)", "", index.split("\n\n")[1])
    lines = [f"# {project}", "", f"> {about}"]
    for part in re.split(r"^## ", index.partition("```{toctree}")[0], flags=re.MULTILINE)[1:]:
        links = [(title, _page(path)) for title, path, _ in _LINK.findall(part)]
        lines += ["", f"## {part.partition(chr(10))[0]}", ""]
        lines += [f"- [{title[0].upper()}{title[1:]}]({page})" for title, page in dict.fromkeys(links)]
    return "\n".join(lines) + "\n"


def _page(path: str) -> str:
    """Return where a page of the index is on the site."""
    return f"{path.removeprefix('../') if path.startswith('../') else f'docs/{path}'}.html"


def _write_llms(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.name == "html":
        index = (Path(app.srcdir) / "docs" / "index.md").read_text("utf-8")
        (Path(app.outdir) / "llms.txt").write_text(_llms_text(index), "utf-8")


def setup(app: Sphinx) -> None:
    """Hook into autodoc, after napoleon."""
    app.connect("build-finished", _write_llms)
    app.connect("autodoc-skip-member", _skips_data)
    app.connect("autodoc-process-signature", _without_signature)
    app.connect("autodoc-process-docstring", _describe_fields, priority=900)
    app.connect("doctree-read", _keep_builtins)
    app.connect("env-check-consistency", _check_complete)
