"""The mutants: which changes are made, where none is, and that each compiles to other code."""

from __future__ import annotations

import pytest

from tests.mutation.__main__ import MODULES, equivalents
from tests.mutation.mutants import mutants
from tests.mutation.trial import source_of
from tests.support.together import together


def changes(source: str) -> list[str]:
    """Return the changes of a source, place by place."""
    return [mutant.name for mutant in mutants(source)]


@together(
    ("statement", "expected"),
    [
        ("return a < b", ["return a < b => return None", "a <= b", "a >= b"]),
        ("return a is None", ["return a is None => return None", "a is not None"]),
        ("return a and b", ["return a and b => return None", "a or b", "b", "a"]),
        ("return not a", ["return not a => return None", "a"]),
        ("return a + b", ["return a + b => return None", "a - b"]),
        ("return a[1:]", ["return a[1:] => return None", "a[:]", "a[2:]", "a[0:]"]),
        ("return a if b else c", ["return a if b else c => return None", "a", "c", "a if not b else c"]),
        ("return a.strip()", ["return a.strip() => return None", "a"]),
        ("return a.find(b)", ["return a.find(b) => return None", "a.rfind(b)"]),
        ("return a(b=c)", ["return a(b=c) => return None", "a()"]),
        ("a.b = 'x'", ["a.b = 'x' => pass", "a.b = ''"]),
        ("a += b", ["a += b => pass", "a += b => a = b"]),
        ("a(b'')", ["a(b'') => pass", "a(b'other')"]),
        ("a(f'{b}')", ["a(f'{b}') => pass", "a('')"]),
        ("for a in b: continue", ["for a in b: ... => for a in (): ...", "continue => break"]),
        ("while a: break", ["not a", "break => continue"]),
        ("raise a", ["raise a => pass"]),
        ("a = [b, c]", ["without b", "without c"]),
        ("a = {b: c}", ["without b"]),
        ("a = b", []),
        ("assert a == 1", []),
        ("'text'", []),
        ("a: int = cast('int', b)", []),
    ],
)
def test_changes_of_a_statement(statement: str, expected: list[str]) -> None:
    """Each statement has the changes that its operators have, and a local name keeps its assignment."""
    found = changes(f"def f():\n    {statement}\n")

    assert len(expected) == len(found)
    assert all(name.startswith("f: ") and part in name for part, name in zip(expected, found, strict=True))


def test_what_is_no_behaviour_stays() -> None:
    """Imports, types, docstrings, lists of names, overloads and abstract methods have no mutants."""
    source = '''
"""Text."""
import a
__all__ = ["b"]
_private = True
T = Union["c", "d"]
if TYPE_CHECKING:
    X = 1
class C(B, kind="e"):
    """Text."""
    __slots__ = ("g",)
    @abstractmethod
    def h(self, i: int = 1) -> int: ...
@overload
def j(k: int = 1) -> int: ...
'''

    assert [] == changes(source)


def test_tables_lose_their_members_and_records_do_not() -> None:
    """A tuple of the module is a collection, one in a function a record."""
    assert ["T: without 'a'", "T: without 'b'"] == changes("T = ('a', 'b')\n")
    assert ["f: without 'x'"] == changes("def f():\n    a = ['x']\n")
    assert [] == changes("def f():\n    a, b = c, d\n")


def test_places_and_lines() -> None:
    """A mutant knows its line, its class and function, and whether it changes an import's effect."""
    found = mutants("A = 1\nclass C:\n    def f(self, a=2):\n        return a == 3\n")

    assert [
        (1, "A", False),
        (1, "A", False),
        (3, "C.f", False),
        (3, "C.f", False),
        (4, "C.f", True),
    ] == [(mutant.line, mutant.place, mutant.in_function) for mutant in found][:5]


def test_functions_that_return_functions_change_an_import() -> None:
    """What they return may be in a table of the module, so the change must be there before the import."""
    found = mutants("def f(a):\n    def g(b):\n        return b == a\n    return g\n")
    found += mutants("def f(a):\n    return lambda b: b == a\n")
    found += mutants("def f(a):\n    return min(a, key=lambda b: b == a)\n")

    assert [("f.g", False), ("f", False), ("f", True)] == list(
        dict.fromkeys((mutant.place, mutant.in_function) for mutant in found)
    )


def test_equal_changes_have_names_of_their_own() -> None:
    """The second change of the same code in one place is numbered."""
    assert ["f: a() => pass", "f: a() => pass  (2)"] == changes("def f():\n    a()\n    a()\n")


def test_each_mutant_is_another_module() -> None:
    """Compiling a mutant gives its own code, and leaves the others as they are."""
    found = mutants("def f(a):\n    return a == 1 and not a\n")
    codes = [mutant.compiled("x") for mutant in found]

    assert len(found) == len(
        {code.co_consts[0].co_code + repr(code.co_consts[0].co_consts).encode() for code in codes}
    )
    assert codes == [mutant.compiled("x") for mutant in found]


@pytest.mark.slow
def test_listed_mutants_exist() -> None:
    """Each mutant that is listed as equivalent is one of its module: a change of the code takes its name off the list."""
    stale = [
        f"{name} {listed}"
        for name, module in MODULES.items()
        for listed in sorted(equivalents(name).difference(changes(source_of(module).read_text("utf-8"))))
    ]

    assert [] == stale
