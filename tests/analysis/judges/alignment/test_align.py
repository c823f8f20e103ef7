"""Labels of people against a run: what agrees, what is refused, and what the means are by people's measure."""

from __future__ import annotations

import json

import numpy as np
import pytest

from assay import evaluate
from assay.analysis.judges.alignment.alignment import align
from assay.analysis.judges.alignment.labels import labels_of, read_labels
from assay.analysis.judges.alignment.scoring import bring_texts, score_labels
from assay.errors import InputError
from assay.stats.agreement import agreement
from tests.analysis.judges.alignment.conftest import Noisy


def test_claims_are_found_by_text_and_by_number(result, rows):
    by_text = align(result, [{"id": "r0", "claim": rows[0][0]["answer"].split(". ")[1], "label": "supported"}])
    by_number = align(result, [{"id": "r0", "index": 2, "label": "supported"}])
    by_row = align(result, [{"row": 1, "claim_index": 2, "label": True}])
    for found in (by_text, by_number, by_row):
        (pair,) = found.groups["answer/contexts"].pairs
        assert (pair.item.row, pair.item.index) == (1, 1)


def test_the_figures_are_those_of_the_labels_and_the_verdicts(result, rows, labels):
    found = align(result, labels).groups["answer/contexts"]
    probability = {(row["id"], k): float(text.rpartition("p=")[2]) for row in rows[0]
                   for k, text in enumerate(row["answer"].split(". "))}  # fmt: skip
    keys = list(rows[1])
    expected = agreement(
        [rows[1][key] for key in keys], [probability[key] >= 0.5 for key in keys], [probability[key] for key in keys],
        clusters=[key[0] for key in keys],
    )  # fmt: skip
    assert found.agreement == expected
    assert found.metrics == ("faithfulness",)
    assert found.kind == "support"


def test_calibration_on_other_labels_brings_the_calibration_error_down(result, labels):
    found = align(result, labels).groups["answer/contexts"]
    assert found.agreement is not None
    assert found.calibrated is not None
    assert found.agreement.ece is not None
    assert found.calibrated.ece is not None
    assert found.agreement.ece.value > 0.15  # people affirm from 0.7 on, the judge from 0.5
    assert found.calibrated.ece.value < found.agreement.ece.value / 2
    assert found.calibrated.accuracy is not None
    assert found.agreement.accuracy is not None
    assert found.calibrated.accuracy.value > found.agreement.accuracy.value


def test_slices_are_by_a_column_of_the_data_or_of_the_labels(result, labels):
    by_data = align(result, labels, by="topic").groups["answer/contexts"].slices
    assert {name: one.n for name, one in by_data.items()} == {"even": 90, "odd": 90}
    marked = [{**label, "batch": "first" if n < 30 else "second"} for n, label in enumerate(labels)]
    by_label = align(result, marked, by="batch").groups["answer/contexts"].slices
    assert {name: one.n for name, one in by_label.items()} == {"second": 150, "first": 30}
    with pytest.raises(InputError, match="neither the data nor the labels"):
        align(result, labels, by="nothing")


def test_a_metric_of_rows_that_are_labelled_whole_gets_a_corrected_mean(result, rows, labels):
    """People's faithfulness is far below the judge's here; a third of the rows is labelled."""
    third = {f"r{n}" for n in range(0, 90, 3)}
    found = align(result, [label for label in labels if label["id"] in third]).means
    true = np.mean(list(rows[1].values()))
    judged = result.metrics["faithfulness"].mean
    one = found["faithfulness"]
    assert one.judged == pytest.approx(judged)
    assert judged - true > 0.15
    assert one.low < true < one.high < judged
    assert (one.labelled, one.unlabelled) == (30, 60)
    assert found["answer/contexts"].labelled == 60


def test_no_mean_where_only_some_claims_of_a_row_are_labelled(result, labels):
    assert "faithfulness" not in align(result, labels[::2]).means
    assert "answer/contexts" in align(result, labels[::2]).means


def test_no_mean_where_a_few_labels_weigh_nearly_all(result, labels):
    """40 labelled rows, three of them of weight 30: 127²/(37 + 3·900) = 5.9 rows would say as much."""
    first = labels[:80:2]  # one claim of each row
    assert align(result, first).means["answer/contexts"].witnesses == pytest.approx(40)
    heavy = [{**label, "weight": 30.0 if n < 3 else 1.0} for n, label in enumerate(first)]
    assert "answer/contexts" not in align(result, heavy).means
    light = [{**label, "weight": 2.0 if n < 3 else 1.0} for n, label in enumerate(first)]
    assert align(result, light).means["answer/contexts"].witnesses == pytest.approx(43**2 / (37 + 3 * 4))


def test_below_thirty_labelled_rows_the_number_that_is_missing_stands_in_place_of_the_mean(result, labels):
    """29 rows with one label each: 30 / 29 - 1 of 29 are 1 more. 58 labels, two a row: 2 more."""
    one_each = align(result, labels[:58:2])
    assert one_each.means == {}
    assert "no corrected mean, 29 labels are too few for it. Label 1 more." in one_each.notes[0]
    two_each = align(result, labels[:58])
    assert two_each.means == {}
    assert "58 labels are too few for it. Label 2 more." in two_each.notes[0]
    assert "Label 2 more" in str(two_each)


def test_labels_that_are_all_alike_correct_no_mean(result, labels):
    """40 labels without a bad one among them do not tell how many there are: as many again would."""
    yes = [label for label in labels if label["label"] == "supported"][:40]
    found = align(result, yes)
    assert "answer/contexts" not in found.means
    assert "all 40 labels are alike. Label 40 more, so that some differ." in found.notes[0]


def test_labels_of_samples_as_yes_or_no_and_as_grades(result, rows):
    people = {row["id"]: sum(rows[1][row["id"], k] for k in range(2)) / 2 for row in rows[0]}
    graded = align(result, [{"id": name, "faithfulness": value} for name, value in people.items()]).groups[
        "faithfulness"
    ]
    assert graded.agreement is None
    assert graded.ranks is not None
    assert graded.ranks.low > 0.3
    yes = align(result, [{"id": name, "label": value == 1.0} for name, value in people.items()]).groups["faithfulness"]
    assert yes.agreement is not None
    assert yes.agreement.ece is None  # a value is no probability
    assert yes.threshold == 0.75  # between the values 0.5 and 1


def test_of_a_metric_that_is_better_low_a_pass_is_low(tmp_path):
    rows = [{"id": f"r{n}", "question": "?", "contexts": ["t"], "answer": f"x p={p}"} for n, p in enumerate((0.9, 0.1))]
    result = evaluate(rows, "hallucination", Noisy(), store=tmp_path, progress=False)
    assert result.metrics["hallucination"].direction == "lower"
    found = align(result, [{"id": "r0", "label": "pass"}, {"id": "r1", "label": "fail"}])
    assert [pair.truth for pair in found.groups["hallucination"].pairs] == [0.0, 1.0]


def test_of_several_people_most_decide_and_the_last_word_of_each_counts(result):
    said = [("a", "yes"), ("b", "no"), ("c", "no"), ("a", "no")]
    labels = [{"id": "r0", "index": 1, "label": label, "by": by} for by, label in said]
    found = align(result, [*labels, {"id": "r0", "index": 2, "label": "yes", "by": "a"},
                           {"id": "r0", "index": 2, "label": "no", "by": "b"}])  # fmt: skip
    assert found.people == (2, 3)
    (pair,) = found.groups["answer/contexts"].pairs
    assert pair.truth == 0.0
    assert "1 items are left out: people are divided" in found.notes[0]


def test_what_is_about_nothing_is_said(result, labels):
    found = align(
        result, [*labels, {"id": "r0", "claim": "nobody said this", "label": "yes"}, {"id": "?", "label": "no"}]
    )
    assert found.matched == len(labels)
    assert "'r0' has no verdict on 'nobody said this'" in found.notes[0]
    assert "no row, or more than one, is '?'" in found.notes[0]
    with pytest.raises(InputError, match="no label is about anything"):
        align(result, [{"id": "?", "label": "no"}])


def test_few_labels_say_little(result, labels):
    text = str(align(result, labels[:12]))
    assert "Little can be said: only 12 labels" in text
    assert "Means" not in text


def test_weights_change_the_figures(result, labels):
    heavy = [{**label, "weight": 9.0 if label["label"] == "supported" else 1.0} for label in labels]
    one, other = (align(result, some).groups["answer/contexts"].agreement for some in (labels, heavy))
    assert one is not None
    assert other is not None
    yes = sum(label["label"] == "supported" for label in labels)
    assert one.prevalence == pytest.approx(yes / 180)
    assert other.prevalence == pytest.approx(9 * yes / (9 * yes + 180 - yes))


def test_the_table_fits_80_columns_and_the_json_is_plain(result, labels):
    found = align(result, labels, by="topic")
    assert max(map(len, str(found).splitlines())) <= 80
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["groups"]["answer/contexts"]["agreement"]["n"] == 180
    assert 0.0 < plain["means"]["answer/contexts"]["mean"] < 1.0


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "r0", "index": 1, "label": "perhaps"}, "row 1: label: expected one of"),
        ({"id": "r0", "index": 0, "label": "yes"}, "row 1: index: expected a whole number from 1"),
        ({"id": "r0", "index": 1, "label": "yes", "weight": -1}, "row 1: weight"),
        ({"id": "r0", "index": 1, "label": 0.4}, "row 1: label"),
        ({"index": 1, "label": "yes"}, "row 1: id: expected"),
        ({"id": "r0", "label": "yes", "metric": "nonsense"}, "metric: 'nonsense' is not in this run"),
        ({"id": "r0", "mark": "yes"}, "row 1: label: expected a column"),
        ("text", "row 1: expected an object"),
        ({"id": "r0", "label": float("nan"), "metric": "faithfulness"}, "about anything|nobody"),
    ],
)
def test_errors_name_the_row_and_the_key(result, row, said):
    with pytest.raises(InputError, match=said):
        align(result, [row])


def test_csv_and_jsonl_say_the_same(result, labels, tmp_path):
    (tmp_path / "l.jsonl").write_text("\n".join(map(json.dumps, labels)))
    (tmp_path / "l.csv").write_text("id,claim,label\n" + "\n".join(",".join(label.values()) for label in labels))
    one, other = (align(result, tmp_path / name).groups["answer/contexts"].agreement for name in ("l.jsonl", "l.csv"))
    assert one == other
    (tmp_path / "none.jsonl").write_text("")
    with pytest.raises(InputError, match="is empty"):
        read_labels(tmp_path / "none.jsonl")


def test_labels_that_bring_their_texts_are_scored_now(tmp_path):
    rows = [{"question": "?", "contexts": ["t"], "claim": f"c{n} p={p}", "label": p > 0.5}
            for n, p in enumerate((0.9, 0.2, 0.7, 0.6))]  # fmt: skip
    labels = labels_of(rows)
    assert bring_texts(labels)
    result = score_labels(labels, judge=Noisy(), store=tmp_path, progress=False)
    found = align(result, labels).groups["claims/contexts"].agreement
    assert found is not None
    assert (found.n, found.positives, found.accuracy.value if found.accuracy else None) == (4, 3, 1.0)


def test_unsure_is_no_label(result, labels):
    found = align(result, [*labels[:20], {"id": "r0", "index": 1, "label": "unsure"}])
    assert (found.labels, found.unsure) == (20, 1)
