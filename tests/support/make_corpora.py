"""Write `corpora/recordings` and `corpora/manifest.json`; deterministic.

Each case returns the bytes of one stream and the expectation, which is derived by hand from the rules of
assembly and never from a parser. Run it from anywhere: `python tests/support/make_corpora.py`. Goldens are
written by `bless.py`, not here.
"""

# ruff: noqa: RUF001 - ids and types are called so on the wire; odd letters are what some cases are about
from __future__ import annotations

import hashlib
import itertools
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if not __package__:
    sys.path.insert(0, str(ROOT))

from tests.support import (  # noqa: E402  (a script has no package to import from)
    corpora_agents,  # noqa: F401  (for its cases, as are the next ones)
    corpora_bedrock,  # noqa: F401
    corpora_clouds,  # noqa: F401
    corpora_cohere,  # noqa: F401
    corpora_copilot,  # noqa: F401
    corpora_frameworks,  # noqa: F401
    corpora_gemini,  # noqa: F401
    corpora_invoke,  # noqa: F401
    corpora_langchain_protocol,  # noqa: F401
    corpora_live,  # noqa: F401
    corpora_llama_stack,  # noqa: F401
    corpora_ollama,  # noqa: F401
    corpora_openai,  # noqa: F401
    corpora_relays,  # noqa: F401
    corpora_wrapped,  # noqa: F401
)
from tests.support import encode as wire  # noqa: E402
from tests.support.cases import CASES, Built, Case, case, drop, expect, good  # noqa: E402
from tests.support.encode import ABSENT, JSON, Call, Turn, chat_entry, every  # noqa: E402

CORPORA = ROOT / "corpora"

# The chat-completions tape


class Tape:
    """Records chunks of one chat completion, all in the same envelope."""

    def __init__(
        self,
        id: str,
        model: str,
        created: int,
        *,
        ascii_only: bool = False,
        choice: JSON | None = None,
        **extra: Any,
    ) -> None:
        self.about: JSON = {"id": id, "model": model, "created": created} | extra
        self.ascii_only = ascii_only
        self.choice = choice or {}
        self.parts: list[bytes] = []
        self.payloads: list[JSON] = []

    def frame(self, payload: JSON) -> Tape:
        """Append a payload as it is."""
        self.payloads.append(payload)
        self.parts.append(wire.sse(payload, ascii_only=self.ascii_only))
        return self

    def raw(self, data: bytes) -> Tape:
        """Append bytes as they are."""
        self.parts.append(data)
        return self

    def delta(
        self, delta: Any, finish: Any = None, index: Any = 0, *, choice: JSON | None = None, **extra: Any
    ) -> Tape:
        """Append a chunk with one choice."""
        about = self.about | extra
        odd = self.choice | (choice or {})
        return self.frame(wire.chat_chunk(delta, finish=finish, index=index, choice=odd, **about))

    def role(self, **more: Any) -> Tape:
        """Append the first chunk."""
        return self.delta({"role": "assistant", "content": None} | more)

    def say(self, *texts: str, member: str = "content") -> Tape:
        """Append chunks of text."""
        for text in texts:
            self.delta({member: text})
        return self

    def tools(self, *entries: JSON, finish: Any = None, index: Any = 0) -> Tape:
        """Append one chunk that holds these entries of `tool_calls`."""
        return self.delta({"tool_calls": list(entries)}, finish, index)

    def head(self, index: Any, id: Any, name: Any, arguments: Any = "") -> Tape:
        """Append the usual first entry of a call."""
        return self.tools(chat_entry(index, id=id, type="function", name=name, arguments=arguments))

    def more(self, index: Any, *texts: str) -> Tape:
        """Append entries that hold nothing but argument text."""
        for text in texts:
            self.tools(chat_entry(index, arguments=text))
        return self

    def end(self, finish: Any = "tool_calls", usage: tuple[int, int] | None = None) -> bytes:
        """Append finish reason, usage and `[DONE]`, and return the stream."""
        self.delta({}, finish)
        return self.stop(usage)

    def stop(self, usage: tuple[int, int] | None = None) -> bytes:
        """Append usage and `[DONE]` only, and return the stream."""
        if usage is not None:
            about = {name: value for name, value in self.about.items() if name != "usage"}
            self.frame(wire.chat_envelope([], usage=wire.chat_usage(*usage), **about))
        return self.raw(wire.done()).bytes()

    def bytes(self) -> bytes:
        """Return what was recorded so far."""
        return b"".join(self.parts)


# Chat completions: faithful servers


@case("chat-completions/single-call", 54)
def single_call() -> Built:
    """One call in small deltas, padded against traffic analysis, with usage."""
    tape = Tape(
        "chatcmpl-CkTde81Vq",
        "gpt-5.1-2025-11-13",
        1764320511,
        service_tier="default",
        system_fingerprint="fp_9d41a7c2e0",
        usage=None,
    )
    tape.about["obfuscation"] = wire.PADDING
    tape.role(refusal=None).head(0, "call_Tq7mB2xVtide", "get_tide")
    tape.more(0, '{"', "port", '":"', "Saint", "-", "Malo", '","', "date", '":"', "2026-03-21", '"}')
    tide = {"port": "Saint-Malo", "date": "2026-03-21"}
    return tape.end(usage=(71, 24)), expect(good("call_Tq7mB2xVtide", "get_tide", tide))


@case("chat-completions/parallel-sequential", 54)
def parallel_sequential() -> Built:
    """Two calls, one after another, after a sentence of text."""
    tape = Tape(
        "chatcmpl-CkV0loans", "gpt-4.1-mini-2025-04-14", 1764321900, service_tier="default", usage=None
    )
    tape.role().say("I will renew", " both loans.")
    tape.head(0, "call_renewA91", "renew_loan").more(0, '{"card":', '"L-20817"', ',"item":', "3391827}")
    tape.head(1, "call_renewB27", "renew_loan").more(1, '{"card":"L-20817",', '"item":', "4410022", "}")
    calls = (
        good("call_renewA91", "renew_loan", {"card": "L-20817", "item": 3391827}),
        good("call_renewB27", "renew_loan", {"card": "L-20817", "item": 4410022}),
    )
    return tape.end(usage=(212, 58)), expect(*calls)


@case("chat-completions/parallel-interleaved", 56)
def parallel_interleaved() -> Built:
    """The pieces of two calls alternate, also inside one chunk."""
    tape = Tape("chatcmpl-qwen-55ac", "qwen3-coder-480b", 1764322001)
    tape.role(content="")
    tape.tools(
        chat_entry(0, id="call_9f0ctrain", type="function", name="find_trains", arguments=""),
        chat_entry(1, id="call_a18fhotel", type="function", name="find_rooms", arguments=""),
    )
    tape.more(0, '{"from": "Gent', '-Sint-Pieters",').more(1, '{"city": "Li').more(0, ' "to": "Liège"')
    tape.tools(chat_entry(1, arguments='ège", "nights"'), chat_entry(0, arguments="}"))
    tape.more(1, ": 2}")
    calls = (
        good("call_9f0ctrain", "find_trains", {"from": "Gent-Sint-Pieters", "to": "Liège"}),
        good("call_a18fhotel", "find_rooms", {"city": "Liège", "nights": 2}),
    )
    return tape.end(), expect(*calls)


@case("chat-completions/zero-argument-empty", 26)
def zero_argument_empty() -> Built:
    """A tool without parameters: its argument text stays empty."""
    tape = Tape("chatcmpl-8a1bqueue", "meta-llama/Llama-3.3-70B-Instruct", 1764322105)
    tape.role(content="").head(0, "chatcmpl-tool-51d0clock", "current_watch")
    return tape.end(usage=(33, 9)), expect(good("chatcmpl-tool-51d0clock", "current_watch", {}, "empty"))


@case("chat-completions/zero-argument-braces")
def zero_argument_braces() -> Built:
    """Two tools without parameters, both sent as an empty object."""
    tape = Tape(
        "chatcmpl-CkWq1noargs",
        "gpt-4o-2024-08-06",
        1764322230,
        system_fingerprint="fp_cbf1785567",
        usage=None,
    )
    tape.role(refusal=None).head(0, "call_LstBranches", "list_branches").more(0, "{}")
    tape.head(1, "call_LstStashes", "list_stashes").more(1, "{}")
    calls = (good("call_LstBranches", "list_branches", {}), good("call_LstStashes", "list_stashes", {}))
    return tape.end(), expect(*calls)


@case("chat-completions/zero-argument-null", 21, 26)
def zero_argument_null() -> Built:
    """The arguments of a tool without parameters are null."""
    tape = Tape("chatcmpl-ogx-1201", "granite-3.3-8b-instruct", 1764322303)
    tape.role(content="").head(0, "call_undo77", "undo_last_edit", None)
    return tape.end("stop"), expect(good("call_undo77", "undo_last_edit", {}, "empty"))


# Chat completions: names


@case("chat-completions/name-late", 17)
def name_late() -> Built:
    """The name arrives with the last piece of the arguments."""
    tape = Tape("chatcmpl-relay-0c77", "glm-4.6", 1764400010)
    tape.role(content="").tools(chat_entry(0, id="call_late01", type="function", arguments=""))
    tape.more(0, '{"sheet":"Budget",', '"range":"B2:')
    tape.tools(chat_entry(0, name="read_cells", arguments='F9"}'))
    return tape.end(), expect(good("call_late01", "read_cells", {"sheet": "Budget", "range": "B2:F9"}))


@case("chat-completions/name-split", 16)
def name_split() -> Built:
    """The name arrives in three pieces, before any argument text."""
    tape = Tape("gen-1764400100-sPlit", "google/gemini-2.5-pro", 1764400100, provider="Google")
    tape.role(content="").head(0, "tool_0_create_ev", "create_ev")
    tape.tools(chat_entry(0, name="ent_ser")).tools(chat_entry(0, name="ies"))
    tape.more(0, '{"title":"Stand-up",', '"weekday":["Mon","Thu"],', '"at":"09:15"}')
    series = {"title": "Stand-up", "weekday": ["Mon", "Thu"], "at": "09:15"}
    return tape.end(), expect(good("tool_0_create_ev", "create_event_series", series))


@case("chat-completions/name-and-id-repeated", 13, 15)
def name_and_id_repeated() -> Built:
    """Id, type and name stand in every piece."""
    tape = Tape("04f1b2minimax", "minimaxai/minimax-m2", 1764400200)
    tape.role(content="")
    for text in ("", '{"parcel"', ': "NL-88', '1-Q", ', '"notify": true}'):
        tape.head(0, "call_function_9wz_1", "track_parcel", text)
    parcel = {"parcel": "NL-881-Q", "notify": True}
    return tape.end(), expect(good("call_function_9wz_1", "track_parcel", parcel))


@case("chat-completions/name-blank-then-null", 18, 19)
def name_blank_then_null() -> Built:
    """The name is empty at first, real later, and null in the end."""
    tape = Tape("cmpl-vmlx-73", "c4ai-command-a-03-2025", 1764400300)
    tape.head(0, "chatcmpl-tool-c0ffee", "").tools(chat_entry(0, name="set_thermostat"))
    tape.tools(chat_entry(0, name=None, arguments='{"room":"attic",'))
    tape.tools(chat_entry(0, name="", arguments='"celsius":17.5}'))
    return tape.end(), expect(
        good("chatcmpl-tool-c0ffee", "set_thermostat", {"room": "attic", "celsius": 17.5})
    )


@case("chat-completions/name-padded", 59)
def name_padded() -> Built:
    """The name is wrapped in white space."""
    tape = Tape("chatcmpl-613", "kimi-k2.5:cloud", 1764400400, system_fingerprint="fp_ollama")
    tape.role(content="").head(0, "call_w0p8x2yz", " search_recipes\n", '{"with":["leek","barley"]}')
    recipes = {"with": ["leek", "barley"]}
    return tape.end(), expect(good("call_w0p8x2yz", "search_recipes", recipes))


@case("chat-completions/name-never", 20)
def name_never() -> Built:
    """A call that never gets a name stands beside a whole one."""
    tape = Tape("chatcmpl-cc-91", "deepseek-v3.2", 1764400500)
    tape.role(content="").tools(chat_entry(0, id="call_anon", type="function", arguments=""))
    tape.more(0, '{"amount":', "125.40}").head(1, "call_named", "list_invoices").more(1, '{"status":"open"}')
    nameless = drop("call_anon", None, "nameless", '{"amount":125.40}')
    return tape.end(), expect(good("call_named", "list_invoices", {"status": "open"}), dropped=[nameless])


@case("chat-completions/harmony-marker-in-name", 58)
def harmony_marker_in_name() -> Built:
    """gpt-oss after vLLM: reasoning, then a name with a channel token."""
    tape = Tape("chatcmpl-2b9e0fd4c1", "openai/gpt-oss-120b", 1764400600, choice={"token_ids": None})
    tape.role(content="").say("The user wants ", "the platform of the 7:42. ", member="reasoning_content")
    tape.say("Use find_platform.", member="reasoning_content")
    tape.head(0, "chatcmpl-tool-7d31aa", "find_platform<|channel|>commentary")
    tape.more(0, '{"train"', ': "IC 1832"', ', "station": "Bern"', "}")
    platform = {"train": "IC 1832", "station": "Bern"}
    return tape.end(usage=(148, 61)), expect(good("chatcmpl-tool-7d31aa", "find_platform", platform))


# Chat completions: ids and indices


@case("chat-completions/id-churn", 10)
def id_churn() -> Built:
    """The id of a call changes with every piece."""
    tape = Tape("chatcmpl-pool-4410", "laguna-m1", 1764500010)
    tape.role(content="").head(0, "call_pool_1", "open_ticket", '{"queue":')
    for number, text in enumerate(('"harbour",', '"severity":', "2}"), 2):
        tape.tools(chat_entry(0, id=f"call_pool_{number}", type="function", arguments=text))
    ticket = {"queue": "harbour", "severity": 2}
    return tape.end(), expect(good("call_pool_1", "open_ticket", ticket, flags=["id_churn"]))


@case("chat-completions/id-late", 11)
def id_late() -> Built:
    """The id comes with the last piece."""
    tape = Tape("chatcmpl-agentos-8", "qwen2.5-72b-instruct", 1764500100)
    tape.role(content="").tools(chat_entry(0, type="function", name="translate", arguments=""))
    tape.more(0, '{"text":"sea', ' wall",').tools(chat_entry(0, id="call_after_all", arguments='"to":"nl"}'))
    return tape.end(), expect(good("call_after_all", "translate", {"text": "sea wall", "to": "nl"}))


@case("chat-completions/id-missing", 8)
def id_missing() -> Built:
    """Two parallel calls, and no id in the whole stream."""
    tape = Tape("cmpl-9aa0", "mistral-nemo-12b", 1764500200)
    tape.role(content="").tools(chat_entry(0, type="function", name="get_stock", arguments=""))
    tape.more(0, '{"sku":"B-77', '1"}').tools(chat_entry(1, type="function", name="get_price", arguments=""))
    tape.more(1, '{"sku":"B-771","currency":"EUR"}')
    price = {"sku": "B-771", "currency": "EUR"}
    return tape.end(), expect(good(None, "get_stock", {"sku": "B-771"}), good(None, "get_price", price))


@case("chat-completions/id-null-string", 9)
def id_null_string() -> Built:
    """Both ids are the word null, as a client library's default writes it."""
    tape = Tape("5f2c1d7e9b", "devstral-medium-2507", 1764500300)
    entries = (
        chat_entry(0, id="null", name="run_tests", arguments='{"path": "tests/dialects"}'),
        chat_entry(1, id="None", name="run_linter", arguments='{"fix": false}'),
    )
    tape.role(content="").tools(*entries, finish="tool_calls")
    calls = (good(None, "run_tests", {"path": "tests/dialects"}), good(None, "run_linter", {"fix": False}))
    return tape.stop((90, 31)), expect(*calls)


@case("chat-completions/id-blank", 7)
def id_blank() -> Built:
    """Later pieces carry an empty or blank id, and an empty last piece."""
    tape = Tape("chatcmpl-d1a5hsc0pe", "qwen3-max", 1764500400, system_fingerprint=None, usage=None)
    tape.role().head(0, "call_5d1e88f0", "convert_units")
    for id, text in (("", '{"value": 12, "fr'), ("  ", 'om": "kn", "to"'), ("", ': "km/h"}'), ("", "")):
        tape.tools(chat_entry(0, id=id, type="function", arguments=text))
    units = {"value": 12, "from": "kn", "to": "km/h"}
    return tape.end(usage=(188, 27)), expect(good("call_5d1e88f0", "convert_units", units))


@case("chat-completions/id-number", 12)
def id_number() -> Built:
    """The ids are the numbers 0 and 1."""
    tape = Tape("aish-0031", "local-14b", 1764500500)
    tape.role(content="").head(0, 0, "list_dir").more(0, '{"path":"/srv/maps"}')
    tape.head(1, 1, "file_size").more(1, '{"path":"/srv/maps/', 'north.mbtiles"}')
    size = {"path": "/srv/maps/north.mbtiles"}
    return tape.end(), expect(good("0", "list_dir", {"path": "/srv/maps"}), good("1", "file_size", size))


@case("chat-completions/id-unwieldy", 87, 65)
def id_unwieldy() -> Built:
    """LiteLLM: a signature hangs on the id; a synthetic `{}` ends a call."""
    id = "call_31f0c9__thought__" + "RXhhbXBsZSBzaWduYXR1cmUu" * 6
    tape = Tape("chatcmpl-44e2litellm", "gemini-3-pro", 1764500600, system_fingerprint=None)
    tape.role(content="").head(0, id, "next_appointment", None).more(0, "{}")
    return tape.end("stop"), expect(good(id, "next_appointment", {}))


@case("chat-completions/id-reused", 64)
def id_reused() -> Built:
    """Two parallel calls have the same id; turn-scoped ids do that."""
    tape = Tape("cmpl-kimi-611", "moonshotai/Kimi-K2-Instruct", 1764500700)
    tape.role(content="").head(0, "functions.get_forecast:0", "get_forecast").more(0, '{"day": ', '"Fri"}')
    tape.head(1, "functions.get_forecast:0", "get_forecast").more(1, '{"day": ', '"Sat"}')
    first = good("functions.get_forecast:0", "get_forecast", {"day": "Fri"})
    second = good(None, "get_forecast", {"day": "Sat"}, flags=["duplicate_id"])
    second["flags"] = ["duplicate_id"]
    return tape.end(), expect(first, second)


@case("chat-completions/index-constant", 3)
def index_constant() -> Built:
    """LiteLLM before Ollama: four calls, all on index 0, told apart by id."""
    tape = Tape("chatcmpl-9b1dconst", "ollama_chat/llama3.1", 1764600010)
    tape.role(content="")
    ports = ("Brest", "Calais", "Roscoff", "Le Havre")
    for number, port in enumerate(ports):
        arguments = wire.compact({"port": port, "unit": "m"})
        tape.head(0, f"call_7e{number}", "water_level", arguments)
    calls = [good(f"call_7e{n}", "water_level", {"port": port, "unit": "m"}) for n, port in enumerate(ports)]
    return tape.end(), expect(*calls)


@case("chat-completions/index-constant-no-ids", 3, 8)
def index_constant_no_ids() -> Built:
    """Three calls on index 0 without ids, told apart by their names."""
    tape = Tape("chatcmpl-18440", "qwen2.5-coder:7b", 1764600100)
    tape.role(content="")
    wanted = (
        ("read_file", {"path": "a/b.toml"}),
        ("write_file", {"path": "a/c.toml", "text": "x = {}\n"}),
        ("read_file", {"path": "a/c.toml"}),
    )
    for name, arguments in wanted:
        tape.tools(chat_entry(0, type="function", name=name, arguments=wire.compact(arguments)))
    return tape.end(), expect(*(good(None, name, arguments) for name, arguments in wanted))


@case("chat-completions/index-missing", 1, 96)
def index_missing() -> Built:
    """Gemini's compatible endpoint: no index, signatures to send back."""
    tape = Tape("kX8PabvYN5-gemini", "gemini-2.5-flash", 1764600200)
    sign = {"google": {"thought_signature": "CiQBexampleSigNature=="}}
    first = chat_entry(
        id="function-call-8817",
        type="function",
        name="book_table",
        extra_content=sign,
        arguments='{"guests":4,"when":"2026-05-02T19:30"}',
    )
    second = chat_entry(id="function-call-8818", type="function", name="book_taxi", arguments='{"seats":4}')
    tape.delta({"role": "assistant", "tool_calls": [first]}).delta(
        {"role": "assistant", "tool_calls": [second]}
    )
    table = {"guests": 4, "when": "2026-05-02T19:30"}
    calls = (
        good("function-call-8817", "book_table", table),
        good("function-call-8818", "book_taxi", {"seats": 4}),
    )
    return tape.end("stop", usage=(55, 40)), expect(*calls)


@case("chat-completions/index-missing-pieces", 1)
def index_missing_pieces() -> Built:
    """No index at all, and the calls come in pieces."""
    tape = Tape("azureml-9911", "Phi-4-mini-instruct", 1764600300)
    tape.role(content="").head(ABSENT, "c-alpha", "add_row", '{"table":"tides",').more(
        ABSENT, '"row":{"h":', "4.21}}"
    )
    tape.head(ABSENT, "c-beta", "sort_rows", '{"table":').more(ABSENT, '"tides","by":', '"h"}')
    add = {"table": "tides", "row": {"h": 4.21}}
    return tape.end(), expect(
        good("c-alpha", "add_row", add), good("c-beta", "sort_rows", {"table": "tides", "by": "h"})
    )


@case("chat-completions/index-null", 2)
def index_null() -> Built:
    """The index is there and null, on heads and on tails."""
    tape = Tape("chatcmpl-fcc-20", "gemini-2.0-flash-lite", 1764600400)
    tape.role(content="").head(None, "call_n1", "define_word", '{"word":').more(None, '"ebb"}')
    tape.head(None, "call_n2", "rhyme_word", '{"word":"ebb","max":3}')
    calls = (
        good("call_n1", "define_word", {"word": "ebb"}),
        good("call_n2", "rhyme_word", {"word": "ebb", "max": 3}),
    )
    return tape.end(), expect(*calls)


@case("chat-completions/index-sparse", 4)
def index_sparse() -> Built:
    """The indices are 7 and 3; order of appearance counts."""
    tape = Tape("chatcmpl-higress-2", "claude-3-7-sonnet", 1764600500)
    tape.role(content="").head(7, "toolu_bdrk_07", "query_table").more(
        7, '{"sql": "SELECT', ' max(h) FROM gauge"}'
    )
    tape.head(3, "toolu_bdrk_03", "plot_series").more(3, '{"x": "t"', ', "y": "h"}')
    calls = (
        good("toolu_bdrk_07", "query_table", {"sql": "SELECT max(h) FROM gauge"}),
        good("toolu_bdrk_03", "plot_series", {"x": "t", "y": "h"}),
    )
    return tape.end(), expect(*calls)


@case("chat-completions/index-from-one", 4)
def index_from_one() -> Built:
    """A proxy before Anthropic: the text block used up index 0."""
    tape = Tape("msg_01proxy77", "claude-sonnet-4-5", 1764600600)
    tape.role(content="").say("Let me look ", "at the log.")
    tape.head(1, "toolu_01GitLog", "git_log").more(1, "", '{"max_count": ', "5, ", '"path": "parser"}')
    tape.head(2, "toolu_01GitDiff", "git_diff").more(2, "", '{"ref": "HEAD~1"}')
    calls = (
        good("toolu_01GitLog", "git_log", {"max_count": 5, "path": "parser"}),
        good("toolu_01GitDiff", "git_diff", {"ref": "HEAD~1"}),
    )
    return tape.end(), expect(*calls)


@case("chat-completions/tail-on-next-index", 5)
def tail_on_next_index() -> Built:
    """Each piece of one call has an index of its own."""
    tape = Tape("chatcmpl-nebius-6", "zai-org/GLM-4.5", 1764600700)
    tape.role(content="").head(0, "chatcmpl-tool-b8", "crop_image")
    tape.more(1, '{"file":"pier.png",').more(2, '"box":[0,0,').more(3, "640,480]}")
    crop = {"file": "pier.png", "box": [0, 0, 640, 480]}
    return tape.end(), expect(good("chatcmpl-tool-b8", "crop_image", crop))


@case("chat-completions/heads-on-zero-tail-on-one", 3, 5)
def heads_on_zero_tail_on_one() -> Built:
    """Both heads are on index 0, the tail of the second on 1."""
    tape = Tape("chatcmpl-agno-88", "cerebras/llama-4-scout", 1764600800)
    tape.role(content="").head(0, "c31", "lookup_member").more(0, '{"card":"M-', '204"}')
    tape.head(0, "c32", "lookup_fines").more(1, '{"card":"M-204",', '"since":2025}')
    calls = (
        good("c31", "lookup_member", {"card": "M-204"}),
        good("c32", "lookup_fines", {"card": "M-204", "since": 2025}),
    )
    return tape.end(), expect(*calls)


@case("chat-completions/index-reused", 6)
def index_reused() -> Built:
    """A streamed call begins on the index of a finished one."""
    tape = Tape("chatcmpl-camel-9", "llama-3.1-nemotron-70b", 1764600900)
    tape.role(content="").head(0, "call_first", "pause_player").more(0, "{}")
    tape.head(0, "call_second", "seek_player").more(0, '{"seconds":', "93", ',"exact":true}')
    seek = {"seconds": 93, "exact": True}
    return tape.end(), expect(
        good("call_first", "pause_player", {}), good("call_second", "seek_player", seek)
    )


@case("chat-completions/blank-fragments", 101, 38)
def blank_fragments() -> Built:
    """Entries without id, name and text open no call, wherever they point."""
    tape = Tape("chatcmpl-blank-1", "phi-4", 1765000010)
    tape.role(content="").more(9, "").tools(
        chat_entry(10, name="", arguments=None), {"index": 11, "function": None}
    )
    tape.head(0, "call_real", "water_plants", '{"beds":[3,5]}').tools({"index": 999_999_999})
    return tape.end(), expect(good("call_real", "water_plants", {"beds": [3, 5]}))


@case("chat-completions/chunk-ids-change", 14)
def chunk_ids_change() -> Built:
    """Every chunk has an id of its own; it says nothing about calls."""
    tape = Tape("0", "phi-3.5-mini-foundry", 1765000100)
    deltas = [
        {"role": "assistant", "content": ""},
        *wire.chat_call_deltas(
            0, Call("c-print", "print_label", '{"copies":2,"text":"Fragile {glass}"}'), every(9)
        ),
    ]
    for number, delta in enumerate(deltas):
        tape.delta(delta, id=f"chat.id.{number}", created=1765000100 + number)
    return tape.end(), expect(good("c-print", "print_label", {"copies": 2, "text": "Fragile {glass}"}))


# Chat completions: argument text


@case("chat-completions/arguments-snapshots", 24)
def arguments_snapshots() -> Built:
    """Each piece restates all of the argument text so far."""
    tape = Tape("0f5e-dashscope", "qwen-vl-max", 1765100010)
    text = '{"page": 3, "boxes": [{"x": 10, "y": 22}], "label": "stamp"}'
    tape.role(content="").head(0, "call_snap", "annotate_scan")
    tape.more(0, text[:6], text[:24], text[:41], text[:55], text)
    scan = {"page": 3, "boxes": [{"x": 10, "y": 22}], "label": "stamp"}
    return tape.end(), expect(good("call_snap", "annotate_scan", scan, flags=["snapshots"]))


@case("chat-completions/arguments-snapshots-before-value", 24)
def arguments_snapshots_before_value() -> Built:
    """The first snapshot ends where a value may start: only at the end does one reading remain."""
    tape = Tape("0f5e-langgraph", "qwen-plus-2025-07-28", 1765100050)
    text = '{"berth":"B4","hold":{"from":"08:00"}}'
    tape.role(content="").head(0, "call_snap_late", "hold_berth").more(
        0, text[:9], text[:17], text[:30], text
    )
    hold = {"berth": "B4", "hold": {"from": "08:00"}}
    return tape.end(), expect(good("call_snap_late", "hold_berth", hold, flags=["snapshots"]))


@case("chat-completions/arguments-placeholder", 25)
def arguments_placeholder() -> Built:
    """A proxy writes Anthropic's empty input first, and the real arguments after it."""
    tape = Tape("chatcmpl-ogx-0d", "claude-haiku-4-5", 1765100100)
    tape.role(content="").head(0, "toolu_01Reserve", "reserve_desk", "{}")
    tape.more(0, '{"desk": "4', 'F-12", "day": "2026-', '02-11"}')
    desk = {"desk": "4F-12", "day": "2026-02-11"}
    return tape.end(), expect(good("toolu_01Reserve", "reserve_desk", desk, flags=["placeholder"]))


@case("chat-completions/arguments-repeated", 23, 13)
def arguments_repeated() -> Built:
    """The last flush of vLLM repeats id, name and the whole argument text."""
    tape = Tape("chatcmpl-51697", "Salesforce/xLAM-2-8b-fc-r", 1765100200)
    text = '{"account": "savings", "months": 6}'
    tape.role(content="").head(0, "chatcmpl-tool-66", "balance_history")
    tape.more(0, text[:12], text[12:27], text[27:]).head(0, "chatcmpl-tool-66", "balance_history", text)
    history = {"account": "savings", "months": 6}
    return tape.end(), expect(good("chatcmpl-tool-66", "balance_history", history, flags=["repeated"]))


@case("chat-completions/arguments-object", 22)
def arguments_object() -> Built:
    """The arguments are an object, with nested values that look like JSON text."""
    tape = Tape("chatcmpl-llamacpp-b6", "hermes-4-14b-q6", 1765100300, system_fingerprint="b6871-11f0af55")
    arguments = {"method": "PUT", "body": '{"on": true}', "headers": {"x-zone": ["a", "b"]}, "retries": 0}
    tape.role().head(0, "rT4kPq0bVw", "http_request", arguments)
    return tape.end(), expect(good("rT4kPq0bVw", "http_request", arguments))


@case("chat-completions/arguments-parsed-beside", 36)
def arguments_parsed_beside() -> Built:
    """A serialised client object: `arguments` is empty, `parsed_arguments` holds the value."""
    tape = Tape("chatcmpl-sdk-dump", "gpt-4o-mini-2024-07-18", 1765100400)
    parsed = {"street": "Kade 12", "postcode": "1506 AB"}
    function = {"name": "check_address", "arguments": "", "parsed_arguments": parsed}
    tape.role().tools({"index": 0, "id": "call_parsed", "type": "function", "function": function})
    return tape.end(), expect(good("call_parsed", "check_address", parsed))


@case("chat-completions/arguments-input-beside", 36, 92)
def arguments_input_beside() -> Built:
    """Flat entries: the name and `input` or `args` stand on the entry itself, and the type is null."""
    tape = Tape("chatcmpl-flat", "workers-hermes-2-pro", 1765100500)
    first = {"index": 0, "id": "flat-1", "type": None, "name": "mute_channel", "input": {"channel": "#ops"}}
    second = {"index": 1, "id": "flat-2", "name": "pin_message", "args": {"channel": "#ops", "ts": 1718}}
    tape.role(content="").tools(first, second)
    calls = (
        good("flat-1", "mute_channel", {"channel": "#ops"}),
        good("flat-2", "pin_message", {"channel": "#ops", "ts": 1718}),
    )
    return tape.end(), expect(*calls)


@case("chat-completions/arguments-double-encoded", 27)
def arguments_double_encoded() -> Built:
    """The argument text is a JSON string that holds the JSON text."""
    tape = Tape("chatcmpl-oci-3", "meta.llama-3.3-70b-instruct", 1765100600)
    arguments = {"note": 'say "ahoy"', "copies": 2}
    text = wire.compact(wire.compact(arguments))
    tape.role(content="").head(0, "chatcmpl-tool-dd", "print_note").more(0, text[:11], text[11:30], text[30:])
    note = good("chatcmpl-tool-dd", "print_note", arguments, "normalised", edits=["double_encoded"])
    return tape.end(), expect(note)


@case("chat-completions/arguments-code-fence", 61)
def arguments_code_fence() -> Built:
    """The argument text is wrapped in a Markdown fence; a second call ends in a special token."""
    tape = Tape("chatcmpl-fence", "gemma-3-27b-it", 1765100700)
    tape.role(content="").head(0, "call_fenced", "resize_volume")
    tape.more(0, "```json\n", '{"volume":"vol-7",', '"gib":64}', "\n```")
    tape.head(1, "call_token", "attach_volume").more(1, '{"volume":"vol-7"}', "<|call|>")
    calls = (
        good(
            "call_fenced",
            "resize_volume",
            {"volume": "vol-7", "gib": 64},
            "normalised",
            edits=["code_fence"],
        ),
        good("call_token", "attach_volume", {"volume": "vol-7"}, "normalised", edits=["special_token"]),
    )
    return tape.end(), expect(*calls)


@case("chat-completions/arguments-recovered", 33)
def arguments_recovered() -> Built:
    """Three calls with token-level faults: a trailing comma, Python text, a raw line feed in a string."""
    tape = Tape("chatcmpl-omlx-1672", "mlx-community/Qwen3-8B-4bit", 1765100800)
    tape.role(content="").head(0, "rec_1", "tag_photo").more(
        0, '{"photo": "IMG_2201", ', '"tags": ["pier", "fog",],}'
    )
    tape.head(1, "rec_2", "share_album").more(1, "{'album': 'Coast', ", "'public': False, 'expires': None}")
    tape.head(2, "rec_3", "add_caption").more(2, '{"photo": "IMG_2201", "text": "Low water', '\nat dawn"}')
    calls = (
        good(
            "rec_1",
            "tag_photo",
            {"photo": "IMG_2201", "tags": ["pier", "fog"]},
            "recovered",
            edits=["trailing_comma"],
        ),
        good(
            "rec_2",
            "share_album",
            {"album": "Coast", "public": False, "expires": None},
            "recovered",
            edits=["python_literal", "single_quotes"],
        ),
        good(
            "rec_3",
            "add_caption",
            {"photo": "IMG_2201", "text": "Low water\nat dawn"},
            "recovered",
            edits=["control_char"],
        ),
    )
    return tape.end(), expect(*calls)


@case("chat-completions/arguments-surplus-brace", 28)
def arguments_surplus_brace() -> Built:
    """One closing brace too many after a complete object."""
    tape = Tape("chatcmpl-foundry-ds", "DeepSeek-V3-0324", 1765100900)
    tape.role(content="").head(0, "call_surplus", "set_alarm").more(
        0, '{"at":"05:40",', '"repeat":{"days":["Tue"]}}', "}"
    )
    alarm = {"at": "05:40", "repeat": {"days": ["Tue"]}}
    return tape.end(), expect(good("call_surplus", "set_alarm", alarm, "recovered", edits=["trailing_text"]))


@case("chat-completions/arguments-two-objects", 29)
def arguments_two_objects() -> Built:
    """Two different objects in one call, and the same object twice in another."""
    tape = Tape("chatcmpl-batcher", "mistral-small-3.2", 1765101000)
    tape.role(content="").head(0, "call_two", "delete_tag", '{"tag":"v1.0"}{"tag":"v1.1"}')
    tape.head(1, "call_twice", "fetch_tag", '{"tag":"v2.0"}{"tag":"v2.0"}')
    twice = good("call_twice", "fetch_tag", {"tag": "v2.0"}, "normalised", edits=["duplicate_object"])
    two = drop("call_two", "delete_tag", "multiple_objects", '{"tag":"v1.0"}{"tag":"v1.1"}')
    return tape.end(), expect(twice, dropped=[two])


@case("chat-completions/arguments-no-object", 30)
def arguments_no_object() -> Built:
    """The argument texts are valid JSON, but an array, a number and a string."""
    tape = Tape("chatcmpl-35990", "smollm3-3b", 1765101100)
    tape.role(content="")
    texts = ('["left", "right"]', "42", '"north"')
    for number, text in enumerate(texts):
        tape.head(number, f"call_odd{number}", "turn_valve").more(number, text)
    drops = [drop(f"call_odd{n}", "turn_valve", "not_an_object", text) for n, text in enumerate(texts)]
    return tape.end(), expect(reason="malformed", dropped=drops)


@case("chat-completions/arguments-head-lost", 31)
def arguments_head_lost() -> Built:
    """The server lost the first fragment, so the text begins inside the object."""
    tape = Tape("chatcmpl-35266", "Qwen/Qwen3-32B", 1765101200)
    tape.role(content="").head(0, "chatcmpl-tool-e1", "move_crane").more(0, '"crane": 4, ', '"bay": "C"}')
    lost = drop("chatcmpl-tool-e1", "move_crane", None, '"crane": 4, "bay": "C"}')
    return tape.end(), expect(reason="malformed", dropped=[lost])


@case("chat-completions/arguments-faulty", 84)
def arguments_faulty() -> Built:
    """JSON with a fault that has no single reading, beside a number that JSON does not have."""
    tape = Tape("chatcmpl-faulty", "yi-lightning", 1765101300)
    tape.role(content="").head(0, "call_comma", "ship_order", '{"order":"A-17" "carrier":"sea"}')
    tape.head(1, "call_nan", "set_discount", '{"order":"A-17","rate":NaN}')
    drops = [
        drop("call_comma", "ship_order", "invalid_json", '{"order":"A-17" "carrier":"sea"}'),
        drop("call_nan", "set_discount", "invalid_json", '{"order":"A-17","rate":NaN}'),
    ]
    return tape.end(), expect(reason="malformed", dropped=drops)


@case("chat-completions/arguments-complete-then-blank", 50, 100)
def arguments_complete_then_blank() -> Built:
    """The text is complete early; empty pieces and a line feed follow. A string ends in a line feed."""
    tape = Tape("chatcmpl-3953", "gpt-oss-20b", 1765101400)
    tape.role(content="").head(0, "call_note", "append_note").more(
        0, '{"note":"  high water 04:12\\n\\n"}', "", "", "\n", ""
    )
    return tape.end(), expect(good("call_note", "append_note", {"note": "  high water 04:12\n\n"}))


@case("chat-completions/arguments-entities", 34, 61)
def arguments_entities() -> Built:
    """HTML entities and markup inside strings are text like any other."""
    tape = Tape("chatcmpl-xai-ent", "grok-4-fast", 1765101500)
    arguments = {
        "command": "make &amp;&amp; make test",
        "html": "<b>5 &lt; 6</b></parameter>",
        "tail": "<|im_end|>",
    }
    tape.role(content="").head(0, "call_49018823", "render_template", wire.compact(arguments))
    return tape.end(), expect(good("call_49018823", "render_template", arguments))


@case("chat-completions/arguments-unicode", 35)
def arguments_unicode() -> Built:
    """Escapes and a surrogate pair are cut in half between pieces; other text is plain UTF-8."""
    tape = Tape("chatcmpl-uni-30904", "gpt-4.1-nano", 1765101600)
    tape.role(content="").head(0, "call_uni", "post_toot")
    tape.more(
        0,
        '{"text":"\\ud83c',
        "\\udf0a Højvande \\u00",
        "e6gte 潮 \\",
        'u2192 \\\\n \\"ok\\" 🦀",',
        '"lang":"da"}',
    )
    toot = {"text": '🌊 Højvande ægte 潮 → \\n "ok" 🦀', "lang": "da"}
    return tape.end(), expect(good("call_uni", "post_toot", toot))


@case("chat-completions/arguments-ascii-frames", 35)
def arguments_ascii_frames() -> Built:
    """A server that escapes all non-ASCII text in its frames, also astral characters."""
    tape = Tape("cmpl-ascii-77", "sea-lion-v3", 1765101700, ascii_only=True)
    arguments = {"title": "水位 📈", "cells": ["é", "ß", "𝛼"], "quote": "«\u2028»"}
    tape.role(content="").say("Voilà — ").head(0, "call_ascii", "make_chart")
    for piece in every(6)(wire.compact(arguments)):
        tape.more(0, piece)
    return tape.end(), expect(good("call_ascii", "make_chart", arguments))


# Chat completions: envelopes and ends


@case("chat-completions/custom-tool", 37, 38)
def custom_tool() -> Built:
    """A free-text tool in pieces whose function is null; beside a function call with an empty `custom`."""
    tape = Tape("chatcmpl-Cu5t0m", "gpt-5-mini-2025-08-07", 1765200010, service_tier="default", usage=None)
    tape.role(refusal=None).tools(
        {"index": 0, "id": "call_sql", "type": "custom", "custom": {"name": "run_sql", "input": ""}}
    )
    for text in ("SELECT port,", ' max(h)\nFROM "tides"', " GROUP BY 1; -- {"):
        tape.tools({"index": 0, "id": None, "type": None, "function": None, "custom": {"input": text}})
    function = {"name": "open_tab", "arguments": '{"n":2}'}
    tape.tools({"index": 1, "id": "call_tab", "type": "function", "function": function, "custom": {}})
    sql = {"id": "call_sql", "name": "run_sql", "input": 'SELECT port, max(h)\nFROM "tides" GROUP BY 1; -- {'}
    return tape.end(), expect(good("call_tab", "open_tab", {"n": 2}), custom=[sql])


@case("chat-completions/legacy-function-call", 83)
def legacy_function_call() -> Built:
    """The one call of the deprecated `function_call` member, which has no id."""
    tape = Tape("chatcmpl-8kLegacy", "gpt-3.5-turbo-0613", 1687100000)
    tape.role(function_call={"name": "lookup_isbn", "arguments": ""})
    for text in ('{\n  "isbn"', ': "978-90-', '1234-567-4"\n', "}"):
        tape.delta({"function_call": {"arguments": text}})
    return tape.end("function_call"), expect(good(None, "lookup_isbn", {"isbn": "978-90-1234-567-4"}))


@case("chat-completions/choices-two", 82)
def choices_two() -> Built:
    """Two choices, each with a call on its own index 0; their chunks alternate."""
    tape = Tape("chatcmpl-n2", "gpt-4o-2024-11-20", 1765200100, system_fingerprint="fp_n2")
    heads = (
        Call("call_n0", "play_move", '{"move":"Nf3"}'),
        Call("call_n1", "play_move", '{"move":"c4","draw":false}'),
    )
    for deltas in itertools.zip_longest(*(wire.chat_call_deltas(0, call, every(12)) for call in heads)):
        for choice, delta in enumerate(deltas):
            tape.delta(delta or {}, index=choice)
    tape.delta({}, "tool_calls", 0).delta({}, "tool_calls", 1)
    calls = (
        good("call_n0", "play_move", {"move": "Nf3"}),
        good("call_n1", "play_move", {"move": "c4", "draw": False}, choice=1),
    )
    return tape.stop(), expect(*calls)


@case("chat-completions/message-completes", 40)
def message_completes() -> Built:
    """The last chunk restates the message and completes a call whose last piece was lost."""
    tape = Tape("chatcmpl-hydra", "writer/palmyra-x5", 1765200200)
    tape.role(content="").head(0, "chatcmpl-tool-h1", "draft_letter").more(
        0, '{"to":"Quarter', 'master","tone":'
    )
    function = {"name": "draft_letter", "arguments": '{"to":"Quartermaster","tone":"formal"}'}
    message = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "chatcmpl-tool-h1", "type": "function", "function": function}],
    }
    tape.delta({}, "tool_calls", choice={"message": message})
    letter = {"to": "Quartermaster", "tone": "formal"}
    return tape.stop(), expect(
        good("chatcmpl-tool-h1", "draft_letter", letter, flags=["done_completed_buffer"])
    )


@case("chat-completions/message-in-one-frame", 90, 40)
def message_in_one_frame() -> Built:
    """Fake streaming: a cache sends the whole completion as one event."""
    calls = [
        Call("call_cached1", "list_berths", '{"quay": "West"}'),
        Call("call_cached2", "list_pilots", "{}"),
    ]
    body = wire.body_chat(Turn(calls, text="From the cache.", id="cached", model="gpt-4o"))
    found = (good("call_cached1", "list_berths", {"quay": "West"}), good("call_cached2", "list_pilots", {}))
    return wire.sse(body) + wire.done(), expect(*found)


@case("chat-completions/whole-body", 90, suffix="json")
def whole_body_chat() -> Built:
    """A pretty-printed, non-streamed completion with two calls, one of them of a custom tool."""
    calls = [
        Call("call_body1", "charge_card", '{"cents": 1995, "currency": "SEK"}'),
        Call("call_body2", "send_gcode", "G28 X0 Y0\nM104 S{200}", custom=True),
    ]
    body = wire.body_chat(Turn(calls, id="body", model="gpt-5-2025-08-07", created=1765200300))
    text = json.dumps(body, indent=2) + "\n"
    custom = {"id": "call_body2", "name": "send_gcode", "input": "G28 X0 Y0\nM104 S{200}"}
    charge = good("call_body1", "charge_card", {"cents": 1995, "currency": "SEK"})
    return text.encode(), expect(charge, custom=[custom])


@case("chat-completions/json-lines", suffix="ndjson")
def json_lines_chat() -> Built:
    """Chunks as JSON lines, as a logging proxy keeps them."""
    call = Call("call_lines", "log_dive", '{"depth_m": 18.5, "buddy": "Ines", "gas": {"o2": 32}}')
    turn = Turn([call], text="Logged.", id="lines", model="gpt-4.1", created=1765200400)
    dive = {"depth_m": 18.5, "buddy": "Ines", "gas": {"o2": 32}}
    return wire.json_lines(wire.chat_payloads(turn, every(8))), expect(good("call_lines", "log_dive", dive))


@case("chat-completions/json-array", suffix="json")
def json_array_chat() -> Built:
    """Chunks as the elements of one JSON array."""
    calls = [
        Call("call_arr1", "mix_paint", '{"hex":"#2a6f97"}'),
        Call("call_arr2", "order_paint", '{"litres":2.5}'),
    ]
    turn = Turn(calls, id="array", model="gpt-4.1-mini", created=1765200500)
    found = (
        good("call_arr1", "mix_paint", {"hex": "#2a6f97"}),
        good("call_arr2", "order_paint", {"litres": 2.5}),
    )
    return wire.json_array(wire.chat_payloads(turn, every(5))), expect(*found)


@case("chat-completions/azure-filters", 54, 39)
def azure_filters() -> Built:
    """Azure: a first frame without choices, filter results everywhere, a chunk whose delta is null."""
    safe = {
        "hate": {"filtered": False, "severity": "safe"},
        "violence": {"filtered": False, "severity": "safe"},
    }
    first = {"choices": [], "created": 0, "id": "", "model": "", "object": ""}
    tape = Tape(
        "chatcmpl-AzD0ck",
        "gpt-4o-2024-11-20",
        1765200600,
        choice={"content_filter_results": {}},
        system_fingerprint="fp_ee1d74bde0",
    )
    tape.frame(first | {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": safe}]})
    tape.role(refusal=None).head(0, "call_AzPilot", "assign_pilot").more(0, '{"vessel"', ':"MV Tern"')
    offsets = {"check_offset": 0, "start_offset": 0, "end_offset": 64}
    tape.delta(None, choice={"content_filter_offsets": offsets, "content_filter_results": safe})
    tape.more(0, ',"eta":"18:20"}')
    return tape.end(), expect(good("call_AzPilot", "assign_pilot", {"vessel": "MV Tern", "eta": "18:20"}))


@case("chat-completions/reasoning-twice", 85, 95)
def reasoning_twice() -> Built:
    """Reasoning stands in two members at once, content is a list of parts, the role is empty."""
    tape = Tape("chatcmpl-chutes", "deepseek-ai/DeepSeek-R1-0528", 1765200700)
    tape.delta({"role": "", "content": []})
    for text in ("The ferry ", "leaves at ten."):
        tape.delta({"reasoning": text, "reasoning_content": text})
    tape.delta({"content": [{"type": "text", "text": "Booking"}, {"type": "thinking", "thinking": []}]})
    tape.head(0, "chatcmpl-tool-ferry", "book_ferry").more(0, '{"sailing":"10:00"', ',"cars":1}')
    return tape.end(), expect(good("chatcmpl-tool-ferry", "book_ferry", {"sailing": "10:00", "cars": 1}))


@case("chat-completions/lmdeploy-whole-at-end", 41, 42)
def lmdeploy_whole_at_end() -> Built:
    """LMDeploy: text first, then name and whole arguments in the chunk that holds the finish reason."""
    tape = Tape("1", "internlm/internlm3-8b-instruct", 1765200800, usage=None)
    for text in ("I need ", "the berth plan", "."):
        tape.delta({"role": "assistant", "content": text, "reasoning_content": None, "tool_calls": None})
    arguments = '{"quay": "Oost", "date": "2026-07-01"}'
    entry = chat_entry(0, id="chatcmpl-tool-Lm1", type="function", name="berth_plan", arguments=arguments)
    tape.delta({"role": "assistant", "content": "", "tool_calls": [entry]}, "tool_calls")
    plan = {"quay": "Oost", "date": "2026-07-01"}
    return tape.stop((101, 38)), expect(good("chatcmpl-tool-Lm1", "berth_plan", plan))


@case("chat-completions/whole-calls-in-one-delta", 41, 88)
def whole_calls_in_one_delta() -> Built:
    """Groq: role, text, two whole calls and later usage under `x_groq`."""
    tape = Tape("chatcmpl-e91cgroq", "openai/gpt-oss-120b", 1765200900, system_fingerprint="fp_groq77")
    tape.delta({"role": "assistant", "content": ""}, x_groq={"id": "req_01kgroq"})
    entries = (
        chat_entry(0, id="fc_3b0e", type="function", name="roll_dice", arguments='{"sides":20,"count":2}'),
        chat_entry(1, id="fc_77aa", type="function", name="draw_card", arguments='{"deck":"omens"}'),
    )
    tape.delta({"content": "Rolling.", "reasoning": "d20", "tool_calls": list(entries)})
    usage = {"queue_time": 0.01, **wire.chat_usage(40, 30)}
    tape.delta({}, "tool_calls", x_groq={"id": "req_01kgroq", "usage": usage})
    calls = (
        good("fc_3b0e", "roll_dice", {"sides": 20, "count": 2}),
        good("fc_77aa", "draw_card", {"deck": "omens"}),
    )
    return tape.raw(wire.done()).bytes(), expect(*calls)


@case("chat-completions/tool-calls-one-object", 39)
def tool_calls_one_object() -> Built:
    """Old TGI: `tool_calls` is one object, in each delta, with a blank id."""
    tape = Tape("", "tgi/Mixtral-8x7B-Instruct", 1765201000, system_fingerprint="2.4.0-sha")
    for number, text in enumerate(('{"bpm"', ":96,", '"key":"Dm"}')):
        function = {"name": "set_tempo" if number == 0 else None, "arguments": text}
        entry = {"index": 0, "id": "", "type": "function", "function": function}
        tape.delta({"role": "assistant", "tool_calls": entry})
    return tape.end("stop"), expect(good(None, "set_tempo", {"bpm": 96, "key": "Dm"}))


@case("chat-completions/content-among-calls", 93, 39, 97)
def content_among_calls() -> Built:
    """Content goes on between the pieces of calls, leaks a value, and carries empty lists of calls."""
    tape = Tape("chatcmpl-among", "sglang/GLM-4.5-Air", 1765201100)
    tape.delta({"role": "assistant", "content": "First ", "tool_calls": []})
    tape.head(0, "call_mid1", "play_track").more(0, '{"track":"La')
    tape.delta({"content": "La Mer", "tool_calls": None}).more(0, ' Mer"}')
    tape.say(" then the lights.").head(1, "call_mid2", "dim_lights", '{"percent":').more(1, "20}")
    calls = (
        good("call_mid1", "play_track", {"track": "La Mer"}),
        good("call_mid2", "dim_lights", {"percent": 20}),
    )
    return tape.end(), expect(*calls)


@case("chat-completions/call-as-text", 62, 63)
def call_as_text() -> Built:
    """What looks like a call stands in reasoning and in content; it is text, and no call."""
    tape = Tape("chatcmpl-text", "llama-3.2-3b", 1765201200)
    tape.role(content="").say('<tool_call>{"name":"wipe_disk"}</tool_call>', member="reasoning_content")
    tape.say('{"name": "wipe_disk", ', '"parameters": {"device": "sda"}}')
    return tape.end("stop"), expect(reason="stop")


@case("chat-completions/responses-events-inside", 89)
def responses_events_inside() -> Built:
    """A mixed relay: the head of a call is a chat chunk's neighbour, its life is told in Responses events."""
    tape = Tape("chatcmpl-mixed", "gpt-5-relay", 1765201300)
    tape.role(content="").say("Routing.")
    stream = wire.ResponsesEvents("resp_mixed", "gpt-5-relay", 1765201300)
    stream.sequence = 3  # the events before were translated into chunks
    call = Call("call_mix", "route_ship", '{"from":"Vlissingen","to":"Harwich"}')
    for payload in stream.call(0, call, every(12)):
        tape.frame(payload)
    route = {"from": "Vlissingen", "to": "Harwich"}
    return tape.end(), expect(good("call_mix", "route_ship", route))


@case("chat-completions/finish-stop", 43, 26)
def finish_stop() -> Built:
    """The finish reason is stop although a call was made."""
    tape = Tape("chatcmpl-1387", "llama3.2:3b", 1765300010, system_fingerprint="fp_ollama")
    tape.role(content="").say("Sure!").head(0, "call_stop", "feed_cat", '{"grams":40}')
    return tape.end("stop"), expect(
        good("call_stop", "feed_cat", {"grams": 40}), anomalies=["finish_reason_mismatch"]
    )


@case("chat-completions/finish-twice", 44)
def finish_twice() -> Built:
    """A first finish reason comes before the call, a second after it."""
    tape = Tape("chatcmpl-claux", "o4-mini-relay", 1765300100)
    tape.role(content="").say("One moment.").delta({}, "stop")
    tape.head(0, "call_after", "hail_taxi").more(0, '{"pickup":"Station', ' Noord"}')
    return tape.end(), expect(good("call_after", "hail_taxi", {"pickup": "Station Noord"}))


@case("chat-completions/finish-blank", 45, 52)
def finish_blank() -> Built:
    """Every chunk has an empty finish reason, or the word null, and an `error` that is null."""
    tape = Tape("chatcmpl-crab", "minimax-text-01", 1765300200, error=None)
    tape.delta({"role": "", "content": ""}, "")
    tape.delta(
        {"tool_calls": [chat_entry(0, id="crab_1", type="function", name="cast_net", arguments="")]}, "null"
    )
    for text in ('{"mesh_mm":', "12}"):
        tape.delta({"tool_calls": [chat_entry(0, arguments=text)]}, "")
    return tape.end(), expect(good("crab_1", "cast_net", {"mesh_mm": 12}))


@case("chat-completions/finish-never", 46)
def finish_never() -> Built:
    """`[DONE]` comes, a finish reason never does."""
    tape = Tape("gen-166-nofinish", "nousresearch/hermes-4-70b", 1765300300, provider="Nebius")
    tape.role(content="").head(0, "call_nofinish", "ring_bell").more(0, '{"times"', ":3}")
    return tape.stop(), expect(good("call_nofinish", "ring_bell", {"times": 3}), anomalies=["missing_finish"])


@case("chat-completions/finish-without-call", 47)
def finish_without_call() -> Built:
    """The finish reason promises calls, and there is only text."""
    tape = Tape("chatcmpl-mastra", "bedrock/anthropic.claude-3-haiku", 1765300400)
    tape.role(content="").say('{"summary": "calm', ' sea"}')
    return tape.end(), expect(reason=None, anomalies=["reason_without_call"])


@case("chat-completions/cut-relabelled", 48, 32)
def cut_relabelled() -> Built:
    """The text is cut inside a string, and the finish reason says that all is well."""
    tape = Tape("chatcmpl-58228", "Qwen/Qwen3-Coder-30B", 1765300500)
    tape.role(content="").head(0, "chatcmpl-tool-cut", "run_shell").more(
        0, '{"command": "rm ', "-rf /srv/cache/ti"
    )
    cut = drop("chatcmpl-tool-cut", "run_shell", "truncated", '{"command": "rm -rf /srv/cache/ti')
    return tape.end(usage=(500, 16)), expect(reason="malformed", dropped=[cut])


@case("chat-completions/cut-brace-missing", 32)
def cut_brace_missing() -> Built:
    """Only the last brace is missing, in one of two calls."""
    tape = Tape("chatcmpl-32152", "NousResearch/Hermes-3-8B", 1765300600)
    tape.role(content="").head(0, "chatcmpl-tool-w", "get_wind").more(0, '{"station":"K13"}')
    tape.head(1, "chatcmpl-tool-p", "purge_files").more(1, '{"folder":"/var/log",', '"older_than_days":3')
    cut = drop("chatcmpl-tool-p", "purge_files", "truncated", '{"folder":"/var/log","older_than_days":3')
    return tape.end(), expect(good("chatcmpl-tool-w", "get_wind", {"station": "K13"}), dropped=[cut])


@case("chat-completions/cut-length", 49)
def cut_length() -> Built:
    """The token limit hits the second of two calls."""
    tape = Tape(
        "chatcmpl-Len6284", "gpt-4o-mini-2024-07-18", 1765300700, system_fingerprint="fp_len", usage=None
    )
    tape.role(refusal=None).head(0, "call_len1", "read_gauge").more(0, '{"gauge":"G-4"}')
    tape.head(1, "call_len2", "file_report").more(1, '{"title":"Gauge G-4",', '"body":"The reading of')
    cut = drop("call_len2", "file_report", "truncated", '{"title":"Gauge G-4","body":"The reading of')
    whole_call = good("call_len1", "read_gauge", {"gauge": "G-4"}, flags=["turn_truncated"])
    return tape.end("length", usage=(80, 32)), expect(whole_call, reason=None, dropped=[cut])


@case("chat-completions/cut-length-no-arguments", 49, 26)
def cut_length_no_arguments() -> Built:
    """The token limit hits before the first piece of the arguments: empty does not mean no arguments."""
    tape = Tape("chatcmpl-Len0", "mistral-small-latest", 1765300800)
    tape.role(content="").say("Filing it now.").head(0, "D681PevKs", "close_account", "")
    cut = drop("D681PevKs", "close_account", "truncated", "")
    return tape.end("length"), expect(reason="length", dropped=[cut])


@case("chat-completions/cut-content-filter", 49)
def cut_content_filter() -> Built:
    """A content filter ends the turn inside the arguments."""
    tape = Tape("chatcmpl-Filter", "gpt-4.1-2025-04-14", 1765300900)
    tape.role(content="").head(0, "call_filter", "send_mail").more(
        0, '{"to":"crew@example.org",', '"body":"Dear'
    )
    cut = drop("call_filter", "send_mail", "truncated", '{"to":"crew@example.org","body":"Dear')
    return tape.end("content_filter"), expect(reason="content_filter", dropped=[cut])


@case("chat-completions/dropped-connection", 51)
def dropped_connection() -> Built:
    """The connection ends between two frames; one call is complete by its looks, one is not."""
    tape = Tape("chatcmpl-drop785", "deepseek-chat", 1765301000)
    tape.role(content="").head(0, "call_d1", "lower_gate").more(0, '{"gate":2}')
    tape.head(1, "call_d2", "raise_gate").more(1, '{"gate":', "1")
    drops = [
        drop("call_d1", "lower_gate", "unterminated", '{"gate":2}'),
        drop("call_d2", "raise_gate", "unterminated", '{"gate":1'),
    ]
    return tape.bytes(), expect(reason=None, dropped=drops)


@case("chat-completions/dropped-inside-a-frame", 51, 55)
def dropped_inside_a_frame() -> Built:
    """The connection ends inside a frame."""
    tape = Tape("chatcmpl-drop2487", "copilot-gpt-4.1", 1765301100)
    tape.role(content="").head(0, "call_half", "sign_form").more(
        0, '{"form":"17-B"', ',"signer":"harbour master"}'
    )
    cut = drop("call_half", "sign_form", "unterminated", '{"form":"17-B"')
    return tape.bytes()[:-71], expect(reason=None, dropped=[cut], faults=["undecodable_frame"])


@case("chat-completions/error-object", 52, 94)
def error_object() -> Built:
    """An error object replaces the next chunk."""
    tape = Tape("chatcmpl-err223", "llama-4-maverick", 1765301200)
    tape.role(content="").head(0, "call_err", "transfer_funds").more(
        0, '{"iban":"NL00EXMP', '0000000001","cents":'
    )
    error = {"message": "upstream connect error", "type": "server_error", "param": None, "code": 502}
    tape.raw(wire.sse({"error": error}) + wire.done())
    cut = drop("call_err", "transfer_funds", "aborted", '{"iban":"NL00EXMP0000000001","cents":')
    return tape.bytes(), expect(reason="error", dropped=[cut], faults=["provider_error"])


@case("chat-completions/error-finish", 52)
def error_finish() -> Built:
    """OpenRouter: the error stands beside a choice whose finish reason is error."""
    tape = Tape("gen-1765301300-eRr", "anthropic/claude-sonnet-4.5", 1765301300, provider="Anthropic")
    tape.role(content="").head(0, "toolu_vrtx_01Err", "rename_branch").more(0, '{"from":"wip"}')
    error = {"code": 429, "message": "Provider returned error", "metadata": {"provider_name": "Anthropic"}}
    tape.delta({"content": ""}, "error", choice={"native_finish_reason": None}, error=error)
    cut = drop("toolu_vrtx_01Err", "rename_branch", "aborted", '{"from":"wip"}')
    return tape.raw(wire.done()).bytes(), expect(reason="error", dropped=[cut], faults=["provider_error"])


@case("chat-completions/error-event", 79)
def error_event() -> Built:
    """llama.cpp gives up inside a call, under an event name of its own."""
    tape = Tape(
        "chatcmpl-diff38569", "gpt-oss-20b-mxfp4.gguf", 1765301400, system_fingerprint="b6900-aa11bb22"
    )
    tape.role().head(0, "oD2vYk", "patch_file").more(0, '{"path":"quay.py",', '"diff":"@@')
    error = {"code": 500, "message": "Invalid diff: not found at start", "type": "server_error"}
    tape.raw(wire.sse({"error": error}, "error"))
    cut = drop("oD2vYk", "patch_file", "aborted", '{"path":"quay.py","diff":"@@')
    return tape.bytes(), expect(reason="error", dropped=[cut], faults=["provider_error"])


@case("chat-completions/error-failed-generation", 81)
def error_failed_generation() -> Built:
    """Groq: the model's call could not be read by the server; its text stands in the error only."""
    tape = Tape("chatcmpl-groqfail", "llama-3.3-70b-versatile", 1765301500)
    error = {
        "message": "Failed to call a function. Please adjust your prompt.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": '<function=water_bill{"house": 12}</function>',
        "status_code": 400,
    }
    tape.role(content="").raw(wire.sse({"error": error}, "error") + wire.done())
    return tape.bytes(), expect(reason="error", faults=["provider_error"])


# Chat completions: framing


@case("chat-completions/framing-crlf", 55, origin="typed")
def framing_crlf() -> Built:
    """CRLF line ends, no space after the colon, an id and a retry field."""
    call = Call("call_crlf", "scan_badge", '{"badge":"Zoë-7","gate":"→"}')
    chunks = wire.chat_payloads(Turn([call], id="crlf", model="glm-4-plus"), every(7))
    data = b"".join(wire.sse(chunk, newline=b"\r\n", space=False) for chunk in chunks)
    data = b"retry: 3000\r\nid: 41\r\n" + data + wire.done(b"\r\n")
    return data, expect(good("call_crlf", "scan_badge", {"badge": "Zoë-7", "gate": "→"}))


@case("chat-completions/framing-bom", 55, origin="typed")
def framing_bom() -> Built:
    """A byte order mark, and lines that end in a lone carriage return."""
    call = Call("call_bom", "stamp_passport", '{"page":9,"visa":"Ü"}')
    chunks = wire.chat_payloads(Turn([call], id="bom", model="ernie-4.5"), every(4))
    data = b"".join(wire.sse(chunk, newline=b"\r") for chunk in chunks) + wire.done(b"\r")
    return b"\xef\xbb\xbf" + data, expect(good("call_bom", "stamp_passport", {"page": 9, "visa": "Ü"}))


@case("chat-completions/framing-multi-line", 55, origin="typed")
def framing_multi_line() -> Built:
    """Pretty-printed payloads over many data lines."""
    call = Call("call_lines2", "lay_tiles", '{"room":"hall","m2":11.5}')
    chunks = wire.chat_payloads(Turn([call], id="pretty", model="command-r7b"), every(13))
    data = b"".join(wire.sse(json.dumps(chunk, indent=1, ensure_ascii=False)) for chunk in chunks)
    return data + wire.done(), expect(good("call_lines2", "lay_tiles", {"room": "hall", "m2": 11.5}))


@case("chat-completions/framing-comments", 53, 54, origin="typed")
def framing_comments() -> Built:
    """Comments, pings, empty data and chunks with no choices between the chunks of a call."""
    call = Call("call_quiet", "start_timer", '{"minutes":25,"label":": not a comment"}')
    chunks = wire.chat_payloads(Turn([call], id="quiet", model="openrouter/auto"), every(10))
    noise = (
        b": OPENROUTER PROCESSING\n\n",
        b": keep-alive\n\n",
        b"data:\n\n",
        wire.sse({"type": "ping"}, "ping"),
        wire.sse({"choices": None, "copilot_references": []}),
        b"\n\n:\n",
    )
    parts = [noise[0]]
    for number, chunk in enumerate(chunks):
        parts += [wire.sse(chunk), noise[number % len(noise)]]
    timer = {"minutes": 25, "label": ": not a comment"}
    return b"".join(parts) + wire.done(), expect(good("call_quiet", "start_timer", timer))


# Legacy completions


@case("legacy-completions/text-only", 62)
def legacy_text() -> Built:
    """Text that looks like a tool call is text."""
    texts = ("\n\n", '{"name": "open_lock",', ' "arguments": {"lock": 3}}', "")
    last = len(texts) - 1
    chunks = [
        wire.legacy_chunk(text, finish="stop" if at == last else None, id="cmpl-lock", model="davinci-002")
        for at, text in enumerate(texts)
    ]
    return b"".join(map(wire.sse, chunks)) + wire.done(), expect(reason="stop")


@case("legacy-completions/cut-length", 49)
def legacy_length() -> Built:
    """A text that ends at the token limit, with usage in a chunk without choices."""
    texts = ("Low water ", "at Dover is ", "at 03:", "5")
    chunks = [
        wire.legacy_chunk(text, finish="length" if at == 3 else None, id="cmpl-dover", model="opt-1.3b")
        for at, text in enumerate(texts)
    ]
    usage = wire.legacy_chunk("", id="cmpl-dover", model="opt-1.3b")
    chunks.append(usage | {"choices": [], "usage": wire.chat_usage(6, 12)})
    return b"".join(map(wire.sse, chunks)) + wire.done(), expect(reason="length")


@case("legacy-completions/error", 52)
def legacy_error() -> Built:
    """An engine that fails in the middle of a text: the error comes as a frame of its own."""
    chunks = [
        wire.legacy_chunk(text, id="cmpl-leith", model="opt-1.3b") for text in ("High water at ", "Leith")
    ]
    error = {"error": {"message": "The engine stopped.", "type": "server_error", "code": 500}}
    return b"".join(map(wire.sse, [*chunks, error])), expect(reason="error", faults=["provider_error"])


# Responses


def _responses(id: str, model: str, created: int) -> wire.ResponsesEvents:
    return wire.ResponsesEvents(f"resp_{id}", model, created)


@case("responses/single-call")
def responses_single() -> Built:
    """Reasoning, then one call through its whole life."""
    stream = _responses("0aa1single", "gpt-5-mini-2025-08-07", 1766000010)
    thought = wire.reasoning_item("rs_0aa1single")
    call = Call("call_Hf7Train", "search_trains", '{"from":"Oostende","to":"Brugge","after":"07:30"}')
    events = [*stream.created(), stream.added(0, thought), stream.item_done(0, thought)]
    events += stream.call(1, call, every(7))
    events.append(stream.completed([thought, wire.function_call_item(call)]))
    trains = {"from": "Oostende", "to": "Brugge", "after": "07:30"}
    return wire.typed_sse(events), expect(good("call_Hf7Train", "search_trains", trains))


@case("responses/parallel-interleaved", 56)
def responses_parallel() -> Built:
    """The deltas of two calls alternate; a message stands before them."""
    stream = _responses("0bb2parallel", "grok-4-1-fast", 1766000100)
    a = Call("call_pa", "get_member", '{"card":"M-77"}')
    b = Call("call_pb", "get_holds", '{"card":"M-77","branch":"Sud"}')
    events = [*stream.created(), *stream.message(0, "msg_0bb2", "Looking both up.", every(8))]
    lives = [stream.call(1, a, every(6)), stream.call(2, b, every(11))]
    for pair in itertools.zip_longest(*lives):
        events += [event for event in pair if event]
    for number, event in enumerate(events):
        event["sequence_number"] = number
    stream.sequence = len(events)
    output = [wire.message_item("msg_0bb2", "Looking both up."), *map(wire.function_call_item, (a, b))]
    events.append(stream.completed(output))
    calls = (
        good("call_pa", "get_member", {"card": "M-77"}),
        good("call_pb", "get_holds", {"card": "M-77", "branch": "Sud"}),
    )
    return wire.typed_sse(events), expect(*calls)


@case("responses/zero-argument", 26)
def responses_zero() -> Built:
    """Two calls of tools without parameters: one sends an empty object, one sends nothing."""
    stream = _responses("0cc3zero", "gpt-5.4-2026-03-05", 1766000200)
    a, b = Call("call_za", "today", "{}"), Call("call_zb", "list_calendars", "")
    events = [*stream.created(), *stream.call(0, a), *stream.call(1, b)]
    events.append(stream.completed([wire.function_call_item(a), wire.function_call_item(b)]))
    calls = (good("call_za", "today", {}), good("call_zb", "list_calendars", {}, "empty"))
    return wire.typed_sse(events), expect(*calls)


@case("responses/done-without-deltas", 71)
def responses_no_deltas() -> Built:
    """LM Studio: no delta at all; one call is whole in `arguments.done`, one only in `output_item.done`."""
    stream = _responses("0dd4nodelta", "qwen/qwen3-vl-8b", 1766000300)
    a = Call("call_da", "index_page", '{"url":"https://example.org/tide?x={1}"}')
    b = Call("call_db", "index_status", '{"job":5}')
    events = stream.created()
    for position, call in enumerate((a, b)):
        opened = wire.function_call_item(call, status="in_progress", arguments="")
        events.append(stream.added(position, opened))
        if call is a:
            events.append(stream.arguments_done(position, opened["id"], call.arguments))
        events.append(stream.item_done(position, wire.function_call_item(call)))
    events.append(stream.completed([wire.function_call_item(a), wire.function_call_item(b)]))
    calls = (
        good("call_da", "index_page", {"url": "https://example.org/tide?x={1}"}),
        good("call_db", "index_status", {"job": 5}),
    )
    return wire.typed_sse(events), expect(*calls)


@case("responses/item-id-rotates", 69)
def responses_rotation() -> Built:
    """The item has another id in each event; slot and call id stay."""
    stream = _responses("0ee5rotate", "gpt-5-copilot", 1766000400)
    call = Call("call_rot", "stage_hunk", '{"file":"a.py","hunk":2}')
    events = [
        *stream.created(),
        stream.added(0, wire.function_call_item(call, id="fc_R0", status="in_progress", arguments="")),
    ]
    for number, piece in enumerate(every(9)(call.arguments), 1):
        events.append(stream.arguments_delta(0, f"fc_R{number}", piece))
    events.append(stream.arguments_done(0, "fc_R8", call.arguments))
    events.append(stream.item_done(0, wire.function_call_item(call, id="fc_R9")))
    events.append(stream.completed([wire.function_call_item(call, id="fc_R10")]))
    return wire.typed_sse(events), expect(good("call_rot", "stage_hunk", {"file": "a.py", "hunk": 2}))


@case("responses/completed-only", 72)
def responses_completed_only() -> Built:
    """Only `response.completed` tells of the calls."""
    stream = _responses("0ff6only", "gpt-4.1-azure", 1766000500)
    a = Call("call_oa", "quote_freight", '{"teu":3,"port":"Gdynia"}')
    b = Call("call_ob", "quote_freight", '{"teu":3,"port":"Gdańsk"}')
    events = [*stream.created(), stream.completed([wire.function_call_item(a), wire.function_call_item(b)])]
    calls = (
        good("call_oa", "quote_freight", {"teu": 3, "port": "Gdynia"}),
        good("call_ob", "quote_freight", {"teu": 3, "port": "Gdańsk"}),
    )
    return wire.typed_sse(events), expect(*calls)


@case("responses/completed-empty", 73)
def responses_completed_empty() -> Built:
    """`response.completed` carries an empty output list; the calls came before it."""
    stream = _responses("0ab7empty", "gpt-5-codex", 1766000600)
    call = Call("call_ce", "run_check", '{"name":"lint","paths":["src","docs"]}')
    events = [*stream.created(), *stream.call(0, call, every(10)), stream.completed([])]
    return wire.typed_sse(events), expect(
        good("call_ce", "run_check", {"name": "lint", "paths": ["src", "docs"]})
    )


@case("responses/incomplete", 76, 49)
def responses_incomplete() -> Built:
    """The token limit: the first call was done, the second item is closed as incomplete."""
    stream = _responses("0bc8limit", "gpt-5.6-sol", 1766000700)
    a = Call("call_ia", "convert_money", '{"amount":120,"to":"NOK"}')
    b = Call("call_ib", "wire_money", '{"amount":120,"iban":"NO93')
    cut = wire.function_call_item(b, status="incomplete")
    opened = cut | {"status": "in_progress", "arguments": ""}
    events = [*stream.created(), *stream.call(0, a, every(12)), stream.added(1, opened)]
    events += [stream.arguments_delta(1, opened["id"], piece) for piece in every(12)(b.arguments)]
    events += [stream.item_done(1, cut), stream.incomplete([wire.function_call_item(a), cut])]
    dropped = drop("call_ib", "wire_money", "truncated", b.arguments)
    done = good("call_ia", "convert_money", {"amount": 120, "to": "NOK"})
    return wire.typed_sse(events), expect(done, reason=None, dropped=[dropped])


@case("responses/failed", 76, 52)
def responses_failed() -> Built:
    """The response fails after one call was done and while another is open."""
    stream = _responses("0cd9fail", "gpt-5-2025-08-07", 1766000800)
    a = Call("call_fa", "fetch_chart", '{"sheet":"INT-1043"}')
    b = Call("call_fb", "print_chart", '{"sheet":"INT-1043","copies":9}')
    opened = wire.function_call_item(b, status="in_progress", arguments="")
    events = [*stream.created(), *stream.call(0, a), stream.added(1, opened)]
    events.append(stream.arguments_delta(1, opened["id"], b.arguments))
    events.append(stream.failed("server_error", "The model had to stop."))
    dropped = drop("call_fb", "print_chart", "aborted", b.arguments)
    done = good("call_fa", "fetch_chart", {"sheet": "INT-1043"})
    return wire.typed_sse(events), expect(done, reason="error", dropped=[dropped], faults=["provider_error"])


@case("responses/error-event", 52)
def responses_error() -> Built:
    """A flat error event inside a call."""
    stream = _responses("0de0err", "o3-2025-04-16", 1766000900)
    call = Call("call_ee", "book_slot", '{"lock":"Noord","at":')
    opened = wire.function_call_item(call, status="in_progress", arguments="")
    events = [
        *stream.created(),
        stream.added(0, opened),
        stream.arguments_delta(0, opened["id"], call.arguments),
    ]
    message = "The server had an error while processing your request."
    events.append(stream.event("error", code="server_error", message=message, param=None))
    dropped = drop("call_ee", "book_slot", "aborted", call.arguments)
    return wire.typed_sse(events), expect(reason="error", dropped=[dropped], faults=["provider_error"])


@case("responses/dropped-connection", 51, 76)
def responses_eof() -> Built:
    """The connection ends after the first item was done; what the wire ended stays ended."""
    stream = _responses("0ef1eof", "gpt-5-nano", 1766001000)
    a = Call("call_ea", "get_draught", '{"vessel":"Tern"}')
    b = Call("call_eb", "get_beam", '{"vessel":"Tern"}')
    opened = wire.function_call_item(b, status="in_progress", arguments="")
    events = [*stream.created(), *stream.call(0, a), stream.added(1, opened)]
    events.append(stream.arguments_delta(1, opened["id"], b.arguments))
    dropped = drop("call_eb", "get_beam", "unterminated", b.arguments)
    done = good("call_ea", "get_draught", {"vessel": "Tern"})
    return wire.typed_sse(events), expect(done, reason=None, dropped=[dropped])


@case("responses/custom-tool")
def responses_custom() -> Built:
    """A free-text tool beside a function; its input holds braces and quotes and is never parsed."""
    stream = _responses("0fa2custom", "gpt-5.2-codex", 1766001100)
    a = Call("call_ca", "write_query", 'MATCH (p:Port {name: "Brest"})\nRETURN p{.*}', custom=True)
    b = Call("call_cb", "explain_query", '{"analyze":true}')
    events = [*stream.created(), *stream.call(0, a, every(9)), *stream.call(1, b, every(9))]
    events.append(stream.completed([wire.custom_call_item(a), wire.function_call_item(b)]))
    custom = {"id": "call_ca", "name": "write_query", "input": a.arguments}
    return wire.typed_sse(events), expect(
        good("call_cb", "explain_query", {"analyze": True}), custom=[custom]
    )


@case("responses/mcp-call")
def responses_mcp() -> Built:
    """A remote server's tools are listed and called by the provider; another of its tools needs approval."""
    stream = _responses("0gb3mcp", "gpt-5-2025-08-07", 1766001200)
    listed = {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "charts", "tools": []}
    item = {
        "id": "mcp_1",
        "type": "mcp_call",
        "status": "in_progress",
        "approval_request_id": None,
        "arguments": "",
        "error": None,
        "name": "depth_at",
        "output": None,
        "server_label": "charts",
    }
    text = '{"lat":51.96,"lon":3.11}'
    where = {"item_id": "mcp_1", "output_index": 1}
    events = [
        *stream.created(),
        stream.added(0, listed),
        stream.event("response.mcp_list_tools.completed", item_id="mcpl_1", output_index=0),
        stream.item_done(0, listed),
        stream.added(1, item),
    ]
    events.append(stream.event("response.mcp_call.in_progress", **where))
    events += [stream.delta("mcp_call_arguments", 1, "mcp_1", piece) for piece in every(10)(text)]
    events.append(stream.event("response.mcp_call_arguments.done", **where, arguments=text))
    events.append(stream.event("response.mcp_call.completed", **where))
    finished = item | {"status": "completed", "arguments": text, "output": '{"metres": 31.5}'}
    asked = {
        "id": "mcpr_2",
        "type": "mcp_approval_request",
        "arguments": '{"sheet":"7"}',
        "name": "buy_chart",
        "server_label": "charts",
    }
    events += [stream.item_done(1, finished), stream.added(2, asked), stream.item_done(2, asked)]
    events.append(stream.completed([listed, finished, asked]))
    server = [
        {"id": "mcp_1", "name": "depth_at", "arguments": {"lat": 51.96, "lon": 3.11}},
        {"id": "mcpr_2", "name": "buy_chart", "arguments": {"sheet": "7"}, "flags": ["needs_approval"]},
    ]
    return wire.typed_sse(events), expect(reason=None, server=server)


@case("responses/web-search-and-code")
def responses_server_tools() -> Built:
    """The provider searches and runs code itself, then answers in text."""
    stream = _responses("0hc4web", "gpt-5-2025-08-07", 1766001300)
    search: JSON = {
        "id": "ws_1",
        "type": "web_search_call",
        "status": "completed",
        "action": {"type": "search", "query": "spring tide Granville height"},
    }
    code = "print(max([12.9, 13.1]))"
    ran = {
        "id": "ci_1",
        "type": "code_interpreter_call",
        "status": "completed",
        "code": code,
        "container_id": "cntr_1",
        "outputs": None,
    }
    events = [
        *stream.created(),
        stream.added(0, {"id": "ws_1", "type": "web_search_call", "status": "in_progress"}),
    ]
    events += [
        stream.event(f"response.web_search_call.{step}", item_id="ws_1", output_index=0)
        for step in ("in_progress", "searching", "completed")
    ]
    events += [stream.item_done(0, search), stream.added(1, ran | {"status": "in_progress", "code": ""})]
    events += [stream.delta("code_interpreter_call_code", 1, "ci_1", piece) for piece in every(8)(code)]
    events.append(
        stream.event("response.code_interpreter_call_code.done", item_id="ci_1", output_index=1, code=code)
    )
    events += [stream.item_done(1, ran), *stream.message(2, "msg_w", "13.1 m.")]
    events.append(stream.completed([search, ran, wire.message_item("msg_w", "13.1 m.")]))
    server = [
        {"id": "ws_1", "name": "web_search", "arguments": {"action": search["action"]}},
        {"id": "ci_1", "name": "code_interpreter", "arguments": {"code": code}},
    ]
    return wire.typed_sse(events), expect(reason=None, server=server)


@case("responses/shell-and-patch")
def responses_builtin() -> Built:
    """Tools that the provider defines and the client executes: a shell and a patch."""
    stream = _responses("0id5shell", "gpt-5.1-codex", 1766001400)
    shell: JSON = {
        "id": "sh_1",
        "type": "shell_call",
        "status": "completed",
        "call_id": "call_sh",
        "action": {
            "commands": ["ls charts", "wc -l charts/*.csv"],
            "max_output_length": 4096,
            "timeout_ms": None,
        },
    }
    diff = '+{"port": "Brest"}\n+\n'
    patch: JSON = {
        "id": "apc_1",
        "type": "apply_patch_call",
        "status": "completed",
        "call_id": "call_ap",
        "operation": {"type": "create_file", "diff": diff, "path": "charts/brest.json"},
    }
    empty: JSON = {"commands": [], "max_output_length": None, "timeout_ms": None}
    events = [*stream.created(), stream.added(0, shell | {"status": "in_progress", "action": empty})]
    for number, command in enumerate(shell["action"]["commands"]):
        where = {"output_index": 0, "command_index": number}
        events.append(stream.event("response.shell_call_command.added", **where, command=""))
        events += [
            stream.event("response.shell_call_command.delta", **where, delta=piece)
            for piece in every(5)(command)
        ]
        events.append(stream.event("response.shell_call_command.done", **where, command=command))
    opened = patch | {"status": "in_progress", "operation": patch["operation"] | {"diff": ""}}
    events += [stream.item_done(0, shell), stream.added(1, opened)]
    events += [stream.delta("apply_patch_call_operation_diff", 1, "apc_1", piece) for piece in every(6)(diff)]
    events.append(
        stream.event(
            "response.apply_patch_call_operation_diff.done", item_id="apc_1", output_index=1, diff=diff
        )
    )
    events += [stream.item_done(1, patch), stream.completed([shell, patch])]
    builtin = [
        {"id": "call_sh", "kind": "shell", "arguments": {"action": shell["action"]}},
        {"id": "call_ap", "kind": "apply_patch", "arguments": {"operation": patch["operation"]}},
    ]
    return wire.typed_sse(events), expect(builtin=builtin)


@case("responses/local-shell-computer-search")
def responses_more_builtin() -> Built:
    """A local shell, a computer action and a client-side tool search."""
    stream = _responses("0je6local", "computer-use-preview", 1766001500)
    local = {
        "id": "lsh_1",
        "type": "local_shell_call",
        "status": "completed",
        "call_id": "call_ls",
        "action": {"type": "exec", "command": ["date", "-u"], "env": {}},
    }
    click = {
        "id": "cu_1",
        "type": "computer_call",
        "status": "completed",
        "call_id": "call_cu",
        "action": {"type": "click", "button": "left", "x": 40, "y": 12},
        "pending_safety_checks": [],
    }
    search: JSON = {
        "id": "tsc_1",
        "type": "tool_search_call",
        "status": "completed",
        "call_id": "call_ts",
        "execution": "client",
        "arguments": {"queries": ["tide tables"]},
    }
    events = stream.created()
    for position, item in enumerate((local, click, search)):
        events += [stream.added(position, item | {"status": "in_progress"}), stream.item_done(position, item)]
    events.append(stream.completed([local, click, search]))
    builtin = [
        {"id": "call_ls", "kind": "local_shell", "arguments": {"action": local["action"]}},
        {"id": "call_cu", "kind": "computer", "arguments": {"action": click["action"]}},
        {"id": "call_ts", "kind": "tool_search", "arguments": {"arguments": search["arguments"]}},
    ]
    return wire.typed_sse(events), expect(builtin=builtin)


@case("responses/deltas-opaque", 70)
def responses_opaque() -> Built:
    """The deltas are encrypted; the plain text stands in the restatements only."""
    stream = _responses("0kf7opaque", "gpt-5-mini-relay", 1766001600)
    call = Call("call_op", "unlock_bike", '{"bike":218,"pin":"0042"}')
    opened = wire.function_call_item(call, status="in_progress", arguments="")
    events = [*stream.created(), stream.added(0, opened)]
    events += [stream.arguments_delta(0, opened["id"], text) for text in ("kX9vQ0pZ", "r7+/aa==")]
    events.append(stream.arguments_done(0, opened["id"], call.arguments))
    events += [
        stream.item_done(0, wire.function_call_item(call)),
        stream.completed([wire.function_call_item(call)]),
    ]
    return wire.typed_sse(events), expect(good("call_op", "unlock_bike", {"bike": 218, "pin": "0042"}))


@case("responses/deltas-before-added", 74)
def responses_deltas_first() -> Built:
    """The deltas come before the event that opens their item."""
    stream = _responses("0lg8early", "ai/smollm3", 1766001700)
    call = Call("call_ea2", "label_jar", '{"text":"Quince 2026","size":"S"}')
    opened = wire.function_call_item(call, status="in_progress", arguments="")
    events = stream.created()
    events += [stream.arguments_delta(0, opened["id"], piece) for piece in every(11)(call.arguments)]
    events.append(stream.added(0, opened))
    events.append(stream.arguments_done(0, opened["id"], call.arguments))
    events += [
        stream.item_done(0, wire.function_call_item(call)),
        stream.completed([wire.function_call_item(call)]),
    ]
    return wire.typed_sse(events), expect(good("call_ea2", "label_jar", {"text": "Quince 2026", "size": "S"}))


@case("responses/call-id-missing", 75)
def responses_call_id() -> Built:
    """One item has no id of its own, another has an empty call id."""
    stream = _responses("0mh9ids", "scaleway/qwen3-235b", 1766001800)
    a = Call("call_ma", "tune_radio", '{"khz":518}')
    b = Call("call_mb", "read_navtex", '{"station":"P"}')
    first = wire.function_call_item(a, id=None)
    second = wire.function_call_item(b, id="fc_0mh9b", call_id="")
    events = stream.created()
    for position, item in enumerate((first, second)):
        opened = item | {"status": "in_progress", "arguments": ""}
        events.append(stream.added(position, opened))
        events.append(stream.arguments_delta(position, item["id"], item["arguments"]))
        events.append(stream.arguments_done(position, item["id"], item["arguments"]))
        events.append(stream.item_done(position, item))
    events.append(stream.completed([first, second]))
    calls = (good("call_ma", "tune_radio", {"khz": 518}), good("fc_0mh9b", "read_navtex", {"station": "P"}))
    return wire.typed_sse(events), expect(*calls)


@case("responses/namespace", 60)
def responses_namespace() -> Built:
    """Two tools of one name in different namespaces."""
    stream = _responses("0ni0names", "gpt-5.4", 1766001900)
    a, b = Call("call_na", "search", '{"q":"eel"}'), Call("call_nb", "search", '{"q":"eel","loaned":false}')
    events = [*stream.created(), *stream.call(0, a, every(5), namespace="recipes")]
    events += stream.call(1, b, every(5), namespace="library")
    items = [wire.function_call_item(a, namespace="recipes"), wire.function_call_item(b, namespace="library")]
    events.append(stream.completed(items))
    calls = (
        good("call_na", "search", {"q": "eel"}, namespace="recipes"),
        good("call_nb", "search", {"q": "eel", "loaned": False}, namespace="library"),
    )
    return wire.typed_sse(events), expect(*calls)


@case("responses/events-replayed", 91)
def responses_replayed() -> Built:
    """After a reconnect the server sends events again that were seen before."""
    stream = _responses("0oj1again", "gpt-5-background", 1766002000)
    call = Call("call_re", "merge_sheets", '{"left":"Q1","right":"Q2","on":["sku","day"]}')
    events = [*stream.created(), *stream.call(0, call, every(9))]
    events = events[:6] + events[3:6] + events[6:]
    events.append(stream.completed([wire.function_call_item(call)]))
    sheets = {"left": "Q1", "right": "Q2", "on": ["sku", "day"]}
    return wire.typed_sse(events), expect(good("call_re", "merge_sheets", sheets))


@case("responses/output-reordered", 98, 99)
def responses_reordered() -> Built:
    """The final output restates the calls in another order, between other items."""
    stream = _responses("0pk2bridge", "bridge/gpt-4o", 1766002100)
    a, b = (
        Call("call_ra", "open_sluice", '{"gate":"A","cm":40}'),
        Call("call_rb", "open_sluice", '{"gate":"B","cm":15}'),
    )
    events = [*stream.created(), *stream.call(0, a, every(8)), *stream.call(1, b, every(8))]
    output = [
        wire.reasoning_item("rs_late", "Two gates."),
        wire.function_call_item(b),
        wire.function_call_item(a),
    ]
    events.append(stream.completed(output))
    calls = (
        good("call_ra", "open_sluice", {"gate": "A", "cm": 40}),
        good("call_rb", "open_sluice", {"gate": "B", "cm": 15}),
    )
    return wire.typed_sse(events), expect(*calls)


@case("responses/whole-body", 90, suffix="json")
def responses_body() -> Built:
    """A non-streamed response with a message, a function call and a call of a free-text tool."""
    calls = [
        Call("call_rb1", "grade_essay", '{"id": 4, "rubric": {"style": 3}}'),
        Call("call_rb2", "score_music", "\\relative c' { c4 d e f }", custom=True),
    ]
    turn = Turn(calls, text="Two steps.", reasoning="Grade, then engrave.", id="0ql3body", model="gpt-5.1")
    text = json.dumps(wire.body_responses(turn), indent=2, ensure_ascii=False) + "\n"
    custom = {"id": "call_rb2", "name": "score_music", "input": "\\relative c' { c4 d e f }"}
    return text.encode(), expect(
        good("call_rb1", "grade_essay", {"id": 4, "rubric": {"style": 3}}), custom=[custom]
    )


@case("responses/json-lines", suffix="ndjson")
def responses_lines() -> Built:
    """The WebSocket mode: each event is one line."""
    call = Call("call_ws", "set_sail", '{"sail":"jib","reef":1}')
    turn = Turn([call], text="Aye.", id="0rm4lines", model="gpt-5-mini", created=1766002300)
    sail = good("call_ws", "set_sail", {"sail": "jib", "reef": 1})
    return wire.json_lines(wire.responses_payloads(turn, every(6))), expect(sail)


# Anthropic Messages


@case("anthropic/text-and-thinking-parallel", 4)
def anthropic_parallel() -> Built:
    """Thinking, text and two calls; the blocks' indices begin at 0 with the thinking."""
    calls = [
        Call("toolu_01Tide", "get_tide", '{"port": "Granville", "day": "2026-03-20"}'),
        Call("toolu_01Wind", "get_wind", '{"port": "Granville", "hours": [6, 12, 18]}'),
    ]
    turn = Turn(
        calls,
        text="I'll check tide and wind.",
        reasoning="Both are needed for the crossing.",
        id="01GranvilleAB",
        model="claude-sonnet-4-5-20250929",
    )
    found = (
        good("toolu_01Tide", "get_tide", {"port": "Granville", "day": "2026-03-20"}),
        good("toolu_01Wind", "get_wind", {"port": "Granville", "hours": [6, 12, 18]}),
    )
    return wire.render_anthropic(turn, every(11)), expect(*found)


@case("anthropic/zero-argument", 26)
def anthropic_zero() -> Built:
    """Two tools without parameters: one block has an empty delta, one has none."""
    events = [
        wire.anthropic_start("msg_01zero", "claude-haiku-4-5-20251001"),
        *wire.anthropic_call(0, Call("toolu_01Undo", "undo", "")),
        wire.anthropic_open(1, wire.tool_use(Call("toolu_01Redo", "redo"))),
        wire.anthropic_ping(),
        wire.anthropic_close(1),
        *wire.anthropic_stop("tool_use"),
    ]
    calls = (good("toolu_01Undo", "undo", {}, "empty"), good("toolu_01Redo", "redo", {}, "empty"))
    return wire.typed_sse(events), expect(*calls)


@case("anthropic/input-at-start")
def anthropic_input_at_start() -> Built:
    """The block starts with its whole input; in the second, deltas follow and win."""
    a, b = (
        Call("toolu_01Start", "rotate_logs"),
        Call("toolu_01Both", "rotate_keys", '{"ring": "b", "days": 30}'),
    )
    events = [
        wire.anthropic_start("msg_01start", "claude-opus-4-5-20251101"),
        wire.anthropic_open(0, wire.tool_use(a, input={"keep": 7, "gzip": True}, caller={"type": "direct"})),
        wire.anthropic_close(0),
        *wire.anthropic_call(1, b, every(8), input={"ring": "a"}),
        *wire.anthropic_stop("tool_use"),
    ]
    calls = (
        good("toolu_01Start", "rotate_logs", {"keep": 7, "gzip": True}),
        good("toolu_01Both", "rotate_keys", {"ring": "b", "days": 30}),
    )
    return wire.typed_sse(events), expect(*calls)


@case("anthropic/server-tool")
def anthropic_server_tool() -> Built:
    """The provider searches the web; result block and cited text follow."""
    call = Call("srvtoolu_01Search", "web_search", '{"query": "ferry strike Calais"}')
    result = {
        "type": "web_search_tool_result",
        "tool_use_id": call.id,
        "content": [
            {
                "type": "web_search_result",
                "title": "Ports {today}",
                "url": "https://example.org/ports",
                "encrypted_content": "RXhhbXBsZQ==",
                "page_age": None,
            }
        ],
    }
    events = [
        wire.anthropic_start("msg_01server", "claude-sonnet-4-20250514"),
        *wire.anthropic_call(0, call, every(9), type="server_tool_use"),
        wire.anthropic_open(1, result),
        wire.anthropic_close(1),
        *wire.anthropic_text(2, "No strike is announced.", every(10)),
        *wire.anthropic_stop("end_turn"),
    ]
    server = [{"id": call.id, "name": "web_search", "arguments": {"query": "ferry strike Calais"}}]
    return wire.typed_sse(events), expect(reason=None, server=server)


@case("anthropic/mcp-tool")
def anthropic_mcp_tool() -> Built:
    """A remote server's tool, called by the provider, then a tool of the client."""
    remote = Call("mcptoolu_01Ask", "ask_archive", '{"collection": "maps", "limit": 3}')
    mine = Call("toolu_01Show", "show_map", '{"sheet": "1904-B"}')
    result = {
        "type": "mcp_tool_result",
        "tool_use_id": remote.id,
        "is_error": False,
        "content": [{"type": "text", "text": "Three sheets."}],
    }
    events = [
        wire.anthropic_start("msg_01mcp", "claude-opus-4-1-20250805"),
        *wire.anthropic_call(0, remote, every(7), type="mcp_tool_use", server_name="archive"),
        wire.anthropic_open(1, result),
        wire.anthropic_close(1),
        *wire.anthropic_call(2, mine, every(7)),
        *wire.anthropic_stop("tool_use"),
    ]
    server = [{"id": remote.id, "name": "ask_archive", "arguments": {"collection": "maps", "limit": 3}}]
    return wire.typed_sse(events), expect(
        good("toolu_01Show", "show_map", {"sheet": "1904-B"}), server=server
    )


@case("anthropic/pause-turn")
def anthropic_pause() -> Built:
    """The turn pauses after a server tool; the client sends it back to go on."""
    call = Call("srvtoolu_01Code", "bash_code_execution", '{"command": "python -c \\"print({1: 2})\\""}')
    events = [
        wire.anthropic_start("msg_01pause", "claude-sonnet-4-5", container={"id": "container_01"}),
        *wire.anthropic_text(0, "Running it."),
        *wire.anthropic_call(1, call, every(13), type="server_tool_use"),
        *wire.anthropic_stop("pause_turn"),
    ]
    server = [
        {"id": call.id, "name": "bash_code_execution", "arguments": {"command": 'python -c "print({1: 2})"'}}
    ]
    return wire.typed_sse(events), expect(reason="pause", server=server)


@case("anthropic/cut-max-tokens", 49)
def anthropic_cut() -> Built:
    """The token limit inside a block, which the provider closes with half its text."""
    a = Call("toolu_01Whole", "open_log", '{"watch": "first"}')
    b = Call("toolu_01Half", "append_log", '{"watch": "first", "entry": "Wind backing')
    events = [
        wire.anthropic_start("msg_01cut", "claude-3-5-haiku-20241022"),
        *wire.anthropic_call(0, a, every(6)),
        *wire.anthropic_call(1, b, every(14)),
        *wire.anthropic_stop("max_tokens", 64),
    ]
    cut = drop(b.id, b.name, "truncated", b.arguments)
    return wire.typed_sse(events), expect(good(a.id, a.name, {"watch": "first"}), reason=None, dropped=[cut])


@case("anthropic/cut-max-tokens-parses", 49)
def anthropic_cut_parses() -> Built:
    """At the token limit the last block parses, but a buffered member may be missing: it must not run."""
    a = Call("toolu_01Stage", "stage_files", '{"paths": ["a.py"]}')
    b = Call("toolu_01Del", "delete_files", '{"root": "/srv"}')
    events = [
        wire.anthropic_start("msg_01buffered", "claude-sonnet-4-20250514"),
        *wire.anthropic_call(0, a),
        *wire.anthropic_call(1, b),
        *wire.anthropic_stop("max_tokens", 40),
    ]
    cut = drop(b.id, b.name, "truncated", b.arguments)
    return wire.typed_sse(events), expect(good(a.id, a.name, {"paths": ["a.py"]}), reason=None, dropped=[cut])


@case("anthropic/second-message-start", 77, 91)
def anthropic_spliced() -> Built:
    """A proxy starts over: the open call of the first message is lost, the second message is whole."""
    lost = Call("toolu_01Lost", "draw_route", '{"via": ["Spark')
    kept = Call("toolu_01Kept", "draw_route", '{"via": ["Sparkford", "Ilchester"]}')
    events = [
        wire.anthropic_start("msg_01first", "claude-sonnet-4-5"),
        *wire.anthropic_text(0, "Drawing."),
        *wire.anthropic_call(1, lost, every(7))[:-1],
        wire.anthropic_start("msg_01second", "claude-sonnet-4-5"),
        *wire.anthropic_call(0, kept, every(7)),
        *wire.anthropic_stop("tool_use"),
    ]
    dropped = drop(lost.id, lost.name, "unterminated", lost.arguments)
    return wire.typed_sse(events), expect(
        good(kept.id, kept.name, {"via": ["Sparkford", "Ilchester"]}), dropped=[dropped]
    )


@case("anthropic/stop-never-sent", 77)
def anthropic_no_stop() -> Built:
    """No block is ever closed; the next start and the end of the message close them."""
    a, b = Call("toolu_mm_1", "pick_lock", '{"door": 4}'), Call("toolu_mm_2", "pick_team", '{"size": 5}')
    events = [
        wire.anthropic_start("msg_mm", "MiniMax-M2"),
        *wire.anthropic_text(0, "Picking.")[:-1],
        *wire.anthropic_call(1, a, every(5))[:-1],
        *wire.anthropic_call(2, b, every(5))[:-1],
        *wire.anthropic_stop("tool_use"),
    ]
    return wire.typed_sse(events), expect(good(a.id, a.name, {"door": 4}), good(b.id, b.name, {"size": 5}))


@case("anthropic/blocks-interleaved", 77, 56)
def anthropic_interleaved() -> Built:
    """A compatible server: blocks alternate, `input` is missing, a start is repeated; it ends in `[DONE]`."""
    a, b = Call("toolu_c1", "crop_row", '{"row": 2, "to": "B"}'), Call("toolu_c2", "crop_col", '{"col": "D"}')
    heads = [
        wire.anthropic_open(n, {"type": "tool_use", "id": call.id, "name": call.name})
        for n, call in enumerate((a, b))
    ]
    lives = [wire.anthropic_call(n, call, every(6))[2:] for n, call in enumerate((a, b))]
    mixed = [event for pair in itertools.zip_longest(*lives) for event in pair if event]
    events = [
        wire.anthropic_start("msg_compat", "glm-4.6"),
        *heads,
        heads[0],
        *mixed,
        *wire.anthropic_stop("tool_use"),
    ]
    calls = (good(a.id, a.name, {"row": 2, "to": "B"}), good(b.id, b.name, {"col": "D"}))
    return wire.typed_sse(events, newline=b"\r\n") + wire.done(b"\r\n"), expect(*calls)


@case("anthropic/delta-without-start", 77, 20)
def anthropic_no_start() -> Built:
    """Deltas come for a block that was never opened; they have no name and are dropped."""
    known = Call("toolu_01Known", "weigh_anchor", '{"capstan": "bow"}')
    lost = [wire.anthropic_delta(0, "input_json_delta", text) for text in ('{"chain":', " 60}")]
    events = [
        wire.anthropic_start("msg_01nostart", "claude-relay"),
        *lost,
        wire.anthropic_close(0),
        *wire.anthropic_call(1, known, every(9)),
        *wire.anthropic_stop("tool_use"),
    ]
    dropped = drop(None, None, "nameless", '{"chain": 60}')
    return wire.typed_sse(events), expect(good(known.id, known.name, {"capstan": "bow"}), dropped=[dropped])


@case("anthropic/error-event", 52)
def anthropic_overloaded() -> Built:
    """The provider is overloaded inside the second of two calls."""
    a, b = Call("toolu_01Ok", "list_tags", '{"prefix": "v"}'), Call("toolu_01Bad", "push_tag", '{"tag": "v3')
    events = [
        wire.anthropic_start("msg_01over", "claude-opus-4-5"),
        *wire.anthropic_call(0, a, every(8)),
        *wire.anthropic_call(1, b, every(8))[:-1],
        wire.anthropic_error("overloaded_error", "Overloaded"),
    ]
    dropped = drop(b.id, b.name, "aborted", b.arguments)
    done = good(a.id, a.name, {"prefix": "v"})
    return wire.typed_sse(events), expect(done, reason="error", dropped=[dropped], faults=["provider_error"])


@case("anthropic/refusal")
def anthropic_refusal() -> Built:
    """The model's answer is refused while a call is open."""
    call = Call("toolu_01Ref", "order_parts", '{"part": "fuse')
    events = [
        wire.anthropic_start("msg_01refuse", "claude-opus-4-5"),
        *wire.anthropic_text(0, "Let me order"),
        *wire.anthropic_call(1, call)[:-1],
        *wire.anthropic_stop("refusal"),
    ]
    return wire.typed_sse(events), expect(
        reason=None, dropped=[drop(call.id, call.name, None, call.arguments)]
    )


@case("anthropic/dropped-connection", 51)
def anthropic_eof() -> Built:
    """The connection ends after the last block was closed and before the stop reason."""
    a, b = Call("toolu_01In", "check_in", '{"guest": 12}'), Call("toolu_01Out", "check_out", '{"guest": 9}')
    events = [
        wire.anthropic_start("msg_01eof", "claude-haiku-4-5"),
        *wire.anthropic_call(0, a),
        *wire.anthropic_call(1, b),
    ]
    dropped = drop(b.id, b.name, "unterminated", b.arguments)
    return wire.typed_sse(events), expect(good(a.id, a.name, {"guest": 12}), reason=None, dropped=[dropped])


@case("anthropic/whole-message-at-start", 90)
def anthropic_at_start() -> Built:
    """A programmatic continuation: message_start already holds two whole calls and the stop reason."""
    blocks = [
        wire.tool_use(
            Call(f"toolu_01Prog{n}", "roll"), input={"sides": n}, caller={"type": "code_execution_20250825"}
        )
        for n in (6, 12)
    ]
    events = [
        wire.anthropic_start("msg_01prog", "claude-sonnet-4-5", blocks, stop_reason="tool_use"),
        *wire.anthropic_stop("tool_use"),
    ]
    calls = [good(f"toolu_01Prog{n}", "roll", {"sides": n}) for n in (6, 12)]
    return wire.typed_sse(events), expect(*calls)


@case("anthropic/eager-input-faulty", 33, 84)
def anthropic_eager() -> Built:
    """Eager input streaming does not validate: one input has a fault with no single reading."""
    a = Call("toolu_01Eager", "plot_points", '{"points": [[1, 2] [3, 4]], "label": "swell"}')
    b = Call("toolu_01Fine", "save_plot", '{"file": "swell.svg",}')
    events = [
        wire.anthropic_start("msg_01eager", "claude-sonnet-4-5"),
        *wire.anthropic_call(0, a, every(15)),
        *wire.anthropic_call(1, b, every(15)),
        *wire.anthropic_stop("tool_use"),
    ]
    dropped = drop(a.id, a.name, "invalid_json", a.arguments)
    save = good(b.id, b.name, {"file": "swell.svg"}, "recovered", edits=["trailing_comma"])
    return wire.typed_sse(events), expect(save, dropped=[dropped])


@case("anthropic/unicode-pieces", 35, 78)
def anthropic_unicode() -> Built:
    """Uncopyable characters, halves of escapes and of a surrogate pair as pieces."""
    call = Call(
        "toolu_01Uni", "write_sign", '{"text": "Ørsted \\ud83d\\udea2 \\u00bb «»", "langs": ["da", "日本語"]}'
    )
    events = [
        wire.anthropic_start("msg_01uni", "claude-haiku-4-5"),
        *wire.anthropic_call(0, call, every(1)),
        *wire.anthropic_stop("tool_use"),
    ]
    sign = {"text": "Ørsted 🚢 » «»", "langs": ["da", "日本語"]}
    return wire.typed_sse(events), expect(good(call.id, call.name, sign))


@case("anthropic/whole-body", 90, suffix="json")
def anthropic_body() -> Built:
    """A non-streamed message with thinking, text and two calls."""
    calls = [
        Call("toolu_01B1", "sum_column", '{"sheet": "Dues", "column": "C"}'),
        Call("toolu_01B2", "beep", "{}"),
    ]
    turn = Turn(calls, text="Adding up.", reasoning="Column C.", id="01body", model="claude-opus-4-5")
    found = (
        good("toolu_01B1", "sum_column", {"sheet": "Dues", "column": "C"}),
        good("toolu_01B2", "beep", {}, None),
    )
    return wire.compact(wire.body_anthropic(turn)).encode(), expect(*found)


# Long arguments


def source_text(functions: int) -> str:
    """Return the text of a plausible Python module, full of braces, quotes and JSON-looking strings."""
    lines = ['"""Tide gauges: readings in, tables out."""', "", "import json", ""]
    ports = ("Brest", "Roscoff", "Saint-Malo", "Dieppe", "Calais", "Oostende", "Vlissingen", "Høvik")
    for number in range(functions):
        port = ports[number % len(ports)]
        lines += [
            "",
            f"def reading_{number:03d}(raw: bytes) -> dict[str, float]:",
            f'    """Return the reading of {port}: {{"h": metres, "t": seconds}}."""',
            f'    row = json.loads(raw.decode("utf-8") or \'{{"h": 0, "t": {number}}}\')',
            f'    assert "}}" not in row and row["port"] == "{port}", f"{{row!r}}\\n"',
            f"    return {{key: float(row[key]) + {number % 7}.5 for key in ('h', 't')}}",
        ]
    return "\n".join(lines) + "\n"


def table_text(rows: int) -> str:
    """Return the text of a plausible CSV file with quoted cells and one JSON cell in each row."""
    lines = ["id;port;metres;remark;json"]
    for number in range(rows):
        metres = f"{(number * 37 % 1290) / 100:.2f}".replace(".", ",")
        remark = ("calm", 'said ""ebb""', "{fog}", "Å → ø", "[night")[number % 5]
        cell = f'{{""seen"": {number % 2 == 0}, ""by"": [""P{number % 11}""]}}'
        lines.append(f'{number};Quay {number % 23};"{metres}";"{remark}";"{cell}"'.lower())
    return "\r\n".join(lines)


def minutes_text(items: int) -> str:
    """Return the text of plausible minutes in Markdown."""
    parts = ["# Harbour board\n"]
    for number in range(1, items + 1):
        quay = ("Oost", "West", "Zuid")[number % 3]
        parts.append(
            f"\n## {number}. Quay {quay}\n\n* Berth {number * 3 % 17}: *“{'dredged' if number % 2 else 'closed'}”*, "
            f'see `{{"berth": {number * 3 % 17}}}` and C:\\plans\\{quay.lower()}\\{number}.dwg\n'
            f"* Vote:\t{number % 9} – {(number + 4) % 9}\n"
        )
    return "".join(parts)


@case("chat-completions/long-file")
def long_file() -> Built:
    """A file of 9 KB is written in token-sized pieces."""
    text = source_text(24)
    arguments = {"path": "gauges/readings.py", "content": text, "mode": "w"}
    call = Call("call_LongFile", "write_file", wire.compact(arguments, ascii_only=True))
    turn = Turn([call], text="Writing the module.", id="LongFile9k", model="gpt-5.1-codex")
    return wire.render_chat(turn, every(48)), expect(good(call.id, call.name, arguments))


@case("chat-completions/long-table", 13, 8)
def long_table() -> Built:
    """A table of more than 64 KB comes without id, in large pieces, beside a small call."""
    arguments = {"sheet": "Readings", "csv": table_text(1100), "options": {"delimiter": ";", "header": True}}
    text = wire.compact(arguments)
    tape = Tape("chatcmpl-import-1100", "Qwen/Qwen3-235B-A22B", 1767000100)
    tape.role(content="").tools(chat_entry(0, type="function", name="import_csv", arguments=""))
    for piece in every(900)(text):
        tape.tools(chat_entry(0, name="import_csv", arguments=piece))
    tape.tools(chat_entry(1, type="function", name="recalculate", arguments='{"sheet":"Readings"}'))
    calls = (good(None, "import_csv", arguments), good(None, "recalculate", {"sheet": "Readings"}))
    return tape.end(), expect(*calls)


@case("chat-completions/long-repetition", 80, 49)
def long_repetition() -> Built:
    """The model repeats itself until the token limit, inside a string."""
    text = '{"summary":"' + "The gauge is stuck. The gauge {is} stuck. " * 230
    tape = Tape("chatcmpl-47504", "granite-4.0-micro", 1767000200)
    tape.role(content="").head(0, "chatcmpl-tool-loop", "file_summary")
    for piece in every(160)(text):
        tape.more(0, piece)
    cut = drop("chatcmpl-tool-loop", "file_summary", "truncated", text)
    return tape.end("length", usage=(300, 2048)), expect(reason="length", dropped=[cut])


@case("responses/long-minutes", 35)
def responses_long() -> Built:
    """Minutes of 12 KB in small deltas, restated three times at the end."""
    arguments = {"title": "Board, 3 March", "markdown": minutes_text(90), "tags": ["board", "{draft}"]}
    call = Call("call_Minutes", "publish_minutes", json.dumps(arguments, ensure_ascii=False))
    turn = Turn([call], id="0sn5long", model="gpt-5.2", created=1767000300)
    return wire.render_responses(turn, every(120)), expect(good(call.id, call.name, arguments))


@case("anthropic/long-edit")
def anthropic_long_edit() -> Built:
    """An edit with two texts of 5 KB each."""
    old = source_text(14)
    arguments = {
        "path": "gauges/readings.py",
        "old_string": old,
        "new_string": old.replace("float(", "Decimal("),
    }
    call = Call("toolu_01LongEdit", "edit_file", json.dumps(arguments))
    turn = Turn([call], text="Switching to decimals.", id="01LongEdit", model="claude-opus-4-5")
    return wire.render_anthropic(turn, every(90)), expect(good(call.id, call.name, arguments))


@case("anthropic/long-notebook")
def anthropic_long_notebook() -> Built:
    """A notebook of more than 64 KB: JSON text inside a string of JSON text."""
    cells = [
        {"cell_type": "code", "source": source_text(1 + number % 4), "outputs": []} for number in range(62)
    ]
    arguments = {"path": "tides.ipynb", "content": json.dumps({"cells": cells, "nbformat": 4}, indent=1)}
    call = Call("toolu_01Notebook", "create_file", json.dumps(arguments))
    turn = Turn([call], id="01Notebook", model="claude-sonnet-4-5-20250929")
    return wire.render_anthropic(turn, every(1100)), expect(good(call.id, call.name, arguments))


def entry(case: Case, data: bytes, expected: JSON) -> JSON:
    """Return the manifest's entry of a recording."""
    return {
        "name": case.name,
        "file": f"recordings/{case.name}.{case.suffix}",
        "dialect": case.dialect,
        "origin": case.origin,
        "about": case.about,
        "quirks": sorted(case.quirks),
        "sha256": hashlib.sha256(data).hexdigest(),
        "expect": expected,
    }


def manifest(entries: Sequence[JSON]) -> bytes:
    """Return the manifest's text: entries by name, indented, without escapes."""
    ordered = sorted(entries, key=lambda found: found["name"])
    return (json.dumps(ordered, indent=1, ensure_ascii=False) + "\n").encode()


def main() -> None:
    """Write every recording and the manifest; recordings that no case makes any more are removed."""
    entries = []
    for made in CASES:
        data, expected = made.build()
        entries.append(entry(made, data, expected))
        path = CORPORA / entries[-1]["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    kept = {CORPORA / found["file"] for found in entries}
    for path in (CORPORA / "recordings").rglob("*.*"):
        if path not in kept and not path.name.endswith(".events.jsonl"):
            path.unlink()
    (CORPORA / "manifest.json").write_bytes(manifest(entries))
    sys.stderr.write(f"{len(entries)} recordings\n")


if __name__ == "__main__":
    main()
