"""What a page carries inside itself: how its policy knows it, and how data stand in a script."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable

__all__ = ["content_policy", "policy_hash", "script_json"]


def policy_hash(text: str) -> str:
    """What a page's policy knows its own style or script by; nothing else is run.

    >>> policy_hash("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def content_policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """The policy of a page that fetches nothing and runs what it brought along, and only that.

    >>> content_policy(["a{}"], []).split("; ")[::2]
    ["default-src 'none'", "script-src 'none'", "form-action 'none'"]
    """
    style = " ".join(map(policy_hash, styles)) or "'none'"
    script = " ".join(map(policy_hash, scripts)) or "'none'"
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; "
        "form-action 'none'"
    )


def script_json(data: object) -> str:
    """JSON that may stand in a script element whatever it holds.

    >>> script_json({"a": "</script>"})
    '{"a":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
