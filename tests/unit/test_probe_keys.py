"""Keys of the probe: sent to one host, and found in nothing that is written."""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.support.endpoint import Answered, Got, endpoint, good
from wholecall.cli.main import main
from wholecall.grading.probe.keys import (
    Cover,
    KeyTrouble,
    Secret,
    checked_url,
    header_from,
    is_loopback,
    secret_from,
    shown_url,
)

CANARY = "sk-zq/canary+7731-hunter2"
OTHER = "other-canary-9912"
SPELLED = {
    CANARY,
    OTHER,
    quote(CANARY, safe=""),
    CANARY.replace("/", "\\/"),
    b64encode(CANARY.encode()).decode(),
    b64encode(f"Bearer {CANARY}".encode()).decode(),
}
FILES = ["--json", "r.json", "--html", "r.html", "--junit", "r.xml", "--badge", "r.svg", "--markdown", "r.md"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make an empty folder the current one, and set the variables with the keys."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROBE_KEY", CANARY)
    monkeypatch.setenv("PROBE_OTHER", OTHER)
    return tmp_path


def told(got: Got) -> str:
    """Return every spelling of what a request carries."""
    sent = got.headers["authorization"].removeprefix("Bearer ")
    spelled = (sent, quote(sent, safe=""), sent.replace("/", "\\/"))
    coded = [b64encode(text.encode()).decode() for text in (sent, f"Bearer {sent}")]
    return " ".join([*spelled, *coded, got.headers.get("x-trace", "")])


def in_body(got: Got) -> Answered:
    """Show the key in a whole answer."""
    answer = good(got)
    return answer._replace(pieces=(*answer.pieces, f": {told(got)}\n\n".encode()))


def in_pieces(got: Got) -> Answered:
    """Show the key in an answer, two bytes a piece."""
    text = f": {told(got)}\n\n".encode()
    pieces = tuple(text[at : at + 2] for at in range(0, len(text), 2))
    return good(got)._replace(pieces=(*pieces, *good(got).pieces))


def in_error(got: Got) -> Answered:
    """Refuse the key, and show it."""
    error = {"error": {"message": f"Incorrect API key provided: {told(got)}"}}
    return Answered(401, "application/json", (json.dumps(error).encode(),))


def in_type(got: Got) -> Answered:
    """Show the key in the content type."""
    return good(got)._replace(kind=f"application/json; key={got.headers['authorization'][7:]}")


def in_refusal(got: Got) -> Answered:
    """Refuse a parameter, with the key beside it."""
    return Answered(400, "application/json", (json.dumps({"error": f"temperature {told(got)}"}).encode(),))


def run(url: str, *more: str) -> int:
    """Run a short probe that writes everything that it can write."""
    keys = ["--key-env", "PROBE_KEY", "--header", "x-trace:PROBE_OTHER"]
    return main(["probe", url, "--model", "m", "--only", "one", "--only", "cut", "--level", "quick", "--save", "out", *keys, *FILES, *more])  # fmt: skip


def written(captured: tuple[str, str]) -> dict[str, str]:
    """Return all that was written, by its place."""
    files = {str(path): path.read_text("utf-8") for path in Path().rglob("*") if path.is_file()}
    return files | {"stdout": captured[0], "stderr": captured[1]}


class TestCanaries:
    """A key is in no output, whatever the server shows."""

    @pytest.mark.parametrize("shows", [in_body, in_pieces, in_error, in_type, in_refusal])
    def test_an_echoed_key_is_covered(
        self, shows: object, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
    ) -> None:
        """No file, no output and no log has a key in any spelling; files were written, and the key was sent."""
        caplog.set_level(logging.DEBUG)
        with endpoint(lambda got, _: shows(got)) as server:  # type: ignore[operator]
            run(server.url)
            sent = {got.headers["authorization"] for got in server.got}
        found = written(capsys.readouterr())
        shown = [place for place, text in found.items() for one in SPELLED if one in text]
        saved = [place for place in found if place.startswith("out")]

        assert {f"Bearer {CANARY}"} == sent
        assert [] == shown
        assert [one for one in SPELLED if one in caplog.text and shows is not in_type] == []
        assert saved
        assert {name for name in FILES if not name.startswith("--")} <= set(found)

    def test_covered_answers_keep_their_size(self) -> None:
        """A covered secret has asterisks of its length, also over the boundary of two chunks; times stay."""
        cover = Cover([Secret(CANARY, "authorization")])
        half = CANARY[:9].encode(), CANARY[9:].encode()

        assert ((0.5, b"a" + b"*" * 9), (0.7, b"*" * 16 + b"b")) == cover.chunks(
            [(0.5, b"a" + half[0]), (0.7, half[1] + b"b")]
        )

    def test_a_placeholder_is_not_covered(self) -> None:
        """A key shorter than eight characters is a placeholder: covering it would cover words of the answer."""
        assert "the EMPTY box" == Cover([Secret("EMPTY", "authorization")]).text("the EMPTY box")

    def test_reprs_hold_no_key(self) -> None:
        """Neither a secret nor a cover shows its value."""
        secret = Secret(CANARY, "authorization")

        assert CANARY not in repr(secret) + repr(Cover([secret])) + str(secret)

    def test_saved_answers_have_no_headers(self) -> None:
        """A saved exchange holds no header but those of the answer that rules need."""
        with endpoint() as server:
            run(server.url)
        (line, *_) = Path("out/one-plain-1.jsonl").read_text("utf-8").splitlines()
        kept = json.loads(line)["meta"]["probe"]["headers"]

        assert ["content-type"] == list(kept)


class TestOneHost:
    """A key goes to the host of the URL, and nowhere else."""

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_a_redirect_is_not_followed(self, status: int, capsys: pytest.CaptureFixture[str]) -> None:
        """The other server is not asked; the address that it was sent to, with the key in it, is in no output."""
        with endpoint() as other:
            there = (("location", f"{other.url}?key={CANARY}"),)
            with endpoint(lambda _got, _number: Answered(status, "text/plain", (), there)) as server:
                code = run(server.url)
            asked = len(other.got)
        found = written(capsys.readouterr())

        assert (2, 0) == (code, asked)
        assert "open.redirected" in found["stdout"]
        assert [] == [place for place, text in found.items() if CANARY in text]

    @pytest.mark.parametrize(
        "url",
        ["http://api.example/v1", "http://localhost.api.example/", "http://10.0.0.1/v1", "http://0x7f.1/"],
    )
    def test_plain_http_carries_no_key(self, url: str) -> None:
        """Over plain http only a loopback address may get a key; without one any address may be asked."""
        with pytest.raises(KeyTrouble, match="plain http"):
            checked_url(url, has_key=True)
        assert url.rstrip("/") == checked_url(url, has_key=False)

    @pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "[::1]"])
    def test_loopback_may_have_one(self, host: str) -> None:
        """The addresses of this machine are those that say so themselves."""
        url = f"http://{host}:8000/v1"

        assert url == checked_url(url, has_key=True)
        assert is_loopback(url)

    @pytest.mark.parametrize(
        "url",
        [
            f"https://user:{CANARY}@api.example/v1",
            f"https://api.example/v1?api_key={OTHER}",
            "https://api.example/v1#part",
        ],
    )
    def test_a_url_holds_no_key(self, url: str) -> None:
        """A URL with a user, a key in its query, or a fragment is refused, and is not in the message."""
        with pytest.raises(KeyTrouble) as caught:
            checked_url(url, has_key=False)
        assert not any(one in str(caught.value) for one in (CANARY, OTHER, "api.example"))

    def test_a_shown_url_has_no_query(self) -> None:
        """Reports show neither the query nor a segment that looks like a key."""
        assert "https://api.example/key/-/v1" == shown_url(
            "https://api.example/key/abc123def456ghi789/v1?v=1"
        )


class TestOptions:
    """Mistakes on the command line, which may hold a key, are not repeated."""

    @pytest.mark.parametrize(
        "options",
        [
            ["--key-env", CANARY],
            ["--key", CANARY],
            ["--api-key", CANARY],
            [f"--api-key={CANARY}"],
            ["--header", f"Authorization: Bearer {CANARY}"],
            ["--header", CANARY],
        ],
    )
    def test_a_key_on_the_command_line_is_refused(
        self, options: list[str], capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The exit code is 2, and the message does not hold what was given."""
        with pytest.raises(SystemExit) as left:
            main(["probe", "http://127.0.0.1:9/v1", "--model", "m", *options])
        captured = capsys.readouterr()

        assert 2 == left.value.code
        assert CANARY not in captured.out + captured.err

    @pytest.mark.parametrize("value", ["", "  ", "two words", "line\nend", "naïve-naïve"])
    def test_a_value_that_no_header_carries(self, value: str) -> None:
        """A key is visible ASCII; the message holds neither the name nor the value."""
        with pytest.raises(KeyTrouble) as caught:
            secret_from("NAME_OF_IT", "authorization", {"NAME_OF_IT": value})
        assert "NAME_OF_IT" not in str(caught.value)
        assert not value.strip() or value not in str(caught.value)

    @pytest.mark.parametrize("text", ["no-colon", "host:X", "content-length:X", "bad name:X", ":X"])
    def test_headers_that_are_not_set(self, text: str) -> None:
        """A header needs a name and a variable, and the probe's own headers are not replaced."""
        with pytest.raises(KeyTrouble):
            header_from(text, {"X": "value"})

    def test_a_header_of_a_variable(self) -> None:
        """The value comes from the variable, under the header's name in lower case."""
        secret = header_from("X-Trace:X", {"X": "value"})

        assert ("x-trace", "value") == (secret.name, secret.value)
