"""Pictures as passages: how they come in, what records keep of them, and what is no picture."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from assay.data import open_data
from assay.errors import Cause, InputError
from assay.judges.scripted_judge import ScriptedJudge
from assay.metrics.names import resolve_metrics
from assay.records import Context, Evidence, Sample, Score, Span, Turn, Verdict
from assay.records.field_names import context_text
from assay.records.images import MOST_BYTES, data_uri, image_in_text, image_of, kind_of, load
from assay.records.phrases import verdict_in_words
from assay.text.images import around, blanked, images_in
from tests._support.servers.sight import drawn

PNG = drawn("a bridge")
URI = data_uri(PNG)
BARE = base64.b64encode(PNG).decode()


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0 rest", "image/jpeg"),
        (b"GIF89a rest", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", None),
        (b"%PDF-1.7", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", None),
        (b"", None),
    ],
)
def test_kinds_are_told_by_the_first_bytes(data: bytes, kind: str | None) -> None:
    assert kind_of(data) == kind


@pytest.mark.parametrize(
    ("text", "image"),
    [
        (URI, URI),
        (BARE, URI),
        ("charts/2024.PNG", "charts/2024.PNG"),
        ("https://example.org/a/b.jpeg?size=2", "https://example.org/a/b.jpeg?size=2"),
        ("See charts/2024.png", None),
        ("https://example.org/page", None),
        ("iVBORw0KGgo is how they begin", None),
        ("The file is a.png", None),
        ("", None),
        ("a" * 2000 + ".png", None),
    ],
)
def test_texts_that_name_a_picture_and_nothing_else(text: str, image: str | None) -> None:
    assert image_in_text(text) == image


def test_bytes_become_a_data_uri_at_the_door() -> None:
    context = Context(text="", image=PNG)  # type: ignore[arg-type]
    assert context.image == URI
    assert load(URI).data == PNG
    with pytest.raises(InputError, match="no PNG, JPEG, GIF or WebP"):
        Context(text="", image=b"plain text")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="image: expected bytes, a path, a URL or a data URI, found int"):
        image_of(7)


@dataclass
class Resource:
    data: bytes | None = None
    path: Path | None = None
    url: str | None = None


@dataclass
class Node:
    """The shape of LlamaIndex's ImageNode."""

    text: str = "A caption."
    image: str | None = None
    image_path: str | None = None
    image_url: str | None = None
    image_resource: Resource | None = None
    id_: str = "n1"

    def get_content(self) -> str:
        return self.text


@dataclass
class WithScore:
    node: Node
    score: float = 0.5

    def get_content(self) -> str:
        return self.node.get_content()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"image": URI}, Context(text="", image=URI)),
        ({"base64": BARE, "id": 3}, Context(text="", image=URI, id="3")),
        ({"image_path": "a.png", "text": "A chart."}, Context(text="A chart.", image="a.png")),
        ({"image": {"path": "a.png", "bytes": None}}, Context(text="", image="a.png")),
        ({"type": "image_url", "image_url": {"url": "https://e.org/x"}}, Context(text="", image="https://e.org/x")),
        ({"node": {"text": "", "image_path": "a.png"}, "score": 0.25}, Context(text="", image="a.png", score=0.25)),
        (PNG, Context(text="", image=URI)),
        (BARE, Context(text="", image=URI)),
        ("a.png", Context(text="", image="a.png")),
        ({"page_content": "a.png"}, Context(text="", image="a.png")),
        ({"text": "a.png"}, Context(text="a.png")),  # as a sample is written whose passage is this text
        (Node(image=BARE), Context(text="A caption.", image=URI, id="n1")),
        (Node(image_url="https://e.org/x"), Context(text="A caption.", image="https://e.org/x", id="n1")),
        (Node(image_resource=Resource(path=Path("b.png"))), Context(text="A caption.", image="b.png", id="n1")),
        (WithScore(Node(image_path="c.png")), Context(text="A caption.", image="c.png", score=0.5)),
        ({"text": "plain", "image": None}, Context(text="plain")),
    ],
)
def test_shapes_in_which_pictures_come(given: Any, expected: Context) -> None:
    assert context_text(given) == expected


def test_a_row_has_pictures_beside_its_texts_relative_to_its_file(tmp_path: Path) -> None:
    row = {
        "user_input": "q",
        "retrieved_contexts": ["a text", "p/1.png", {"image_path": str(tmp_path / "2.png")}],
        "response": "a",
    }
    rows = [row, {**row, "image_paths": ["3.png"], "image_urls": json.dumps(["https://e.org/4.png"]), "images": "none"}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    first, second = (sample for _, sample in open_data(tmp_path / "rows.jsonl"))
    assert isinstance(first, Sample)
    assert isinstance(second, Sample)
    own = [None, str(tmp_path / "p/1.png"), str(tmp_path / "2.png")]
    assert [context.image for context in first.contexts or ()] == own
    more = [str(tmp_path / "3.png"), "https://e.org/4.png"]
    assert [context.image for context in second.contexts or ()] == [*own, *more]
    assert second.metadata == {"images": "none"}
    (_, listed), _ = open_data(rows)
    assert isinstance(listed, Sample)
    assert (listed.contexts or ())[1].image == "p/1.png"  # nothing says where a list was


def test_what_cannot_be_loaded_says_why(tmp_path: Path) -> None:
    def reason(source: str) -> str:
        with pytest.raises(InputError) as raised:
            load(source)
        return str(raised.value)

    (tmp_path / "text.png").write_text("no picture")
    (tmp_path / "large.png").write_bytes(PNG)
    os.truncate(tmp_path / "large.png", MOST_BYTES + 1)
    os.mkfifo(tmp_path / "pipe.png")
    assert "there is no file" in reason(str(tmp_path / "none.png"))
    assert "there is no file" in reason(str(tmp_path))
    assert "there is no file" in reason(str(tmp_path / "pipe.png"))  # it would never end
    assert "no PNG, JPEG, GIF or WebP" in reason(str(tmp_path / "text.png"))
    assert "larger than 20 MB" in reason(str(tmp_path / "large.png"))
    assert "larger than 20 MB" in reason("data:image/png;base64," + "A" * (MOST_BYTES * 4 // 3 + 8))
    assert "base64 is broken" in reason("data:image/png;base64,$$$")
    assert "without base64" in reason("data:image/svg+xml,<svg/>")
    assert "there is no file" in reason("\x00.png") or "cannot be read" in reason("\x00.png")
    assert "urls=True" in reason("https://example.org/a.png")


def test_a_url_is_handed_on_only_where_that_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("something was fetched"))
    at = load("https://example.org/a.png", urls=True)
    assert (at.uri, at.data) == ("https://example.org/a.png", b"")


def test_files_are_read_whole(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(PNG)
    for source in (str(tmp_path / "a b.png"), (tmp_path / "a b.png").as_uri()):
        found = load(source)
        assert (found.kind, found.data, found.uri) == ("image/png", PNG, URI)
        assert found == load(URI)


def test_records_with_pictures_keep_them() -> None:
    box = (0.1, 0.2, 0.3, 0.4)
    sample = Sample(contexts=(Context(text="", image=URI),), reference_contexts=(Context(text="c", image="a.png"),))
    assert Sample.from_dict(json.loads(json.dumps(sample.to_dict()))) == sample
    evidence = Evidence(passage=0, span=Span(0, 1), text="a", box=box)
    score = Score(metric="m", value=1.0, verdicts={"a/contexts": (Verdict(label="supported", evidence=(evidence,)),)})
    assert Score.from_dict(json.loads(json.dumps(score.to_dict()))) == score
    said = verdict_in_words(score.verdicts["a/contexts"][0], "a/contexts", ("a",), 1)
    assert "passage 1, picture, box 10,20–30,40 % of its width and height: “a”" in said


def test_the_content_hash_sees_pictures_and_is_the_old_one_without() -> None:
    plain = Sample(question="q", contexts=(Context(text="t"),), history=(Turn(question="a", answer="b"),))
    assert plain.content_hash() == "2c9b4768d8e496f6afd85102ab67f7a0d3a43700118837288ca0b6555b170c7d"
    shown = replace(plain, contexts=(Context(text="t", image="a.png"),))
    other = replace(plain, contexts=(Context(text="t", image="b.png"),))
    kept = replace(plain, reference_contexts=(Context(text="t", image="a.png"),))
    assert len({one.content_hash() for one in (plain, shown, other, kept)}) == 4


def test_metrics_of_texts_alone_have_no_value_where_a_passage_is_a_picture() -> None:
    judge = ScriptedJudge(support=lambda claim, passage: "supported", sees=True)
    sample = Sample(question="q", answer="It is so.", contexts=(Context(text="t"), Context(text="c", image=URI)))
    (metric,) = resolve_metrics("faithfulness")
    score = asyncio.run(metric.score(sample, judge))
    assert score.error is not None
    assert score.error.cause is Cause.NEEDS_VISION
    assert "passage 2 has a picture" in score.error.message
    assert judge.asked == {}
    told = Turn(question="p", answer="a", contexts=(Context(text="c", image=URI),))
    earlier = replace(sample, contexts=(Context(text="t"),), history=(told,))
    assert "passage of an earlier turn" in str(asyncio.run(metric.score(earlier, judge)))
    (other,) = resolve_metrics("context_relevance")  # which reads no history
    assert asyncio.run(other.score(earlier, ScriptedJudge(usefulness=lambda question, passage: True))).value == 1.0


TEXT = 'Before. ![A chart](charts/a.png "Title") Between. ![](<b c.png>)![x]( https://e.org/x.png ) After.'


def test_images_in_markdown() -> None:
    found = images_in(TEXT)
    assert [(one.alt, one.uri) for one in found] == [
        ("A chart", "charts/a.png"),
        ("", "b c.png"),
        ("x", "https://e.org/x.png"),
    ]
    assert found[1].span.of(TEXT) == "![](<b c.png>)"
    assert images_in("[a link](a.png) ![no](two words.png) ![none]() !\\[x](y)") == ()


def test_blanked_texts_keep_their_offsets() -> None:
    plain = blanked(TEXT)
    assert len(plain) == len(TEXT)
    assert plain.split() == ["Before.", "Between.", "After."]
    assert plain.index("After.") == TEXT.index("After.")


def test_the_text_around_each_image_passes_over_other_images() -> None:
    assert around(TEXT) == (("Before. ", " Between. "), (" Between. ", " After."), (" Between. ", " After."))
    assert around(TEXT, 4) == (("re. ", " Bet"), ("en. ", " Aft"), ("en. ", " Aft"))
    assert around("![a](b.png)") == (("", ""),)
    assert around("no image") == ()


def test_importing_assay_imports_no_image_library() -> None:
    heavy = ("PIL", "cv2", "rapidocr", "onnxruntime")
    code = f"import assay, assay.metrics.multimodal, sys; print([m for m in {heavy} if m in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
