"""Pictures for metrics: among the passages, in the question, in the answer.

A judge that sees is shown them, each with the section that it belongs to. For any other judge the text on them is read
(`assay.text.ocr`) and takes their place, so that a claim's evidence is a box on a picture; a picture without text
then needs a judge that sees. Where both are wanted, a judge that sees is given the text of a passage's picture
beside it, and what it quotes of that has a box. What cannot be shown or read is skipped, with the passage and the
reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeVar

from assay._util import byte_limits
from assay._util.install_hints import install_extra
from assay.errors import Cause, InputError, JudgeFailure, MissingExtra
from assay.judges.protocol import Around, Judge, sees
from assay.metrics.systems.base import SystemMetric
from assay.prompts import JudgePrompt
from assay.records import Context, Evidence, Sample, Score, ScoreError, Span, Verdict
from assay.records.images import Image, ImageTooLarge, load
from assay.text.images import blanked, images_in
from assay.text.ocr import Page, available, page_of

F = TypeVar("F")
Reading = Literal["auto", "vision", "ocr", "both"]

#: What stands for a picture in a section without other text.
PICTURE = "[picture]"


@dataclass(frozen=True)
class MultiModalMetric(SystemMetric):
    """A metric that looks at pictures.

    Attributes:
        reading: "vision": pictures are shown to the judge; "ocr": the text on them is read here, on this machine;
            "both": shown, those of passages with the text that was read on them; "auto": shown to a judge that sees,
            else read.
        urls: Whether the address of a picture may be given to the judge's model, which then fetches it; nothing else
            ever does.
    """

    reads_images: ClassVar[bool] = True
    #: False for metrics that take no notice of the pictures among the passages and in the question, or take their own
    views: ClassVar[bool] = True
    #: True for metrics that look at the pictures of the answer themselves
    reads_answer: ClassVar[bool] = False

    reading: Reading = field(default="auto", kw_only=True)
    urls: bool = field(default=False, kw_only=True)

    def shows(self, judge: Judge) -> bool:
        """Whether pictures are shown to this judge; else their text is read."""
        return self.reading in ("vision", "both") or (self.reading == "auto" and sees(judge))

    def _read_in(self, sample: Sample, judge: Judge) -> Sample:
        """See `Metric`: the bytes of a picture are no language."""
        plain = replace(sample, question=_plain(sample.question), answer=_plain(sample.answer))
        return replace(sample, language=super()._read_in(plain, judge).language)

    async def score(self, sample: Sample, judge: Judge) -> Score:
        if not self.views:
            return await super().score(sample, judge)
        found = await self._viewed(sample, judge, self.shows(judge))
        refused = found.error is not None and found.error.cause is Cause.NEEDS_VISION
        if refused and self.reading == "auto" and self.shows(judge) and available():
            read = await self._viewed(sample, judge, False)  # the endpoint takes no images
            return replace(read, usage=found.usage + read.usage)
        return found

    async def _viewed(self, sample: Sample, judge: Judge, show: bool) -> Score:
        missing = self.missing(sample)
        if missing is not None and missing.cause is Cause.NO_CLAIMS:  # an empty answer is refused by all of them
            return replace(self.skip(missing.cause, missing.message), judge=judge.fingerprint)
        if missing is not None:
            return await super().score(sample, judge)
        try:
            view = await view_of(sample, self, show)
        except JudgeFailure as failure:
            said = ScoreError(cause=failure.cause, message=failure.message)
            return replace(self.skip(said.cause, said.message), judge=judge.fingerprint)
        shown = ImageJudge(judge, view.sample.passages, view.images) if view.images else judge
        return with_places(await super().score(view.sample, shown), view)


def _plain(text: str | None) -> str | None:
    return text and " ".join(blanked(text).split())


@dataclass(frozen=True, slots=True)
class View:
    """A sample as its judge reads it.

    Attributes:
        images: Pictures that are shown, by the title of their section.
        pages: What was read on the pictures of passages, by the passage's index, and where that begins in its text.
    """

    sample: Sample
    images: Mapping[str, Image]
    pages: Mapping[int, tuple[Page, int]]


async def view_of(sample: Sample, metric: MultiModalMetric, show: bool) -> View:
    """The sample for a judge that sees, or with the text of its pictures. Raises JudgeFailure naming the passage."""
    images: dict[str, Image] = {}
    pages: dict[int, tuple[Page, int]] = {}
    contexts = []
    held = 0
    for n, context in enumerate(sample.contexts or (), 1):
        where = f"passage {n}" + (f" ({context.id})" if context.id else "")
        text = context.text
        if context.image is not None:
            picture = await loaded(context.image, where, metric.urls)
            held += len(picture.data)
            if held > byte_limits.ROW:
                most = f"{byte_limits.ROW // byte_limits.MIB} MiB{byte_limits.raised()}"
                raise JudgeFailure(Cause.TOO_LARGE, f"the pictures of the passages take more than {most}")
            if show:
                images[f"PASSAGE P{n}"] = picture
            page = await read_page(picture, where, metric.reading) if metric.reading == "both" or not show else None
            if page is not None and page.lines:
                pages[n - 1] = (page, len(text) + 1 if text else 0)
                text = f"{text}\n{page.text}" if text else page.text
            text = text if text.strip() else PICTURE
        contexts.append(Context(text=text, id=context.id, score=context.score, metadata=context.metadata))
    question = sample.question
    for image in images_in(question or ""):
        if "QUESTION" in images:
            raise JudgeFailure(Cause.NOT_APPLICABLE, "the question has several pictures; one can be looked at")
        picture = await loaded(image.uri, "the question", metric.urls)
        images["QUESTION"] = picture
        if not show:
            del images["QUESTION"]
            question = f"{blanked(question or '')}\n{(await read_page(picture, 'the question')).text}"
    changed: dict[str, Any] = {"question": question if not show or question is None else blanked(question)}
    if sample.answer and not metric.reads_answer:
        changed["answer"] = blanked(sample.answer)
    if sample.contexts is not None:
        changed["contexts"] = tuple(contexts)
    return View(replace(sample, **changed), images, pages)


async def loaded(source: str, where: str, urls: bool) -> Image:
    """The picture, read in a thread. Raises JudgeFailure (missing_input, too_large) naming the passage."""
    try:
        return await asyncio.to_thread(load, source, urls=urls)
    except InputError as error:
        raise _of_picture(error, where) from None


def _of_picture(error: InputError, where: str) -> JudgeFailure:
    cause = Cause.TOO_LARGE if isinstance(error, ImageTooLarge) else Cause.MISSING_INPUT
    return JudgeFailure(cause, f"the picture of {where}: {error}")


async def read_page(picture: Image, where: str, reading: Reading = "ocr") -> Page:
    """The text on a picture. Raises JudgeFailure: needs_vision where there is none, or nothing that reads it.

    With "both" a picture may have no text, and that nothing reads it is missing_extra.
    """
    try:
        page = await page_of(picture)
    except InputError as error:
        raise _of_picture(error, where) from None
    except MissingExtra as error:
        if reading == "both":
            raise JudgeFailure(Cause.MISSING_EXTRA, f"{where} has a picture, and {error}") from None
        message = f"{where} has a picture: name a judge that sees, or let its text be read: {install_extra('ocr')}"
        raise JudgeFailure(Cause.NEEDS_VISION, message) from None
    if not page.lines and reading != "both":
        message = f"{where} has a picture on which no text was found; name a judge that sees"
        raise JudgeFailure(Cause.NEEDS_VISION, message)
    return page


@dataclass(frozen=True, slots=True)
class ImageJudge(Around):
    """A judge that is shown the pictures of one sample with whatever it is asked about these passages."""

    judge: Judge
    passages: tuple[str, ...]
    images: Mapping[str, Image]

    @property
    def pictured(self) -> frozenset[int]:
        """The indexes of the passages that are shown."""
        return frozenset(n for n in range(len(self.passages)) if f"PASSAGE P{n + 1}" in self.images)

    async def find(self, prompt: JudgePrompt[F]) -> F:
        return await self.judge.find(self._with_images(prompt))

    def _with_images(self, prompt: JudgePrompt[F]) -> JudgePrompt[F]:
        content = prompt.full_content
        if content is None:
            return prompt
        texts = {f"PASSAGE P{n}": text for n, text in enumerate(self.passages, 1)}
        own = {title for title, _ in prompt.images}
        images = tuple(
            (section.title, self.images[section.title])
            for section in content.material
            if section.title in self.images.keys() - own and texts.get(section.title, section.text) == section.text
        )
        return replace(prompt, images=(*images, *prompt.images)) if images else prompt


def with_places(score: Score, view: View) -> Score:
    """The score whose quotes of read pictures say where they stand, with the passages as they were read."""
    if not view.pages and not view.images:
        return score
    verdicts = {
        reading: tuple(_placed(verdict, view) for verdict in found) if _of_passages(reading) else found
        for reading, found in score.verdicts.items()
    }
    texts = {"contexts": view.sample.passages} if any(map(_of_passages, verdicts)) else {}
    return replace(score, verdicts=verdicts, texts={**texts, **score.texts})


def _of_passages(reading: str) -> bool:
    return reading.partition("/")[2] == "contexts"


def _placed(verdict: Verdict, view: View) -> Verdict:
    return replace(verdict, evidence=tuple(_boxed(quote, view) for quote in verdict.evidence))


def _boxed(quote: Evidence, view: View) -> Evidence:
    page, begins = view.pages.get(quote.passage, (None, 0))
    if page is None or quote.span.end <= begins:
        return quote
    return replace(quote, box=page.box_of(Span(max(0, quote.span.start - begins), quote.span.end - begins)))


async def sections(
    named: Sequence[tuple[str, str, str]], metric: MultiModalMetric, judge: Judge
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, Image], ...]]:
    """Pictures as material and images of a prompt: from (title, source, where it is in words)."""
    material, images = [], []
    for title, source, where in named:
        picture = await loaded(source, where, metric.urls)
        if metric.shows(judge):
            material.append((title, PICTURE))
            images.append((title, picture))
        else:
            material.append((title, (await read_page(picture, where)).text))
    return tuple(material), tuple(images)
