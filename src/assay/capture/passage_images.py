"""The picture of a passage that was found: told by its type, its metadata or its text. For samples, not for hooks.

Looks at no file, fetches nothing and decodes no more than the first bytes of base64. A passage with a text of its own
is text, unless its type says that it is an image, or the image itself lies in its metadata: metrics that read texts
have no value for a passage with a picture, and a thumbnail beside a text is none that a model was shown. A text that
names a file by its whole path is text as well, unless its type says so: whoever writes into a corpus is not to name
files of this machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PureWindowsPath
from typing import Any

from assay.capture.tree import Document
from assay.records.field_names import IMAGE_KEYS, well_formed
from assay.records.images import base64_uri, data_uri, image_in_text, is_base64, is_data_uri, is_url, kind_of

#: Before the name of a picture that has no text.
IMAGE_PREFIX = "[image: "

_KEYS = (*IMAGE_KEYS, "image_data", "image_b64", "image_uri", "img", "img_path", "img_url", "img_base64")
#: Where a passage that is an image by its type, or has nothing else, may have come from.
_PLACES = ("path", "file_path", "url", "uri", "source")
_KEYS_AND_PLACES = (*_KEYS, *_PLACES)
_TYPES = ("type", "modality", "kind", "element_type", "chunk_type", "doc_type", "content_type", "category")
#: Keys of metadata that may say of a passage with a text that it is a picture.
_TELLING = frozenset((*_KEYS, *_TYPES))
_IMAGES = frozenset(("image", "images", "img", "picture", "figure", "photo"))
_LEAST_BASE64 = 64


def pictured(found: Document) -> tuple[str, str | None, Mapping[str, Any]]:
    """The text of a passage, its picture as a record names it, and the metadata without the picture itself."""
    text = well_formed(str(found.text))
    if found.image is not None:
        alone = text == found.image or (text.startswith(IMAGE_PREFIX) and text.endswith("]"))
        return "" if alone else text, _source(found.image), found.metadata
    if found.metadata and not _TELLING.isdisjoint(found.metadata):
        typed = _is_image(found.metadata)
    elif text and not text.isspace() and image_in_text(text) is None:  # most passages are text and nothing else
        return text, None, found.metadata
    else:
        typed = None
    image = image_in_text(text)
    if image is not None and (typed or not _is_absolute(image)):
        return "", image, found.metadata
    if typed and len(text) >= _LEAST_BASE64 and is_base64(text):
        return "", base64_uri("", text), found.metadata
    key, image = _in_metadata(found.metadata, bool(text.strip()), typed)
    if image is None or not is_data_uri(image):
        return text, image, found.metadata
    return text, image, {name: value for name, value in found.metadata.items() if name != key}


def _source(image: str | tuple[str, str | bytes]) -> str:
    if isinstance(image, str):
        return image
    kind, data = image
    text = data.decode("ascii", "replace") if isinstance(data, bytes) else data
    return text if is_data_uri(text) else base64_uri(kind, text)


def _is_image(metadata: Mapping[str, Any]) -> bool | None:
    """Whether the metadata says that a passage is an image; None where it says of no type."""
    said = [value.lower() for value in _under(metadata, _TYPES) if isinstance(value, str)]
    return any(value in _IMAGES or value.startswith("image/") for value in said) if said else None


def _in_metadata(metadata: Mapping[str, Any], has_text: bool, typed: bool | None) -> tuple[str, str | None]:
    """The key and the image under it that a passage is, or holds; ("", None) where there is none."""
    if has_text and typed is False:  # a table, say, with its picture beside its text
        return "", None
    is_one = bool(typed) or not has_text
    for key in _KEYS_AND_PLACES if is_one else _KEYS:
        image = _image_of_text(metadata[key]) if key in metadata else None
        if image is not None and (is_one or is_data_uri(image)):
            return key, image
    return "", None


def _image_of_text(value: object) -> str | None:
    if isinstance(value, Mapping):
        value = value.get("url")
    if isinstance(value, bytes):
        return data_uri(value) if kind_of(value) else None
    return image_in_text(value.strip()) if isinstance(value, str) else None


def _is_absolute(image: str) -> bool:
    """Whether this is a file by its whole path, or outside of the application's folder."""
    if is_data_uri(image) or is_url(image):
        return False
    path = PureWindowsPath(image)  # which knows both slashes
    return bool(path.anchor) or ":" in image or ".." in path.parts


def _under(metadata: Mapping[str, Any], names: Iterable[str]) -> Iterable[Any]:
    return (metadata[name] for name in names if name in metadata)
