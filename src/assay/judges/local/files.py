"""Where a model on disk keeps what: the ONNX file, its tokenizer, its configuration."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import InputError

NAMES = ("model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx")
_CHUNK = 1 << 20  # bytes hashed at once


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """`config` is the content of config.json, empty where there is none."""

    model: Path
    tokenizer: Path
    config: Mapping[str, Any]

    def hashes(self) -> list[str]:
        """SHA-256 of the model, of the files of weights beside it, and of the tokenizer."""
        weights = sorted(path for path in self.model.parent.glob(f"{self.model.name}?*") if path.is_file())
        return [_sha256(path) for path in (self.model, *weights, self.tokenizer)]


def files_of(path: Path) -> ModelFiles:
    """The files of a folder, or of the one that a file stands in. Raises InputError naming what is missing."""
    model = _model(path)
    folders = (path, model.parent, model.parent.parent)
    tokenizer = next((at / "tokenizer.json" for at in folders if (at / "tokenizer.json").is_file()), None)
    if tokenizer is None:
        raise InputError(f"local judge: there is no tokenizer.json beside {model}")
    return ModelFiles(model, tokenizer, _config(tokenizer.parent / "config.json"))


def _model(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise InputError(f"local judge: {path} is neither a folder nor a file")
    usual = [path / name for name in NAMES if (path / name).is_file()]
    found = usual or sorted(path.glob("*.onnx"))
    if not found:
        raise InputError(f"local judge: {path} has no model.onnx; export the model to ONNX, or name the file itself")
    if not usual and len(found) > 1:
        raise InputError(f"local judge: {path} has several models ({', '.join(p.name for p in found)}); name one")
    return found[0]


def _config(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"local judge: {path} is no JSON ({error})") from error
    return found if isinstance(found, dict) else {}


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
