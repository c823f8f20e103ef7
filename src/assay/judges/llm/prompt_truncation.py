"""Prompts that a server shortened before the model read them, without an error.

Ollama keeps what fits its context window (`num_ctx`) and drops the rest. The reply then judges texts that the model has
not seen. Only the reported number of prompt tokens tells: it is far below what the text takes.

A text is measured without a tokenizer, in characters, with every run of one character or of spaces counted as two
characters, and every Chinese, Japanese or Korean one as two. The tokenizers of GPT-4, GPT-4o, Claude 2, DeepSeek, Qwen
and Mistral read at most 5.0 of these in a token, over English, Russian, Arabic and Chinese texts, code, JSON, tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from assay.errors import Cause, JudgeFailure

#: Characters of a token at most, in any text.
WIDEST = 12
#: The same where the number of tokens is that of a context window, which a whole prompt has by chance only.
WIDE = 6
#: Tokens that a context window has at least. Lower counts may be those of what was not cached.
LEAST = 1024

_RUN = re.compile(r"(.)\1{2,}|\s{3,}", re.DOTALL)
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def check_prompt(reported: int, length: int, texts: Callable[[], Iterable[str]]) -> None:
    """Check that the server read the whole prompt.

    Args:
        reported: Tokens of the prompt by the server's count, cached ones included.
        length: Characters of the prompt, about. `texts` is called only where that is too much for `reported`.
        texts: Makes the texts of the messages.

    Raises:
        JudgeFailure: The server shortened the prompt (prompt_truncated).
    """
    if reported < LEAST:
        return
    most = reported * (WIDE if is_window(reported) else WIDEST)
    if 2 * length <= most:
        return
    size = sum(map(measure, texts()))
    if size > most:
        raise truncation_failure(reported, size)


def truncation_failure(reported: int, size: int) -> JudgeFailure:
    """Make the failure of a prompt that was shortened.

    Args:
        reported: Tokens that the server read.
        size: Characters of the prompt, as `measure` counts them.

    Returns:
        The failure, with the remedy.
    """
    return JudgeFailure(
        Cause.PROMPT_TRUNCATED,
        f"the server read {reported} tokens of a prompt of about {size // 4} tokens: it cut the prompt without an "
        "error. Raise its context length (Ollama: num_ctx, or OLLAMA_CONTEXT_LENGTH for the server), or lower "
        f"window_tokens of the judge to {reported}: longer prompts are then asked in parts",
        detail={"prompt_tokens": reported},
    )


def is_window(tokens: int) -> bool:
    """Check whether a number of tokens is one that a context window leaves of a prompt.

    Args:
        tokens: The number.

    Returns:
        Whether it is a multiple of 1,024 or 1,000, the usual sizes of windows, or half of one, or 2 more: of a prompt
        that does not fit, Ollama leaves 4 tokens and half of the others.
    """
    return tokens % 512 in (0, 2) or tokens % 500 in (0, 2)


def measure(text: str) -> int:
    """Measure a text in characters, as the module describes.

    Args:
        text: The text.

    Returns:
        The characters.
    """
    text = _RUN.sub("  ", text)
    return len(text) + (0 if text.isascii() else sum(1 for _ in _DENSE.finditer(text)))
