"""Compiles the tables of dialects: from rows of statements to a view of all their members, and a function of each row.

Theory of operation. A dialect's table has a row for each event (see `wholecall.dialects.say`). Its class is
compiled once, when its module is imported. Each row becomes the source of one function, and each path in it an
expression; a path also puts its members into the view, a tree of Structs that one typed decoder fills. The row

    "usage": (say.usage("message.usage"),)

becomes, with a view whose member `message` has a member `usage`,

    def usage_row(self, event):
        message = event.message
        deltas = usage(message and message.usage)
        return deltas

The rules for every path are in here alone: a label may be anything, arguments keep their own text, and the decoder
reads one object where a list is due (`wholecall.dialects.decode`). `source_of` returns the source, which debuggers and
tracebacks show as well.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from keyword import iskeyword
from typing import Any, ClassVar, Final, NamedTuple, Union

import msgspec

from wholecall.deltas import Delta
from wholecall.dialects import decode, report, say
from wholecall.dialects.at import FirstOf, State, Value
from wholecall.dialects.translator import TurnTranslator
from wholecall.framing.frame import Frame

_INDENT: Final = "    "
_CALLED: Final = frozenset({"enumerate", "next", "str", "type"})  # builtins that the source calls


class TableTranslator(TurnTranslator):
    """A translator whose class is a table.

    Attributes:
        ROWS: the statements of each event, by its kind.
        BODIES: the statements of frames that are no event (a whole body, say), by a member that such a frame has; the
            first member that is there decides.
        EVENTLESS: members decide what any frame is that has no row in `ROWS`, whatever it calls itself.
        SOURCE: the functions of the rows, as they were compiled.
        bodies: the functions of `BODIES`.
    """

    ROWS: ClassVar[say.Rows] = {}
    BODIES: ClassVar[say.Rows] = {}
    EVENTLESS: ClassVar[bool] = False
    SOURCE: ClassVar[str] = ""
    bodies: ClassVar[dict[str, Callable[[Any, Any], list[Delta]]]] = {}

    def __init_subclass__(cls) -> None:
        """Compile the table of the class, if it has one."""
        super().__init_subclass__()
        if not vars(cls).keys().isdisjoint(("ROWS", "BODIES")):
            _compile(cls)

    def _is_body(self, view: Any, kind: str, /) -> bool:  # noqa: ARG002
        """Return whether a frame is no event: nothing in it names a kind."""
        return self.EVENTLESS or all(getattr(view, member) is None for member in self.KINDS)

    def _other(self, view: Any, frame: Frame, kind: str, /) -> list[Delta]:
        if self.bodies and self._is_body(view, kind):
            for member, row in self.bodies.items():
                if getattr(view, member) is not None:
                    return row(self, view)
        return super()._other(view, frame, kind)


def source_of(translator: type[TableTranslator]) -> str:
    """Return the source that a dialect's table was compiled to."""
    return translator.SOURCE


def _compile(cls: type[TableTranslator]) -> None:
    """Give a class the decoder of its views and the functions of its rows."""
    root = Node(dict.fromkeys([*cls.KINDS, "error", *cls.BODIES], Any))
    names: dict[str, Any] = {"NO_TEXT": decode.NO_TEXT, "listed": _listed}
    rows: dict[int, tuple[str, say.Row]] = {}  # events with one row share its function
    for suffix, table in (("body", cls.BODIES), ("row", cls.ROWS)):
        for key, row in table.items():
            name = re.sub("[^A-Za-z0-9]|^(?=[0-9])", "_", key)
            rows.setdefault(id(row), (f"{name}_{suffix}", row))
    called = {of: name for of, (name, _) in rows.items()}
    cls.SOURCE = "\n\n".join(_function(called[of], row, root, names) for of, (_, row) in rows.items())
    run(cls.SOURCE, f"<the table of {cls.__name__}>", names)
    cls.decoder = msgspec.json.Decoder(_view(cls.__name__, root, names))
    cls.EVENTS = {key: names[called[id(row)]] for key, row in cls.ROWS.items()}
    cls.bodies = {key: names[called[id(row)]] for key, row in cls.BODIES.items()}


def run(source: str, file: str, names: dict[str, Any]) -> None:
    """Run source that was made of a table, so that debuggers and tracebacks find it."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)  # noqa: S102 - made of our own tables


def members_of(rows: Iterable[say.Row]) -> Node:
    """Return the members that rows read."""
    root = Node()
    for row in rows:
        _function("row", row, root, {})
    return root


# Views.


class Node:
    """An object of the wire, as far as the paths of a table know it.

    Attributes:
        members: their types, or the objects in them.
        many: there is a list of such objects, or such an object alone.
        texts: the member that a text in the list stands for, if there are texts.
        names: of the view, in functions that make one.
    """

    members: dict[str, Any]
    many: set[str]
    texts: set[str]
    names: set[str]

    def __init__(self, members: dict[str, Any] | None = None) -> None:
        self.members = members or {}
        self.many = set()
        self.texts = set()
        self.names = set()

    def member(self, name: str, kind: Any) -> None:
        """Note a member of some type; an object that other paths look into remains one."""
        if not isinstance(self.members.get(name), Node):
            self.members[name] = kind

    def inner(self, name: str) -> Node:
        """Return the object in a member."""
        known = self.members.get(name)
        if not isinstance(known, Node):
            known = self.members[name] = Node()
        return known

    def share(self, name: str, node: Node) -> None:
        """Make a member hold the same kind of object as another member: what is known of one is known of the other."""
        known = self.members.setdefault(name, node)
        if not isinstance(known, Node):
            self.members[name] = node
        elif known.members is not node.members:
            node.absorb(known)
            known.members, known.many, known.texts, known.names = (
                node.members,
                node.many,
                node.texts,
                node.names,
            )

    def absorb(self, other: Node) -> None:
        """Note what is known of another object of this kind."""
        for name, of in other.members.items():
            if isinstance(of, Node):
                self.inner(name).absorb(of)
            else:
                self.member(name, of)
        self.many |= other.many
        self.texts |= other.texts
        self.names |= other.names


def _view(name: str, node: Node, names: dict[str, Any]) -> Any:
    """Return the view of an object."""
    fields = [_field(f"{name}_{key}", key, of, names) for key, of in node.members.items()]
    view = msgspec.defstruct(name, fields, gc=False)
    names.update(dict.fromkeys(node.names, view))
    return view


def _field(name: str, key: str, of: Any, names: dict[str, Any]) -> tuple[str, Any, Any]:
    if not isinstance(of, Node):
        return key, of, decode.NO_TEXT if of is msgspec.Raw else None
    view: Any = _view(name, of, names)
    kinds: list[Any] = [] if of.many == {"list"} else [view]
    if "list" in of.many:
        kinds.append(list[Union[view, str]] if of.texts else list[view])
    if of.texts:
        kinds.append(str)
    return key, Union[tuple([*kinds, None])], None  # noqa: C409 - CPython 3.10 takes no star in an index


# Functions.


class _Object(NamedTuple):
    """An object that statements are about: the variable that holds it, and what is known of it."""

    variable: str
    node: Node


Scope = tuple[_Object, ...]  # the event, then the objects around the current one, and this one


def _function(name: str, row: say.Row, root: Node, names: dict[str, Any]) -> str:
    """Return the source of a row's function."""
    again: set[Any] = set()
    scope = (_Object("event", root),)
    _Writer(names, again).row(row, scope)  # finds the values that are read more than once
    writer = _Writer(names, again)
    writer.row(row, scope)
    body = "\n".join(f"{_INDENT}{line}" for line in [*writer.lines, "return deltas"])
    return f"def {name}(self, event):\n{body}\n"


class _Writer:
    """Writes the lines of a row's function, and puts the members that it reads into the views.

    Attributes:
        lines: so far; those of blocks are indented.
    """

    lines: list[str]
    _names: dict[str, Any]
    _used: set[str]
    _known: list[dict[Any, Any]]
    _again: set[Any]

    def __init__(self, names: dict[str, Any], again: set[Any]) -> None:
        self.lines = []
        self._names = names  # those that functions refer to, and their values
        self._again = again  # values that are read more than once
        self._used = {"self", "event", "deltas"}  # variables of this function
        self._known = [{}]  # what variables hold, by the blocks that are open

    def row(self, row: say.Row, scope: Scope) -> None:
        """Write the statements of a row."""
        if not self.lines and not (row and isinstance(row[0], say.Say)):
            self._line("deltas = []")
        for statement in row:
            self.WRITERS[type(statement)](self, statement, scope)

    def _line(self, line: str) -> None:
        self.lines.append(_INDENT * (len(self._known) - 1) + line)

    @contextmanager
    def _block(self, line: str) -> Generator[None, None, None]:
        self._line(line)
        self._known.append({})
        n_lines = len(self.lines)
        yield
        if len(self.lines) == n_lines:
            self._line("pass")
        self._known.pop()

    def _variable(self, path: str) -> str:
        """Return a new variable, named for the member at a path."""
        name = made = re.split(r"[./]", path.partition("|")[0])[-1].lower()
        number = 2
        while made in self._used or made in self._names or made in _CALLED or iskeyword(made):
            made, number = f"{name}{number}", number + 1
        self._used.add(made)
        return made

    def _held(self, key: Any) -> Any:
        """Return what a variable of an open block holds."""
        return next((known[key] for known in self._known if key in known), None)

    def _bound(self, value: Any) -> str:
        """Return an expression for a constant, or for a function of this package."""
        if value is None or isinstance(value, (str, int, bool)):
            return repr(value)
        name = getattr(value, "__name__", "value")
        while name in self._used or self._names.setdefault(name, value) is not value:
            name += "_"
        return name

    # Statements

    def _say(self, said: say.Say, scope: Scope) -> None:
        function = f"self.{said.function}" if isinstance(said.function, str) else self._bound(said.function)
        values = [self._expression(value, scope) for value in said.values]
        named = [f"{name}={self._expression(value, scope)}" for name, value in said.named.items()]
        says = "+=" if any("deltas = " in line for line in self.lines) else "="
        self._line(f"deltas {says} {function}({', '.join(values + named)})")

    def _do(self, done: say.Do, _scope: Scope) -> None:
        self._line(f"self.{done.method}()")

    def _stop(self, _stop: say.Stop, _scope: Scope) -> None:
        with self._block("if not self._open:"):
            self._line("return deltas")

    def _each(self, of: say.Each, scope: Scope) -> None:
        found, node = self._objects(of.path, scope)
        node.many |= {"list", "one"} if of.alone else {"list"}
        found = f"listed({found})" if of.alone or of.text else f"{found} or ()"
        item = self._variable(of.path.partition("|")[0].rstrip("s"))
        n_lines = len(self.lines)
        with self._block(f"for {item} in {found}:"):
            if of.text:
                self._text(of.text, item, node)
            self.row(of.row, (*scope, _Object(item, node)))
        if any(f"{item}_at" in line for line in self.lines[n_lines:]):
            line = self.lines[n_lines].replace(
                f"for {item} in {found}", f"for {item}_at, {item} in enumerate({found})"
            )
            self.lines[n_lines] = line

    def _text(self, member: str, item: str, node: Node) -> None:
        """Write that a text stands for an object."""
        made = min(node.names, default=f"{item}_view".title().replace("_", ""))
        while made not in node.names and made in self._names:
            made += "_"
        self._names[made] = None  # until there is the view
        node.texts.add(member)
        node.names.add(made)
        self._line(f"{item} = {made}({member}={item}) if type({item}) is str else {item}")

    def _given(self, of: say.Given, scope: Scope) -> None:
        if "|" in of.path:
            found, node = self._objects(of.path, scope)
            node.many.add("one")
            inner = _Object(self._variable(of.path), node)
            self._line(f"{inner.variable} = {found}")
        else:
            inner, _ = self._walk(f"{of.path}.", scope)
        with self._block(f"if {inner.variable}:"):
            self.row(of.row, (*scope, inner))

    def _when(self, of: say.When, scope: Scope) -> None:
        value = self._expression(of.value, scope)
        value = f"({value})" if " " in value else value
        with self._block(f"if {_among(value, of.among, negated=not of.row)}:"):
            self.row(of.row or of.otherwise, scope)
        if of.row and of.otherwise:
            with self._block("else:"):
                self.row(of.otherwise, scope)

    def _by(self, of: say.By, scope: Scope) -> None:
        kind = self._variable("kind")
        self._line(f"{kind} = {self._expression(of.value, scope)}")
        word = "if"
        for known, row in of.rows.items():
            with self._block(f"{word} {kind} == {known!r}:"):
                self.row(row, scope)
            word = "elif"
        with self._block(f"elif {kind} not in {of.quiet!r}:"):
            self._line(f"deltas += {self._bound(report.unknown)}()")

    WRITERS: ClassVar[dict[type, Callable[[_Writer, Any, Scope], None]]] = {
        say.Say: _say,
        say.Do: _do,
        say.Stop: _stop,
        say.Each: _each,
        say.Given: _given,
        say.When: _when,
        say.By: _by,
    }

    # Values

    def _expression(self, value: Any, scope: Scope) -> str:
        """Return the expression of a value, or of a constant; of several alternatives, it is written before."""
        if isinstance(value, State):
            return f"self.{value.attribute}"
        if not isinstance(value, (Value, FirstOf)):
            return self._bound(value)
        key = value, scope[-1].variable
        held = self._held(key)
        if held:
            self._again.add(key)
            return str(held)
        values = value.values if isinstance(value, FirstOf) else (value,)
        ways = [(way, one) for one in values for way in one.path.split("|")]
        (path, of), *others = ways
        first = self._reading(path, of, scope)
        if not others and (key not in self._again or of.read is None):
            self._known[-1][key] = first
            return first
        found = self._variable(path)
        self._line(f"{found} = {first}")
        for path, one in others:
            absent = f"{found} is None" if of.truth is None else f"not {found}{of.truth}"
            with self._block(f"if {absent}:"):
                self._line(f"{found} = {self._reading(path, one, scope)}")
            of = one
        self._known[-1][key] = found
        return found

    def _reading(self, path: str, value: Value, scope: Scope) -> str:
        """Return the expression of one alternative of a value."""
        if path == "#":
            return f"{scope[-1].variable}_at"
        if "[]." in path:
            of, rest = path.split("[].", 1)
            return self._in_list(of, rest, value, scope)
        way = self._member(path, value.kind, scope)
        return way if value.read is None else f"{self._bound(value.read)}({way})"

    def _in_list(self, path: str, rest: str, value: Value, scope: Scope) -> str:
        """Return the expression of the first object of a list in which a value holds something."""
        found, node = self._objects(path, scope)
        node.many.add("list")
        item, it = self._variable("item"), self._variable("it")
        reading = self._reading(rest, value, (*scope, _Object(item, node)))
        holds = f"({it} := {reading})" + (" is not None" if value.truth is None else value.truth)
        return f"next(({it} for {item} in {found} or () if {holds}), None)"

    # Paths

    def _member(self, path: str, kind: Any, scope: Scope) -> str:
        """Return the expression of a member, and note it in the view."""
        of, name = self._walk(path, scope)
        of.node.member(name, kind)
        return _inside(of, name, scope, "NO_TEXT" if kind is msgspec.Raw else "")

    def _walk(self, path: str, scope: Scope) -> tuple[_Object, str]:
        """Follow a path: return the object that holds its last member, in a variable, and the member's name."""
        scope, path = _anchored(path, scope)
        of = scope[-1]
        *outer, name = path.split(".")
        for member in outer:
            key = of.variable, member
            inner = self._held(key)
            if inner is None:
                inner = _Object(self._variable(member), of.node.inner(member))
                inner.node.many.add("one")
                self._line(f"{inner.variable} = {_inside(of, member, scope)}")
                self._known[-1][key] = inner
            of = inner
        return of, name

    def _objects(self, paths: str, scope: Scope) -> tuple[str, Node]:
        """Return the expression of the objects at alternative paths, which have one view."""
        (of, name), *others = (self._walk(path, scope) for path in paths.split("|"))
        node = of.node.inner(name)
        ways = [_inside(of, name, scope)]
        for other, name in others:
            other.node.share(name, node)
            ways.append(_inside(other, name, scope))
        return " or ".join(ways), node


def _among(value: str, among: tuple[Any, ...], *, negated: bool) -> str:
    """Return the condition that a value is one of some; a truth value or None has to be itself."""
    one, *others = among
    if others:
        return f"{value} not in {among!r}" if negated else f"{value} in {among!r}"
    if one is None or one is True or one is False:
        return f"{value} is not {one!r}" if negated else f"{value} is {one!r}"
    return f"{value} != {one!r}" if negated else f"{value} == {one!r}"


def _inside(of: _Object, name: str, scope: Scope, absent: str = "") -> str:
    """Return the expression of a member of an object, which may be absent unless a statement is about it."""
    member = f"{of.variable}.{name}"
    if of in scope:
        return member
    return f"{member} if {of.variable} else {absent}" if absent else f"{of.variable} and {member}"


def _anchored(path: str, scope: Scope) -> tuple[Scope, str]:
    """Return the objects around the one where a path begins, and the rest of the path."""
    if path.startswith("/"):
        return scope[:1], path[1:]
    while path.startswith("../"):
        scope, path = scope[:-1], path[3:]
    return scope, path


def _listed(value: Any) -> Any:
    """Return the objects of a list, or an object or a text alone."""
    return value if type(value) is list else () if value is None else (value,)
