"""What an error says that the endpoint does not support: system messages, or a format of the reply.

Chat templates and providers word a refusal of system messages in many ways, and most fit one of three forms: the system
role is denied ("System role not supported"), the roles that are allowed are listed without it ("Only user and assistant
roles are supported!", "Input should be 'user' or 'assistant'"), or roles must take turns. A complaint about the text of
a system message (too long, empty) is none of them.
"""

from __future__ import annotations

import re

#: Statuses with which servers refuse a parameter: 404 of gateways without a fitting provider, 500 to 502 of servers
#: that call it an error of their own.
REFUSING = frozenset({400, 404, 405, 415, 422, 500, 501, 502})

_SENTENCE = re.compile(r"[.!?;](?=\s|$)|\n")
_SYSTEM = re.compile(
    r"\b(?:system|developer)[ _-]?(?:roles?|messages?|instructions?|prompts?|turns?)\b"
    r"|\broles?\W{1,4}(?:(?:of|type|name|value)\W{1,4})?(?:system|developer)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"['\"`](?:system|developer)['\"`]", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:no|not|never|cannot|without|lacks?|invalid|illegal|unknown|unexpected|unsupported|unrecognized|unavailable"
    r"|disabled|disallowed|forbidden|prohibited|rejected|ignored)\b|n't\b",
    re.IGNORECASE,
)
#: What is wrong with one message, its text or its place, and not with its role.
_OF_A_TEXT = re.compile(
    r"\b(?:empty|blank|missing|required|too (?:long|large|short)|exceeds?|tokens?|characters?|not found|null"
    r"|last|final)\b",
    re.IGNORECASE,
)
_CHAT = re.compile(r"\b(?:roles?|messages?|conversations?|turns?|chat)\b", re.IGNORECASE)
#: What introduces the roles that are allowed, and what such a list is made of.
_ALLOWED = re.compile(
    r"\b(?:(?:should|must|has to|have to) be|one of|only|(?:valid|supported|allowed) (?:values?|roles?)"
    r"|(?:start|begin)s? with|expect(?:s|ed)|use a valid role)"
    r"((?:[\s,/|:()\[\]<>'\"`]|\b(?:and|or|the|an?|are|is|one|of|either|from|roles?|messages?|user|assistant|model"
    r"|human|ai|tool|function|chatbot|system|developer)\b)+)",
    re.IGNORECASE,
)
_USER = re.compile(r"\b(?:user|human)\b", re.IGNORECASE)
_INSTRUCTING = re.compile(r"\b(?:system|developer)\b", re.IGNORECASE)
_TURNS = re.compile(r"\broles?\b.{0,20}\balternat", re.IGNORECASE | re.DOTALL)

_FORMAT = re.compile(
    r"response[_ ]?format|json[_ -]?schema|json[_ -]?object|json mode|structured[_ -]?outputs?|grammar|invalid format"
    r"|guided[_ -]?(?:json|decoding)",
    re.IGNORECASE,
)
#: A gateway that has no provider for all of what was asked for.
_PARAMETERS = re.compile(r"requested parameters?|(?:these|all) parameters", re.IGNORECASE)
#: Errors of the chat template itself. Another attempt ends alike.
_TEMPLATE = re.compile(r"jinja|chat[_ ]template|template error", re.IGNORECASE)


def refuses_system(said: str) -> bool:
    """Check whether an error says that the model, or its chat template, takes no system message."""
    if _TURNS.search(said):
        return True
    chat = bool(_CHAT.search(said))
    sentences = [sentence for sentence in _SENTENCE.split(said) if not _OF_A_TEXT.search(sentence)]
    return any(_denies_system(sentence, chat) or (chat and _leaves_out_system(sentence)) for sentence in sentences)


def refuses_format(said: str) -> bool:
    """Check whether an error speaks of the format of the reply, or of parameters that no provider has."""
    return bool(_FORMAT.search(said) or _PARAMETERS.search(said))


def is_of_the_request(said: str) -> bool:
    """Check whether an error with the status of a failing server is about the request: the next attempt ends alike."""
    return refuses_system(said) or refuses_format(said) or bool(_TEMPLATE.search(said))


def _denies_system(sentence: str, chat: bool) -> bool:
    named = _SYSTEM.search(sentence) or (chat and _QUOTED.search(sentence))
    return bool(named and _DENIED.search(sentence))


def _leaves_out_system(sentence: str) -> bool:
    lists = [match[1] for match in _ALLOWED.finditer(sentence)]
    return any(_USER.search(roles) and not _INSTRUCTING.search(roles) for roles in lists)
