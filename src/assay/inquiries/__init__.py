"""Inquiries: the typed questions that judges answer, one file each."""

from assay.inquiries.ask import Question
from assay.inquiries.back_questions import BackQuestions, BackQuestionsJudgement
from assay.inquiries.base import Division, Inquiry, LabelQuestion, Prompt, PromptSection
from assay.inquiries.choosing import ChoiceResult, MultipleChoice
from assay.inquiries.claims import Claims
from assay.inquiries.criterion import Checklist, Criterion
from assay.inquiries.directness import Directness
from assay.inquiries.entities import Entities
from assay.inquiries.fused import Fused
from assay.inquiries.key_questions import KeyQuestions
from assay.inquiries.listing import Extraction
from assay.inquiries.rating import Rating, RatingResult
from assay.inquiries.similarity import Distance, Similarity
from assay.inquiries.sorting import Classification
from assay.inquiries.support import Support, SupportCells
from assay.inquiries.useful_sentences import UsefulSentences
from assay.inquiries.usefulness import Usefulness

__all__ = [
    "BackQuestions",
    "BackQuestionsJudgement",
    "Checklist",
    "ChoiceResult",
    "Claims",
    "Classification",
    "Criterion",
    "Directness",
    "Distance",
    "Division",
    "Entities",
    "Extraction",
    "Fused",
    "Inquiry",
    "KeyQuestions",
    "LabelQuestion",
    "MultipleChoice",
    "Prompt",
    "PromptSection",
    "Question",
    "Rating",
    "RatingResult",
    "Similarity",
    "Support",
    "SupportCells",
    "UsefulSentences",
    "Usefulness",
]
