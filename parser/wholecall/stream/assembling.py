"""The assembler of a stream: the plain one, or the one that reads calls in texts, which few streams need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wholecall.machine.assembler import Assembler

if TYPE_CHECKING:
    from wholecall.calls.tools.tool import Tools
    from wholecall.limits import Limits
    from wholecall.machine.answer import OutputWanted
    from wholecall.policy import Policy
    from wholecall.text.options import TextCalls


def assembler(
    wanted: TextCalls | None,
    policy: Policy,
    limits: Limits,
    tools: Tools[Any] | None,
    *,
    pieces: bool = True,
    output: OutputWanted | None = None,
) -> Assembler:
    """Return a new assembler; `wanted` selects the calls written as text, `output` describes the answers."""
    if wanted is None:
        return Assembler(policy, limits, tools, pieces=pieces, wanted=output)
    from wholecall.stream.written import TextAssembler  # noqa: PLC0415 - with all readers, for who wants them

    return TextAssembler(wanted, policy, limits, tools, pieces=pieces, output=output)
