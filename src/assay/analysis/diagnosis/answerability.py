"""The table of answerable and answered questions: see `assay.evaluation.answerability`."""

from __future__ import annotations

from assay.evaluation.answerability import KINDS as KINDS
from assay.evaluation.answerability import REPLIES as REPLIES
from assay.evaluation.answerability import SHOWN as SHOWN
from assay.evaluation.answerability import Answerability as Answerability
from assay.evaluation.answerability import Kind as Kind
from assay.evaluation.answerability import Reply as Reply
from assay.evaluation.answerability import kind_of as kind_of
from assay.evaluation.answerability import reply_of as reply_of
