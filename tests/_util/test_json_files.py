"""Files that a command wrote and another reads: what is none is said, with its name, whoever asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.analysis.judges.noise import NoiseReport
from assay.errors import InputError
from assay.judges.calibrated_judge import Calibration
from assay.judges.cascade.plan import CascadePlan

LOADED: list[tuple[str, Callable[[Path], Any]]] = [
    ("calibration", Calibration.load), ("cascade plan", CascadePlan.load), ("noise", NoiseReport.load),
]  # fmt: skip
NONE = [b"", b"\xff\xfe", b"{", b"[" * 200_000, b'{"format": 1e', b"null", b"[1]", b'{"format": "2"}']


@pytest.mark.parametrize(("what", "load"), LOADED, ids=[what for what, _ in LOADED])
@pytest.mark.parametrize("content", NONE, ids=range(len(NONE)))
def test_a_file_that_is_none_is_named(what: str, load: Callable[[Path], Any], content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=f"{what}: '.*kept.json'"):
        load(path)


@pytest.mark.parametrize(("what", "load"), LOADED, ids=[what for what, _ in LOADED])
def test_neither_a_folder_nor_nothing_can_be_read(what: str, load: Callable[[Path], Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"{what}: '.*' cannot be read: Is a directory"):
        load(tmp_path)
    with pytest.raises(InputError, match=f"{what}: '.*gone.json' cannot be read: No such file"):
        load(tmp_path / "gone.json")
