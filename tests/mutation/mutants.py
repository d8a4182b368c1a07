"""Small changes to a module, each of which its tests should notice.

Theory of operation. `mutants` walks the syntax tree of a module and looks up each node in `OPERATORS`: the function
there yields its replacements. A statement may also be left out. Nothing is changed while walking; a `Mutant` knows its
place in the tree, and `compiled` puts the change there for one compilation.

Nodes that are not behaviour are left alone: annotations and types, imports, docstrings, `__all__`, `__slots__` and
`_private`, decorators, abstract methods, and assertions, which nothing relies on at run time. A local name's assignment is never
left out, because reading the name would only fail.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from types import CodeType

_MAX_CONTEXT = 64  # characters of code that show a change


@dataclass(frozen=True)
class Mutant:
    """One change of one module.

    Attributes:
        line: the number of the line in the source.
        place: the class and function, or the name that is assigned, where the change is.
        change: the code before and after the change, on one line.
        in_function: whether it changes the behaviour of a function, and not of the module's import, which may call
            functions that return functions.
    """

    line: int
    place: str
    change: str
    in_function: bool
    _tree: ast.Module = field(repr=False)
    _put: Callable[[ast.AST], None] = field(repr=False)
    _old: ast.AST = field(repr=False)
    _new: ast.AST = field(repr=False)

    @property
    def name(self) -> str:
        """Return its name in the list of equivalent mutants, which stays when lines move."""
        return f"{self.place}: {self.change}"

    def compiled(self, path: str) -> CodeType:
        """Return the code of the whole module with this change."""
        self._put(self._new)
        code = compile(self._tree, path, "exec")
        self._put(self._old)
        return code


@dataclass(frozen=True)
class _Site:
    """A node with its context: its ancestors (nearest last), its place, and a way to replace it."""

    node: ast.AST
    above: tuple[ast.AST, ...]
    place: str
    put: Callable[[ast.AST], None]

    @property
    def in_function(self) -> bool:
        """Return whether the node is in the body of a function: the default of a parameter is not."""
        functions = [at for at, node in enumerate(self.above) if isinstance(node, ast.FunctionDef)]
        return bool(functions) and not isinstance((*self.above, self.node)[functions[0] + 1], ast.arguments)

    @property
    def makes_function(self) -> bool:
        """Return whether the node is in a function that returns a function."""
        outer = next((node for node in self.above if isinstance(node, ast.FunctionDef)), None)
        inner = list(ast.walk(outer)) if outer is not None else []
        names = {node.name for node in inner if isinstance(node, ast.FunctionDef)}
        returned = [node.value for node in inner if isinstance(node, ast.Return)]
        return any(
            isinstance(value, ast.Lambda) or (isinstance(value, ast.Name) and value.id in names)
            for value in returned
        )


def mutants(source: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of its lines."""
    tree = ast.parse(source)
    seen: Counter[str] = Counter()
    found = []
    for site in _sites(tree, (), ""):
        for new in chain(_without(site), OPERATORS.get(type(site.node), _nothing)(site)):
            ast.fix_missing_locations(ast.copy_location(new, site.node))
            change = _shown(site, new)
            seen[f"{site.place}: {change}"] += 1
            nth = seen[f"{site.place}: {change}"]
            line = getattr(site.node, "lineno", 0)
            change += f"  ({nth})" if nth > 1 else ""
            in_function = site.in_function and not site.makes_function
            found.append(Mutant(line, site.place, change, in_function, tree, site.put, site.node, new))
    return found


def _shown(site: _Site, new: ast.AST) -> str:
    """Return the code before and after the change, with as much context as fits a line."""
    left_out = _left_out(site.node, new)
    if left_out is not None:
        return f"without {_line(left_out)}"
    context = site.node
    for node in reversed(site.above):
        wider = isinstance(node, (ast.expr, ast.Return, ast.Expr, ast.Assign, ast.AugAssign, ast.keyword))
        if not wider or len(ast.unparse(node)) > _MAX_CONTEXT:
            break
        context = node
    if context is site.node:
        return f"{_line(context)} => {_line(new)}"
    before = _line(context)
    site.put(new)
    after = _line(context)
    site.put(site.node)
    return f"{before} => {after}"


def _left_out(old: ast.AST, new: ast.AST) -> ast.AST | None:
    """Return the member that the new collection lacks, None if the change is another one."""
    if type(old) is not type(new) or not isinstance(old, (ast.List, ast.Set, ast.Tuple, ast.Dict)):
        return None
    if not isinstance(old, ast.Dict):
        return next(one for one in old.elts if one not in new.elts)
    pairs = zip(old.keys, old.values, strict=True)
    return next(key or value for key, value in pairs if value not in new.values)


def _line(node: ast.AST) -> str:
    """Return code on one line; of a compound statement, or of a long one, the beginning."""
    text = ast.unparse(node)
    first = text.partition("\n")[0]
    return first if text == first and len(first) <= 2 * _MAX_CONTEXT else first[: 2 * _MAX_CONTEXT] + " ..."


# --- places of changes ---------------------------------------------------------------------------------


def _sites(node: ast.AST, above: tuple[ast.AST, ...], place: str) -> Iterator[_Site]:
    """Yield the nodes below a node that are behaviour."""
    for name, value in ast.iter_fields(node):
        if (type(node), name) in _SKIPPED_FIELDS or name in _SKIPPED_NAMES:
            continue
        children = value if isinstance(value, list) else [value]
        for at, child in enumerate(children):
            if not isinstance(child, ast.AST) or _is_no_behaviour(child, node, at):
                continue
            owner = value if isinstance(value, list) else None
            inner = _place(place, child) if isinstance(child, ast.stmt) else place
            yield _Site(child, (*above, node), inner, _putter(node, name, owner, at))
            yield from _sites(child, (*above, node), inner)


_SKIPPED_NAMES = frozenset(["annotation", "returns", "decorator_list", "ctx", "bases"])
_SKIPPED_FIELDS = frozenset([(ast.JoinedStr, "values"), (ast.ClassDef, "keywords")])


def _putter(node: ast.AST, name: str, owner: list[ast.AST] | None, at: int) -> Callable[[ast.AST], None]:
    if owner is None:
        return lambda new: setattr(node, name, new)
    return lambda new: owner.__setitem__(at, new)


def _place(place: str, statement: ast.stmt) -> str:
    """Return the place below a statement: functions, classes and names of the module are places."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return f"{place}.{statement.name}" if place else statement.name
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    return place or (ast.unparse(targets[0]) if targets[0] is not None else "module")


def _is_no_behaviour(node: ast.AST, parent: ast.AST, at: int) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.Assert)):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring, or `...`
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.FunctionDef):
        return any(ast.unparse(one) in {"overload", "abstractmethod"} for one in node.decorator_list)
    if isinstance(node, ast.Assign):  # names for people, and types
        named = ast.unparse(node.targets[0]) in {"__all__", "__slots__", "_private"}
        return named or (isinstance(parent, ast.Module) and isinstance(node.value, ast.Subscript))
    if isinstance(parent, ast.Call):  # `frozenset[str](...)` and `cast("str", ...)`
        typed = isinstance(node, ast.Subscript) and node is parent.func
        typed = typed or ast.unparse(parent.func) == "TypeVar"
        return typed or (ast.unparse(parent.func) == "cast" and at == 0 and node is not parent.func)
    return False


# --- changes of statements -----------------------------------------------------------------------------


def _nothing(_: _Site) -> Iterator[ast.AST]:
    return iter(())


def _without(site: _Site) -> Iterator[ast.AST]:
    """Leave out a statement of a function, if the following statements can run without it."""
    if not site.in_function:
        return
    node = site.node
    if isinstance(node, ast.Assign):
        lasting = all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in node.targets)
    elif isinstance(node, ast.AnnAssign):
        lasting = node.value is not None and not isinstance(node.target, ast.Name)
    else:
        lasting = isinstance(node, (ast.Expr, ast.AugAssign, ast.Delete, ast.Raise))
        lasting = lasting or (isinstance(node, ast.Return) and node.value is None)
    if lasting:
        yield ast.Pass()


def _of_return(site: _Site) -> Iterator[ast.AST]:
    value = site.node.value
    if value is not None and not (isinstance(value, ast.Constant) and value.value in (None, False)):
        yield ast.Return(ast.Constant(None))


def _of_loop(site: _Site) -> Iterator[ast.AST]:
    loop = site.node
    yield ast.For(loop.target, ast.Tuple([], ast.Load()), loop.body, loop.orelse)


def _of_added(site: _Site) -> Iterator[ast.AST]:
    yield ast.Assign([site.node.target], site.node.value)


# --- changes of expressions ----------------------------------------------------------------------------

_COMPARISONS: dict[type, tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_ARITHMETIC: dict[type, type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_CALLED = {
    name: twin
    for pair in (
        *("all any", "min max", "startswith endswith", "find rfind", "partition rpartition"),
        *("removeprefix removesuffix", "lstrip rstrip", "search match", "match fullmatch"),
    )
    for name, twin in (pair.split(), reversed(pair.split()))
}


def _of_comparison(site: _Site) -> Iterator[ast.AST]:
    node = site.node
    for at, old in enumerate(node.ops):
        for new in _COMPARISONS[type(old)]:
            yield ast.Compare(node.left, [*node.ops[:at], new(), *node.ops[at + 1 :]], node.comparators)


def _of_and_or(site: _Site) -> Iterator[ast.AST]:
    node = site.node
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for left_out in node.values:
        rest = [value for value in node.values if value is not left_out]
        yield ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0]


def _of_sign(site: _Site) -> Iterator[ast.AST]:
    if isinstance(site.node.op, (ast.Not, ast.USub)):
        yield site.node.operand


def _of_choice(site: _Site) -> Iterator[ast.AST]:
    yield site.node.body
    yield site.node.orelse


def _of_arithmetic(site: _Site) -> Iterator[ast.AST]:
    new = _ARITHMETIC.get(type(site.node.op))
    if new is not None:
        yield ast.BinOp(site.node.left, new(), site.node.right)


def _of_slice(site: _Site) -> Iterator[ast.AST]:
    if site.node.lower is not None:
        yield ast.Slice(None, site.node.upper, site.node.step)
    if site.node.upper is not None:
        yield ast.Slice(site.node.lower, None, site.node.step)


def _of_call(site: _Site) -> Iterator[ast.AST]:
    node, called = site.node, site.node.func
    if isinstance(called, ast.Name) and called.id in _CALLED:
        yield ast.Call(ast.Name(_CALLED[called.id], ast.Load()), node.args, node.keywords)
    if isinstance(called, ast.Name) and called.id in {"sorted", "reversed"} and not node.keywords:
        yield ast.Call(ast.Name("list", ast.Load()), node.args, [])
    if isinstance(called, ast.Attribute) and called.attr in _CALLED:
        twin = ast.Attribute(called.value, _CALLED[called.attr], ast.Load())
        yield ast.Call(twin, node.args, node.keywords)
    if isinstance(called, ast.Attribute) and called.attr in {"strip", "rstrip", "lstrip"}:
        yield called.value
    for left_out in node.keywords:
        yield ast.Call(called, node.args, [one for one in node.keywords if one is not left_out])


def _of_constant(site: _Site) -> Iterator[ast.AST]:
    value = site.node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        yield ast.Constant(value - 1)
    elif isinstance(value, (str, bytes)) and not _is_member(site):
        other = "other" if isinstance(value, str) else b"other"
        yield ast.Constant(type(value)() if value else other)


def _is_member(site: _Site) -> bool:
    """Return whether leaving it out of its collection is change enough, or the constant is a key."""
    parent = site.above[-1]
    if isinstance(parent, ast.Dict):
        return site.node in parent.keys
    return isinstance(parent, (ast.List, ast.Set)) or (
        isinstance(parent, ast.Tuple) and _is_table(site.above[:-1])
    )


def _of_text(_: _Site) -> Iterator[ast.AST]:
    yield ast.Constant("")


def _of_members(site: _Site) -> Iterator[ast.AST]:
    node = site.node
    for left_out in node.elts:
        yield type(node)([one for one in node.elts if one is not left_out], *_context(node))


def _of_tuple(site: _Site) -> Iterator[ast.AST]:
    return _of_members(site) if _is_table(site.above) else iter(())


def _is_table(above: tuple[ast.AST, ...]) -> bool:
    """Return whether a tuple is a collection of the module, and not a record."""
    nested = (ast.Module, ast.Assign, ast.AnnAssign, ast.Tuple, ast.Starred, ast.Call)
    return all(isinstance(node, nested) for node in above)


def _context(node: ast.expr) -> list[ast.expr_context]:
    return [node.ctx] if isinstance(node, (ast.List, ast.Tuple)) else []


def _of_dict(site: _Site) -> Iterator[ast.AST]:
    pairs = list(zip(site.node.keys, site.node.values, strict=True))
    for left_out in pairs:
        rest = [pair for pair in pairs if pair is not left_out]
        yield ast.Dict([key for key, _ in rest], [value for _, value in rest])


def _of_condition(site: _Site) -> Iterator[ast.AST]:
    """Negate a condition that is neither a comparison nor a formula; those have separate changes."""
    parent = site.above[-1]
    tests = parent.ifs if isinstance(parent, ast.comprehension) else [getattr(parent, "test", None)]
    if any(site.node is test for test in tests):
        yield ast.UnaryOp(ast.Not(), site.node)


def _of_called_condition(site: _Site) -> Iterator[ast.AST]:
    yield from _of_condition(site)
    yield from _of_call(site)


OPERATORS: dict[type, Callable[[_Site], Iterator[ast.AST]]] = {
    ast.Return: _of_return,
    ast.For: _of_loop,
    ast.AugAssign: _of_added,
    ast.Break: lambda _: iter([ast.Continue()]),
    ast.Continue: lambda _: iter([ast.Break()]),
    ast.Compare: _of_comparison,
    ast.BoolOp: _of_and_or,
    ast.UnaryOp: _of_sign,
    ast.IfExp: _of_choice,
    ast.BinOp: _of_arithmetic,
    ast.Slice: _of_slice,
    ast.Call: _of_called_condition,
    ast.Name: _of_condition,
    ast.Attribute: _of_condition,
    ast.NamedExpr: _of_condition,
    ast.Constant: _of_constant,
    ast.JoinedStr: _of_text,
    ast.List: _of_members,
    ast.Set: _of_members,
    ast.Tuple: _of_tuple,
    ast.Dict: _of_dict,
}
