"""Pictures in rows: those that stand in a column of their own, and where relative paths begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.errors import InputError
from assay.records import Context, Sample
from assay.records.field_names import context_text
from assay.records.images import within

#: Columns in which pictures stand apart from the other contexts, as LlamaIndex's evaluators take them.
IMAGE_COLUMNS = ("image_paths", "image_urls", "images", "image_documents")


def images_of(items: Sequence[Any]) -> tuple[Context, ...]:
    """The passages of a column that holds images and nothing else; () for any other column."""
    try:
        made = tuple(context_text(item) for item in items if isinstance(item, (str, bytes, Mapping)))
    except InputError:
        return ()
    return made if len(made) == len(items) and all(one.image for one in made) else ()


def placed(sample: Sample, folder: Path | None) -> Sample:
    """The sample whose pictures, where their paths are relative, lie where its file does."""
    groups = (sample.contexts, sample.reference_contexts)
    if folder is None or not any(one.image for group in groups for one in group or ()):
        return sample
    contexts, references = (group and tuple(_placed(one, folder) for one in group) for group in groups)
    return replace(sample, contexts=contexts, reference_contexts=references)


def _placed(context: Context, folder: Path) -> Context:
    return replace(context, image=within(context.image, folder)) if context.image else context
