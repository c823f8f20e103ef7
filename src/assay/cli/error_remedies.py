"""What to do about a score without a value, by its cause. docs/trouble.md says more."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.errors import Cause

REMEDIES: Mapping[Cause, str] = {
    Cause.MISSING_INPUT: "add the field to the data, or name its column: --map FIELD=COLUMN",
    Cause.NO_CONTEXT: "nothing was retrieved; if there are passages, name their column: --map contexts=COLUMN",
    Cause.NO_CLAIMS: "nothing: the text states nothing that can be checked",
    Cause.NOT_APPLICABLE: "nothing: the formula has no value for this row",
    Cause.PARTIAL: "to score it anyway, in Python: evaluate(..., score_partial=True)",
    Cause.JUDGE_CANNOT: "name an LLM judge: --judge openai:MODEL",
    Cause.NEEDS_VISION: "use a multimodal: metric with a judge that reads images, or install assay-rag[ocr]",
    Cause.LANGUAGE: "name a judge that reads it: --judge openai:MODEL, or install assay-embedded-multilingual",
    Cause.PARSE: "use a larger model; the reply is in assay errors --json (raw)",
    Cause.AMBIGUOUS: "use a larger model; the reply is in assay errors --json (raw)",
    Cause.TRUNCATED: "raise the judge's limit of tokens for replies, or use another model",
    Cause.PROMPT_TRUNCATED: "raise the context length of the server (Ollama: num_ctx)",
    Cause.TOO_LONG: "score parts of the text, or name a judge with a larger window",
    Cause.REFUSED: "name another judge with --judge",
    Cause.CONTENT_FILTER: "name another judge with --judge",
    Cause.RATE_LIMITED: "run it again later, or with a lower --concurrency; only what is missing is asked",
    Cause.TIMEOUT: "run it again: only what is missing is asked; or raise --deadline",
    Cause.CONNECTION: "check the endpoint: assay judge check --judge JUDGE --base-url URL; then run it again",
    Cause.BUDGET: "raise the budget and run it again: only what is missing is asked",
    Cause.AUTH: "name the variable that holds the key: --api-key-env NAME",
    Cause.NO_MODEL: "check the model's name and --base-url: assay judge check --judge JUDGE",
    Cause.BAD_REQUEST: "the message says what the endpoint refuses; see --base-url and the judge's options",
    Cause.INTERRUPTED: "run it again: only what is missing is asked",
    Cause.BAD_ROW: "correct the row in the data",
    Cause.TOO_LARGE: "see the limits in docs/trouble.md, or split the row",
    Cause.LOST: "score the data again: only what is missing is asked",
    Cause.TARGET: "correct the application and run it again: only rows without an answer are asked",
    Cause.MISSING_EXTRA: "install it: the message has the command",
    Cause.BUG: "look at the place in the message; report errors in assay",
}


_FIELD = re.compile(r"needs '(contexts|answer|question|reference)'")


def remedy_for(cause: str, message: str = "") -> str:
    """What to do about a cause, with the field that the message names; empty for a cause that a newer assay wrote."""
    field = _FIELD.search(message)
    found = REMEDIES[Cause(cause)] if cause in set(Cause) else ""
    return found if field is None else found.replace("FIELD=", f"{field[1]}=")
