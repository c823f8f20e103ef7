"""What the reader is trained on: labels that follow from others, even sides, documents kept out."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest
from assay_embedded.runtime import FILES

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))
import prepare_reader
import rows as reading
from prepare_reader import (
    CONTRADICTED,
    NOT_MENTIONED,
    SUPPORTED,
    UNSUPPORTED,
    Pair,
    by_sentence,
    detokenised,
    even,
    held_out,
    two_in_one,
)


def test_sentences_of_summaries_get_the_label_that_follows_from_the_others() -> None:
    right = "Ada was born in London. She wrote the first program."
    wrong = "Ada was born in London. She wrote the last program."
    pairs = [Pair("text", right, SUPPORTED, "bump"), Pair("text", wrong, UNSUPPORTED, "bump")]
    found = {(pair.claim, pair.label) for pair in by_sentence(pairs)}
    assert found == {
        ("Ada was born in London.", SUPPORTED),
        ("She wrote the first program.", SUPPORTED),
        ("She wrote the last program.", UNSUPPORTED),
    }
    assert by_sentence([Pair("text", wrong, UNSUPPORTED, "bump")]) == []  # either sentence may be the wrong one
    assert by_sentence([Pair("text", right, SUPPORTED, "snli")]) == []


def test_no_side_of_a_source_outweighs_the_other_by_much() -> None:
    import random

    pairs = [Pair(f"p{i}", "c", SUPPORTED if i < 10 else CONTRADICTED, "a") for i in range(100)]
    found = even(pairs, random.Random(0))
    assert sum(pair.label == SUPPORTED for pair in found) == 10
    assert sum(pair.label == CONTRADICTED for pair in found) == 17  # 1.6 times 10, and one


def test_rows_of_one_document_are_kept_out_together() -> None:
    kept = {held_out(Pair("a passage", f"claim {i}", SUPPORTED, "a"), 2) for i in range(20)}
    assert len(kept) == 1
    share = sum(held_out(Pair(f"passage {i}", "claim", SUPPORTED, "a"), 20) for i in range(2000)) / 2000
    assert share == pytest.approx(1 / 20, abs=0.02)  # four standard deviations of 2,000 draws


def test_spaces_around_punctuation_go() -> None:
    assert detokenised("Ada -LRB- born 1815 -RRB- , of London .") == "Ada (born 1815), of London."


def test_a_claim_and_a_sentence_in_one_hold_where_both_come_from_the_passage() -> None:
    import random

    tower = Pair("The tower has three floors made of iron. It was built by Eiffel in 1889.", "Eiffel built it.", 0, "a")
    river = "The river flows through seven countries to the sea."
    right = two_in_one(tower, True, [river] * 60, random.Random(3))
    wrong = two_in_one(tower, False, [river] * 60, random.Random(3))
    assert right is not None
    assert right.label == SUPPORTED
    assert "Eiffel built it" in right.claim
    assert "floors made of iron" in right.claim
    assert wrong is not None
    assert wrong.label == NOT_MENTIONED
    assert "Eiffel built it" in wrong.claim
    assert "seven countries" in wrong.claim
    assert two_in_one(tower, False, [tower.passage] * 60, random.Random(3)) is None  # nothing there that is strange


NONCOMMERCIAL = ("anli", "averitec", "dream", "quail", "sick")  # the sources of `nli_noncommercial`


def test_what_may_not_be_used_commercially_is_refused_whoever_reads_it(tmp_path: Path) -> None:
    (tmp_path / "train").mkdir()
    row = {"source": "sick", "premise": "p", "hypothesis": "h", "label": 1, "label_text": "", "task": ""}
    path = tmp_path / "train" / "nli_noncommercial.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    with pytest.raises(ValueError, match="may not go into a shipped model"):
        list(reading.lines(path))  # what the pairs of the reader are made by
    with pytest.raises(ValueError, match="may not go into a shipped model"):
        list(reading.training(tmp_path, "nli_noncommercial"))


def test_the_pairs_of_the_reader_come_from_open_files_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def noted(path: Path) -> list[dict[str, object]]:
        read.append(path.name)
        return []

    monkeypatch.setattr(reading, "lines", noted)
    assert prepare_reader.labelled(Path("data")) == []
    assert sorted(read) == [
        "data2text_quintd.jsonl.gz", "factcg_cg2c_doc.jsonl.gz", "groundedness_open.jsonl.gz", "nli_open.jsonl.gz",
        "qa_derived.jsonl.gz", "tables_open.jsonl.gz",
    ]  # fmt: skip


def test_what_ships_was_fitted_on_no_source_that_is_not_open() -> None:
    trained = json.loads((FILES / "support.json").read_text(encoding="utf-8"))["trained"]
    assert not {source for source in trained["sources"] if source.startswith(NONCOMMERCIAL)}
    assert not [name for name in trained["files"] if "noncommercial" in name]
