"""Languages besides English, where `assay-embedded-multilingual` is installed: claims, and what supports them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from assay.errors import Cause, JudgeFailure, MissingExtra
from assay.prompts import Claims, JudgePrompt, Support, SupportCells
from assay.text.languages import code_of, language_of_all

if TYPE_CHECKING:
    from assay_embedded import SupportReading
    from assay_embedded_multilingual import MultilingualReader

T = TypeVar("T")

#: What can be answered in these languages.
PROMPTS: tuple[type[JudgePrompt[Any]], ...] = (Claims, Support, SupportCells)
#: For which languages the extra is worth naming to whoever lacks it; that they are its own is tested.
OFFERED = ("de", "es", "fr", "it", "pt")


class FurtherLanguages:
    """The multilingual reader, loaded when it is first asked; `languages` is empty where it is not installed."""

    def __init__(self, threads: int | None) -> None:
        try:
            import assay_embedded_multilingual
        except ImportError:
            self.languages: tuple[str, ...] = ()
            self.fingerprint: str | None = None
            return
        self.languages = tuple(assay_embedded_multilingual.languages)
        self.fingerprint = _undamaged(assay_embedded_multilingual.fingerprint)
        self._load: Callable[[], MultilingualReader] = lambda: assay_embedded_multilingual.load(threads)

    @property
    def card(self) -> Mapping[str, Any]:
        """What was measured, by language."""
        return _undamaged(self._load).card

    def reads(self, prompt: Support) -> bool:
        """Whether a prompt is in one of the languages of the multilingual reader."""
        return code_of(prompt.language) in self.languages

    def mixed(self, prompt: Support) -> JudgeFailure | None:
        """Why claims in one language over passages in another are not read: support is overlooked too often."""
        said, found = code_of(prompt.language), language_of_all(prompt.passages)
        if found in (None, said) or not {said, found} & set(self.languages):
            return None
        message = (
            f"the claims are in {said!r} and the passages in {found!r}; the embedded judge was measured on both in one "
            "language: name an LLM judge"
        )
        return JudgeFailure(Cause.LANGUAGE, message)

    def support(self, pairs: Sequence[tuple[str, str]]) -> list[SupportReading]:
        """See `MultilingualReader.support`. Raises MissingExtra where its files are damaged."""
        return _undamaged(self._load).support(pairs)


def _undamaged(load: Callable[[], T]) -> T:
    from assay_embedded import FileCorrupt

    try:
        return load()
    except FileCorrupt as error:
        message = f"files of the embedded judge are damaged ({error}); reinstall assay-embedded-multilingual"
        raise MissingExtra(message) from error
