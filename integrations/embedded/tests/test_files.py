"""What ships is what was measured, and nothing heavy happens before it is asked for."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import assay_embedded
import pytest
from assay_embedded import FileCorrupt, Models, load
from assay_embedded.files import FILES, verified
from assay_embedded.runtime import load_from

MANIFEST = json.loads((FILES / "manifest.json").read_text(encoding="utf-8"))["files"]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The files again, as links, so that one can be replaced."""
    for path in FILES.iterdir():
        os.symlink(path, tmp_path / path.name)
    return tmp_path


def test_exported_names() -> None:
    assert assay_embedded.__all__ == ["FileCorrupt", "Models", "SupportReading", "languages", "load"]
    assert assay_embedded.languages == ("en",)


def test_import_loads_no_model_library() -> None:
    heavy = "[m for m in ('numpy', 'onnxruntime', 'tokenizers') if m in sys.modules]"
    code = f"import sys, assay_embedded; print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_manifest_lists_every_file_with_hash_and_size() -> None:
    assert set(MANIFEST) == {path.name for path in FILES.iterdir()} - {"manifest.json"}
    for name, expected in MANIFEST.items():
        content = (FILES / name).read_bytes()
        assert expected == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def test_the_files_are_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in FILES.iterdir()) <= 60_000_000


def test_packed_files_are_unpacked_where_they_are_used() -> None:
    content = verified(FILES)
    assert {*content.whole, *(f"{name}.gz" for name in content.packed)} == set(MANIFEST)
    assert len(content.packed["trunk.onnx"].unpacked()) > MANIFEST["trunk.onnx.gz"]["bytes"]


def test_a_file_that_is_changed_after_the_check_is_not_used(copied: Path) -> None:
    name = "trunk.onnx.gz"
    (copied / name).unlink()
    shutil.copy(FILES / name, copied / name)
    content = verified(copied)
    with (copied / name).open("r+b") as file:
        file.seek(1000)
        file.write(b"changed")
    with pytest.raises(FileCorrupt, match=name):
        content.packed["trunk.onnx"].unpacked()


SHORTENED = """
import pathlib, sys
from assay_embedded import FileCorrupt
from assay_embedded.files import verified

folder, how = pathlib.Path(sys.argv[1]), sys.argv[2]
file = verified(folder).packed["support.onnx"]
with (folder / "support.onnx.gz").open("r+b") as other:
    other.truncate(5_000_000 if how == "half" else 0)
try:
    file.unpacked()
except FileCorrupt as error:
    print(error.name)
"""


@pytest.mark.parametrize("how", ["half", "empty"])
def test_a_file_that_is_made_shorter_in_place_does_not_end_the_process(copied: Path, how: str) -> None:
    """A mapped file of which a page is gone ends it by SIGBUS."""
    (copied / "support.onnx.gz").unlink()
    shutil.copy(FILES / "support.onnx.gz", copied)
    command = [sys.executable, "-c", SHORTENED, str(copied), how]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "support.onnx.gz\n"), done.stderr


def test_a_file_that_is_deleted_after_the_check_is_read(copied: Path) -> None:
    content = verified(copied)
    (copied / "support.onnx.gz").unlink()
    assert content.packed["support.onnx"].unpacked() == gzip.decompress((FILES / "support.onnx.gz").read_bytes())


def test_licences_ship() -> None:
    notice = (FILES / "NOTICE").read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in notice
    assert "ms-marco-MiniLM-L-12-v2" in notice
    assert "Apache License" in (FILES / "LICENSE-Apache-2.0.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["support.json", "trunk.onnx.gz", "support.onnx.gz", "tokenizer.json", "card.json"])
def test_a_flipped_byte_is_refused_by_name(copied: Path, name: str) -> None:
    content = bytearray((FILES / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).unlink()
    (copied / name).write_bytes(content)
    with pytest.raises(FileCorrupt, match=name) as caught:
        load_from(copied)
    assert caught.value.name == name


def test_a_missing_file_is_refused_by_name(copied: Path) -> None:
    (copied / "embedder.onnx.gz").unlink()
    with pytest.raises(FileCorrupt, match=r"embedder\.onnx\.gz: it cannot be read"):
        load_from(copied)


BROKEN: dict[str, object] = {
    "a list": [],
    "without files": {},
    "files are a list": {"files": ["support.json"]},
    "files are a text": {"files": "support.json"},
    "a file without a hash": {"files": {**MANIFEST, "support.json": {}}},
    "a file that is a number": {"files": {**MANIFEST, "support.json": 1}},
    "a hash that is a number": {"files": {**MANIFEST, "support.json": {"sha256": 1}}},
    "a name that no file has": {"files": {**MANIFEST, "a\0b": {"sha256": "0"}}},
    "lists nothing": {"files": {}},
    **{
        f"without {name}": {"files": {other: MANIFEST[other] for other in MANIFEST if other != name}}
        for name in MANIFEST
        if name not in ("NOTICE", "LICENSE-Apache-2.0.txt")  # the judge reads nothing of these
    },
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_broken_manifest_is_refused(copied: Path, content: object) -> None:
    (copied / "manifest.json").unlink()
    (copied / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(FileCorrupt, match="reinstall"):
        load_from(copied)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 100_000], ids=["empty", "cut", "no text", "deep"])
def test_a_manifest_that_is_no_json_is_refused(copied: Path, content: bytes) -> None:
    (copied / "manifest.json").unlink()
    (copied / "manifest.json").write_bytes(content)
    with pytest.raises(FileCorrupt, match=r"manifest\.json: it is not a manifest"):
        load_from(copied)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
@pytest.mark.parametrize("name", ["manifest.json", "support.json", "trunk.onnx.gz"])
def test_what_is_no_file_is_refused(copied: Path, name: str) -> None:
    """Reading a FIFO would wait for ever."""
    (copied / name).unlink()
    os.mkfifo(copied / name)
    with pytest.raises(FileCorrupt, match="it is not a file"):
        load_from(copied)


def test_the_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(FileCorrupt("a.onnx", "it cannot be read")))
    assert (error.name, str(error)) == ("a.onnx", str(FileCorrupt("a.onnx", "it cannot be read")))


def test_files_are_opened_once_per_process(models: Models) -> None:
    again = load(threads=1)
    assert again._loaded is models._loaded
    assert again.threads == 1
    assert again.fingerprint == models.fingerprint


def test_fingerprint_depends_on_the_files(models: Models, copied: Path) -> None:
    support = json.loads((FILES / "support.json").read_text(encoding="utf-8"))
    support["support"]["shift"] += 1
    changed = json.dumps(support).encode()
    listed = json.loads((FILES / "manifest.json").read_text(encoding="utf-8"))
    listed["files"]["support.json"] = {"sha256": hashlib.sha256(changed).hexdigest(), "bytes": len(changed)}
    for name, content in (("support.json", changed), ("manifest.json", json.dumps(listed).encode())):
        (copied / name).unlink()
        (copied / name).write_bytes(content)
    other = load_from(copied)
    assert other.fingerprint != models.fingerprint
    assert len(models.fingerprint) == 64
    pair = [("Spain won in 2010.", "Spain won in 2010.")]
    assert other.support(pair)[0].probability > models.support(pair)[0].probability
    shutil.rmtree(copied)  # everything was read when it was opened
    assert other.support(pair)


def test_no_threads_is_an_error() -> None:
    with pytest.raises(ValueError, match="threads must be at least 1"):
        load(threads=0)


def test_card_says_what_was_measured(models: Models) -> None:
    assert models.card["languages"] == ["en"]
    assert models.card["limits"]
    agreement = models.card["support"]["agreement"]["support"]
    low, high = agreement["auroc_95"]
    assert 0.5 < low <= agreement["auroc"] <= high < 1
    assert len(agreement["by_source"]) == 14
