"""JudgePrompts: the typed questions that judges answer, one file each."""

from assay.prompts.back_questions import BackQuestions, BackQuestionsJudgement
from assay.prompts.base import Division, JudgePrompt, LabelQuestion, PromptContent, PromptSection
from assay.prompts.claims import Claims
from assay.prompts.classification import Classification
from assay.prompts.criterion import Checklist, Criterion
from assay.prompts.directness import Directness
from assay.prompts.entities import Entities
from assay.prompts.extraction import Extraction
from assay.prompts.key_questions import KeyQuestions
from assay.prompts.multiple_choice import ChoiceResult, MultipleChoice
from assay.prompts.question import Question
from assay.prompts.question_batch import QuestionBatch
from assay.prompts.rating import Rating, RatingResult
from assay.prompts.similarity import Distance, Similarity
from assay.prompts.support import Support, SupportCells
from assay.prompts.useful_sentences import UsefulSentences
from assay.prompts.usefulness import Usefulness

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
    "JudgePrompt",
    "KeyQuestions",
    "LabelQuestion",
    "MultipleChoice",
    "PromptContent",
    "PromptSection",
    "Question",
    "QuestionBatch",
    "Rating",
    "RatingResult",
    "Similarity",
    "Support",
    "SupportCells",
    "UsefulSentences",
    "Usefulness",
]
