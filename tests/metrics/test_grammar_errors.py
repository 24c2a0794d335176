"""Errors that a checker finds, Harper or a LanguageTool server, and metrics interpolated."""

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from errata.core.errors import InputError, MissingExtraError
from errata.data import Corpus, Hypotheses
from errata.metrics import parse
from errata.models.language import drop_memos
from errata.scoring.evaluate import evaluate

CORPUS = Corpus.from_texts(["He go home now .", "I likes it .", "Also ."])
OUTPUT = Hypotheses("A", ("He goes home now .", "I likes it .", ""))


# What the server answers to some languages in place of errors: the status and the body.
ANSWERS: dict[str, tuple[int, Any]] = {
    "xx": (400, "Error: 'xx' is not a language code known"),
    "html": (200, "<html>"),
    "busy": (429, "too many\nrequests"),
    "huge": (200, " " * 5_000_000),
    "elsewhere": (302, ""),
    "deep": (200, "[" * 100_000),
}


@pytest.fixture
def server() -> Iterator[Any]:
    """A server that finds an error in every word that ends in o or kes."""
    asked: list[dict[str, list[str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            asked.append(parse_qs(body, keep_blank_values=True))
            text = asked[-1]["text"][0]
            wrong = [word for word in text.split() if word.rstrip(".").endswith(("o", "kes"))]
            version: Any = {"odd": "6.4", "spoof": {"version": "6 | sentences:9\n"}}
            language = asked[-1]["language"][0]
            found = version.get(language, {"version": "6.4"})
            status, said = ANSWERS.get(
                language, (200, {"matches": [{}] * len(wrong), "software": found})
            )
            data = said.encode() if isinstance(said, str) else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            if status == 302:
                self.send_header("Location", "/v2/check")
            self.end_headers()
            with suppress(OSError):  # nobody reads to the end what is too long
                self.wfile.write(data)

        def do_GET(self) -> None:
            self.do_POST()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", asked
        running.shutdown()
    drop_memos("languagetool")


def languagetool(url: str, **more: object) -> str:
    given = "".join(f", {name}={value!r}" for name, value in more.items())
    return f"errors(checker=languagetool, url={url!r}{given})"


def test_errors_per_token_and_removed(server: Any) -> None:
    url, asked = server
    scores = evaluate(languagetool(url), CORPUS, OUTPUT)
    # No error in 5 tokens, one in 4; a sentence that was emptied keeps those of its source.
    np.testing.assert_allclose(scores.sentences[0], [1.0, 0.75, 0.5])
    assert scores["A"] == pytest.approx(2.25 / 3)
    removed = evaluate(languagetool(url, measure="removed"), CORPUS, OUTPUT)
    assert removed["A"] == pytest.approx(1 / 3)
    assert "checker:languagetool@6.4-" in scores.signature
    assert "disabled:COMMA_PARENTHESIS_WHITESPACE,EN_QUOTES" in scores.signature
    assert url not in scores.signature
    assert asked[0]["disabledRules"] == [
        "COMMA_PARENTHESIS_WHITESPACE,EN_QUOTES,EN_UNPAIRED_BRACKETS,WHITESPACE_RULE"
    ]
    # Every distinct sentence is asked for once, without the blanks of tokenisation.
    texts = [each["text"][0] for each in asked if each["text"][0]]
    assert sorted(texts) == ["Also.", "He go home now.", "He goes home now.", "I likes it."]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"language": "xx"}, "answers 400: Error: 'xx' is not a language code known"),
        ({"language": "html"}, "is no LanguageTool server; start one"),
        ({"language": "deep"}, "is no LanguageTool server; start one"),
        ({"language": "busy"}, "answers 429: too many requests; run it again: what was answered"),
        ({"language": "huge"}, "its answer has more than 4,000,000 bytes; run it again"),
        ({"language": "elsewhere"}, "answers 302; give its own address: no redirect is followed"),
    ],
)
def test_what_the_server_refuses_is_passed_on(server: Any, more: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        evaluate(languagetool(server[0], **more), CORPUS, OUTPUT)


def test_one_word_and_one_error_leave_nothing(server: Any) -> None:
    one = evaluate(languagetool(server[0]), Corpus.from_texts(["go"]), Hypotheses("A", ("go",)))
    assert one["A"] == 0


@pytest.mark.parametrize(("language", "version"), [("odd", "unknown-"), ("spoof", "6_sentences:9")])
def test_a_server_of_another_kind_says_what_it_likes(
    server: Any, language: str, version: str
) -> None:
    scores = evaluate(languagetool(server[0], language=language), CORPUS, OUTPUT)
    assert f"checker:languagetool@{version}" in scores.signature


def test_an_address_is_in_no_signature_of_two_metrics(server: Any) -> None:
    """Nor is the way of writing: one metric has one signature."""
    url, _ = server
    scores = evaluate(
        parse(f'interpolate(first="{languagetool(url)}", second="green(n=4)", weight=0.5)'),
        Corpus.from_texts(CORPUS.sources, [CORPUS.sources]),
        OUTPUT,
    )
    assert scores["A"] > 0
    assert url not in scores.signature + scores.label
    assert """(first="errors(checker='languagetool')", second='green', weight=0.5)""" in (
        scores.signature
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (languagetool("http://127.0.0.1:9"), "no LanguageTool server at http://127.0.0.1:9"),
        (languagetool("file:///etc/passwd"), "no address of a LanguageTool server"),
        (languagetool("http://[::1"), "no address of a LanguageTool server"),
        ("errors(checker=languagetool)", "what url holds is no address of a LanguageTool server"),
        (languagetool("http://me:secret@localhost"), "holds a user name or password; leave them"),
        (languagetool("http://localhost/?key=secret"), "has a query .* may hold a secret; give"),
        ("errors(language=de)", "Harper does not know the language 'de'"),
        ("errors(url='http://127.0.0.1:9')", "url and disabled are for LanguageTool"),
        ("interpolate(weight=2)", "weight=2.0 is not between 0 and 1"),
        ("interpolate(first=interpolate)", "is interpolated itself"),
        ("interpolate(first=nothing)", "nothing"),
    ],
)
def test_what_cannot_be_asked_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        evaluate(parse(text), CORPUS, OUTPUT)
    assert "secret@" not in str(caught.value)
    assert "=secret" not in str(caught.value)


@pytest.mark.slow
def test_harper_counts_as_the_metric_harper_does() -> None:
    try:
        removed = evaluate("errors(measure=removed)", CORPUS, OUTPUT)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    assert removed["A"] == evaluate("harper", CORPUS, OUTPUT)["A"]


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_interpolated_scores_are_those_of_the_sentences(weight: float) -> None:
    corpus = Corpus.from_texts(
        ["He go home now .", "I likes it ."], [["He goes home now .", "I like it ."]]
    )
    systems = [
        Hypotheses("A", ("He goes home now .", "I likes it .")),
        Hypotheses("B", ("He go home now .", "I like it .")),
    ]
    first, second = (evaluate(name, corpus, systems) for name in ("m2", "green(n=2)"))
    both = evaluate(f"interpolate(first=m2, second='green(n=2)', weight={weight})", corpus, systems)
    wanted = weight * first.sentences + (1 - weight) * second.sentences
    np.testing.assert_allclose(both.sentences, wanted, atol=1e-8)  # type: ignore[arg-type]
    np.testing.assert_allclose(both.values, wanted.mean(axis=1), atol=1e-8)
