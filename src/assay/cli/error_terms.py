"""What errors say in the words of Python, in those of the command line: `column_map=` is `--map` here."""

from __future__ import annotations

import json
import re
from collections.abc import Callable


def _map_options(found: re.Match[str]) -> str:
    """The options for a column map; a field of several columns has one for each."""
    try:
        columns = json.loads(found[1])
    except ValueError:
        return found[0]
    lists = {field: [names] if isinstance(names, str) else names for field, names in columns.items()}
    pairs = ((field, name) for field, names in lists.items() for name in names)
    return " ".join(f"--map '{field}={name}'" for field, name in pairs)


_WORDS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"column_map=(\{\"[^{}]*\})"), _map_options),
    (re.compile(r"\b([Uu])se column_map= to"), r"\1se --map FIELD=COLUMN to"),
    (re.compile(r"\bcolumn_map=?"), "--map"),
    (re.compile(r"\bpass api_key=\S*"), "name the variable that holds it with --api-key-env"),
    (re.compile(r"\bapi_key=\S*"), "--api-key-env"),
    (re.compile(r"\bpass embedding_model=\S*"), "name one with --embedding-model"),
    (re.compile(r"\bjudge='openai:MODEL'"), "--judge openai:MODEL"),
    (re.compile(r"\bbase_url\b=?(?:\.\.\.)?"), "--base-url"),
    (re.compile(r"\breplace=True\b"), "--replace"),
    (re.compile(r"\brun it again to go on\b"), "`assay store batches collect` goes on"),
    (re.compile(r"^detach: "), "--detach: "),
    (re.compile(r"^batched_questions\b"), "--batched-questions"),
    (re.compile(r"^instructions\b"), "--instructions"),
    (re.compile(r"\bformat= says"), "--format says"),
    (re.compile(r"""\bevaluate\(\.\.\., language="(\w+)"\)"""), r"--language \1"),
)
#: An error in a configuration file speaks of its keys.
_OF_A_FILE = re.compile(r"[^\n]*\.toml: ")


def for_the_command_line(message: str) -> str:
    """The message with options in place of arguments of Python."""
    if _OF_A_FILE.match(message):
        return message
    for pattern, words in _WORDS:
        message = pattern.sub(words, message)
    return message
