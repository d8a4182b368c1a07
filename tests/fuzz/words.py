"""The words of the wire, as a dictionary for fuzzers: `python -m tests.fuzz.words` writes `fuzz/wire.dict`.

They are the words that the dialects themselves look for: the members of their views, and the texts in their modules.
Therefore a new dialect adds its words by existing, and `tests/fuzz/test_build.py` reports an outdated file.
"""

from __future__ import annotations

import ast
import pkgutil
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import msgspec

import wholecall.dialects
from tests.fuzz.mutate import TOKENS

DICTIONARY = Path(__file__).resolve().parents[2] / "fuzz" / "wire.dict"
_WORD = re.compile(r"[A-Za-z][\w.:/-]{1,39}").fullmatch
_HEAD = "# Written by `python -m tests.fuzz.words`: what separates events and makes JSON, then the words of the dialects.\n"


def dictionary() -> str:
    """Return the dictionary: tokens as the fuzzer's own damage puts them, then words in quotation marks, as in JSON."""
    words = sorted({word for module in _modules() for word in _of_views(module) | _of_texts(module)})
    tokens = [*TOKENS, *(f'"{word}"'.encode() for word in words)]
    return _HEAD + "".join(f'"{_escaped(token)}"\n' for token in tokens)


def _modules() -> Iterator[ModuleType]:
    for module in pkgutil.walk_packages(wholecall.dialects.__path__, "wholecall.dialects."):
        if module.name != "wholecall.dialects.table":  # names of ours
            yield import_module(module.name)


def _of_views(module: ModuleType) -> set[str]:
    """Return the members that the module's Structs read, and the tags that choose among them."""
    found: set[str] = set()
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, msgspec.Struct):
            config = value.__struct_config__
            found |= {*value.__struct_encode_fields__, *filter(None, (config.tag_field, config.tag))}
    return {word for word in found if isinstance(word, str)}


def _of_texts(module: ModuleType) -> set[str]:
    """Return the texts of a module that are words of the wire: all but docstrings, and the names that it exports."""
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    outside = {node for body in ast.walk(tree) if _is_said_to_people(body) for node in ast.walk(body)}
    constants = (
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in outside
    )
    texts = [text for text in constants if isinstance(text, str) and not text.endswith("Translator")]
    if module.__name__ in (
        "wholecall.dialects.detect",
        "wholecall.dialects.agents.entries",
    ):  # its texts are paths
        texts = [step for text in texts for step in re.split(r"[.|\[\]*]+", text)]
    return {text for text in texts if _WORD(text)}


def _is_said_to_people(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)
    return isinstance(node, (ast.Expr, ast.Raise)) and not isinstance(getattr(node, "value", None), ast.Call)


def _escaped(token: bytes) -> str:
    """Return a token as libFuzzer reads it: printable ASCII, and the other bytes by their numbers."""
    text = token.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return "".join(chr(octet) if 32 <= octet < 127 else f"\\x{octet:02X}" for octet in text)


def write() -> None:
    """Write the dictionary."""
    DICTIONARY.write_text(dictionary(), "utf-8")


if __name__ == "__main__":
    write()
    sys.stdout.write(f"{DICTIONARY.name}: {len(dictionary().splitlines()) - 1} words\n")
