"""The caller's choices about calls that are not plainly right; the defaults are safe."""

from __future__ import annotations

from typing import Literal

import msgspec

from wholecall.types import Flag

_private = True

# Oddities of a call's labels or text because of which only a reading shows the meaning.
_PUT_TOGETHER: frozenset[Flag] = frozenset(
    {
        "bound_by_order",
        "done_completed_buffer",
        "done_mismatch",
        "id_churn",
        "index_churn",
        "name_joined",
        "snapshots",
        "unterminated",
    }
)


class Policy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How calls are judged.

    Attributes:
        recovery: `"lossless"` lets token-level edits with one reading through (each is listed in `ToolCall.edits`),
            `"none"` drops calls that are not strictly valid after normalisation.
        require_terminal: True drops the calls of a stream that ends without any terminal evidence (`unterminated`);
            False emits those whose text is a complete, non-empty object, flagged.
        truncated_turn: treatment of complete calls of a turn that ended for length or by a content filter: `"emit"`
            flags them `turn_truncated`, `"drop"` drops them. `"drop"` holds all calls until the turn ends.
        on_bad_sibling: `"isolate"` judges each call alone, `"reject_all"` drops every call of a choice in which one was
            dropped, or whose turn seems to hold a call that was not read (`unread_call`). `"reject_all"` holds all
            calls until the turn ends.
        unknown_tool: `"drop"` calls of a tool that `tools=` does not name, or emit them with a `"flag"`, unchecked.
        tool_names: `"exact"` takes names as they are; `"normalised"` also finds the one tool whose name differs only in
            case, by a prefix such as `functions.`, or by a counter such as `:0`.
        coerce: `"none"`, or `"schema"`: a string becomes the nested object, array or number that it holds where the
            tool wants one. Each change is listed as an edit. Under `"none"` a value of another type does not fit, for
            any kind of tool description; but a pydantic model that sets `strict=False` itself is respected.
        lone_surrogates: `"drop"` or `"keep"` calls whose arguments hold a lone surrogate.
        json_safe_ints: True turns integers beyond 2**53 into strings, for JavaScript consumers.
        require_reason: True drops the calls of a turn for whose end the provider gave no reason (`unterminated`). It
            holds all calls until the turn ends.
        silence: the meaning of a call that ended without any argument text: `"empty"` arguments, or a `"drop"`
            (`empty_arguments`).
        refused_flags: calls with one of these flags are dropped (`ambiguous`).
    """

    recovery: Literal["lossless", "none"] = "lossless"
    require_terminal: bool = True
    truncated_turn: Literal["emit", "drop"] = "emit"
    on_bad_sibling: Literal["isolate", "reject_all"] = "isolate"
    unknown_tool: Literal["drop", "flag"] = "drop"
    tool_names: Literal["exact", "normalised"] = "exact"
    coerce: Literal["none", "schema"] = "none"
    lone_surrogates: Literal["drop", "keep"] = "drop"
    json_safe_ints: bool = False
    require_reason: bool = False
    silence: Literal["empty", "drop"] = "empty"
    refused_flags: frozenset[Flag] = frozenset()

    @classmethod
    def strict(cls) -> Policy:
        """Return the policy for unattended execution: plainly right calls of plainly right turns, or none.

        Nothing is recovered, a call without argument text is not taken for `{}`, and no call is emitted whose pieces
        only a reading of odd labels joined. A turn must end with a reason that is not a cut, and one bad call drops its
        siblings. The cost of each choice is in `docs/policy.md`.
        """
        return cls(
            recovery="none",
            truncated_turn="drop",
            on_bad_sibling="reject_all",
            require_reason=True,
            silence="drop",
            refused_flags=_PUT_TOGETHER,
        )

    @property
    def holds(self) -> bool:
        """Whether calls wait for the end of their turn, because it can still change their verdict."""
        return self.truncated_turn == "drop" or self.on_bad_sibling == "reject_all" or self.require_reason
