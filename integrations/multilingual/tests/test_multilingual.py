"""What ships is what was measured, and what is measured serves the languages that are named."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import threading

import assay_embedded_multilingual
import numpy as np
import pytest
from assay_embedded import FileCorrupt
from assay_embedded.features import Passage
from assay_embedded.files import verified
from assay_embedded_multilingual import MultilingualReader, fingerprint, languages, load
from assay_embedded_multilingual.runtime import FILES, load_from
from assay_embedded_multilingual.sentences import goes_on
from assay_embedded_multilingual.vectors import Vectors
from hypothesis import given
from hypothesis import strategies as st

MANIFEST = json.loads((FILES / "manifest.json").read_text(encoding="utf-8"))["files"]


@pytest.fixture(scope="module")
def models() -> MultilingualReader:
    return load(2)


def test_exported_names() -> None:
    assert assay_embedded_multilingual.__all__ == ["MultilingualReader", "fingerprint", "languages", "load"]


def test_manifest_lists_every_file_with_hash_and_size() -> None:
    assert set(MANIFEST) == {path.name for path in FILES.iterdir()} - {"manifest.json"}
    for name, expected in MANIFEST.items():
        content = (FILES / name).read_bytes()
        assert expected == {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def test_the_files_are_small_enough_to_ship() -> None:
    assert sum(path.stat().st_size for path in FILES.iterdir()) <= 60_000_000


def test_import_loads_no_model_library() -> None:
    heavy = "[m for m in ('numpy', 'onnxruntime', 'tokenizers') if m in sys.modules]"
    code = f"import sys, assay_embedded_multilingual; assay_embedded_multilingual.fingerprint(); print({heavy})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("language", languages)
def test_a_language_is_served_because_people_agree(models: MultilingualReader, language: str) -> None:
    """At least 300 pairs that people wrote or translated, balanced accuracy 0.65, its lower bound above 0.60."""
    found = models.card["languages"][language]
    assert found["rows"] >= 300
    assert found["balanced_accuracy"] >= 0.65
    assert found["balanced_accuracy_95"][0] > 0.60


@pytest.mark.parametrize(
    ("passage", "right", "wrong"),
    [
        (
            "Das Museum öffnet um neun. Montags ist es geschlossen.",
            "Das Museum ist montags geschlossen.",
            "Der Eintritt ins Museum kostet zwanzig Euro.",
        ),
        (
            "El museo abre a las nueve. Los lunes está cerrado.",
            "El museo está cerrado los lunes.",
            "La entrada al museo cuesta veinte euros.",
        ),
        (
            "Le musée ouvre à neuf heures. Il est fermé le lundi.",
            "Le musée est fermé le lundi.",
            "L'entrée du musée coûte vingt euros.",
        ),
        (
            "Il museo apre alle nove. Il lunedì è chiuso.",
            "Il museo è chiuso il lunedì.",
            "L'ingresso al museo costa venti euro.",
        ),
        (
            "O museu abre às nove. Às segundas está fechado.",
            "O museu está fechado às segundas.",
            "A entrada no museu custa vinte euros.",
        ),
    ],
)
def test_what_a_passage_says_is_supported_and_what_it_does_not_is_not(
    models: MultilingualReader, passage: str, right: str, wrong: str
) -> None:
    good, bad = models.support([(passage, right), (passage, wrong)])
    assert good.probability >= 0.5 > bad.probability


def test_a_reading_points_into_the_passage_and_names_no_nouns(models: MultilingualReader) -> None:
    passage = "Der Vertrag läuft bis 2030. Die Miete beträgt 900 Euro im Monat."
    (reading,) = models.support([(passage, "Die Miete beträgt 800 Euro im Monat.")])
    start, end = reading.sentence
    assert passage[start:end] == "Die Miete beträgt 900 Euro im Monat."
    assert reading.unsupported == ((18, 21),)  # 800; a German noun is no name
    assert 0 <= reading.contradiction <= 1 - reading.probability


def test_nothing_to_read(models: MultilingualReader) -> None:
    assert models.support([]) == []
    assert [one.probability for one in models.support([("", "Ja."), ("Text.", ""), ("Text.", "  ")])] == [0.0] * 3


def test_a_reading_depends_on_nothing_else(models: MultilingualReader) -> None:
    pairs = [(f"Das Haus Nummer {n} ist rot.", f"Haus {n} ist rot.") for n in range(12)]
    alone = [models.support([pair])[0] for pair in pairs]
    assert models.support(pairs) == alone
    assert load(1).support(list(reversed(pairs))) == list(reversed(alone))


def test_characters_that_it_does_not_know_break_nothing(models: MultilingualReader) -> None:
    texts = ["東京は大きい。", "\ud83d", "\x00\x01", "🙂" * 50, "а" * 3000, "İ" * 10]
    readings = models.support([(text, other) for text in texts for other in texts])
    assert all(0 <= one.probability <= 1 for one in readings)


def test_threads_may_read_at_once(models: MultilingualReader) -> None:
    pair = ("Die Katze schläft.", "Die Katze schläft nicht.")
    expected, found = models.support([pair]), []
    threads = [threading.Thread(target=lambda: found.append(models.support([pair]))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6


def test_vectors_are_those_of_the_file() -> None:
    """A block is a scale of 16 bits and 32 numbers of 4 bits: value = (q - 8) * scale, low halves first."""
    table = verified(FILES).tables["pieces.q4"]
    block = table.read_at(5 * 12 * 18, 18)  # piece 5, its first block
    scale = float(np.frombuffer(block[:2], "<f2")[0])
    low, high = (block[2] & 15) - 8, (block[2] >> 4) - 8
    vector = Vectors(table).of([4, 5])[0, 1]
    assert vector.shape == (384,)
    assert vector[0] == pytest.approx(low * scale)
    assert vector[16] == pytest.approx(high * scale)


def test_a_table_that_is_made_shorter_in_place_is_refused(tmp_path) -> None:
    """Were it mapped, SIGBUS would end the process."""
    shutil.copytree(FILES, tmp_path, dirs_exist_ok=True)
    vectors = Vectors(verified(tmp_path).tables["pieces.q4"])
    with (tmp_path / "pieces.q4").open("r+b") as file:
        file.truncate(5000)
    with pytest.raises(FileCorrupt, match=r"pieces\.q4: it was made shorter"):
        vectors.of([4, 50_000])


def test_a_changed_file_is_refused_by_name(tmp_path) -> None:
    for path in FILES.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "pieces.q4").unlink()
    (tmp_path / "pieces.q4").write_bytes(b"\x00" * 100)
    with pytest.raises(FileCorrupt, match=r"pieces\.q4: its SHA-256"):
        load_from(tmp_path)


def test_the_fingerprint_needs_no_model() -> None:
    assert fingerprint() == load(1).fingerprint


def test_threads_must_be_some() -> None:
    with pytest.raises(ValueError, match="threads must be at least 1, not 0"):
        load(0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Am 3. Oktober 1990 war das. Das Amt ist z. B. montags offen, bzw. Dienstag. Dr. Müller leitet es.",
            ["Am 3. Oktober 1990 war das.", "Das Amt ist z. B. montags offen, bzw. Dienstag.", "Dr. Müller leitet es."],
        ),
        ("Es waren 12. Danach kam keiner.", ["Es waren 12.", "Danach kam keiner."]),
        ("M. Dupont habite av. Foch. C’est vrai.", ["M. Dupont habite av. Foch.", "C’est vrai."]),
        ("Ouvert de 10 h à 18 h. L'entrée est libre.", ["Ouvert de 10 h à 18 h.", "L'entrée est libre."]),
        ("Rom war 100 v. Chr. groß. Siehe S. 12.", ["Rom war 100 v. Chr. groß.", "Siehe S. 12."]),
        ("El Sr. Pérez vino a la av. Mayor. Es así.", ["El Sr. Pérez vino a la av. Mayor.", "Es así."]),
        ("Erste Zeile mit Nr.\nZweite Zeile.", ["Erste Zeile mit Nr.", "Zweite Zeile."]),
    ],
)
def test_passages_are_cut_where_sentences_end(text: str, expected: list[str]) -> None:
    found = Passage(text, goes_on).pieces
    assert [piece.text for piece in found] == expected
    assert [text[slice(*piece.span)] for piece in found] == expected


@given(st.text(alphabet="aB3. \n(z", max_size=200))
def test_joined_pieces_lose_nothing(text: str) -> None:
    """What is in no piece is white space, and pieces stand in order."""
    ends = [0]
    for piece in Passage(text, goes_on).pieces:
        start, end = piece.span
        assert not text[ends[-1] : start].strip()
        assert start < end
        ends.append(end)
    assert not text[ends[-1] :].strip()
