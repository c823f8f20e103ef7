"""openevals' prompts that name something and give no number: the language of a user, and what the user wants.

    1 where the name is the one in `expected_labels` of the row, else 0

`texts["label"]` is the name, also of a row that expects none and so is skipped. Source: openevals 0.2.2, whose judge
only names: `expected_labels` is the column that classifiers have elsewhere.

    language_detection   found out on this machine, with no judge, where there is no doubt; the language of most of the
                         user's messages. Expected is its English name or its code
    support_intent       one of nine intents of a customer, which the judge chooses
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from assay.errors import Cause
from assay.judges.protocol import Judge
from assay.metrics.systems.base import Entry, Steps, SystemMetric, given
from assay.metrics.systems.conversation import messages_of, transcript_section
from assay.prompts import Question
from assay.records import Sample, Score
from assay.text.languages import code_of, language_of

#: Languages by their codes, with their English names; others are called by their code.
LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay", "nb": "Norwegian",
    "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu",
    "th": "Thai", "tl": "Tagalog", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese",
    "zh": "Chinese",
}  # fmt: skip

#: The intents by their names there, and what each means.
INTENTS = {
    "Account & Billing": "signing in, a profile, payments, money back",
    "Order Management": "making, changing, cancelling or following an order",
    "Technical Support": "something of the product that is broken or fails",
    "Product JudgePrompt": "what the product is, has or does",
    "Policy JudgePrompt": "rules on sending, sending back, guarantees and terms",
    "Status Check": "how far an order, a ticket or a request has come",
    "Complaint & Feedback": "being displeased, or proposing something",
    "Escalation": "to be passed on to a person",
    "Other": "none of the others",
}
ASKED = "Which intent is behind most of what the user in the CONVERSATION asks for?"


def most_used(texts: Sequence[str]) -> str | None:
    """The language that most of these texts are certainly in, the first of several; of all together, where none is."""
    certain = Counter(language for text in texts if (language := language_of(text)) is not None)
    return certain.most_common(1)[0][0] if certain else language_of("\n".join(texts))


def called(language: str) -> str:
    """The English name of a language given by name or code; a code without a name as it is."""
    code = code_of(language)
    return LANGUAGES.get(code, language.strip().title() if len(code) > 3 else code)


@dataclass(frozen=True)
class _ExpectedLabel(SystemMetric):
    """Whether what is named is what the row expects."""

    def compared(self, label: str, expected: object, **evidence: Any) -> Score:
        """The score of a label, with what the row expects; skipped where that is nothing."""
        texts = {"label": (label,)}
        if expected is None:
            message = f"the label is {label!r}; metadata['expected_labels'] expects none of {self.key}"
            return self.skip(Cause.MISSING_INPUT, message, texts=texts, **evidence)
        return self.make_score(float(label == expected), texts=texts, **evidence)

    @property
    def key(self) -> str:
        """Its name in `expected_labels`."""
        return self.name.partition(":")[2]

    def expected(self, sample: Sample) -> str | None:
        """What the row expects."""
        found = given(sample, self, "expected_labels", dict, {}).get(self.key)
        return None if found is None else str(found)


@dataclass(frozen=True)
class LanguageDetection(_ExpectedLabel):
    """Whether the user speaks the expected language."""

    name: ClassVar[str] = "openevals:language_detection"
    columns: ClassVar[tuple[str, ...]] = ("expected_labels",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        said = [message.content for message in messages_of(sample) if message.role == "user"]
        if not said:
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs a question or 'messages' of a user")
        language = most_used(said)
        if language is None:
            return self.skip(Cause.NOT_APPLICABLE, "the language of the user is in doubt")
        expected = self.expected(sample)
        return self.compared(called(language), None if expected is None else called(expected))


@dataclass(frozen=True)
class SupportIntent(_ExpectedLabel):
    """Whether the customer has the expected intent."""

    name: ClassVar[str] = "openevals:support_intent"
    asks: ClassVar = (Question,)
    columns: ClassVar[tuple[str, ...]] = ("expected_labels",)

    async def measure(self, sample: Sample, judge: Judge) -> Score:
        messages = messages_of(sample)
        if not any(message.role == "user" for message in messages):
            return self.skip(Cause.MISSING_INPUT, f"{self.label} needs a question or 'messages' of a user")
        expected = self.expected(sample)
        if expected is not None and expected not in INTENTS:
            message = f"expected_labels: {expected!r} is no intent ({', '.join(INTENTS)})"
            return self.skip(Cause.MISSING_INPUT, message)
        material = (transcript_section(messages, tools=False),)
        verdict = await judge.find(Question(ASKED, material, labels=INTENTS, language=sample.spoken))
        return self.compared(verdict.label, expected, verdicts={"conversation/intent": (verdict,)})


ENTRIES = (
    Entry(
        make=LanguageDetection,
        source="openevals.prompts.LANGUAGE_DETECTION_PROMPT",
        compared="the original only names; here found by py3langid",
        family="classification",
        steps=Steps("what the user says", "languages", "the expected label", "yes or no"),
        empty="no score without an expected label",
    ),
    Entry(
        make=SupportIntent,
        source="openevals.prompts.SUPPORT_INTENT_PROMPT",
        compared="the original only names",
        family="classification",
        steps=Steps("the whole conversation", "a closed set of labels", "the expected label", "yes or no"),
        empty="no score without an expected label",
    ),
)
