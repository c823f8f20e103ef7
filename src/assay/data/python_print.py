"""Lists that Python printed into a cell: of texts, dicts, objects such as `Document(page_content='...')`, and pairs.

`DataFrame.to_csv` writes `str(value)`. What such a print says is read where its grammar leaves no doubt: texts as
Python quotes them, numbers, lists, tuples, dicts, and calls with named arguments, which are read as dicts. All else
that is recognisably a print is refused, since a guess would judge several passages as one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from assay._util.normalise import well_formed
from assay.errors import InputError

#: What to do with a cell that was printed, as the end of a message.
REMEDY = (
    "write the texts as JSON, for example df[column] = df[column].map(lambda items: json.dumps([text of each item])); "
    "a passage that stands in brackets itself goes into a JSON list, too"
)

_TOKEN = re.compile(
    r"""\s*+(?:
    (?P<text>'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+")
    |(?P<number>[-+]?(?:\d[\d_]*+(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?(?![\w.]))
    |(?P<name>[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)*+)
    |(?P<dots>\.\.\.)
    |(?P<opaque><[^<>]*+>)
    |(?P<mark>[\[\](){},:=])
    |(?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_CONSTANTS: dict[str, object] = {"None": None, "True": True, "False": False, "nan": float("nan"), "inf": float("inf")}
#: Calls that hold one list.
_LISTS = frozenset((
    "array", "numpy.array", "np.array", "deque", "list", "tuple", "Index",
    "dict_values", "dict_keys", "odict_values", "odict_keys",
))  # fmt: skip
_CLOSING = {"[": "]", "(": ")", "{": "}"}
#: Deeper prints are refused: each level is a call of a function.
_DEPTH = 40
#: How a printed list begins: with a call of a class, the name of an object, or a text in quotes.
_STARTS = re.compile(r"[\[({\s]*+(?:[A-Z_]\w*+\(|<[\w.]++ (?:object|at)\b|b?['\"])")
#: How anything begins that may be a print or JSON: quickly told from prose.
_MAY_BEGIN = re.compile(r"[\[{('<]|\"[\[{]|\"[^\"\n]{0,10000}\",|page_content=['\"]|[A-Za-z_][\w.]*+\(|shape: \(\d")
#: Objects that do not show what they hold, alone in a cell.
_OBJECT = re.compile(r"<(?:[\w.]++ object\b|[\w.]++ at 0x)[^<>]*+>")
#: Documents whose print is no Python ("Document(id=1, content: 'a')").
_DOCUMENT = re.compile(r"(?:Document|Node|Text)\w*+\(\w++=")
#: How prints of pandas and polars end or begin: texts stand in them as they are, or are cut.
_FOOTER = re.compile(r"\n(?:[^\n]{0,200}, )?dtype: (?:object|str|string)\Z|\n\[\d++ rows x \d++ columns\]\Z")
_SHAPE = re.compile(r"shape: \(\d++,")
_PAGE = "page_content="
_LONGEST_FOOTER = 250  # characters


class NotPrintedError(Exception):
    """The text is not what Python prints, from the named position on."""

    def __init__(self, position: int, ended: bool = False) -> None:
        super().__init__(position)
        self.ended = ended


class _Reader:
    """Reads one print by recursive descent."""

    def __init__(self, text: str) -> None:
        self._source = text
        self._position = 0
        self.kind, self.shown = "", ""
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self._source, self._position)
        if found is None or found.lastgroup is None:
            # a text that is opened and never closed is one that was cut
            raise NotPrintedError(self._position, self._source[self._position :].lstrip()[:1] in ("'", '"'))
        self.kind, self.shown = found.lastgroup, found.group(found.lastgroup)
        self._position = found.end()

    def fail(self) -> NotPrintedError:
        return NotPrintedError(self._position, self.kind == "end")

    def take(self, mark: str) -> None:
        if self.kind != "mark" or self.shown != mark:
            raise self.fail()
        self.advance()

    def is_mark(self, mark: str) -> bool:
        return self.kind == "mark" and self.shown == mark

    def value(self, depth: int = 0) -> Any:
        if depth > _DEPTH:
            raise self.fail()
        kind, token = self.kind, self.shown
        if kind == "text":
            self.advance()
            if self.kind == "text":
                if not depth:  # two quotations, one after the other
                    raise self.fail()
                raise InputError(
                    "found a printed numpy array, in which passages cannot be told apart; write the list as JSON, "
                    "for example df[column] = df[column].map(list).map(json.dumps)"
                )
            return _literal(token, self.fail)
        if kind == "number":
            self.advance()
            return _literal(token, self.fail)
        if kind == "opaque":  # an enumeration, or an object that does not show what it holds
            self.advance()
            return Opaque(token)
        if kind == "dots":
            if not depth:
                raise self.fail()
            raise InputError(f"found a printed list that was cut at '...'; {REMEDY}")
        if kind == "name":
            self.advance()
            return self._named(token, depth)
        if kind == "mark" and token in _CLOSING:
            self.advance()
            return self._collection(token, depth)
        raise self.fail()

    def _named(self, name: str, depth: int) -> Any:
        if self.is_mark("("):
            self.advance()
            return self._call(name, depth)
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if depth:
            return Opaque(name)
        raise self.fail()

    def _call(self, name: str, depth: int) -> Any:
        """The named arguments as a dict; a call with one text alone, as UUID('...'), as that text."""
        given: list[Any] = []
        named: dict[str, Any] = {}
        while not self.is_mark(")"):
            key = self.shown if self.kind == "name" else None
            item = self.value(depth + 1)
            if isinstance(item, Opaque) and key == item.text and self.is_mark("="):
                self.advance()
                named[key] = self.value(depth + 1)
            else:
                given.append(item)
            self._separate(")")
        self.advance()
        if name in _LISTS and given:
            return given[0]
        if name in ("OrderedDict", "defaultdict", "dict") and given and isinstance(given[-1], dict):
            return given[-1]
        if named and not given:
            return named
        return given[0] if len(given) == 1 and isinstance(given[0], str) and not named else Opaque(name)

    def _collection(self, mark: str, depth: int) -> Any:
        end = _CLOSING[mark]
        items: list[Any] = []
        pairs: dict[str, Any] = {}
        commas = 0
        while not self.is_mark(end):
            item = self.value(depth + 1)
            if mark == "{" and self.is_mark(":"):
                self.advance()
                pairs[str(item)] = self.value(depth + 1)
            else:
                items.append(item)
            commas += self.is_mark(",")
            self._separate(end)
        self.advance()
        if mark == "[":
            return items
        if mark == "(":
            return tuple(items) if commas or not items else items[0]
        if items:
            raise InputError(f"found a printed set, which has no order; {REMEDY}")
        return pairs

    def _separate(self, end: str) -> None:
        if self.is_mark(","):
            self.advance()
        elif not self.is_mark(end):
            raise self.fail()


class Opaque:
    """Something printed that does not show what it holds."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _literal(token: str, fail: Callable[[], NotPrintedError]) -> Any:
    try:
        return ast.literal_eval(token)
    except (ValueError, SyntaxError, MemoryError):
        raise fail() from None


def parse_print(text: str) -> Any:
    """Read what Python printed.

    Args:
        text: The text, without white space around it.

    Returns:
        The value. Objects are dicts of their named arguments.

    Raises:
        InputError: It is a print whose items cannot be told apart with certainty. The message has the remedy.
        NotPrintedError: It is no print.
    """
    text = well_formed(text)  # Python reads no literal with half an emoji in it
    if text.startswith(_PAGE):
        return _pages(text)
    if _OBJECT.fullmatch(text) or _FOOTER.search(text, max(0, len(text) - _LONGEST_FOOTER)) or _SHAPE.match(text):
        raise InputError(f"found the print of an object that does not show where a passage ends; {REMEDY}")
    try:
        reader = _Reader(text)
        found = _one_or_several(reader)
    except NotPrintedError as error:
        if _is_printed(text, error.ended):
            why = "is cut off in the middle" if error.ended else "does not show where a passage ends"
            raise InputError(f"found what looks like a printed list, which {why}; {REMEDY}") from None
        raise
    return _with_texts(found, text)


def _one_or_several(reader: _Reader) -> Any:
    """What was printed; several prints, on lines of their own or with commas between, are a list of them."""
    found = [reader.value()]
    while reader.kind != "end":
        if not isinstance(found[-1], (dict, str)):
            raise reader.fail()
        if reader.is_mark(","):
            reader.advance()
        elif isinstance(found[-1], str):  # two quotations, one after the other
            raise reader.fail()
        if isinstance(found[-1], str) and reader.kind != "text":  # prose that begins with a quotation
            raise reader.fail()
        found.append(reader.value())
    return found[0] if len(found) == 1 else found


def may_begin(text: str) -> bool:
    """Check quickly whether a text may be JSON or a print.

    Args:
        text: The text, without white space around it.

    Returns:
        False for prose that begins with a word.
    """
    return _MAY_BEGIN.match(text) is not None or _FOOTER.search(text, max(0, len(text) - _LONGEST_FOOTER)) is not None


def _with_texts(found: Any, text: str) -> Any:
    """The value, where its items show what they hold. Raises as `parse_print`."""
    items = found if isinstance(found, (list, tuple)) else [found]
    hidden = [item for item in items if isinstance(item, Opaque)]
    if not hidden:
        return found
    if not isinstance(found, list) or (len(items) == 1 and hidden[0].text.isidentifier() and "(" not in text):
        raise NotPrintedError(0)  # [Applause], or f(x): a passage
    raise InputError(f"found a printed list whose items do not show their text, as {hidden[0]!r}; {REMEDY}")


def _pages(text: str) -> list[Any]:
    """The documents that LangChain's `str` printed: page_content='...' metadata={...}, one after the other."""
    found = []
    try:
        reader = _Reader(text)
        while reader.kind != "end":
            page: dict[str, Any] = {}
            while reader.kind == "name" and (not page or reader.shown != "page_content"):
                name = reader.shown
                reader.advance()
                reader.take("=")
                page[name] = reader.value(1)
            if "page_content" not in page:
                raise reader.fail()
            found.append(page)
            if reader.is_mark(","):
                reader.advance()
    except NotPrintedError:
        raise InputError(f"found printed documents that cannot be told apart; {REMEDY}") from None
    return found


def _is_printed(text: str, ended: bool) -> bool:
    """Whether a text that no grammar fits is a print all the same: by how it begins, and how its brackets close."""
    if not text.startswith("["):
        return _DOCUMENT.match(text) is not None and (ended or text.endswith(")"))
    begins = _STARTS.match(text) is not None
    return (begins and (ended or text.endswith("]"))) or _without_quotes(text)


def _without_quotes(text: str) -> bool:
    """Whether one pair of brackets holds all of it, with commas between: a list whose texts have no quotes."""
    depth, comma = 0, False
    for found in re.finditer(r"[\[\],]", text):
        mark = found[0]
        depth += (mark == "[") - (mark == "]")
        comma = comma or (mark == "," and depth == 1)
        if depth == 0:
            return comma and found.end() == len(text)
    return False
