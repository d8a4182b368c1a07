"""Strictness of tools: one rule for all that can describe it; other tools are listed."""

from __future__ import annotations

import datetime as dt
import enum
import pathlib
import uuid
from decimal import Decimal
from typing import Annotated, Any

import msgspec
import pydantic
import pydantic.dataclasses
import pytest

from tests.support.together import together
from tests.support.tools import FORMS
from wholecall import Policy, Tools, Verdict, parse_arguments
from wholecall.calls.arguments.verdict import Edit
from wholecall.calls.tools.misfit import Coerced, Misfit

COERCE = Policy(coerce="schema")
forms = together("form", list(FORMS))


def fits(form: str, nights: Any) -> bool:
    """Return whether the usual tool takes this number of nights."""
    check = Tools(FORMS[form]()).check_of("book_berth")
    assert check is not None
    found = check({"port": "Brest", "nights": nights, "options": {"side": "port"}})
    assert not isinstance(found, Coerced)
    return not isinstance(found, Misfit)


@forms
@together("value", ["2", True, None, 2.5, [2]])
def test_a_value_of_another_type_fits_no_tool(form: str, value: Any) -> None:
    """A pydantic model is as strict as a Struct or a schema: text is not a number, and true is not a number."""
    assert (True, False) == (fits(form, 2), fits(form, value))


class Side(enum.Enum):
    """A side of a boat."""

    PORT = "port"


class Stay(msgspec.Struct):
    """Types that JSON does not have, as a Struct."""

    day: dt.date
    side: Side
    berths: tuple[int, ...]
    price: Decimal
    id: uuid.UUID


class StayModel(pydantic.BaseModel):
    """The same as a model."""

    day: dt.date
    side: Side
    berths: tuple[int, ...]
    price: Decimal
    id: uuid.UUID
    log: pathlib.Path | None = None


STAY = (
    '{"day": "2026-11-22", "side": "port", "berths": [1, 2], "price": 1.5, '
    '"id": "12345678-1234-5678-1234-567812345678"}'
)


@pytest.mark.parametrize("form", [Stay, StayModel])
def test_what_json_has_no_type_for_is_read(form: Any) -> None:
    """Dates, enums and ids are texts in JSON, and tuples arrays: to read them is not coercion."""
    verdict = parse_arguments(STAY, tool=form)

    assert ("exact", ()) == (verdict.status, verdict.edits)
    value = verdict.value
    id = uuid.UUID("12345678-1234-5678-1234-567812345678")
    expected = dt.date(2026, 11, 22), Side.PORT, (1, 2), Decimal("1.5"), id
    assert expected == (value.day, value.side, value.berths, value.price, value.id)


def test_a_number_of_any_size_is_validated() -> None:
    """Integers beyond 64 bits and other letters than ASCII's pass through the validation as they are."""
    text = '{"n": 123456789012345678901234567890, "é": "☃"}'
    verdict = parse_arguments(text, tool=pydantic.TypeAdapter(dict[str, Any]))

    assert {"n": 123456789012345678901234567890, "é": "☃"} == verdict.value


def test_half_a_surrogate_pair_is_validated() -> None:
    """Where the policy lets it through, the tool decides about the rest, as strictly as ever."""
    keep = Policy(lone_surrogates="keep")
    text = r'{"x": "\ud800", "n": %s}'
    adapter = pydantic.TypeAdapter(dict[str, int | str])

    assert {"x": "\ud800", "n": 1} == parse_arguments(text % 1, tool=adapter, policy=keep).value
    assert "schema" == parse_arguments(text % "true", tool=adapter, policy=keep).reason


# --- models that say that they are not strict ---------------------------------------------------------------


class Lax(pydantic.BaseModel):
    """A model that says for itself that it is not strict."""

    model_config = pydantic.ConfigDict(strict=False)

    n: int = 0
    yes: bool = False
    either: int | float = 0
    items: list[int] = []


class LaxField(pydantic.BaseModel):
    """A model of which one field says so."""

    n: int = pydantic.Field(default=0, strict=False)


class LaxInside(pydantic.BaseModel):
    """A model of which a part of a part says so; it refers to itself, and has a field of that name."""

    strict: bool = True
    inner: dict[str, list[Annotated[int, pydantic.Strict(strict=False)]]] = {}
    next: LaxInside | None = None


@pydantic.dataclasses.dataclass(config=pydantic.ConfigDict(strict=False))
class LaxDataclass:
    """A dataclass of pydantic's that says so."""

    n: int = 0


LAX_ADAPTER = pydantic.TypeAdapter(dict[str, int], config=pydantic.ConfigDict(strict=False))


def coerced(text: str, form: Any) -> tuple[str, list[str]]:
    """Return the status, and where in the text something was coerced."""
    verdict: Verdict[Any] = parse_arguments(text, tool=form)
    return verdict.status, [text[edit.offset :] for edit in verdict.edits if edit.kind == "coerced"]


@together(
    ("form", "text", "places"),
    [
        (Lax, '{"n": 1}', []),
        (Lax, '{"n": "1"}', ['"1"}']),
        (Lax, '{"n": 1, "yes": "on", "n": 1}', ['"on", "n": 1}']),
        (Lax, '{"items": [1, true, "3"]}', ['true, "3"]}', '"3"]}']),
        (Lax, '{"either": "1"}', ['"1"}']),
        (LaxField, '{"n": 1.0}', ["1.0}"]),
        (LaxInside, '{"inner": {"a": [1], "b": [2, "3"]}}', ['"3"]}}']),
        (LaxInside, '{"next": {"strict": 1}}', ["1}}"]),
        (LaxDataclass, '{"n": true}', ["true}"]),
        (LAX_ADAPTER, '{"n": "1"}', ['"1"}']),
        (pydantic.TypeAdapter(dict[str, Lax]), '{"a": {"n": "1"}}', ['"1"}}']),
    ],
)
def test_what_a_form_coerces_is_listed(form: Any, text: str, places: list[str]) -> None:
    """A form that says `strict=False` is taken at its word, and each value that it reads as another is an edit."""
    assert ("normalised" if places else "exact", places) == coerced(text, form)


def test_arguments_stay_as_they_came() -> None:
    """The form's result is the value; the offset of an edit is that of the text."""
    text = '```json\n{"n": "1"}\n```'
    verdict = parse_arguments(text, tool=Lax)

    assert ({"n": "1"}, 1) == (verdict.arguments, verdict.value and verdict.value.n)
    assert ["code_fence", "coerced"] == [edit.kind for edit in verdict.edits]
    assert '"1"}' == text[verdict.edits[1].offset :][:4]


class Usual(pydantic.BaseModel):
    """A model that says nothing."""

    n: int = 0


def test_to_say_strict_loosens_nothing() -> None:
    """A model that says `strict=True` is no less strict in its parts, which pydantic would take loosely."""

    class Outer(pydantic.BaseModel):
        """A strict model with a usual one inside."""

        model_config = pydantic.ConfigDict(strict=True)
        inner: Usual

    assert "schema" == parse_arguments('{"inner": {"n": "1"}}', tool=Outer).reason


def test_what_the_form_still_refuses_is_a_misfit() -> None:
    """The form's own rules hold, and the detail is of these."""
    verdict = parse_arguments('{"n": "two"}', tool=Lax)

    assert "at $.n: Input should be a valid integer, unable to parse string as an integer" == verdict.detail


def test_a_model_inside_another_type_coerces_somewhere() -> None:
    """The place of a pydantic model inside another type is not known, so that its edit has none."""

    def book(stay: Lax, days: int) -> None:
        """Book."""

    verdict = parse_arguments('{"stay": {"n": "1"}, "days": 2}', tool=book)
    strict = parse_arguments('{"stay": {"n": 1}, "days": 2}', tool=book)

    assert ("normalised", (Edit("coerced", 0),)) == (verdict.status, verdict.edits)
    assert {"stay": Lax(n=1), "days": 2} == verdict.value == strict.value
    assert ("exact", ()) == (strict.status, strict.edits)


# --- the policy ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [Usual, pydantic.TypeAdapter(Usual)])
def test_the_policy_coerces_for_pydantic_too(form: Any) -> None:
    """With `coerce="schema"` a number given as text is read and listed, in the arguments, too, as for every tool."""
    verdict = parse_arguments('{"n": "1"}', tool=form, policy=COERCE)

    assert ("normalised", (Edit("numeric_string", 6),)) == (verdict.status, verdict.edits)
    assert ({"n": 1}, Usual(n=1)) == (verdict.arguments, verdict.value)
    assert "schema" == parse_arguments('{"n": true}', tool=form, policy=COERCE).reason


class Either(pydantic.BaseModel):
    """A union, whose branches pydantic names in its errors."""

    n: int | list[int] = 0


def test_the_policy_coerces_in_unions() -> None:
    """The names of branches are not keys of the arguments."""
    verdict = parse_arguments('{"n": "[1]"}', tool=Either, policy=COERCE)

    assert ([1], (Edit("nested_json", 6),)) == (verdict.arguments and verdict.arguments["n"], verdict.edits)
