"""One tool, and the set of tools that the model was given.

Theory of operation. Each description of a tool is turned into a name and a check, once: a type that msgspec converts
to, a validator of pydantic's, a function's parameters, or a JSON Schema. `Tools` finds a tool by the name that
the model wrote, and handles names that are split over fragments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar, Union, get_origin, overload

from wholecall.calls.arguments.verdict import ArgsT
from wholecall.calls.tools import spelling, types, validators
from wholecall.calls.tools.definitions import Defined, defined, definitions, is_definition, text_of
from wholecall.calls.tools.described import SHAPES, About, about_definition, about_form
from wholecall.calls.tools.schema import schema_check
from wholecall.errors import UnknownDialect, choices, meant

if TYPE_CHECKING:
    from wholecall.calls.tools.misfit import Check

T_co = TypeVar("T_co", covariant=True)


class Validator(Protocol[T_co]):
    """The interface of a pydantic `TypeAdapter`."""

    def validate_python(self, value: Any, /) -> T_co:
        """Return the validated value."""
        ...


class Tool(Generic[ArgsT]):
    """One tool: its name, and the form of its arguments.

    Args:
        form: a `msgspec.Struct`, a dataclass, a `TypedDict`, a pydantic model, dataclass or `TypeAdapter`, a
            function with annotations, a JSON Schema, or a definition in a provider's shape.
        name: as the model calls it; by default that of the definition, the class or the function.

    Attributes:
        name: the tool's name.
        unchecked: the reason why its calls are not checked, as in `Tools.unchecked`; empty if they are.

    Raises:
        TypeError: the form is none of these, or has no own name and none is given.
        ValueError: a JSON Schema is not valid, or the definition holds several tools.
        ImportError: a JSON Schema needs the extra `schema`.
    """

    __slots__ = ("_form", "about", "check", "name", "unchecked")
    about: About
    check: Check
    name: str
    unchecked: str

    @overload
    def __init__(self, form: TypedForm[ArgsT], name: str | None = None) -> None: ...
    @overload
    def __init__(self: Tool[dict[str, Any]], form: Any, name: str | None = None) -> None: ...
    def __init__(self, form: Any, name: str | None = None) -> None:
        made = list(_made(form, name))
        if len(made) != 1:
            raise ValueError(f"the definition holds {len(made)} tools with a name; use Tools([...])")
        self.name, self.check, self.about, self.unchecked = made[0]
        self._form = form

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the description of the tool, not the check made from it."""
        return type(self), (self._form, self.name)

    def __repr__(self) -> str:
        return f"<Tool {self.name!r}>"


TypedForm = Union[type[ArgsT], Validator[ArgsT], Tool[ArgsT]]
TypedTools = Union[Sequence[TypedForm[ArgsT]], Mapping[str, TypedForm[ArgsT]], "Tools[ArgsT]"]
AnyTools = Union[Sequence[Any], Mapping[str, Any], "Tools[Any]"]


class _Made(NamedTuple):
    """A tool by its name; `about` gives its description and JSON Schema, `unchecked` why its check checks nothing."""

    name: str
    check: Check
    about: About
    unchecked: str = ""


def _made(form: Any, name: str | None) -> Iterator[_Made]:
    """Yield each tool that the form describes."""
    if isinstance(form, Tool):
        yield _Made(name or form.name, form.check, form.about, form.unchecked)
    elif isinstance(form, Mapping) and not (name and not is_definition(form)):
        for found in definitions(form) if name is None else [defined(form, name)]:
            yield _made_of(found)
    elif isinstance(form, Mapping):
        yield _made_of(Defined(name or "", form, text_of(form)))
    elif not isinstance(form, type) and callable(dump := getattr(form, "model_dump", None)):
        yield from _made(dump(mode="json", by_alias=True, exclude_none=True), name)
    else:
        check = _check(form)
        yield _Made(_name(form, name), check, partial(about_form, form))


def _made_of(defined: Defined) -> _Made:
    """Return the tool of a definition, its schema in the words of JSON Schema."""
    known = defined._replace(schema=spelling.json_schema(defined.schema, defined.name))
    checked = schema_check(known.schema, known.name)
    return _Made(known.name, checked.check, partial(about_definition, known), checked.unchecked)


def _check(form: Any) -> Check:
    validator = validators.validator_of(form)
    if validator is not None:
        return validator.check
    if isinstance(form, type) or get_origin(form) is not None:
        return types.type_check(form)
    if callable(form):
        return types.function_check(form)
    raise TypeError(f"a {type(form).__name__} describes no tool; see wholecall.Tool for what does")


def _name(form: Any, name: str | None) -> str:
    found = name or getattr(form, "__name__", None)
    if not isinstance(found, str):
        raise TypeError(f"a {type(form).__name__} has no name of its own; use a mapping: tools={{'name': …}}")
    return found


# Text that models and templates put around the name of a tool.
_WRAPPING = re.compile(r"^(?:(?:functions|tools|default_api)[.:/])?(.+?)(?::\d+)?$", re.DOTALL)


def _bare(name: str) -> str:
    match = _WRAPPING.match(name)
    return (match[1] if match else name).casefold()


class Tools(Generic[ArgsT]):
    """The tools that the model was given, described once and used for any number of streams.

    Several types make a union: of `Tools([GetTide, Berth])` calls have the value `GetTide | Berth`. pyright infers
    this, mypy needs an annotation: `Tools[GetTide | Berth]([GetTide, Berth])`. Where a function or a schema is among
    them, values are `Any`.

    Args:
        forms: a sequence of forms as for `Tool`, where a definition may hold several tools; or a mapping of
            names to forms.

    Raises:
        TypeError: a form describes no tool.
        ValueError: two tools have one name, or a JSON Schema is not valid.
        ImportError: a JSON Schema needs the extra `schema`.
    """

    __slots__ = ("_by_bare_name", "_by_name", "_forms")

    @overload
    def __init__(self, forms: TypedTools[ArgsT]) -> None: ...
    @overload
    def __init__(self: Tools[Any], forms: AnyTools) -> None: ...
    def __init__(self, forms: Any) -> None:
        self._by_name: dict[str, _Made] = {}
        for made in _all_made(forms):
            if made.name in self._by_name:
                raise ValueError(f"two tools are called {made.name!r}")
            self._by_name[made.name] = made
        self._forms = _kept(forms)
        bare = [_bare(name) for name in self._by_name]
        self._by_bare_name = {
            key: name for key, name in zip(bare, self._by_name, strict=True) if bare.count(key) == 1
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the descriptions of the tools, not the checks made from them."""
        return type(self), (self._forms,)

    def __repr__(self) -> str:
        return f"<Tools {', '.join(map(repr, self._by_name))}>"

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    @property
    def unchecked(self) -> dict[str, str]:
        """The tools with unchecked arguments, each with the reason: no schema, or one that refers to another document.

        Their calls are emitted with any arguments. An empty dict means that all are checked.
        """
        return {name: made.unchecked for name, made in self._by_name.items() if made.unchecked}

    def check_of(self, name: str) -> Callable[[dict[str, Any]], Any] | None:
        """Return the check of the tool with exactly this name, None if there is none."""
        made = self._by_name.get(name)
        return None if made is None else made.check

    def definitions(self, shape: str) -> list[Any]:
        """Return the `tools` of a request, so that the model gets the definitions that calls are checked against.

        Args:
            shape: the name of the format, as `Conversation` takes it (`"chat-completions"`, `"responses"`,
                `"anthropic"`, `"gemini"` …), its common name (`"openai"`), or `"mcp"`.

        Returns:
            One definition for each tool, a dict, in order; for Gemini one object that declares all functions.
            Descriptions are docstrings, or those of the definitions.

        Raises:
            UnknownDialect: there is no such shape.
            TypeError: JSON Schema cannot describe the arguments of a tool's type.
        """
        name = meant(shape, SHAPES)
        if name is None:
            raise UnknownDialect(f"there is no shape {shape!r} of tools; {choices(shape, SHAPES)}")
        listed: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
        for called, made in self._by_name.items():
            description, schema = made.about()
            listed.append((called, {"description": description} if description else {}, schema))
        return SHAPES[name](listed)

    def schema_of(self, name: str) -> dict[str, Any] | None:
        """Return the JSON Schema of a tool's arguments; None for an unknown tool, or if no schema can describe them."""
        made = self._by_name.get(name)
        if made is None:
            return None
        try:
            return made.about()[1]
        except TypeError:
            return None

    def named(self, name: str) -> str:
        """Return the one tool's name that this spells, by case, prefix or counter; else the name."""
        return self._by_bare_name.get(_bare(name), name)

    def begins(self, text: str) -> bool:
        """Return whether the name of a tool begins with the text."""
        return any(name.startswith(text) for name in self._by_name)

    def joined(self, old: str, new: str) -> str | None:
        """Return the name after a second one came for the same call; None if the tools leave it in doubt.

        The second name may be a piece, a repeat, the name so far with more of it, or noise.
        """
        is_piece = self.begins(old + new)
        if old not in self:
            return old + new if is_piece else new
        if new.startswith(old):
            return new
        if new in self:
            return None
        return old + new if is_piece else old


def _kept(forms: Any) -> Any:
    """Return the forms as they are now, independent of later changes by their owner."""
    if isinstance(forms, Tools):
        return forms._forms  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - its own class
    return dict(forms) if isinstance(forms, Mapping) else tuple(forms)


def _all_made(forms: Any) -> Iterator[_Made]:
    if isinstance(forms, Tools):
        yield from forms._by_name.values()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - its own class
    elif isinstance(forms, Mapping):
        for name, form in forms.items():
            yield from _made(form, name)
    elif isinstance(forms, Sequence) and not isinstance(forms, (str, bytes)):
        for form in forms:
            yield from _made(form, None)
    else:
        raise TypeError(f"tools are a sequence or a mapping, not a {type(forms).__name__}")
