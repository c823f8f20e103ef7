"""Similarity and distance by an embeddings endpoint: distinct texts in batches, what their vectors compare to."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.errors import Cause, JudgeFailure
from assay.judges import prompt_rendering as fences
from assay.judges.guarded_call import gather_all
from assay.judges.http.deadlines import Deadline, within
from assay.judges.http.endpoint import Body, Endpoint
from assay.judges.http.replies import usage_of
from assay.judges.prompt_rendering import tokens_in
from assay.judges.protocol import Answer
from assay.prompts.similarity import TextComparison
from assay.records import Usage
from assay.text import windows

if TYPE_CHECKING:
    import numpy as np

BATCH_TEXTS = 64
BATCH_TOKENS = 100_000
#: Tokens of one text; a longer one is cut at sentence ends, and its vector is the mean of those of its pieces,
#: weighted by their length.
WINDOW_TOKENS = 8000


class Embedder:
    """Cosines in [-1, 1] by `model`. Equal texts are exactly 1 apart from nothing; they cost no call."""

    def __init__(self, endpoint: Endpoint, model: str, *, mask: fences.Mask | None = None) -> None:
        self._endpoint = endpoint
        self._model = model
        self._mask = mask
        self._format = "base64"  # a third of the bytes; servers that refuse it get "float"

    async def answer(self, prompts: Sequence[TextComparison], deadline: float) -> list[Answer]:
        """One answer per prompt. The first carries the cost of all."""
        try:
            vectors, usage = await self._vectors(_distinct(prompts), deadline)
        except JudgeFailure as failure:
            return [Answer(failure=failure)] * len(prompts)
        answers = [_compared(prompt, vectors) for prompt in prompts]
        return [Answer(answers[0].judgement, answers[0].failure, usage), *answers[1:]]

    async def _vectors(self, texts: Sequence[str], deadline: float) -> tuple[dict[str, np.ndarray], Usage]:
        import numpy as np

        pieces = [(text, piece) for text in texts for piece in self._pieces(text)]
        batches = _batches([piece for _, piece in pieces])
        results = await gather_all([self._batch(batch, deadline) for batch in batches])
        rows = [row for vectors, _ in results for row in vectors]
        usage = sum((spent for _, spent in results), Usage())
        sums: dict[str, np.ndarray] = {}
        for (text, piece), row in zip(pieces, rows, strict=True):
            length = float(np.linalg.norm(row))
            if not np.isfinite(length) or length == 0.0:
                raise JudgeFailure(Cause.PARSE, f"{self._model} gave a vector that is zero or not finite")
            sums[text] = sums.get(text, 0.0) + row / length * len(piece)
        return {text: vector / np.linalg.norm(vector) for text, vector in sums.items()}, usage

    def _pieces(self, text: str) -> list[str]:
        text = fences.clean(self._mask(text) if self._mask else text)
        tokens = tokens_in(text)
        if tokens <= WINDOW_TOKENS:
            return [text]
        return [span.of(text) for span in windows(text, max(1, len(text) * WINDOW_TOKENS // tokens))]

    async def _batch(self, texts: Sequence[str], seconds: float) -> tuple[list[np.ndarray], Usage]:
        return await within(seconds, "embeddings", lambda deadline: self._embed(texts, deadline))

    async def _embed(self, texts: Sequence[str], deadline: Deadline) -> tuple[list[np.ndarray], Usage]:
        import numpy as np

        encoding = self._format

        async def call(encoding: str) -> Body:
            body = {"model": self._model, "input": list(texts), "encoding_format": encoding}
            return await self._endpoint.call(
                self._model, "/embeddings", lambda: body, tokens=tokens, reply=0, deadline=deadline, expected="data"
            )

        tokens = sum(map(tokens_in, texts))
        try:
            body = await call(encoding)
        except JudgeFailure as failure:
            if failure.cause is not Cause.BAD_REQUEST or encoding == "float":
                raise
            body = await call("float")
            self._format = "float"
        rows: list[np.ndarray | None] = [None] * len(texts)
        for position, entry in enumerate(body["data"]):
            index = entry.get("index", position)
            if isinstance(index, int) and 0 <= index < len(rows):
                rows[index] = _vector(entry.get("embedding"))
        found = [row for row in rows if row is not None]
        if len(found) != len(texts) or len({row.shape for row in found}) != 1:
            raise JudgeFailure(Cause.PARSE, f"{self._model} gave {len(found)} usable vectors for {len(texts)} texts")
        return [row.astype(np.float64) for row in found], _usage(body.get("usage"))


def _usage(block: Any) -> Usage:
    """The cost of an embeddings call: nothing is written and nothing cached, so those counts are 0, not unknown."""
    counted = {"completion_tokens": 0, "cached_tokens": 0, **block} if isinstance(block, dict) else None
    return usage_of(counted)


def _vector(value: Any) -> np.ndarray | None:
    import numpy as np

    if isinstance(value, str):
        try:
            return np.frombuffer(base64.b64decode(value), dtype="<f4")
        except ValueError:
            return None
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (ValueError, TypeError):
        return None
    return vector if vector.ndim == 1 and vector.size else None


def _distinct(prompts: Sequence[TextComparison]) -> list[str]:
    """The texts that need a vector, once each: not blank ones, and none that meets only itself."""
    pairs = [(prompt.text, other) for prompt in prompts for other in prompt.others if prompt.text != other]
    return list(dict.fromkeys(text for pair in pairs for text in pair if text.strip()))


def _compared(prompt: TextComparison, vectors: dict[str, np.ndarray]) -> Answer:
    found = []
    for other in prompt.others:
        if other == prompt.text:
            found.append(prompt.same())
        elif other in vectors and prompt.text in vectors:
            found.append(prompt.compare(vectors[prompt.text], vectors[other]))
        else:
            return Answer(failure=JudgeFailure(Cause.NOT_APPLICABLE, "an empty text is similar to nothing"))
    return Answer(judgement=tuple(found))


def _batches(texts: Sequence[str]) -> list[list[str]]:
    batches: list[list[str]] = []
    room = 0
    for text in texts:
        tokens = tokens_in(text)
        if not batches or len(batches[-1]) >= BATCH_TEXTS or tokens > room:
            batches.append([])
            room = BATCH_TOKENS
        batches[-1].append(text)
        room -= tokens
    return batches
