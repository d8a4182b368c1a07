"""Choose the format of a model by its name, or by its chat template."""

from __future__ import annotations

from wholecall.text import models


def text_format_of(model: str = "", *, template: str | None = None) -> str | None:
    """Return the format in which a model writes calls as text, None if it is unknown.

    Args:
        model: the model's name, as publishers, servers and gateways spell it.
        template: the model's chat template (Jinja): it writes an answer with known calls, which formats read
            back. Several may, as formats share markers: that of the model's name counts if it is among them, else the
            first. A template is a program; it runs in Jinja's sandbox.

    Raises:
        ImportError: a template needs the extra `templates`.
        ValueError: it is not a template, or writes no calls.

    >>> text_format_of("Qwen/Qwen3-Coder-480B-A35B-Instruct")
    'qwen_xml'
    >>> text_format_of("openai/gpt-oss-120b"), text_format_of("qwen3:8b")
    ('harmony', 'hermes')
    >>> text_format_of("NousResearch/Hermes-3-Llama-3.1-8B")
    'hermes'
    >>> text_format_of("a-model-that-nobody-knows") is None
    True
    """
    named = models.format_named(model)
    if template is None:
        return named
    from wholecall.text import rendering  # noqa: PLC0415 - few callers have a template

    found = rendering.formats_of(template)
    return named if named in found else next(iter(found), None)
