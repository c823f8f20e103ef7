"""Rows of a run that have no texts and no scores any more: in exports they have a line each, whose id says so."""

from __future__ import annotations

import re
from typing import Literal

from assay.errors import Cause
from assay.records.sample import Sample

_ID = re.compile(r"assay:(lost|not_reached):[0-9]+")


def missing_row(cause: Cause, number: int) -> Sample:
    """The sample that stands for a row of which nothing but its existence is known.

    Args:
        cause: Why it is missing: `Cause.LOST`, or the cause of rows that a run did not come to.
        number: Number among the rows that are missing for this cause, from 1.

    Returns:
        A sample without texts.
    """
    kind: Literal["lost", "not_reached"] = "lost" if cause is Cause.LOST else "not_reached"
    return Sample(id=f"assay:{kind}:{number}")


def is_missing_row(sample: Sample, *ids: object) -> bool:
    """Check whether a sample that was read stands for a row that was missing when it was written.

    Args:
        sample: The sample.
        ids: What may be its id in the export, where no column of ids was named.

    Returns:
        True for what `missing_row` makes.
    """
    if any(text is not None for text in (sample.question, sample.answer, sample.contexts, sample.reference)):
        return False
    return any(isinstance(name, str) and _ID.fullmatch(name) for name in (sample.id, *ids))
