"""What a content filter notes on a response: which categories it blocked, in the shapes of Azure OpenAI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_OF_PROMPTS = ("prompt_filter_results", "prompt_annotations")
_RESULTS = ("content_filter_results", "content_filter_result", "content_filters")


def blocked_categories(part: Any) -> list[str]:
    """Name the categories for which a filter blocked a prompt or a reply.

    Args:
        part: A response, or one of its choices.

    Returns:
        Names such as "hate" or "jailbreak", sorted. Empty where nothing was blocked: a filter that only detected
        something, or that failed, blocked nothing.
    """
    parts = [part, *_within([part], _OF_PROMPTS)]
    results = list(_within(parts, _RESULTS))
    results += _within(results, _RESULTS)  # Azure's blocks of results, each with its own
    return sorted({category for result in results for category in _categories(result)})


def _within(parts: Iterable[Any], names: Iterable[str]) -> Iterator[Mapping[str, Any]]:
    """The objects under these names of each part, alone or in a list."""
    for part in parts:
        for name in names if isinstance(part, Mapping) else ():
            found = part.get(name)
            yield from (one for one in (found if isinstance(found, list) else [found]) if isinstance(one, Mapping))


def _categories(result: Mapping[str, Any]) -> Iterator[str]:
    """The categories of one result, by name or, in a list of results, by `id`."""
    if result.get("filtered") is True:
        yield str(result.get("id", "content"))
    yield from (str(name) for name, one in result.items() if isinstance(one, Mapping) and one.get("filtered") is True)
