"""Metadata that live scoring adds to samples: the application's version, how a sample was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from assay.records import Sample

_FIELDS = tuple(field.name for field in fields(Sample))


def with_marks(sample: Sample, marks: Mapping[str, Any]) -> Sample:
    """Add to a sample's metadata, under the same key.

    Not `dataclasses.replace`, which checks every text and passage of the sample again: that is most of what a sample
    costs the application.

    Args:
        sample: The sample.
        marks: JSON values to add.

    Returns:
        The sample with them.
    """
    made = object.__new__(Sample)
    for name in _FIELDS:
        object.__setattr__(made, name, getattr(sample, name))
    object.__setattr__(made, "id", sample.key())  # a key made of the contents would change with the metadata
    object.__setattr__(made, "metadata", {**sample.metadata, **marks})
    return made
