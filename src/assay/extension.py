"""What integrations build on, beside the names of `assay` itself.

A callback handler, an evaluator, a judge, a sink, a source or an engine outside this package imports from `assay` and
from here, and from no other module of assay: everything else may change without notice. Tests of an integration may
use `assay.testing`. Each name loads its module when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay._util.lazy_exports import lazy_exports, names_by_module

if TYPE_CHECKING:  # for editors and type checkers; a test holds it to the table below
    from assay._util.byte_limits import check_json as check_json
    from assay._util.call_repr import call_repr as call_repr
    from assay._util.call_repr import host_of as host_of
    from assay._util.forks import FORK_LOCK as FORK_LOCK
    from assay._util.forks import own_lock as own_lock
    from assay._util.install_hints import install_extra as install_extra
    from assay._util.install_hints import install_package as install_package
    from assay._util.normalise import finite as finite
    from assay._util.normalise import json_value as json_value
    from assay._util.sync import run_sync as run_sync
    from assay._util.tabular import Tabular as Tabular
    from assay._util.threads import at_the_end as at_the_end
    from assay._util.timestamps import Moment as Moment
    from assay._util.timestamps import iso as iso
    from assay._util.timestamps import seconds_at as seconds_at
    from assay.analysis.gates.rules import check_limit as check_limit
    from assay.capture import CaptureRules as CaptureRules
    from assay.capture import Document as Document
    from assay.capture import Run as Run
    from assay.capture import RunCollector as RunCollector
    from assay.capture import RunKind as RunKind
    from assay.capture import Trace as Trace
    from assay.capture import sample_of as sample_of
    from assay.capture import samples_of as samples_of
    from assay.capture import traces_of as traces_of
    from assay.capture.answering_call import answering_run as answering_run
    from assay.capture.assemble import answer_of as answer_of
    from assay.capture.assemble import exchanges as exchanges
    from assay.capture.assemble import question_of as question_of
    from assay.capture.assemble import samples_with_exchanges as samples_with_exchanges
    from assay.capture.collector import PASSES_ON as PASSES_ON
    from assay.capture.contexts import context_of as context_of
    from assay.capture.contexts import contexts_under as contexts_under
    from assay.capture.conversations import CONVERSATION_KEYS as CONVERSATION_KEYS
    from assay.capture.conversations import Conversations as Conversations
    from assay.capture.history import MayForget as MayForget
    from assay.capture.history import complete_history as complete_history
    from assay.capture.ids import current_ids as current_ids
    from assay.capture.ids import otel_ids as otel_ids
    from assay.capture.interrupts import INTERRUPTS as INTERRUPTS
    from assay.capture.interrupts import InterruptedTraces as InterruptedTraces
    from assay.capture.messages import artifacts_in as artifacts_in
    from assay.capture.messages import last_question as last_question
    from assay.capture.messages import pictures_in as pictures_in
    from assay.capture.messages import search_results_in as search_results_in
    from assay.capture.passage_images import IMAGE_PREFIX as IMAGE_PREFIX
    from assay.capture.record_context import add_recorder as add_recorder
    from assay.capture.serialisation import document_texts as document_texts
    from assay.capture.serialisation import is_resume as is_resume
    from assay.capture.serialisation import merge_updates as merge_updates
    from assay.capture.serialisation import messages_in as messages_in
    from assay.capture.serialisation import passages_in as passages_in
    from assay.capture.serialisation import passed_on as passed_on
    from assay.capture.serialisation import text_written as text_written
    from assay.capture.serialisation import texts_sent as texts_sent
    from assay.capture.serialisation import unwrap_value as unwrap_value
    from assay.capture.snapshots import document_of as document_of
    from assay.capture.structured_answers import structured_answer as structured_answer
    from assay.capture.tool_results import blocks_in as blocks_in
    from assay.capture.tool_results import documents_in_result as documents_in_result
    from assay.config import Config as Config
    from assay.config import configuration as configuration
    from assay.config.keys import check_instructions as check_instructions
    from assay.config.keys import check_judge_key as check_judge_key
    from assay.config.keys import check_store as check_store
    from assay.data import ColumnMap as ColumnMap
    from assay.data import Data as Data
    from assay.data import RowError as RowError
    from assay.data.exports import IN_MEMORY as IN_MEMORY
    from assay.data.exports import ExportRecord as ExportRecord
    from assay.data.exports import by_trace as by_trace
    from assay.data.exports import in_time_range as in_time_range
    from assay.data.exports import json_of as json_of
    from assay.data.exports import read_records as read_records
    from assay.data.files import rows_of_lines as rows_of_lines
    from assay.data.open_source import OpenSource as OpenSource
    from assay.data.rows import passages as passages
    from assay.data.sources import HEAD_ROWS as HEAD_ROWS
    from assay.data.sources import Source as Source
    from assay.data.sources import rows_of_batch as rows_of_batch
    from assay.errors import StoreError as StoreError
    from assay.evaluation.adapters import HostRow as HostRow
    from assay.evaluation.adapters import MetricAdapter as MetricAdapter
    from assay.evaluation.adapters import PanelOptions as PanelOptions
    from assay.evaluation.adapters import message_of as message_of
    from assay.evaluation.adapters import row_of_columns as row_of_columns
    from assay.evaluation.adapters import row_of_values as row_of_values
    from assay.evaluation.adapters import text_argument as text_argument
    from assay.evaluation.completeness import NOT_FINISHED as NOT_FINISHED
    from assay.evaluation.display.explanation import Explanation as Explanation
    from assay.evaluation.display.explanation import score_in_words as score_in_words
    from assay.evaluation.imports.trace_scores import value_as_text as value_as_text
    from assay.evaluation.run_names import new_name as new_name
    from assay.evaluation.score_sample import score_sample as score_sample
    from assay.evaluation.score_sample import storable as storable
    from assay.evaluation.sharded.engines import authority_of as authority_of
    from assay.evaluation.sharded.job import ShardedOptions as ShardedOptions
    from assay.evaluation.sharded.job import evaluate_in_shards as evaluate_in_shards
    from assay.evaluation.sharded.scoring import JudgeMaker as JudgeMaker
    from assay.evaluation.sharded.scoring import ShardRecipe as ShardRecipe
    from assay.evaluation.sharded.scoring import ShardScorer as ShardScorer
    from assay.evaluation.sharded.shards import ROWS_PER_SHARD as ROWS_PER_SHARD
    from assay.evaluation.sharded.shards import Shard as Shard
    from assay.evaluation.sharded.shards import ShardedData as ShardedData
    from assay.evaluation.sharded.shards import ShardedFiles as ShardedFiles
    from assay.evaluation.sharded.shards import cut_shards as cut_shards
    from assay.evaluation.sharded.shards import next_shard_size as next_shard_size
    from assay.evaluation.sharded.storage import expand_pattern as expand_pattern
    from assay.evaluation.sharded.storage import is_address as is_address
    from assay.evaluation.sharded.workers import ShardTask as ShardTask
    from assay.evaluation.sharded.workers import describe_error as describe_error
    from assay.judges import BaseJudge as BaseJudge
    from assay.judges.base import JudgeSpec as JudgeSpec
    from assay.judges.budget.ledger import Advance as Advance
    from assay.judges.budget.ledger import BudgetRefusal as BudgetRefusal
    from assay.judges.budget.ledger import Limit as Limit
    from assay.judges.budget.ledger import Spend as Spend
    from assay.judges.budget.sharing import SharedAllowance as SharedAllowance
    from assay.judges.budget.sqlite_ledger import FileLedger as FileLedger
    from assay.judges.cache import JudgementCache as JudgementCache
    from assay.judges.http.options import EndpointOptions as EndpointOptions
    from assay.judges.http.replies import usage_of as usage_of
    from assay.judges.http.reply_bytes import count_replies as count_replies
    from assay.judges.llm.framework import FrameworkJudge as FrameworkJudge
    from assay.judges.llm.framework import ModelCall as ModelCall
    from assay.judges.llm.judge import Reply as Reply
    from assay.judges.llm.model_settings import ModelSettings as ModelSettings
    from assay.judges.llm.model_settings import plain_settings as plain_settings
    from assay.judges.prompt_rendering import Mask as Mask
    from assay.judges.protocol import JUDGING as JUDGING
    from assay.judges.protocol import Judge as Judge
    from assay.judges.resolve import resolve_judge as resolve_judge
    from assay.live.disabled_intake import DisabledIntake as DisabledIntake
    from assay.live.guards import GuardDecision as GuardDecision
    from assay.live.guards import GuardHealth as GuardHealth
    from assay.live.guards.verdict import GuardAction as GuardAction
    from assay.live.guards.verdict import thresholds_of as thresholds_of
    from assay.live.handlers.base import BaseHandler as BaseHandler
    from assay.live.handlers.exchanges import REMEMBERED as REMEMBERED
    from assay.live.handlers.exchanges import RecentExchanges as RecentExchanges
    from assay.live.handlers.trace_submitter import TraceSubmitter as TraceSubmitter
    from assay.live.health import Health as Health
    from assay.live.intake import is_off as is_off
    from assay.live.protocol import Intake as Intake
    from assay.live.protocol import LiveOptions as LiveOptions
    from assay.live.protocol import Submission as Submission
    from assay.metrics.names import MetricSpec as MetricSpec
    from assay.metrics.names import join_specs as join_specs
    from assay.metrics.names import resolve_metrics as resolve_metrics
    from assay.metrics.systems import system_entries as system_entries
    from assay.metrics.systems.base import Profile as Profile
    from assay.prompts.question import Question as Question
    from assay.records import BY_CONVENTION as BY_CONVENTION
    from assay.records import Direction as Direction
    from assay.records import Record as Record
    from assay.records import Usage as Usage
    from assay.records import Verdict as Verdict
    from assay.records.field_names import ANSWER_NAMES as ANSWER_NAMES
    from assay.records.field_names import QUESTION_NAMES as QUESTION_NAMES
    from assay.records.field_names import context_text as context_text
    from assay.records.field_names import describe as describe
    from assay.records.field_names import find_columns as find_columns
    from assay.records.field_names import missing as missing
    from assay.records.messages import is_message as is_message
    from assay.records.messages import prompt_of as prompt_of
    from assay.records.messages import role_of as role_of
    from assay.records.messages import text_of as text_of
    from assay.records.phrases import shortened as shortened
    from assay.report.write import report_run as report_run
    from assay.sinks.annotations import Annotation as Annotation
    from assay.sinks.clients import PerProcess as PerProcess
    from assay.sinks.remote import Busy as Busy
    from assay.sinks.remote import KeyRefused as KeyRefused
    from assay.sinks.remote import NotThere as NotThere
    from assay.sinks.remote import Refused as Refused
    from assay.sinks.remote import RemoteOptions as RemoteOptions
    from assay.sinks.remote import RemoteSink as RemoteSink
    from assay.sinks.remote import SinkUnreachable as SinkUnreachable
    from assay.sinks.remote import safe_words as safe_words
    from assay.store.store import Row as Row
    from assay.store.tables import store_may_exist as store_may_exist

_HOMES = {
    # Errors and rows: what every integration raises and reads.
    "assay.data": "ColumnMap Data RowError",
    "assay.data.exports": "ExportRecord IN_MEMORY by_trace in_time_range json_of read_records",
    "assay.data.files": "rows_of_lines",
    "assay.data.open_source": "OpenSource",
    "assay.data.rows": "passages",
    "assay.data.sources": "HEAD_ROWS Source rows_of_batch",
    "assay.errors": "StoreError",
    "assay.records": "BY_CONVENTION Direction Record Usage Verdict",
    "assay.records.field_names": "ANSWER_NAMES QUESTION_NAMES context_text describe find_columns missing",
    "assay.records.messages": "is_message prompt_of role_of text_of",
    "assay.records.phrases": "shortened",
    # Capture: from events and stored traces to samples.
    "assay.capture": "CaptureRules Document Run RunCollector RunKind Trace sample_of samples_of traces_of",
    "assay.capture.answering_call": "answering_run",
    "assay.capture.assemble": "answer_of exchanges question_of samples_with_exchanges",
    "assay.capture.collector": "PASSES_ON",
    "assay.capture.contexts": "context_of contexts_under",
    "assay.capture.conversations": "CONVERSATION_KEYS Conversations",
    "assay.capture.history": "MayForget complete_history",
    "assay.capture.ids": "current_ids otel_ids",
    "assay.capture.interrupts": "INTERRUPTS InterruptedTraces",
    "assay.capture.messages": "artifacts_in last_question pictures_in search_results_in",
    "assay.capture.passage_images": "IMAGE_PREFIX",
    "assay.capture.record_context": "add_recorder",
    "assay.capture.serialisation": "document_texts is_resume merge_updates messages_in passages_in passed_on "
    "text_written texts_sent unwrap_value",
    "assay.capture.snapshots": "document_of",
    "assay.capture.structured_answers": "structured_answer",
    "assay.capture.tool_results": "blocks_in documents_in_result",
    # Live handlers: hand samples of a running application to a scorer or a queue.
    "assay.live.disabled_intake": "DisabledIntake",
    "assay.live.guards": "GuardDecision GuardHealth",
    "assay.live.guards.verdict": "GuardAction thresholds_of",
    "assay.live.handlers.base": "BaseHandler",
    "assay.live.handlers.exchanges": "REMEMBERED RecentExchanges",
    "assay.live.handlers.trace_submitter": "TraceSubmitter",
    "assay.live.health": "Health",
    "assay.live.intake": "is_off",
    "assay.live.protocol": "Intake LiveOptions Submission",
    # Evaluators of other tools: score one of their rows with a shared judge.
    "assay.evaluation.adapters": "HostRow MetricAdapter PanelOptions message_of row_of_columns "
    "row_of_values text_argument",
    "assay.evaluation.display.explanation": "Explanation score_in_words",
    "assay.evaluation.imports.trace_scores": "value_as_text",
    "assay.metrics.names": "MetricSpec join_specs resolve_metrics",
    "assay.metrics.systems": "system_entries",
    "assay.metrics.systems.base": "Profile",
    # Judges: a framework's model as a judge, and what a judge is.
    "assay.prompts.question": "Question",
    "assay.judges": "BaseJudge",
    "assay.judges.base": "JudgeSpec",
    "assay.judges.cache": "JudgementCache",
    "assay.judges.http.options": "EndpointOptions",
    "assay.judges.http.replies": "usage_of",
    "assay.judges.http.reply_bytes": "count_replies",
    "assay.judges.llm.framework": "FrameworkJudge ModelCall",
    "assay.judges.llm.judge": "Reply",
    "assay.judges.llm.model_settings": "ModelSettings plain_settings",
    "assay.judges.resolve": "resolve_judge",
    "assay.judges.prompt_rendering": "Mask",
    "assay.judges.protocol": "JUDGING Judge",
    # Sinks and sources: write scores to a service, read traces from it.
    "assay.sinks.annotations": "Annotation",
    "assay.sinks.clients": "PerProcess",
    "assay.sinks.remote": "Busy KeyRefused NotThere Refused RemoteOptions RemoteSink SinkUnreachable safe_words",
    # Test runners: score within tests, and keep a run of it.
    "assay.analysis.gates.rules": "check_limit",
    "assay.config": "Config configuration",
    "assay.config.keys": "check_instructions check_judge_key check_store",
    "assay.evaluation.completeness": "NOT_FINISHED",
    "assay.evaluation.run_names": "new_name",
    "assay.evaluation.score_sample": "score_sample storable",
    "assay.report.write": "report_run",
    "assay.store.store": "Row",
    "assay.store.tables": "store_may_exist",
    # Engines: score the shards of a large run on machines of a cluster.
    "assay.evaluation.sharded.engines": "authority_of",
    "assay.evaluation.sharded.job": "ShardedOptions evaluate_in_shards",
    "assay.evaluation.sharded.scoring": "JudgeMaker ShardRecipe ShardScorer",
    "assay.evaluation.sharded.shards": "ROWS_PER_SHARD Shard ShardedData ShardedFiles cut_shards next_shard_size",
    "assay.evaluation.sharded.storage": "expand_pattern is_address",
    "assay.evaluation.sharded.workers": "ShardTask describe_error",
    "assay.judges.budget.ledger": "Advance BudgetRefusal Limit Spend",
    "assay.judges.budget.sharing": "SharedAllowance",
    "assay.judges.budget.sqlite_ledger": "FileLedger",
    # Housekeeping: threads, forks, times, install hints, one repr for all.
    "assay._util.byte_limits": "check_json",
    "assay._util.call_repr": "call_repr host_of",
    "assay._util.forks": "FORK_LOCK own_lock",
    "assay._util.install_hints": "install_extra install_package",
    "assay._util.normalise": "finite json_value",
    "assay._util.sync": "run_sync",
    "assay._util.tabular": "Tabular",
    "assay._util.threads": "at_the_end",
    "assay._util.timestamps": "Moment iso seconds_at",
}

__all__ = [*names_by_module(_HOMES)]  # pyright: ignore[reportUnsupportedDunderAll]  # it reads the imports above

if not TYPE_CHECKING:  # type checkers would take any name at all for one of these
    __getattr__, __dir__ = lazy_exports(globals(), _HOMES)
