"""Every function of the distributions here that reads a text, by name, and how it is called with one of any length."""

from __future__ import annotations

import ast
import importlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from assay.analysis.diagnosis.facts import Facts
from assay.capture.answering_call import PromptText as Given
from assay.capture.tree import Run, Trace
from assay.data.python_print import NotPrintedError
from assay.errors import AssayError
from assay.judges.claim_rules import languages as further
from assay.judges.claim_rules.statement_model import LONGEST
from assay.judges.llm.json_repair import Broken
from assay.judges.llm.labels import Token
from assay.judges.llm.replies import ParsedReply
from assay.metrics.trulens.repetition import words_of
from assay.prompts.base import PromptContent, PromptSection
from assay.prompts.consistency import PassageLabel
from assay.records import Claim, Context, Evidence, Sample, Score, ScoredSample, Span, ToolCall, Verdict
from assay.report.html.packed_row import SharedValues
from assay.report.marked_text import ViewPart
from assay.store.rows import Row
from assay.text.ocr import TextLine
from assay.view.row_texts import TextBudget
from tests._support.linear_patterns import ROOT, source_files

Call = Callable[[Any, str], object]
_TRACE = Trace(Run("r", None, "chain"))

#: Parameters that hold a text, by the names this project gives them. Who has one is in one of the two tables below.
TEXTS = frozenset({
    *("text", "texts", "sentence", "quote", "passage", "passages", "prompt", "raw", "answer", "reply", "message"),
    *("masked", "window", "word", "words", "summary", "reference", "question", "contexts", "claim", "content"),
    *("said", "query", "queries", "names", "spoken", "sentences", "lines", "before", "after"),
})  # fmt: skip

#: These take a text, and only compare it as a whole, count it or hand it on.
NOT_READ = {
    "assay.evaluation.targets.outputs:checked": "counts characters",
    "assay.evaluation.targets.outputs:with_captured": "hands texts on, each once",
    "assay.judges.batch.anthropic:message_content": "hands a text on, in parts",
    "assay.judges.providers.native:completion": "hands a text on",
    "assay.judges.providers.native:usage_block": "numbers of tokens, not texts",
    "assay.judges.providers.checks:models_in_words": "names of at most 200 characters, at most 2,000 of them",
    "assay.store.schema:source_number": "looks up the name of a judge prompt",
    "assay.store.digests:name_hash": "hashes a name",
    "assay.stats.canaries:judge_drift": "scores before and after, not texts",
    "assay.store.score_columns:name_numbers": "looks names up",
    "assay.store.erasure:find_judgements": "looks texts up in a set",
    "assay.store.erasure:texts_in_judgements": "the same",
    "assay.store.live_counts:tidy_counts": "a time, not a text",
    "assay.evaluation.sharded.workers:error_of": "hands a message on",
    "assay.analysis.power:in_lines": "breaks sentences of ours, of a few numbers",
    "assay.data.rows:with_ids": "pairs passages and ids",
    "assay.data.missing_words:is_missing": "looks short texts up",
    "assay.data.reference_column:is_retrieved": "looks names up",
    "assay.data.outputs.score_tables:find_table": "looks names of columns up",
    "assay.data.outputs.score_tables:metric_columns": "the same",
    "assay.metrics.systems.lexical:bleu": "sacrebleu reads it, in linear time",
    "assay.metrics.systems.lexical:chrf": "the same",
    "assay.metrics.systems.lexical:rouge": "rouge-score cuts it into words; rapidfuzz takes 64 steps at a time",
    "assay.metrics.ragas.data_compy_score:equal_cells": "takes a table that was read, each cell once",
    "assay.metrics.ragas.data_compy_score:matching_columns": "the same",
    "assay.metrics.ragas.data_compy_score:matching_rows": "the same",
    "assay.metrics.ragas.context_texts:best": "hands it to `normalized_distance`, of which the same holds",
    "assay.metrics.ragas.context_texts:ids": "takes ids out of passages",
    "assay.capture.answering_call:without_passed_over": "compares keys of contexts; texts go to `Prompt.holds`",
    "assay.capture.answering_call:answering_run": "asks whether outputs are in it",
    "assay.capture.answering_call:answering_runs": "the same",
    "assay.capture.answering_call:shared_text": "the same, of texts as `spaced` gives them",
    "assay.capture.contexts:contexts_of": "hands it to those",
    "assay.capture.interrupts:join_resumed": "`before` is a trace",
    "assay.capture.trajectories:trajectory_of": "puts both texts into messages as they are",
    "assay.capture.contexts:delivered_documents": "the same",
    "assay.judges.budget.ledger:oldest": "a window of time, not of text",
    "assay.evaluation.sharded.estimate:estimate": "looks whose judge a name is",
    "assay.capture.answering_call:mark_prompted": "asks whether passages stand in prompts, by `Prompt.holds`",
    "assay.capture.contexts:unique_contexts": "compares them as a whole",
    "assay.records.messages:role_of": "looks a role up",
    "assay.prompts.back_questions:questions_of": "takes the texts out of a reply",
    "assay.prompts.schemas:passage_sections": "puts titles before them",
    "assay.prompts.schemas:question_section": "puts a title before it",
    "assay.prompts.consistency:count_unlocated": "counts the quotes",
    "assay.prompts.support:join_passages": "counts the passages",
    "assay.judges.batch.anthropic:completion_of": "joins the texts of a message",
    "assay.judges.batch.protocol:refusal": "hands it to `failure_of`",
    "assay.judges.http.reply_bytes:check_values": "counts three marks in bytes",
    "assay.prompts.row_rubric:label_sections": "joins the labels of a row",
    "assay.prompts.row_rubric:level_sections": "the same",
    "assay.judges.classifier.protocol:unfit": "makes a failure of it",
    "assay.judges.llm.openai:estimate_tokens": "adds up `tokens_in`",
    "assay.metrics._answer_correctness:counts": "counts verdicts",
    "assay.metrics._answer_correctness:expected_counts": "adds up probabilities",
    "assay.metrics._noise_sensitivity:expected_noise": "adds up probabilities",
    "assay.metrics._noise_sensitivity:noise_parts": "counts verdicts and adds up probabilities",
    "assay.metrics._noise_sensitivity:relevant_passages": "counts verdicts",
    "assay.metrics._noise_sensitivity:share_noise": "counts verdicts",
    "assay.metrics.shared_prompts:not_mentioned": "counts the passages",
    "assay.metrics._summarization_score:conciseness": "takes lengths",
    "assay.evaluation.display.table:cells": "numbers of a summary",
    "assay.evaluation.display.lines:line_of": "numbers of a summary",
    "assay.metrics.deepeval.hallucination:contexts_read": "counts the passages",
    "assay.metrics.deepeval.jev_eval:checked": "asks whether it is blank",
    "assay.metrics.deepeval.matching:exact_match": "compares it as a whole",
    "assay.metrics.deepeval.summarization:coverage": "counts verdicts",
    "assay.evaluation.score_sample:skipped_sample": "keeps the message",
    "assay.metrics.ragas.context_entity_recall:exact_recall": "compares names as a whole",
    "assay.metrics.ragas.summarization_score:conciseness": "takes lengths",
    "assay.sinks.masking:hider": "says whether texts are hidden",
    "assay.judges.pairwise_support:evidence_of": "cuts out what it is told",
    "assay.text.fallback:is_title": "looks a word up",
    "assay.capture.contexts:contexts_under": "looks names up",
    "assay.analysis.diagnosis.failed_rows:is_measured": "looks names up",
    "assay._util.table_view:html_table": "joins cells that are HTML",
    "assay.analysis.diagnosis.signatures:evidence_of": "counts the labels of a claim",
    "assay.analysis.comparison.compare:notes_of": "compares parameters of metrics",
    "assay.analysis.comparison.pairing:read_rows": "hands rows on, without their texts",
    "assay.config.line_numbers:line_of": "looks a place up",
    "assay.judges.guarded_call:bug": "puts words before an error",
    "assay._util.compression:pack": "zlib reads it",
    "assay.report.html.charts:histogram": "counts numbers",
    "assay.report.lists:runs_list": "a line for each run",
    "assay.view.server:serve": "runs until it is interrupted; names are of hosts",
    "assay.stats.agreement:agreement": "counts verdicts",
    "assay.stats.shares:true_share": "takes shares",
    "assay.metrics.deepeval.turn_fields:case_sections": "puts titles before texts",
    "assay.metrics.deepeval.turn_fields:turn_sections": "the same",
    "assay.metrics.ragas.context_relevancy:relevancy": "counts sentences",
    "assay.metrics.trulens.lexical:bleu_of": "sacrebleu reads it, in linear time",
    "assay_embedded.support:judged": "takes numbers",
    "assay_embedded.windows:length": "counts tokens",
    "assay_embedded.windows:pair_feed": "takes tokens of one window",
    "assay_langchain.guard:in_place_of": "puts a text into a copy",
    "assay_langchain.judge:reply_of": "hands a text on",
    "assay_langchain.arguments:read_json": "takes texts as they are, and writes the rest as JSON",
    "assay_langchain.arguments:read_pair": "hands them to `row_of_values`",
    "assay_langchain.arguments:read_trajectory": "the same",
    "assay_langchain.arguments:row_of_arguments": "the same",
    "assay_llama_index.arguments:row_of_arguments": "the same",
    "assay_llama_index.arguments:row_of_response": "the same",
    "assay_langchain.translate:row_from_values": "hands it to `row_of_values`",
    "assay_llama_index.judge:content_of": "hands a text on",
    "assay_mlflow.sink:feedback_of": "hands a text on",
    "assay.records.migration:rename": "changes keys, and no text",
    "assay.records.phrases:place_in_words": "says the numbers of a quote",
}


def scored(text: str) -> ScoredSample:
    """A scored sample with `text` wherever there is room for one."""
    sample = Sample(question=text, answer=text, reference=text, contexts=(Context(text=text),))
    evidence = Evidence(passage=0, span=Span(0, max(1, len(text))), text=text)
    verdict = Verdict(label="supported", reason=text, claim=Claim(text=text, span=evidence.span), evidence=(evidence,))
    score = Score(metric="m", value=1.0, verdicts={"answer/contexts": (verdict,)})
    return ScoredSample(sample=sample, scores={"m": score})


def _quoted(text: str) -> ScoredSample:
    """The same with a verdict on each of many claims, and on pieces of the context that are to be found in it."""
    one = scored(text)
    claims = tuple(
        Verdict(label="supported", claim=claim, evidence=(Evidence(passage=0, span=claim.span, text=claim.text),))
        for claim in _claims(text)
    )
    pieces = tuple(text[at : at + 100] for at in range(0, len(text), 100))
    units = tuple(Verdict(label="useful", passage=n) for n in range(len(pieces)))
    verdicts = {"answer/contexts": claims, "question/sentences": units}
    score = Score(metric="m", value=1.0, verdicts=verdicts, texts={"sentences": pieces})
    return ScoredSample(sample=one.sample, scores={"m": score})


def _value(text: str) -> dict[str, Any]:
    """A value as frameworks hand it over, with texts, messages and documents in it."""
    return {
        "question": text,
        "answer": text,
        "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": text}],
        "documents": [{"page_content": text, "metadata": {"source": text}}],
        "text": text,
    }


def _claims(text: str) -> tuple[Claim, ...]:
    """Claims on pieces of a text, each with something that could be a lead-in."""
    starts = range(0, len(text), 100)
    return tuple(Claim(text=f"{text[at : at + 90]}: x", span=Span(at, at + 50)) for at in starts)


def _message(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _said(text: str) -> dict[str, Any]:
    return {"content": [{"text": text}]}


def _prompt(text: str) -> PromptContent:
    return PromptContent(
        material=(PromptSection(text[:2000], text),), task=text, schema={"type": "object"}, output_tokens=1
    )


def _tokens(text: str) -> list[Token]:
    pieces = (text[at : at + 40] for at in range(0, len(text), 40))  # few, so that the collector is not what is timed
    return [Token(piece, ((piece, -0.1),)) for piece in pieces]


_LABEL = {"properties": {"label": {"enum": ["yes", "no"]}}}


def _told(function: Any, text: str) -> object:
    low = Score(metric="m", value=0.0, verdicts=scored(text).scores["m"].verdicts)
    return function("below", False, {"m": low}, {"m": 0.5}, scored(text).sample)


def _first(function: Any, text: str) -> object:
    return function(text)


def _objects(function: Any, text: str) -> None:
    for reply in (text, "{" + text, '{"a": "' + text, "{'a': " + text, "<think>" + text):
        with suppress(AssayError):
            function(reply, {"required": ["a"]})


def _tidy(function: Any, text: str) -> None:
    for reply in ("{" + text, '{"a": "' + text, "{'a': '" + text, "{a: true " + text, "{/*" + text):
        with suppress(Broken):
            function(reply, 0)


def _repair(function: Any, text: str) -> object:
    return function(text[:1000], [(at, at + 1) for at in range(len(text[:1000]))])


def _values(function: Any, text: str) -> None:
    for value in (text, json.dumps(text), "[" + text, _value(text), json.dumps(_value(text)), repr(_value(text))):
        with suppress(AssayError, ValueError, TypeError):
            function(value)


def _printed(function: Any, text: str) -> None:
    """Lists that Python or JSON writes, whole and cut."""
    for value in (
        text,
        "[" + text,
        "['" + text,
        "[" + text + "]",
        "page_content='" + text,
        repr([text]),
        "[D(a=" + text,
    ):
        with suppress(AssayError, NotPrintedError):
            function(value)


def _row(function: Any, text: str) -> object:
    row = {"question": text, "answer": text, "contexts": "[" + text, "history": text, "reference": text}
    with suppress(AssayError, ValueError, TypeError):
        return function(row, {name: name for name in row}, 1)


def _many(text: str) -> list[str]:
    """Names, words or lines, as many as a text has: equal ones, or others."""
    return text.split() or [text, *map(str, range(len(text) // 10))]


def _calls(text: str) -> list[ToolCall]:
    """Tool calls by one name and by many."""
    return [ToolCall(name=name, arguments={"query": name}) for one in _many(text) for name in (one, "search")]


def _lines(text: str) -> list[TextLine]:
    """Lines on a page of two columns, with headings over both."""
    number = len(text) // 20
    boxes = [
        (0.0, n / number, 1.0, (n + 1) / number) if n % 5 == 0
        else (0.5 * (n % 2), n / number, 0.5 * (n % 2) + 0.4, (n + 1) / number)
        for n in range(number)
    ]  # fmt: skip
    return [TextLine(text[20 * n : 20 * n + 20], box, 1.0) for n, box in enumerate(boxes)]


def _record(text: str) -> list[str]:
    """Texts that are records, whole and broken off, and what stands between records."""
    return [text, '{"a": "' + text, "[{" + text, json.dumps(_value(text)), "a: " + text, "| a | " + text]


def _told_of_records(function: Any, text: str) -> None:
    for written in _record(text):
        for node in _named("assay_embedded.records.literals:records")(written):
            list(function(written, node, ()))


def _said_in_record(text: str) -> list[tuple[int, int, str, str]]:
    """Keys and values and where they stand."""
    starts = range(0, len(text), 20)
    return [(at, at + 20, key, text[at : at + 20]) for at, key in zip(starts, _many(text), strict=False)]


def _suppressed(function: Any, *given: Any) -> None:
    with suppress(AssayError):
        function(*given)


_PICTURE = {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}


#: What reads a text, and how it is called. `_values` gives it also as JSON, within a value, and as Python writes it.
def _json(read: Any, text: str) -> None:
    """As it is, in an open list, in a string of one, and after a fence."""
    for written in (text, '{"a": [1, ' + text, '{"a": "' + text, "```json\n[" + text, '["b"' + text):
        with suppress(ValueError):
            read(written)


READ: dict[str, Call] = {
    "assay.config.line_numbers:lines_of": lambda lines_of, text: lines_of(text),
    "assay._util.markdown:code": lambda code, text: code(text),
    "assay._util.markdown:code_cell": _first,
    "assay.stats.json_arrays:from_text": _first,
    "assay.capture.answering_call:spaced": _first,
    "assay.capture.answering_call:PromptText.holds": lambda f, t: f(Given([t + "x"]), "x" + t),
    "assay.capture.assemble:answer_of": _values,
    "assay.evaluation.adapters.values:row_of_values": _values,
    "assay.capture.assemble:question_of": _values,
    "assay.capture.snapshots:copy_value": _values,
    "assay.capture.snapshots:size_of": _values,
    "assay.capture.messages:last_answer": lambda f, t: f([_message(t)]),
    "assay.capture.messages:last_question": lambda f, t: f([_message(t)]),
    "assay.records.messages:prompt_of": lambda f, t: f([_message(t), _message(t)]),
    "assay.records.messages:is_message": lambda f, t: f(_message(t)),
    "assay.records.messages:text_in": lambda f, t: f([{"type": "text", "text": t}] * 2),
    "assay.records.messages:text_of": lambda f, t: f(_message(t)),
    "assay.records.messages:texts_in": lambda f, t: f([{"type": "text", "text": t}] * 2),
    "assay.capture.messages:turns_before": lambda f, t: f([_message(t), _message(t), _message(t)]),
    "assay.metrics.ragas.data_compy_score:read_table": _first,
    "assay.metrics.ragas.quoted_spans:quotations": lambda f, t: [f(t, 3, apostrophes=one) for one in (True, False)],
    "assay.metrics.ragas.quoted_spans:tidy": _first,
    "assay.metrics.ragas.quoted_spans:located": lambda f, t: f(["a b c", t[:99]], [t], casefold=True, straight=True),
    "assay.capture.tool_results:blocks_in": lambda f, t: f([{"type": "text", "text": t}]),
    "assay_opentelemetry.llama_index_traces:asked_question": lambda f, t: f(f"<memory>\n{t}"),
    "assay_opentelemetry.llama_index_traces:written_out": lambda f, t: f(f"A(a={t}", _TRACE),
    "assay_opentelemetry.placeholders:printed_object": lambda f, t: f(f"A(a={t}"),
    "assay_opentelemetry.placeholders:tool_text": lambda f, t: f(f"ToolOutput({t}"),
    "assay.capture.serialisation:documents_in": _values,
    "assay.capture.serialisation:document_texts": _values,
    "assay.capture.serialisation:messages_in": _values,
    "assay.capture.serialisation:passages_in": _values,
    "assay.capture.serialisation:passed_on": lambda f, t: _values(lambda value: f(value, {t: [t]}), t),
    "assay.capture.serialisation:unwrap_value": _values,
    "assay.capture.serialisation:text_written": _values,
    "assay.capture.serialisation:texts_sent": _values,
    "assay._util.normalise:json_object": _values,
    "assay._util.normalise:json_value": _values,
    "assay._util.normalise:missing": _values,
    "assay._util.normalise:well_formed": lambda f, t: (f(t), f("\ud83d" + t)),
    "assay.data.bedrock.read:bedrock_row": lambda f, t: f(
        {"conversationTurns": [{"prompt": _said(t), "output": {"text": t}}]}
    ),
    "assay.data.exports:json_of": _values,
    "assay.data.named_sources:is_source_name": _first,
    "assay.data.rows:as_row": _values,
    "assay.data.rows:history": _values,
    "assay.data.rows:parse_list": _printed,
    "assay.data.rows:spelled": _printed,
    "assay.data.printed_frames:is_printed_frame": lambda f, t: (
        f(t),
        f(f"  text\n{t}"),
        f(f"+-+\n{t}"),
        f(f"text\n0 {t}"),
    ),
    "assay.data.printed_frames:refuse_frame": _printed,
    "assay.data.python_print:parse_print": _printed,
    "assay.data.python_print:may_begin": _printed,
    "assay._util.byte_limits:check_json": _printed,
    "assay._util.byte_limits:check_size": lambda f, t: f([t] * 10),
    "assay.data.rows:passages": _values,
    "assay.data.rows:sample_from_row": _row,
    "assay.records.field_names:context_text": _values,
    "assay.records.field_names:describe": _values,
    "assay.live.guards.verdict:in_words": _told,
    "assay.prompts.consistency:consistent": lambda f, t: f(
        "useful", t, [PassageLabel.of({"quote": t}, 0, t, "useful")]
    ),
    "assay.prompts.consistency:consistent_support": lambda f, t: (
        f("supported", t, [PassageLabel.of({"quote": f"quoted words {t}"}, 0, f"quoted words {t}", "supported")]),
        f(
            "not_mentioned",
            t,
            [PassageLabel.of({"quote": f"quoted words {t}"}, 0, f"quoted words {t}", "contradicted")],
        ),
    ),
    "assay.prompts.entities:same_entity": _first,
    "assay.prompts.pieces:pack": lambda f, t: f([t, t], 1000, "en"),
    "assay.judges.cascade.plan:name_of": _first,
    "assay.judges.embedded.judge:too_short": _first,
    "assay.prompts.schemas:one_line": _first,
    "assay.prompts.support:misquoted": lambda f, t: f(scored(t).scores["m"].verdicts["answer/contexts"][0], [t]),
    "assay.judges.http.replies:failure_of": lambda f, t: (
        f("n", "m", 400, t, str.strip),
        f("n", "m", 400, json.dumps({"error": {"message": t}}), str.strip),
    ),
    "assay.judges.http.replies:error_of": lambda f, t: (f(t), f(json.dumps([{"errors": t}]))),
    "assay.judges.http.error_bodies:first_event": lambda f, t: (f(t), f(f"data: {t}"), f(f": {t}\n" * 2 + "data:{}")),
    "assay.judges.http.refusals:refuses_system": lambda f, t: (
        f(t),
        f(f"system role {t}"),
        f(f"role: only user {t}"),
    ),
    "assay.judges.http.refusals:refuses_format": _first,
    "assay.judges.http.refusals:is_of_the_request": _first,
    "assay.judges.llm.message_text:text_of": lambda f, t: (
        f({"content": t}, {}),
        f({"tool_calls": [{"function": {"arguments": t}}]}, {}),
        f({"reasoning": "{" + t + "}"}, {}),
    ),
    "assay.judges.llm.prompt_truncation:check_prompt": lambda f, t: f(len(t) + 1024, 99 * len(t), lambda: [t]),
    "assay.judges.llm.prompt_truncation:measure": _first,
    "assay.judges.llm.prompt_history:PromptHistory": lambda f, t: f().check(len(t) // 4 + 128, len(t), lambda: [t]),
    "assay.judges.http.retries:retry_after": lambda f, t: f({"retry-after": t, "retry-after-ms": t}),
    "assay.judges.prompt_rendering:clean": _first,
    "assay.judges.prompt_rendering:correct": lambda f, t: f(t, {}),
    "assay.judges.prompt_rendering:render": lambda f, t: f(_prompt(t), show_schema=True),
    "assay.judges.prompt_rendering:render_parts": lambda f, t: f(_prompt(t), show_schema=True),
    "assay.judges.prompt_rendering:tokens_in": _first,
    "assay.judges.pairwise_support:claim_texts": lambda f, t: (
        f("A", t + "?", "a b"),
        f("A", "Who?", t),
        f(t, "Who?", "a b"),
    ),
    "assay.judges.claim_rules.extract:sentence_claims": lambda f, t: (f(t), f(t, "en", "Is it? " + t)),
    "assay.judges.claim_rules.languages:states_something": lambda f, t: [f(t, code) for code in further.LANGUAGES],
    "assay.evaluation.targets.http_target:follow": lambda f, t: (f({"a": t}, "a"), f({"a": [1]}, t)),
    "assay.judges.claim_rules.headings:bare": _first,
    "assay.judges.claim_rules.statement_model:states_nothing": lambda f, t: (f(t), f(t[:600])),
    "assay.judges.claim_rules.statement_model:plain": _first,
    "assay.judges.claim_rules.statement_model:clauses": _first,
    "assay.judges.claim_rules.statement_model:ngrams": lambda f, t: list(f(t)),
    "assay.judges.claim_rules.headings:line_of": lambda f, t: f(t, Span(len(t) // 2, len(t))),
    "assay.judges.claim_rules.headings:opens_items": lambda f, t: f(t + "x", [Span(0, 1), Span(len(t), len(t) + 1)], 0),
    "assay.judges.claim_rules.headings:without_list_mark": _first,
    "assay.judges.claim_rules.plain:has_figures": _first,
    "assay.judges.claim_rules.plain:has_verb": _first,
    "assay.judges.claim_rules.plain:only_names": lambda f, t: f(t, 12),
    "assay.judges.claim_rules.plain:plain": _first,
    "assay.judges.claim_rules.plain:words": _first,
    "assay.judges.claim_rules.refusals:offers": _first,
    "assay.judges.claim_rules.refusals:refuses": _first,
    "assay.judges.claim_rules.refusals:refuses_plainly": lambda f, t: f(t[:LONGEST]),  # that is what `refuses` asks
    "assay.judges.claim_rules.sources:heads_sources": _first,
    "assay.judges.claim_rules.sources:without_sources": lambda f, t: (f(t), f("Passage 1 says " + t)),
    "assay.judges.claim_rules.statements:asks": _first,
    "assay.judges.claim_rules.statements:is_question": _first,
    "assay.judges.claim_rules.small_talk:is_aside": _first,
    "assay.judges.claim_rules.small_talk:is_talk": lambda f, t: f(t[:LONGEST]),  # by `states_something`, the same
    "assay.judges.claim_rules.statements:leads_in": lambda f, t: (f(t, t), f(t[:LONGEST] + ":", t)),
    "assay.judges.claim_rules.statements:only_asks": lambda f, t: f(t[:LONGEST]),
    "assay.judges.claim_rules.statements:states_something": _first,
    "assay.judges.claim_rules.yes_no:as_answer": lambda f, t: f(t, "Is it? " + t, yes=True),
    "assay.judges.claim_rules.yes_no:is_polar": lambda f, t: (f(t), f("Is it" + t)),
    "assay.judges.claim_rules.yes_no:is_short_answer": lambda f, t: (f(t), f("yes" + t, politely=False)),
    "assay.analysis.judges.probes.rules:date_swapped": _first,
    "assay.analysis.judges.probes.rules:injected": lambda f, t: f(t, "supported"),
    "assay.analysis.judges.probes.rules:lengthened": _first,
    "assay.analysis.judges.probes.rules:name_swapped": lambda f, t: f(t, ["Ada Lund"]),
    "assay.analysis.judges.probes.rules:names_in": _first,
    "assay.analysis.judges.probes.rules:negated": _first,
    "assay.analysis.judges.probes.rules:number_swapped": _first,
    "assay.analysis.judges.probes.rules:paraphrased": _first,
    "assay.judges.llm.labels:attach_probabilities": lambda f, t: f(
        ParsedReply({"label": "yes"}, t, 0), _LABEL, t, _tokens(t)
    ),
    "assay.judges.llm.json_repair:tidy": _tidy,
    "assay.judges.llm.replies:find_object": _objects,
    "assay.judges.llm.replies:is_copied": lambda f, t: f(ParsedReply({}, t, 0), [t[1:], t]),
    "assay.metrics._citation_accuracy:citations_of": lambda f, t: list(f(t, _claims(t))),
    "assay.metrics._context_entity_recall:distinct": lambda f, t: f([t, t]),
    "assay.metrics._context_entity_recall:entity_recall": lambda f, t: f([t], [t]),
    "assay.metrics.shared_prompts:both_not_judged": lambda f, t: f(scored(t).sample, (), _claims(t)),
    "assay.metrics.shared_prompts:not_judged": lambda f, t: (f(t, ()), f(t, _claims(t))),
    "assay.evaluation.display.explanation:Explanation": lambda f, t: f(Row(number=1, scored=scored(t))).text(),
    "assay.report.markdown:escaped": _first,
    "assay._util.markdown:escape": _first,
    "assay._util.output_files:write_output": lambda f, t: f(os.devnull, t, errors="replace"),
    "assay.store.digests:text_digest": _first,
    "assay.report.html.packing:packed": _first,
    "assay.report.html.packed_row:side_of": lambda f, t: f(_quoted(t), scored("").sample, ["m"], SharedValues()),
    "assay.report.marked_text:segments": lambda f, t: list(f(t, [ViewPart(0, len(t), "x")])),
    "assay.view.row_query:field_value": _first,
    "assay.view.row_query:read_value": lambda f, t: f(f"percent:{t}"),
    "assay.view.row_texts:clip_text": lambda f, t: f(t, TextBudget(10**9), (), 10**9),
    "assay.report.sample_view:painted": lambda f, t: f(
        t, [ViewPart(c.span.start, c.span.end, "red") for c in _claims(t)]
    ),
    "assay.sinks.annotations:annotations_of": lambda f, t: f(scored(t)),
    "assay.sinks.masking:hash_text": _first,
    "assay.sinks.masking:hidden_texts": lambda f, t: f(scored(t).to_dict(), str.upper),
    "assay.metrics.bedrock.citations:cited_parts": lambda f, t: f(scored(t).sample),
    "assay.live.application:from_environment": lambda f, t: (
        f({"OTEL_RESOURCE_ATTRIBUTES": t}),
        f({"ASSAY_COMMIT": t}),
    ),
    "assay.store.erasure:sample_matches": lambda f, t: (
        f(t, {"a": "b"}),
        f(json.dumps({"metadata": {"a": t}}), {"a": t}),
    ),
    "assay.store.erasure:texts_of_json": lambda f, t: (f([t]), f([json.dumps({"answer": t})])),
    "assay.store.windows:parse_window": lambda f, t: _suppressed(f, t, 1.7e9),
    "assay.store.windows:split_run": lambda f, t: f(t),
    "assay.store.rows:clean": lambda f, t: (f(t), f("\ud83d" + t)),
    "assay.metrics.langchain.json_text:read_broken": _json,
    "assay.metrics.langchain.json_text:read_strictly": _json,
    "assay._util.terminal:json_text": _values,
    "assay.errors:printable": lambda f, t: (f(t), f("\x1b" + t)),
    "assay.judges.local.model:nearest_sentence": lambda f, t: (f(t, t[:200]), f("A text.", t)),
    "assay.metrics.ragas.context_relevancy:by_full_stops": _first,
    "assay.text.blocks:blocks": lambda f, t: list(f(t)),
    "assay.text.citations:behind_sentence": lambda f, t: f(t, Span(len(t) // 2, len(t) // 2 + 1)),
    "assay.text.citations:citations": _first,
    "assay.text.citations:cited_in": lambda f, t: f(t, [Span(at, at + 50) for at in range(0, len(t), 50)]),
    "assay.text.citations:marks": _first,
    "assay.text.fallback:is_abbreviation": _first,
    "assay.text.fallback:is_border": lambda f, t: f(t, len(t) // 2, "en"),
    "assay.text.fallback:split": lambda f, t: (f(t, "en"), f(t, "el")),
    "assay.text.fallback:word_before": lambda f, t: f(t, len(t)),
    "assay.text.guards:mask": _first,
    "assay.text.guards:split": lambda f, t: f(t[:1000], "en"),  # it is given a window at a time: see the test of pysbd
    "assay.text.plain:split": _first,
    "assay.records.images:base64_uri": lambda f, t: f("image/png", t),
    "assay.records.images:is_base64": lambda f, t: (f(t), f("iVBORw0KGgo" + t)),
    "assay.records.images:image_in_text": lambda f, t: (f(t), f("data:image/png;base64," + t), f("iVBORw0KGgo" + t)),
    "assay.text.images:around": lambda f, t: (f(t), f(t, 9), f("![](a)" + t)),
    "assay.text.images:blanked": lambda f, t: (f(t), f("![a](b.png)" + t), f('![a](b "' + t)),
    "assay.text.images:images_in": lambda f, t: (f(t), f("![" + t), f("![a](" + t), f('![a](b "' + t), f("![](<" + t)),
    "assay.text.quotes:locate": lambda f, t: (f(t, "x" + t), f(t[1:] + "y", t), f(t[: len(t) // 2].upper() + "yyy", t)),
    "assay.text.quotes:locate_parts": lambda f, t: (f(t, t[1:]), f(t + " ... " + t, t), f("abc" + t, "abc" + t[1:])),
    "assay.text.quotes:normalise": _first,
    "assay.text.repair:repair": _repair,  # of one window
    "assay.metrics.systems.lexical:tokens_13a": lambda f, t: f(t),
    "assay.metrics.trulens.groundedness:sentences_of": lambda f, t: f(t, "en"),
    "assay.metrics.trulens.repetition:words_of": lambda f, t: f(t),
    "assay.text.sentences:split_sentences": lambda f, t: (f(t), f(t, "de"), f(t, "xx")),
    "assay.metrics.deepeval.loops:words_of": lambda f, t: f(t),
    "assay.metrics.openevals.code_judge:code_in": _first,
    "assay.metrics.openevals.labels:most_used": lambda f, t: f([t, t]),
    "assay.metrics.deepeval.loops:most_alike_texts": lambda f, t: f([t, t]),
    "assay.text.short_answers:aliases": _first,
    "assay.text.short_answers:polarity": _first,
    "assay.text.short_answers:stated": lambda f, t: (f(t, t[:99]), f(t, t[:49] + "x"), f("Paris", t)),
    "assay.text.languages:language_of": _first,
    "assay.text.languages:language_of_all": lambda f, t: f([t, t]),
    "assay.text.windows:windows": lambda f, t: (f(t, 1000), f(t, 1)),
    "assay.analysis.diagnosis.duplicates:near_duplicates": lambda f, t: (f([t, t[1:], "x" + t]), f(t.split()[:2000])),
    "assay.analysis.diagnosis.duplicates:shingles": _first,
    "assay._util.table_view:escaped": _first,
    "assay._util.text_lines:wrapped_lines": lambda f, t: f(t, 80),
    "assay.analysis.diagnosis.refusal_wording:wording_of": _first,
    "assay.analysis.diagnosis.explanations:quoted": _first,
    "assay.analysis.diagnosis.answer_form:form_problem": lambda f, t: (
        f(Sample(question=t, answer=t, contexts=(Context(text=t),))),
        f(Sample(question="JSON?", answer='{"a": ' + t, contexts=(Context(text=t[:-1] + "x"),))),
        f(Sample(question="Why?", answer="{a} " + t.replace(" ", " {b} "), contexts=(Context(text="{a} {b} " + t),))),
    ),
    "assay.analysis.diagnosis.cause_features:features": lambda f, t: f(
        Sample(question=t, answer=t, reference=t, contexts=(Context(text=t), Context(text=t))), Facts()
    ),
    "assay.analysis.diagnosis.themes:find_themes": lambda f, t: f(
        dict.fromkeys(range(9), t),
        dict.fromkeys(range(9), "unclear"),
        lambda texts: np.ones((len(texts), 1), np.float32),
    ),
    "assay.capture.messages:pictures_in": lambda f, t: f([{"type": "text", "text": t}, _PICTURE] * 2),
    "assay.capture.messages:search_results_in": lambda f, t: f([{"type": "search_result", "content": t}]),
    "assay.data.columns:columns_of": lambda f, t: (_suppressed(f, _many(t)), _suppressed(f, [t])),
    "assay.data.files:rows_of_lines": lambda f, t: (list(f([t.encode()])), list(f([b"{" + t.encode()]))),
    "assay.data.column_names:infer_columns": lambda f, t: (
        f(_many(t), ()),
        f([t], ()),
        f([f"{t}_1", f"inputs.{t}"], ()),
    ),
    "assay.data.column_names:suggest_columns": lambda f, t: (f(_many(t), ["answer"]), f([t], ["answer"])),
    "assay.data.sources:duplicate_names": lambda f, t: (f(t), f(_many(t))),
    "assay.data.sources:unique": lambda f, t: (_suppressed(f, t), _suppressed(f, _many(t))),
    "assay.records.field_names:find_columns": lambda f, t: (_suppressed(f, _many(t)), _suppressed(f, [t])),
    "assay.judges.pairwise_support:unsupported_in": lambda f, t: f(
        t, "x" + t, [(at, at + 9) for at in range(0, len(t), 9)]
    ),
    "assay.judges.claim_rules.languages:is_fragment": _first,
    "assay.judges.claim_rules.languages:is_short_answer": lambda f, t: [f(t, code) for code in further.LANGUAGES],
    "assay.judges.claim_rules.headings:as_lead": _first,
    "assay.judges.claim_rules.headings:is_fragment": _first,
    "assay.judges.claim_rules.headings:is_label": _first,
    "assay.judges.claim_rules.headings:is_open": lambda f, t: [f(t, carried=one) for one in (True, False)],
    "assay.metrics._retrieval_calls:duplicates": lambda f, t: (f([t, t[1:], "x " + t]), f(_many(t))),
    "assay.text.reading_order:in_reading_order": lambda f, t: f(_lines(t)),
    "assay.metrics.deepeval.tool_permission:share_allowed": lambda f, t: f(_many(t), None, {"a"}),
    "assay.metrics.langchain.matching:stripped": lambda f, t: f(t, case=True, punctuation=True, numbers=True),
    "assay.metrics.ragas.tool_calls:accuracy": lambda f, t: [
        f(_calls(t), _calls(t)[::-1], strict_order=one, whole=False) for one in (True, False)
    ],
    "assay.metrics.ragas.tool_calls:equal_arguments": lambda f, t: f(_calls(t)[0], _calls(t)[-1]),
    "assay.metrics.ragas.tool_calls:f1": lambda f, t: f(_calls(t), _calls(t)[::-1]),
    "assay.metrics.ragas.tool_calls:pairs_in_order": lambda f, t: f(_calls(t), _calls(t)[::-1]),
    "assay.metrics.ragas.tool_calls:pairs_of_any_order": lambda f, t: f(_calls(t), _calls(t)[::-1]),
    "assay.metrics.trulens.repetition:overlap": lambda f, t: f(words_of(t), words_of(t[::-1])),
    "assay.metrics.trulens.repetition:repeated_ngrams": lambda f, t: f(_many(t), 4),
    "assay.metrics.trulens.repetition:repeated_words": lambda f, t: f(_many(t)),
    "assay_embedded.differing_marks:only_in_claim": lambda f, t: f(t, t[: len(t) // 2] + "☃ -5 x@y AB12CD"),
    "assay_embedded.differing_marks:mark_differences": lambda f, t: (
        f(t, t[: len(t) // 2]),
        f(t[: len(t) // 2], t + "☃ -5 x@y AB12CD"),
    ),
    "assay_embedded.excerpt:excerpt": lambda f, t: f(_named("assay_embedded.features:Passage")(t), t[:300], 300),
    "assay_embedded.features:stem": _first,
    "assay_embedded.features:words": _first,
    "assay_embedded.records:pieces": lambda f, t: [list(f(one)) for one in _record(t)],
    "assay_embedded.records.lines:grouped": lambda f, t: list(f(_said_in_record(t), ("a", t[:99]))),
    "assay_embedded.records.lines:with_days_joined": lambda f, t: f(_said_in_record(t)),
    "assay_embedded.records.literals:records": lambda f, t: [list(f(one)) for one in _record(t)],
    "assay_embedded.records.literals:unescaped": _first,
    "assay_embedded.records.objects:object_pieces": _told_of_records,
    "assay_embedded.records.tables:pieces_between": lambda f, t: [list(f(one, 0, len(one))) for one in _record(t)],
    "assay_embedded.sentences:sentences": lambda f, t: list(f(t)),
    "assay_embedded.quantities:quantities": lambda f, t: f(t),
    "assay_embedded.quantities:restated": lambda f, t: (f(t, t[:300] + " 5 km"), f("5 km " + t[:99], t)),
    "assay_embedded.unknown_words:code": _first,
    "assay_embedded.unknown_words:spelled": lambda f, t: (f(t, str.isalpha), f(t + "☃", str.isspace)),
    "assay_embedded.windows:windows_of": lambda f, t: list(f(range(len(t)), range(len(t[:99])))),
    "assay_embedded_multilingual.sentences:goes_on": lambda f, t: f(t, t),
    "assay_opentelemetry.placeholders:workflow_result": lambda f, t: [f(one) for one in _record(t)],
    "assay.records.phrases:score_in_words": lambda f, t: f(scored(t).scores["m"], scored(t).sample),
    "assay._util.terminal:shortened": _first,
    "assay._util.durations:seconds_in": lambda f, t: [_suppressed(f, one, "--every") for one in (t, f"7{t}")],
}


def reader(name: str) -> Callable[[str], object]:
    """The function of that name, called as READ says."""
    return partial(READ[name], _named(name))


def _named(name: str) -> Any:
    """What stands under that name; distributions beside the core are imported when they are asked for."""
    module, _, function = name.partition(":")
    return attrgetter(function)(importlib.import_module(module))


def is_gone(name: str) -> bool:
    """Whether the function of that name stands there no more, or only an import of it."""
    module, _, function = name.partition(":")
    try:
        return bool(attrgetter(function)(importlib.import_module(module)).__module__ != module)
    except (ImportError, AttributeError):
        return True


def readers_in_sources() -> Iterator[str]:
    """The names of all public functions that have a text among their parameters."""
    for path in source_files():
        if "cli" in path.parts:  # commands
            continue
        parts = path.relative_to(ROOT).with_suffix("").parts
        module = ".".join(parts[parts.index("src") + 1 :]).removesuffix(".__init__")
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                arguments = node.args
                every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                given = {a.arg for a in every if a.annotation is None or "JudgePrompt" not in ast.unparse(a.annotation)}
                if given & TEXTS:
                    yield f"{module}:{node.name}"
