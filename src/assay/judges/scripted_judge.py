"""A judge that follows a script: for users' tests, and for assay's own. No model, no network, no key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.errors import Cause, JudgeFailure
from assay.judges.base import BaseJudge
from assay.judges.guarded_call import bug
from assay.judges.protocol import Answer
from assay.prompts.base import JudgePrompt
from assay.records import Usage

Rule = Callable[..., Any] | Mapping[Any, Any]


class ScriptedJudge(BaseJudge):
    """Answer each question by a rule: a function, or a mapping with the same arguments as key. For tests.

    A mapping may leave cases out: `support` and `usefulness` then say no, everything else is a failure that names the
    missing case. A rule that returns or raises a JudgeFailure makes that question fail. `asked` counts the questions
    answered, by name.

    Args:
        claims: (text) -> list of claim texts; default: the sentences.
        support: (claim, passage) -> "supported" / "contradicted" / "not_mentioned", or a quote of the passage that
            supports.
        usefulness: (question, passage) -> bool.
        directness: (question, answer) -> bool.
        back_questions: (text) -> list of questions; None for a noncommittal text.
        entities: (passage) -> list of names that stand in the passage.
        criterion: (question, vote) -> bool.
        rating: (question) -> level.
        key_questions: (text) -> list of questions.
        similarity: (text, other) -> cosine from -1 to 1.
        question: (question) -> label, or bool where there are two.
        extraction: (what, texts) -> list of items; texts is a tuple.
        classification: (what, item, texts) -> label.
        rules: Further rules by the name of their judge prompt: {"mine": ...}.
        sees: Whether it is asked what has pictures; rules get the texts alone.
    """

    durable = False
    budgeted = True  # it costs nothing

    def __init__(
        self,
        *,
        claims: Rule | None = None,
        support: Rule | None = None,
        usefulness: Rule | None = None,
        directness: Rule | None = None,
        back_questions: Rule | None = None,
        entities: Rule | None = None,
        criterion: Rule | None = None,
        rating: Rule | None = None,
        key_questions: Rule | None = None,
        similarity: Rule | None = None,
        question: Rule | None = None,
        extraction: Rule | None = None,
        classification: Rule | None = None,
        rules: Mapping[str, Rule] | None = None,
        name: str = "scripted",
        sees: bool = False,
    ) -> None:
        self._name = name
        self.sees = sees
        self._rules: dict[str, Rule | None] = {
            "claims": claims,
            "support": support,
            "usefulness": usefulness,
            "directness": directness,
            "back_questions": back_questions,
            "entities": entities,
            "criterion": criterion,
            "rating": rating,
            "key_questions": key_questions,
            "similarity": similarity,
            "question": question,
            "extraction": extraction,
            "classification": classification,
            **(rules or {}),
        }
        self.asked: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(name for name, rule in self._rules.items() if rule is not None)})"

    @property
    def fingerprint(self) -> str:
        return self._name

    def cannot(self, prompt: type[JudgePrompt[Any]], language: str = "en") -> JudgeFailure | None:
        """Explain why the script does not answer a kind of question.

        Args:
            prompt: The kind of question.
            language: Not used.

        Returns:
            The failure, which names the missing rule. None when there is a rule, or the kind needs none.
        """
        if self._rules.get(_rule_name(prompt)) is not None or prompt.without_rule is not JudgePrompt.without_rule:
            return None
        name = _rule_name(prompt)
        how = f"{name}=..." if name in self._rules else f'rules={{"{name}": ...}}'
        return JudgeFailure(
            Cause.JUDGE_CANNOT, f"this scripted judge has no rule for {name}; pass {how} to ScriptedJudge"
        )

    def groups(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Sequence[JudgePrompt[Any]]]:
        """Group questions: each alone.

        Args:
            prompts: The questions.

        Returns:
            One group for each question.
        """
        return [[prompt] for prompt in prompts]

    async def answer(self, prompts: Sequence[JudgePrompt[Any]]) -> Sequence[Answer]:
        """Answer a batch of questions by the rules.

        Args:
            prompts: Questions of any kinds.

        Returns:
            One answer for each question, in order.
        """
        return [self._one(prompt) for prompt in prompts]

    def _one(self, prompt: JudgePrompt[Any]) -> Answer:
        self.asked[prompt.name] += 1
        try:
            return Answer(judgement=self._judgement(prompt), usage=Usage(calls=1))
        except JudgeFailure as failure:
            return Answer(failure=failure, usage=Usage(calls=1))
        except Exception as error:  # a rule is the user's
            return Answer(failure=bug(error, "the script raised "), usage=Usage(calls=1))

    def _judgement(self, prompt: JudgePrompt[Any]) -> Any:
        cannot = self.cannot(type(prompt))
        if cannot is not None:
            raise cannot
        name = _rule_name(type(prompt))
        rule = self._rules.get(name)
        if rule is None:
            return prompt.without_rule()

        def says(*arguments: Any) -> Any:
            result = rule(*arguments) if callable(rule) else _entry(name, rule, arguments, prompt.rule_default)
            if isinstance(result, JudgeFailure):
                raise result
            return result

        return prompt.apply_rule(says)


def _rule_name(prompt: type[JudgePrompt[Any]]) -> str:
    return prompt.rule_name or prompt.name


def _entry(name: str, rule: Mapping[Any, Any], arguments: tuple[Any, ...], default: Any) -> Any:
    """What a mapping says of a case."""
    key = arguments if len(arguments) > 1 else arguments[0]
    if key not in rule and default is None:
        raise JudgeFailure(Cause.JUDGE_CANNOT, f"the script's {name} has no entry for {key!r}")
    return rule.get(key, default)
