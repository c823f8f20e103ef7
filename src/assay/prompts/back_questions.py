"""BackQuestions: the questions that a text would be a direct answer to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from assay.errors import InvalidReply
from assay.prompts.base import Division, JudgePrompt, PromptContent, PromptSection, Rule, whole
from assay.prompts.schemas import TEXT, array, record
from assay.records import Record

TASK = """\
Somebody asked a question and got the ANSWER. You do not see the question. Write {count} different questions to which
this answer, as a whole, would be a direct and complete reply. Use the language of the answer.

Then say whether the answer is noncommittal: it evades, refuses, or says that the information is not known or not
available, instead of answering."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackQuestionsJudgement(Record):
    """Questions that the text would answer, and whether it avoids an answer."""

    questions: tuple[str, ...]
    noncommittal: bool


@dataclass(frozen=True)
class BackQuestions(JudgePrompt[BackQuestionsJudgement]):
    """Which `count` questions would `text` answer, and is it noncommittal?

    `vote` numbers independent answers, sampled where the judge can sample.
    """

    name: ClassVar[str] = "back_questions"
    judgement: ClassVar[Any] = BackQuestionsJudgement

    text: str
    count: int = 3
    language: str = "en"
    vote: int = field(default=0, repr=False)  # the address has it from the prompt

    def content(self) -> PromptContent:
        return PromptContent(
            material=(PromptSection("ANSWER", self.text),),
            task=TASK.format(count=self.count),
            schema=record(questions=array(TEXT), noncommittal={"type": "boolean"}),
            output_tokens=40 + 60 * self.count,
            vote=self.vote,
        )

    def read(self, reply: Mapping[str, Any]) -> BackQuestionsJudgement:
        questions = questions_of(reply, self.count)
        noncommittal = reply.get("noncommittal")
        if not isinstance(noncommittal, bool):
            raise InvalidReply("The field 'noncommittal' must be true or false.")
        return BackQuestionsJudgement(questions=questions, noncommittal=noncommittal)

    def apply_rule(self, rule: Rule) -> BackQuestionsJudgement:
        questions = rule(self.text)
        return BackQuestionsJudgement(questions=tuple(questions or ()), noncommittal=questions is None)

    def fit(self, chars: int) -> Division[BackQuestionsJudgement] | None:
        # questions to a part of an answer are not questions to the answer
        return whole(self) if len(self.text) <= chars else None


def questions_of(reply: Mapping[str, Any], count: int | None = None) -> tuple[str, ...]:
    """The list `questions` of a reply: non-empty texts, `count` of them where that is given."""
    questions = reply.get("questions")
    if not isinstance(questions, list) or not all(isinstance(text, str) and text.strip() for text in questions):
        raise InvalidReply("The field 'questions' must be a list of texts that are not empty.")
    if count is not None and len(questions) != count:
        raise InvalidReply(f"Expected {count} questions, got {len(questions)}.")
    return tuple(text.strip() for text in questions)
