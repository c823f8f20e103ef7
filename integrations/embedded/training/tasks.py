"""Other things that the reader was trained to say, in the form of a claim and a text that it is read against."""

from __future__ import annotations


def statement_text(question: str | None) -> str:
    """The text against which a sentence is "supported" that states something checkable.

    Args:
        question: What the sentence answers, if that is known.

    Returns:
        The text to read it with.
    """
    return f"A statement of fact about: {question}" if question else "A statement of fact."


def answer_texts(question: str, answer: str, reference: str) -> tuple[str, str]:
    """The claim and the text that tell whether an answer agrees with a short reference.

    Args:
        question: What both answer.
        answer: The answer.
        reference: The right answer, in a few words.

    Returns:
        The claim, and what it is read against.
    """
    return f"{question} {answer}", f"{question} {reference}"
