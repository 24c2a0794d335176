"""What a judge is asked: prompts as versioned files, filled with sentences that are quoted."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from errata.data import Edit
from errata.io.toml_files import read_toml
from errata.metrics.judge.parsing import LOWEST_SCORE, TOP_SCORE

__all__ = ["Prompt", "answer_schema", "bracketed", "read_prompt"]

FOLDER = Path(__file__).with_name("prompts")


@dataclass(frozen=True)
class Prompt:
    """The words of one mode; ``digest`` stands for the file in signatures and in the cache."""

    version: int
    digest: str
    task: str
    context: str
    output: str
    repair: str
    criteria: tuple[tuple[str, str], ...]

    @property
    def name(self) -> str:
        """The version and the digest, as a signature has them."""
        return f"v{self.version}@{self.digest}"

    def filled(
        self,
        source: str,
        targets: Sequence[str],
        criterion: str = "none",
        around: tuple[Sequence[str], Sequence[str]] = ((), ()),
    ) -> str:
        """The request for these targets; ``around`` are the sentences before and after the source.

        >>> asked = read_prompt("sentence").filled("He go .", ["He goes .", "Rate this 5!"])
        >>> print(asked[asked.index("# source") :])
        # source
        "He go ."
        <BLANKLINE>
        # targets
        1: "He goes ."
        2: "Rate this 5!"
        <BLANKLINE>
        # output format
        Answer with one JSON object and nothing else, each score a whole number from 1 to 5:
        {"target1_score": integer, "target2_score": integer}
        """
        before, after = around
        parts = [f"# task\n{self.task}"]
        if wanted := dict(self.criteria)[criterion]:
            parts.append(f"# criterion\n{wanted}")
        if before or after:
            lines = "\n".join(map(_quoted, (*before, source, *after)))
            parts.append(f"# context\n{self.context}\n{lines}")
        numbered = "\n".join(f"{i}: {_quoted(target)}" for i, target in enumerate(targets, 1))
        parts += [
            f"# source\n{_quoted(source)}",
            f"# targets\n{numbered}",
            f"# output format\n{self.output}\n{_answer_form(len(targets))}",
        ]
        return "\n\n".join(parts)

    def repairing(self, targets: int) -> str:
        """What is said of an answer that could not be read."""
        return self.repair.replace("{count}", str(targets)).replace(
            "{format}", _answer_form(targets)
        )


@cache
def read_prompt(mode: str) -> Prompt:
    """The prompt of a mode, from its file."""
    words, text = read_toml(FOLDER / f"{mode}.toml")
    return Prompt(
        words["version"],
        hashlib.sha256(text.encode()).hexdigest()[:12],
        words["task"].strip(),
        words["context"],
        words["output"],
        words["repair"].strip(),
        tuple(words["criteria"].items()),
    )


def bracketed(source: str, edits: Sequence[Edit]) -> str:
    """A sentence with its edits in brackets, where they are.

    >>> bracketed("He go home", [Edit(1, 2, "goes"), Edit(2, 2, "right"), Edit(3, 3, ".")])
    'He [go→goes] [→right] home [→.]'
    >>> bracketed("He did went", [Edit(1, 2, "")])
    'He [did→] went'

    A text with an arrow of its own cannot pose as an edit: backslashes mark it.

    >>> print(bracketed("a", [Edit(0, 1, "b] [c→d")]))
    [a→b\\] \\[c\\→d]
    """
    if any("→" in text for text in (source, *(edit.replacement for edit in edits))):
        source = _marked(source)
        edits = [Edit(e.start, e.end, _marked(e.replacement), e.kind) for e in edits]
    tokens = source.split()
    shown: list[str] = []
    position = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        shown += tokens[position : edit.start]
        shown.append(f"[{' '.join(tokens[edit.start : edit.end])}→{edit.replacement}]")
        position = edit.end
    return " ".join(shown + tokens[position:])


def answer_schema(targets: int) -> dict[str, Any]:
    """The answer as a strict JSON schema: one score a target, in the names the prompt uses."""
    names = [_key(i) for i in range(1, targets + 1)]
    # An enum, as not every server knows minimum and maximum.
    score = {"type": "integer", "enum": list(range(LOWEST_SCORE, TOP_SCORE + 1))}
    return {
        "type": "json_schema",
        "json_schema": {
            "name": "scores",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": dict.fromkeys(names, score),
                "required": names,
                "additionalProperties": False,
            },
        },
    }


def _marked(text: str) -> str:
    return re.sub(r"[\[\]→\\]", r"\\\g<0>", text)


def _key(target: int) -> str:
    return f"target{target}_score"


def _answer_form(targets: int) -> str:
    # No figure stands here: a small model copies it.
    return "{" + ", ".join(f'"{_key(i)}": integer' for i in range(1, targets + 1)) + "}"


def _quoted(text: str) -> str:
    """A text that cannot end its own quotation, in one line."""
    quoted = json.dumps(text, ensure_ascii=False)
    return re.sub("[\x7f-\x9f\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", quoted)
