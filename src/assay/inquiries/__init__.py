"""Inquiries: the typed questions that judges answer, one file each."""

from assay.inquiries.ask import Ask
from assay.inquiries.back_questions import BackQuestions, BackQuestionsFinding
from assay.inquiries.base import Division, Inquiry, Prompt, Question, Section
from assay.inquiries.choosing import Choosing, Chosen
from assay.inquiries.claims import Claims
from assay.inquiries.criterion import Checklist, Criterion
from assay.inquiries.directness import Directness
from assay.inquiries.entities import Entities
from assay.inquiries.fused import Fused
from assay.inquiries.key_questions import KeyQuestions
from assay.inquiries.listing import Listing
from assay.inquiries.rating import Rated, Rating
from assay.inquiries.similarity import Distance, Similarity
from assay.inquiries.sorting import Sorting
from assay.inquiries.support import Support, SupportCells
from assay.inquiries.useful_sentences import UsefulSentences
from assay.inquiries.usefulness import Usefulness

__all__ = [
    "Ask",
    "BackQuestions",
    "BackQuestionsFinding",
    "Checklist",
    "Choosing",
    "Chosen",
    "Claims",
    "Criterion",
    "Directness",
    "Distance",
    "Division",
    "Entities",
    "Fused",
    "Inquiry",
    "KeyQuestions",
    "Listing",
    "Prompt",
    "Question",
    "Rated",
    "Rating",
    "Section",
    "Similarity",
    "Sorting",
    "Support",
    "SupportCells",
    "UsefulSentences",
    "Usefulness",
]
