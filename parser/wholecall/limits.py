"""Every bound that hostile input can meet, by name; `docs/limits.md` gives the reasons.

A breach never raises: it ends one call (a drop), one event (a fault) or the stream (a fatal fault),
at the same byte for every way the stream is cut into chunks.
"""

from __future__ import annotations

import msgspec

_private = True

KIB = 1024
MIB = 1024 * KIB


class Limits(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Bounds on the content of a stream; None switches a bound off.

    Attributes:
        max_line_bytes: one line of the framing; a longer one ends the stream, `line_too_long`.
        max_event_bytes: the data of one event; a larger one is skipped, `event_too_large`.
        max_stream_bytes: the whole stream; bytes beyond end it, `stream_too_large`. Off by default.
        max_calls: tool calls per choice; later ones share one drop `too_many_calls`.
        max_choices: choices per turn; fragments of later ones are ignored and counted.
        max_turns: turns that a parser keeps; the oldest is removed, and ended if it was still running.
        max_id_chars: a longer call id drops its call, `id_too_long`.
        max_name_chars: a longer tool name drops its call, `name_too_long`.
        max_aliases: ids that one call remembers when a server changes them; and indices.
        max_arguments_bytes: UTF-8 bytes of one call's argument text; `arguments_too_large`.
        max_total_arguments_bytes: the same, summed over one turn; as many characters of calls that are beyond a limit
            end the stream, `stream_too_large`, and so does four times as much memory for labels.
        max_depth: nesting of objects and arrays in arguments; `nesting_too_deep`.
        max_number_chars: characters of one number in arguments; `number_too_long`.
        max_recovery_bytes: longer texts are parsed strictly but never recovered.
        max_held_text: characters of text that are held until it is known whether they are a call written as text.
        max_edits: recovery gives up beyond this many edits.
        max_pending_frames_bytes: the frames kept of a stream whose dialect is not known yet, plus 200 for each frame.
        max_raw_bytes: how much of a faulty frame or an oversized call is kept as raw text.
        max_faults: faults that a turn keeps; the rest are events only.
    """

    max_line_bytes: int | None = 16 * MIB
    max_event_bytes: int | None = 32 * MIB
    max_stream_bytes: int | None = None
    max_calls: int | None = 128
    max_choices: int | None = 128
    max_turns: int | None = 4000
    max_id_chars: int | None = 512
    max_name_chars: int | None = 256
    max_aliases: int | None = 16
    max_arguments_bytes: int | None = 8 * MIB
    max_total_arguments_bytes: int | None = 32 * MIB
    max_depth: int | None = 128
    max_number_chars: int | None = 4300
    max_recovery_bytes: int | None = 256 * KIB
    max_held_text: int | None = 256 * KIB
    max_edits: int | None = 64
    max_pending_frames_bytes: int | None = 1 * MIB
    max_raw_bytes: int | None = 64 * KIB
    max_faults: int | None = 100

    @classmethod
    def none(cls) -> Limits:
        """Return no bounds at all, for input that is trusted."""
        return cls(**dict.fromkeys(cls.__struct_fields__))

    @classmethod
    def gateway(cls) -> Limits:
        """Return bounds for services that read many untrusted streams at once: a stream must not harm others."""
        return cls(
            max_line_bytes=4 * MIB,
            max_event_bytes=4 * MIB,
            max_stream_bytes=64 * MIB,
            max_calls=64,
            max_choices=8,
            max_turns=256,
            max_arguments_bytes=1 * MIB,
            max_total_arguments_bytes=4 * MIB,
            max_depth=64,
            max_recovery_bytes=64 * KIB,
            max_pending_frames_bytes=256 * KIB,
            max_raw_bytes=8 * KIB,
            max_faults=20,
        )

    @classmethod
    def desktop(cls) -> Limits:
        """Return bounds for one user's program that reads one provider: long sessions, whole files as arguments."""
        return cls(
            max_line_bytes=64 * MIB,
            max_event_bytes=128 * MIB,
            max_calls=512,
            max_turns=65536,
            max_arguments_bytes=64 * MIB,
            max_total_arguments_bytes=256 * MIB,
            max_recovery_bytes=1 * MIB,
        )
