"""Which language a text is in, found out offline, where there is no doubt: `language_of`.

Of text that is full of English function words nothing else is asked: the model below takes 0.6 s and 80 MB to load.
py3langid (BSD-3-Clause, pure Python and numpy, 4.6 MB with its model) says which of 139 languages fits best, and how
much better than English. A text counts as another language only where that lead is large, in both halves of the text:
names, code, tables, addresses and quotations in an English text lead nowhere near it. All else is doubtful, and counts
as what the row or the run says. The figures behind the limits are in docs/evidence/embedded-judge.md;
tests/benchmarks/bench_language.py measures them anew.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from assay._util.forks import FORK_LOCK

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

ENGLISH = "en"
#: Characters of a text that are looked at: its begin and its end.
CHARS = 1000
#: Fewer words are doubtful: most short answers are names, and names are of all languages.
WORDS = 8
#: More letters of other alphabets, and more of them than of ours, say enough in fewer words.
LETTERS = 10
#: By how much another language must lead before English: log-likelihood by root of bytes, as py3langid scales it.
LEAD = 7.0
#: What a half of the text must show, so that a quotation does not decide for the whole.
HALF_LEAD = LEAD / 3
#: Labels that are no judgement: no language at all; and Latin, which names of species and legal terms look like.
_NO_JUDGEMENT = frozenset({"zxx", "und", "mul", "la"})
#: English and what is written so much like it that a judge of English reads it.
_AS_ENGLISH = frozenset({ENGLISH, "sco", "pcm"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Function words of English that hardly occur in texts of other languages.
_ENGLISH_WORDS = _words(
    """the and that with this from which their they there these those have been would should could because about your
    you what when where who how than then into only other after before while through between each does doesn't don't
    isn't it's can't won't were its said first every until without within him she them"""
)
#: Those that others have too: they count where enough of the others stand beside them.
_ALSO_ENGLISH = _words(
    """of to in is a an on or was so do i he my per for at by as be will not over under we had has but can may must all
    two new are did it if any more most up out our both"""
)
#: Function words of others, in whose texts English names and titles stand ("The Beatles waren in London"): where one
#: of them is, a model is asked.
_OTHERS = _words(
    """der die das und ist nicht mit von den dem ein eine auf waren wie zu im le la les des du et est une dans que pour
    el los las una con por para del il di che non sono het een van niet en og det som och att ikke jag er na nie je se
    sa da dos um uma em os ao ve bir ja ei"""
)
#: What share of the words of each half of a text both together have to be, so that no model is asked.
_ENGLISH_SHARE = 0.24
#: What share those of English alone.
_ENGLISH_ALONE = 0.06
#: Words of a text that is looked at as one.
_SHORT = 40

_LATIN = "\u036f"  # the last character of the Latin blocks, and of the accents that go with them
_WORD = re.compile(r"[^\W\d_]+")
_WORD_OR_SHORT_FORM = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
# Thai to Lao, Burmese, Khmer, kana, Han, Hangul: two characters count as a word
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CODE = re.compile(r"[a-z]{2,3}", re.ASCII)
_NAMES = {"english": ENGLISH, "eng": ENGLISH}


def language_of(text: str) -> str | None:
    """The ISO 639 code of the language that a text is certainly in; None where there is doubt, as in any short text.

    Deterministic; takes the same time for any text of more than CHARS characters.
    """
    return _detect(text if len(text) <= CHARS else f"{text[: CHARS // 2]} {text[-CHARS // 2 :]}")


def language_of_all(texts: Sequence[str]) -> str | None:
    """The language that texts are certainly in, taken together: the begin of each, of the first ten."""
    if len(texts) == 1:
        return language_of(texts[0])
    texts = [text for text in texts if text.strip()][:10]
    share = CHARS // max(1, len(texts))
    return language_of("\n".join(text[:share] for text in texts))


def code_of(language: str) -> str:
    """A language as its code: `en` for `en-GB`, `EN` and `English`; what is no code stays as it is."""
    plain = language.strip().lower()
    return _NAMES.get(plain) or re.split(r"[-_]", plain, maxsplit=1)[0]


def is_code(language: str) -> bool:
    """Whether this may stand in a prompt: a code of ISO 639, and not whatever a column of that name held."""
    return _CODE.fullmatch(language) is not None


@lru_cache(maxsize=512)  # metrics of a sample ask for the same texts; 2 MB at most
def _detect(text: str) -> str | None:
    if not _long_enough(text):
        return None
    if _plainly_english(text):
        return ENGLISH
    label, lead = _best(text)
    if label in _AS_ENGLISH:
        return ENGLISH
    if label in _NO_JUDGEMENT or lead < LEAD:
        return None
    return label if all(lead >= HALF_LEAD for _, lead in map(_best, _halves(text))) else None


def _halves(text: str) -> tuple[str, str]:
    middle = text.find(" ", len(text) // 2, len(text) // 2 + 100)
    middle = middle if middle > 0 else len(text) // 2
    return text[:middle], text[middle:]


def _plainly_english(text: str) -> bool:
    for half in (text,) if len(text.split()) < _SHORT else _halves(text):
        words = _WORD_OR_SHORT_FORM.findall(half.lower())
        if not _OTHERS.isdisjoint(words):
            return False
        alone = sum(map(_ENGLISH_WORDS.__contains__, words))
        both = alone + sum(map(_ALSO_ENGLISH.__contains__, words))
        if both < _ENGLISH_SHARE * len(words) or alone < max(1, _ENGLISH_ALONE * len(words)):
            return False
    return True


def _long_enough(text: str) -> bool:
    if not text.isascii():
        letters = [char > _LATIN for char in text if char.isalpha()]
        if sum(letters) > max(LETTERS, len(letters) // 2):
            return True
    if text.isascii():
        return next(islice(_WORD.finditer(text), WORDS - 1, None), None) is not None
    unspaced = len(_UNSPACED.findall(text))
    return len(_WORD.findall(_UNSPACED.sub(" ", text))) + unspaced / 2 >= WORDS


def _best(text: str) -> tuple[str, float]:
    """The language that fits best, and its lead before English."""
    ranking = _identifier().rank(text)
    label, best = ranking[0]
    size = len(text.encode("utf-8", "surrogatepass"))
    return label, (best - dict(ranking)[ENGLISH]) / math.sqrt(size or 1)


@cache
def _identifier() -> LanguageIdentifier:
    with FORK_LOCK.entered():  # it unpacks into a temporary file, whose place Python finds under a lock
        from py3langid.langid import MODEL_FILE, LanguageIdentifier  # 0.6 s and 80 MB with its model

        return LanguageIdentifier.from_model_file(MODEL_FILE)
