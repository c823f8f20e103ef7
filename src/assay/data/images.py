"""Pictures in rows: those that stand in a column of their own, where relative paths begin, and which may be named."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import Any

from assay._util.origins import check_picture
from assay.errors import InputError
from assay.records import Context, Sample
from assay.records.field_names import context_text
from assay.records.images import file_of
from assay.text.images import images_in

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
    """The sample whose pictures, where their paths are relative, lie where its file does.

    Args:
        folder: The folder of the data. None: rows that the caller made, which may name any file.

    Raises:
        InputError: It names a picture that data may not name, see `assay._util.origins`.
    """
    if folder is None:
        return sample
    for text in (sample.question, sample.answer):
        _check_text(text or "", folder)
    groups = (sample.contexts, sample.reference_contexts)
    if not any(one.image for group in groups for one in group or ()):
        return sample
    contexts, references = (group and tuple(_placed(one, folder) for one in group) for group in groups)
    return replace(sample, contexts=contexts, reference_contexts=references)


def _placed(context: Context, folder: Path) -> Context:
    path = None if context.image is None else file_of(context.image)
    if path is None:
        return context
    path = folder / path
    check_picture(path, context.image or "", folder)
    return replace(context, image=str(path))


def _check_text(text: str, folder: Path) -> None:
    """Pictures that a text names are read from where the process runs: what is there must lie below the folder, too."""
    for image in images_in(text) if "](" in text else ():
        path = file_of(image.uri)
        if path is not None and (path.is_absolute() or PureWindowsPath(path).drive or os.path.lexists(path)):
            check_picture(path, image.uri, folder)
