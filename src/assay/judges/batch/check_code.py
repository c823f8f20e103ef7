"""A code in each request of a batch and in its reply, so that a reply under the name of another request is noticed.

A provider, or a proxy before it, that puts replies under wrong names would give every row the verdicts of another one,
and each would be well formed. The code is made of the request's content address; it stands last in the prompt and first
in the schema of the reply. Requests without a schema get none: nothing makes a model repeat a code.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

from assay.judges.llm.message_text import text_of

#: Its name in a reply.
FIELD = "request_code"
_CODE = re.compile(rf'"{FIELD}"\s{{0,9}}:\s{{0,9}}"([^"]{{0,40}})"')


def code_of(key: bytes) -> str:
    """The code of a request: six letters and digits of its content address, of which there are 2^30."""
    return base64.b32encode(key)[:6].decode().lower()


def with_code(body: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    """A request with its code, where its reply has a schema.

    Args:
        body: A chat call, in OpenAI's words.
        key: The content address of the request without it.

    Returns:
        A body of its own: the code is in the last line of the last message, and the schema's first property is one
        that can have no other value.
    """
    wanted = body.get("response_format")
    if not isinstance(wanted, dict) or wanted.get("type") != "json_schema" or not body.get("messages"):
        return dict(body)
    code = code_of(key)
    schema = wanted["json_schema"]["schema"]
    properties = {FIELD: {"type": "string", "enum": [code]}, **schema.get("properties", {})}
    asked = {**schema, "properties": properties, "required": [FIELD, *schema.get("required", ())]}
    *before, last = body["messages"]
    line = f'Begin the JSON with "{FIELD}": "{code}".'
    return {
        **body,
        "messages": [*before, {**last, "content": _followed(last.get("content"), line)}],
        "response_format": {**wanted, "json_schema": {**wanted["json_schema"], "schema": asked}},
    }


def code_in(body: Mapping[str, Any]) -> str | None:
    """The code in a reply, also in one that stands in a fence; what reads the reply passes over it.

    Args:
        body: A chat completion, in OpenAI's words.

    Returns:
        The first code; None where there is none, as where the model left it out.
    """
    try:
        choice = body["choices"][0]
        found = _CODE.search(text_of(choice["message"], choice) or "")
    except (LookupError, TypeError, AttributeError):
        return None
    return None if found is None else found[1]


def key_of(code: str, named: bytes, coded: Mapping[str, Sequence[bytes]]) -> bytes | None:
    """The request that a code is of.

    Args:
        code: The code of a reply.
        named: The request under whose name it came.
        coded: The requests of the batch by their codes, of which two may have one.

    Returns:
        The named one where the code is its own; else the only one that has it; None where none has, or several.
    """
    if code == code_of(named):
        return named
    found = coded.get(code, ())
    return found[0] if len(found) == 1 else None


def _followed(content: Any, line: str) -> Any:
    if isinstance(content, list):
        return [*content, {"type": "text", "text": line}]
    return f"{content or ''}\n\n{line}"
