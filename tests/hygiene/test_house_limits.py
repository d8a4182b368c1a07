"""The house limits: short functions, short files, shallow nesting, plain first lines, no exception swallowed unnamed."""

from __future__ import annotations

import ast
import itertools
import re
import tokenize
from functools import cache
from io import StringIO

import pytest

from tests.hygiene.source_tree import PACKAGE, PROJECT, module_path, modules, nodes

MAX_FUNCTION_LINES = 50
MAX_TYPICAL_LINES = 25  # nine functions of ten
MAX_FILE_LINES = 700
MAX_NESTING = 3
MAX_WHAT = 5 / 1000  # of all words of prose

_CLAUSE = re.compile(r"(What|Which|Who|Whose|Whom|How|Where|Whether|When|Why)(ever)?\b")

_TITLE = re.compile(r'(?:#.*\n|\s)*"""\s*(.*)')  # to parse all modules takes seconds

Function = ast.FunctionDef | ast.AsyncFunctionDef
_NESTING = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)


@cache
def functions() -> tuple[tuple[str, Function], ...]:
    """Return every function of the package with its place."""
    return tuple(
        (f"{name}:{node.lineno} {node.name}", node)
        for name in modules()
        for node in nodes(name)
        if isinstance(node, Function)
    )


def length(function: Function) -> int:
    """Return the lines of a function without its decorators and docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function, clean=False) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def nesting(node: ast.AST) -> int:
    """Return how deep the blocks below a node nest; an `elif` is no deeper than its `if`."""
    deepest = 0
    for field, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        for child in children:
            if not isinstance(child, ast.AST) or isinstance(
                child, (*Function.__args__, ast.ClassDef, ast.Lambda)
            ):
                continue
            is_elif = isinstance(node, ast.If) and field == "orelse" and isinstance(child, ast.If)
            is_elif = is_elif and len(children) == 1
            deepest = max(deepest, nesting(child) + (isinstance(child, _NESTING) and not is_elif))
    return deepest


def test_no_function_is_long() -> None:
    """No function has more than 50 lines."""
    long = {place: length(node) for place, node in functions() if length(node) > MAX_FUNCTION_LINES}

    assert {} == long


def test_functions_are_mostly_short() -> None:
    """Nine functions of ten have at most 25 lines."""
    lengths = sorted(length(node) for _, node in functions())

    assert lengths[len(lengths) * 9 // 10] <= MAX_TYPICAL_LINES


def test_no_file_is_long() -> None:
    """No module has more than 700 lines."""
    lines = {name: module_path(name).read_text("utf-8").count("\n") for name in modules()}

    assert {} == {name: count for name, count in lines.items() if count > MAX_FILE_LINES}


def test_no_part_of_a_page_is_long() -> None:
    """Scripts, styles and markup that the package carries obey the limit of modules."""
    parts = [path for kind in ("js", "css", "html") for path in PACKAGE.rglob(f"*.{kind}")]
    lines = {path.name: path.read_text("utf-8").count("\n") for path in parts}

    assert lines
    assert {} == {name: count for name, count in lines.items() if count > MAX_FILE_LINES}


def test_nothing_nests_deeply() -> None:
    """No function nests more than three blocks."""
    deep = {place: nesting(node) for place, node in functions() if nesting(node) > MAX_NESTING}

    assert {} == deep


@pytest.mark.parametrize(
    ("source", "depth"),
    [
        ("def f():\n  return 1", 0),
        ("def f():\n  if a:\n    pass\n  elif b:\n    pass\n  elif c:\n    pass", 1),
        ("def f():\n  if a:\n    pass\n  else:\n    if b:\n      pass\n    x = 1", 2),
        ("def f():\n  for a in b:\n    try:\n      pass\n    except E:\n      if c:\n        pass", 3),
        ("def f():\n  def g():\n    if a:\n      pass", 0),
    ],
)
def test_nesting_is_measured(source: str, depth: int) -> None:
    """A chain of `elif` is one level, a handler is as deep as its body, an inner function counts alone."""
    assert depth == nesting(ast.parse(source).body[0])


def test_no_exception_is_caught_unnamed() -> None:
    """No handler is bare, and none that catches everything throws it away."""
    broad = []
    for name in modules():
        for node in nodes(name):
            if not isinstance(node, ast.ExceptHandler):
                continue
            caught = (
                {part.id for part in ast.walk(node.type) if isinstance(part, ast.Name)}
                if node.type
                else set()
            )
            reraises = any(isinstance(inner, ast.Raise) for inner in ast.walk(node))
            if node.type is None or (caught & {"Exception", "BaseException"} and not reraises):
                broad.append(f"{name}:{node.lineno}")

    assert [] == broad


@pytest.mark.parametrize("folder", ["parser", "tests", "benchmarks", "examples", "fuzz"])
def test_a_module_opens_with_a_title(folder: str) -> None:
    """The first line of a module is a noun phrase or an imperative, no clause: it says the subject, and no riddle."""
    paths = [path for path in (PROJECT / folder).rglob("*.py") if "node_modules" not in path.parts]
    titles = {path.name: _TITLE.match(path.read_text("utf-8")) for path in paths}
    told = {name: title[1] for name, title in titles.items() if title is not None}

    assert {} == {name: title for name, title in told.items() if _CLAUSE.match(title)}


@cache
def prose() -> str:
    """Return the docstrings and the comments of the package."""
    found = [
        ast.get_docstring(node) or ""
        for name in modules()
        for node in nodes(name)
        if isinstance(node, (ast.Module, ast.ClassDef, *Function.__args__))
    ]
    for name in modules():
        tokens = tokenize.generate_tokens(StringIO(module_path(name).read_text("utf-8")).readline)
        found += [token.string for token in tokens if token.type == tokenize.COMMENT]
    return " ".join(found)


@pytest.mark.parametrize("where", ["package", "pages"])
def test_few_sentences_hide_their_subject(where: str) -> None:
    """Of 1,000 words at most 5 are "what": a sentence names its subject, or a stranger has to guess it."""
    pages = [*(PROJECT / "docs").rglob("*.md"), *PROJECT.glob("*.md")]
    text = prose() if where == "package" else " ".join(path.read_text("utf-8") for path in pages)
    words = re.findall(r"[a-z']+", text.lower())

    assert len(words) > 10_000
    assert words.count("what") / len(words) < MAX_WHAT


def test_the_glossary_is_short() -> None:
    """At most 25 words have a sense of their own, each explained in one sentence, and each is used in the package."""
    page = (PROJECT / "docs" / "glossary.md").read_text("utf-8")
    rows = re.findall(r"^\| \*\*([a-z ]+)\*\* \| (.+) \|$", page, re.MULTILINE)
    words = re.findall(r"[a-z]+", prose().lower())
    used = {*words, *(" ".join(pair) for pair in itertools.pairwise(words))}

    assert 20 <= len(rows) <= 25
    assert sorted(rows) == rows
    assert [] == [word for word, _ in rows if used.isdisjoint({word, f"{word}s"})]
    assert [] == [word for word, meaning in rows if len(meaning) > 120]
