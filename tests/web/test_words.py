"""Texts of pages: catalogues, prose out of Markdown, bodies and addresses."""

from __future__ import annotations

import json
import re
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.collect.web.i18n import LANGUAGES, load_texts, parse_markdown
from errata.collect.web.server import Address
from errata.core.errors import InputError

WEB = Path(str(resources.files("errata.collect.web")))


def test_all_languages_say_the_same() -> None:
    english = load_texts("en")
    for language in LANGUAGES:
        other = load_texts(language)
        assert other.keys() == english.keys()
        for key, text in other.items():
            names = re.findall(r"\{(\w+)\}", english[key])
            assert sorted(re.findall(r"\{(\w+)\}", text)) == sorted(names), key


def test_scripts_say_only_what_the_catalogue_has() -> None:
    said = set()
    for script in (WEB / "static").rglob("*.js"):
        said |= set(re.findall(r'say\("([\w.]+)"', script.read_text("utf-8")))
    assert said
    assert said <= load_texts("en").keys()


def test_scripts_make_no_markup_and_ask_nobody_else() -> None:
    for script in (WEB / "static").rglob("*.js"):
        text = script.read_text("utf-8")
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("):
            assert forbidden not in text, script
        assert not re.findall(r"https?://(?!www\.w3\.org)", text), script


def test_a_string_that_does_not_exist_cannot_be_replaced() -> None:
    with pytest.raises(InputError, match="did you mean 'submit'"):
        load_texts("en", {"submitt": "x"})


@given(st.text(max_size=300))
def test_prose_keeps_every_word_as_text(text: str) -> None:
    blocks = parse_markdown(text)
    assert json.dumps(blocks)
    for block in blocks:
        for parts in block.get("items", [block.get("inline", [])]):
            for part in parts:
                assert part[0] in ("text", "em", "strong", "code", "link")
                if part[0] == "link":
                    assert part[2].startswith(("http://", "https://", "mailto:"))


def test_prose_of_a_list_and_a_dangerous_link() -> None:
    (block,) = parse_markdown("- one\n- [x](javascript:alert(1))")
    assert block["items"] == [[["text", "one"]], [["text", "[x](javascript:alert(1))"]]]


def test_unsafe_addresses_are_refused() -> None:
    for settings, problem in (
        ({"host": "0.0.0.0"}, "without encryption"),
        ({"host": "192.0.2.1"}, "without encryption"),
        ({"certificate": "c.pem"}, "go together"),
        ({"host": "0.0.0.0", "behind_proxy": "proxy"}, "no address or network"),
        ({"url": "example.org"}, "no address of a page"),
        ({"port": 70000}, "no port"),
    ):
        with pytest.raises(InputError, match=problem):
            Address(**settings)  # type: ignore[arg-type]


def test_addresses_that_are_taken() -> None:
    assert Address(host="0.0.0.0", plain_http=True).links == "http://127.0.0.1:8765/"
    proxied = Address(host="0.0.0.0", behind_proxy="10.0.0.0/8", url="https://e.org/study")
    assert (proxied.links, proxied.secure) == ("https://e.org/study/", True)
    assert Address(host="::1", port=80).links == "http://[::1]:80/"
