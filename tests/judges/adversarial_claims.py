"""Answers that hide an invention where a rule for claims may not look, each with a true twin of the same form.

Written before the rules they test. `BY_HAND` was written line by line; `by_rule` puts statements about four subjects
into every form of `FORMS`. An invention says something that its contexts do not support; in its twin the same words
hang around a statement that they do support. Refusals in both are honest: what they say is not mentioned is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pair:
    """`form` names what hides the statement; the answer is `invention` or `twin`."""

    form: str
    question: str
    contexts: tuple[str, ...]
    invention: str
    twin: str


@dataclass(frozen=True, slots=True)
class Subject:
    """What the forms are filled with: (false, true) where a field has two.

    `opening` is true and opens most answers; `unknown` is in no context; `says` is a clause without its full stop,
    made of `who` and `does`; `polar` is a question to which "Yes." is wrong, and one to which it is right.
    """

    question: str
    contexts: tuple[str, ...]
    opening: str
    unknown: str
    who: tuple[str, str]
    does: tuple[str, str]
    short: tuple[str, str]
    lead: str
    item: tuple[str, str]
    also: str
    field: str
    value: tuple[str, str]
    polar: tuple[str, str]


SUBJECTS = (
    Subject(
        question="What are the rules for refunds?",
        contexts=(
            "Customers get a refund within 14 days of purchase. The refund is free of charge. It is paid to the card "
            "that was used for the purchase.",
            "Customers receive a receipt by email and a tracking number for each parcel.",
        ),
        opening="Customers get a refund within 14 days of purchase.",
        unknown="members",
        who=("members", "customers"),
        does=("get a refund within 90 days of purchase", "get a refund within 14 days of purchase"),
        short=("Refunds cost 20 euros.", "Refunds are free."),
        lead="Customers receive:",
        item=("a gift voucher worth 50 euros", "a tracking number for each parcel"),
        also="a receipt by email",
        field="Refund period",
        value=("90 days", "14 days"),
        polar=("Do refunds cost 20 euros?", "Are refunds free of charge?"),
    ),
    Subject(
        question="Tell me about the Harrow bridge.",
        contexts=(
            "The Harrow bridge was built in 1889 by the engineer Maria Lund. It is 310 metres long and made of steel.",
            "The Harrow bridge carries two railway tracks and a footpath. It is painted red.",
        ),
        opening="The Harrow bridge was built in 1889 by the engineer Maria Lund.",
        unknown="the cost of the work",
        who=("the Harrow bridge", "the Harrow bridge"),
        does=("was closed to trains in 1954", "is 310 metres long and made of steel"),
        short=("It is green.", "It is red."),
        lead="The Harrow bridge carries:",
        item=("a tram line", "two railway tracks"),
        also="a footpath",
        field="Length of the bridge",
        value=("720 metres", "310 metres"),
        polar=("Is the Harrow bridge painted green?", "Is the Harrow bridge painted red?"),
    ),
    Subject(
        question="When can I visit the library?",
        contexts=(
            "The town library is open from Tuesday to Saturday, from 9 am to 6 pm. It is closed on Mondays. "
            "Entry is free.",
            "The town library offers free internet access and a reading room for children.",
        ),
        opening="The town library is open from Tuesday to Saturday.",
        unknown="students",
        who=("students", "visitors"),
        does=("pay 12 euros a month", "can use the town library from 9 am to 6 pm"),
        short=("Entry costs 8 euros.", "Entry is free."),
        lead="The town library offers:",
        item=("a swimming pool", "a reading room for children"),
        also="free internet access",
        field="Closed on",
        value=("Fridays", "Mondays"),
        polar=("Is the town library open on Mondays?", "Is the town library closed on Mondays?"),
    ),
    Subject(
        question="What is known about Solvane?",
        contexts=(
            "Solvane is a medicine against migraine. Adults take one tablet of 50 mg a day. Solvane was approved "
            "in 2016.",
            "Common side effects of Solvane are nausea and dizziness.",
        ),
        opening="Solvane is a medicine against migraine.",
        unknown="children",
        who=("children", "adults"),
        does=("take four tablets of Solvane a day", "take one tablet of Solvane a day"),
        short=("Solvane cures cancer.", "Solvane treats migraine."),
        lead="Common side effects of Solvane are:",
        item=("heart failure", "dizziness"),
        also="nausea",
        field="Approval of Solvane",
        value=("1987", "2016"),
        polar=("Was Solvane approved in 1987?", "Was Solvane approved in 2016?"),
    ),
)

#: {opening} {unknown} {says} {Says} {who} {Who} {does} {short} {lead} {also} {item} {field} {value}
FORMS = {
    "refusal, so": "{opening} The documents do not mention {unknown}, so {says}.",
    "refusal, and therefore": "{opening} The text does not specify anything about {unknown} and therefore {says}.",
    "refusal, because": "{opening} The passages don't mention {unknown} because {says}.",
    "refusal, which means": "{opening} The context does not say anything about {unknown}, which means that {says}.",
    "refusal, alone": "The documents do not mention {unknown}, so {says}.",
    "refusal first, no comma": "{opening} Although the text does not mention {unknown} {says}.",
    "refusal in the middle": "{opening} {Says}, though the documents do not mention {unknown}.",
    "refusal of the speaker": "{opening} I cannot find anything about {unknown} in the text and {says}.",
    "sorry that": "{opening} I am sorry to say that {says}.",
    "but": "{opening} The text does not mention {unknown}, but {says}.",
    "semicolon": "{opening} The text does not mention {unknown}; {says}.",
    "dash": "{opening} The text does not mention {unknown} - {says}.",
    "did you know": "{opening} Did you know that {says}?",
    "isn't it true": "{opening} Isn't it true that {says}?",
    "tag question": "{opening} {Says}, right?",
    "statement with a question mark": "{opening} {Says}?",
    "statement, then a question": "{opening} {Says}, would you like more details?",
    "relative clause": "{opening} {Who}, who or which are not described further in the text, {does}.",
    "list item": "{lead}\n- {also}\n- {item}",
    "numbered list": "{lead}\n1. {also}\n2. {item}",
    "list item, a sentence": "What we know:\n\n* {opening}\n* {Says}.",
    "short sentence": "{opening} {short}",
    "short sentence first": "{short} {opening}",
    "short sentence between": "{opening} {short} {opening}",
    "parenthesis": "{opening} ({Says}.)",
    "heading": "{opening}\n\n## {Says}\n\n{opening}",
    "field and colon": "{opening}\n\n{field}: {value}",
    "bold field": "{opening}\n\n**{field}:** {value}",
    "quotation": '{opening} The documents say: "{Says}."',
    "quoted refusal": '{opening} "The text doesn\'t mention {unknown}", and {says}.',
    "footnote": "{opening}\n\n[1] {Says}.",
    "asterisk": "{opening}*\n\n* {Says}.",
    "table": "{opening}\n\n| {field} | {value} |",
    "citation marker": "{opening} [1] {Says} [1].",
    "note": "{opening} Note: {says}.",
    "note in capitals": "{opening}\n\nPLEASE NOTE: {says}!",
    "emoji": "{opening} 👉 {Says} 🎉",
    "offer": "{opening} Let me know if you need more, as {says}.",
    "hope": "{opening} I hope this helps, and remember that {says}.",
    "small talk": "Sure, {says}.",
    "lead-in": "{opening} Here is what matters, {says}:",
    "yes to its own question": "{opening} {polar} Yes.",
    # of sentences that speak of their sources
    "citation of a passage": "{opening} {Says} (Passage 2).",
    "citation behind the full stop": "{opening} {Says}. [1]",
    "two numbers in a bracket": "{opening} {Says} [1, 2].",
    "corner brackets": "{opening} {Says}【1】.",
    "raised number": "{opening}¹ {Says}.²",
    "see document": "{opening} (see Document 1) {Says} (see Document 2).",
    "citation first": "[1] {opening} [2] {Says}.",
    "sources only cited": "{opening}\n\n[1]\n{Says}.\n(Passages 1 and 2)",
    "based on": "Based on the given passages, {says}.",
    "according to": "{opening} According to the provided context, {says}.",
    "passages state": "{opening} The passages state that {says}.",
    "a passage states": "{opening} Passage 2 clearly states that {says}.",
    "as mentioned": "{opening} As mentioned in passage 2, {says}.",
    "as mentioned, behind": "{opening} {Says}, as mentioned in passage 1.",
    "it appears": "Based on the documents, it appears that {says}.",
    "one source silent, one not": "{opening} Passage 1 does not mention {unknown}, while passage 2 says that {says}.",
    "unable, but": "Unable to answer based on given passages, but {says}.",
    "passage as heading": "Passage 1:\n\n{opening}\n\nPassage 2:\n\n{Says}.",
    "passage as label": "{opening}\nPassage 2: {Says}.",
    "source behind a label": "{opening}\n\n1. Details: According to passage 1, {says}.",
    "nested list": "What we know:\n\n1. {lead}\n   - {also}\n   - {item}\n2. {opening}",
    "list below talk of the sources": "Here is what the passages say:\n\n- {Says}.",
    "lead-in, as follows": "{Says}, as follows:\n\n- {opening}",
    "what the passages mention": "{lead} {also}. The passages also mention {item}.",
    "what a passage describes": "{opening} Passage 2 describes {also} and {item}.",
}


def by_rule() -> Iterator[Pair]:
    """Every form with two of the subjects; yes and no with all of them."""
    for m, subject in enumerate(SUBJECTS):
        for n, (form, template) in enumerate(FORMS.items()):
            if (n + m) % 2:
                continue  # all four take twice as long and find the same
            invention, twin = (template.format(**_filling(subject, n)) for n in (0, 1))
            yield Pair(form, subject.question, subject.contexts, invention, twin)
        for word in ("Yes.", "Correct.", "Yes, it is so."):
            # the twins of a yes/no answer differ in the question, so they are two pairs in one
            yield Pair(f"answer: {word}", subject.polar[0], subject.contexts, word, "")
            yield Pair(f"answer: {word}", subject.polar[1], subject.contexts, "", word)


def _filling(subject: Subject, n: int) -> dict[str, str]:
    says = f"{subject.who[n]} {subject.does[n]}"
    return {
        "opening": subject.opening,
        "unknown": subject.unknown,
        "says": says,
        "Says": says[0].upper() + says[1:],
        "Who": subject.who[n][0].upper() + subject.who[n][1:],
        "does": subject.does[n],
        "short": subject.short[n],
        "lead": subject.lead,
        "also": subject.also,
        "item": subject.item[n],
        "field": subject.field,
        "value": subject.value[n],
        "polar": subject.polar[n],
    }


_REFUNDS = "What are the rules for refunds?", ("Refunds are possible within 14 days.",)
_MUSEUM = (
    "Tell me about the museum.",
    (
        "The Vale museum opened in 1932. It shows clocks and watches. Tickets cost 12 euros. The museum is not open on "
        "Mondays. It has no cloakroom. There is no free parking at the museum.",
    ),
)
_PHONE = (
    "Which phone should I take?",
    (
        "The Lark 5 has a screen of 6 inches and a battery of 4000 mAh. The Lark 5 costs 300 euros. It is not "
        "waterproof. The Lark 5 plan has no data limit.",
        "The Wren 2 has a screen of 5 inches and costs 150 euros.",
    ),
)

BY_HAND = (
    Pair(
        "refusal, so",
        *_REFUNDS,
        "Refunds are possible within 14 days. The documents do not mention members, so members get a"
        " refund within 90 days.",
        "Refunds are possible within 14 days. The documents do not mention members, so refunds are"
        " possible within 14 days.",
    ),
    Pair(
        "refusal, alone",
        *_REFUNDS,
        "The documents do not mention a limit, so refunds are possible within 90 days.",
        "The documents do not mention members, so refunds are possible within 14 days.",
    ),
    Pair(
        "refusal, and therefore",
        *_REFUNDS,
        "Refunds are possible within 14 days. The text does not specify a fee and therefore no fee is"
        " charged to anyone.",
        "Refunds are possible within 14 days. The text does not specify a fee and therefore refunds"
        " are possible within 14 days.",
    ),
    Pair(
        "relative clause",
        *_REFUNDS,
        "Refunds are possible within 14 days. Members, who are not mentioned in the text, get a refund within 90 days.",
        "Refunds are possible within 14 days. Refunds, which are not described in detail in the text,"
        " are possible within 14 days.",
    ),
    Pair(
        "did you know",
        *_REFUNDS,
        "Refunds are possible within 14 days. Did you know that members get 90 days?",
        "Refunds are possible within 14 days. Did you know that refunds are possible within 14 days?",
    ),
    Pair(
        "advice after a refusal",
        *_REFUNDS,
        "Refunds are possible within 14 days. The passages don't mention the amount, so it's advisable to pay in cash.",
        "Refunds are possible within 14 days. The passages don't mention the amount, so it's only"
        " known that refunds are possible within 14 days.",
    ),
    Pair(
        "plain negative fact",
        *_MUSEUM,
        "The Vale museum opened in 1932. According to the text, the museum does not offer tickets or"
        " information by email.",
        "The Vale museum opened in 1932. According to the text, the museum is not open on Mondays and"
        " has no cloakroom.",
    ),
    Pair(
        "plain negative fact",
        *_PHONE,
        "The Lark 5 costs 300 euros. According to the text, the Wren 2 plan has no data limit and no contract.",
        "The Lark 5 costs 300 euros. According to the text, the Lark 5 plan has no data limit.",
    ),
    Pair(
        "there is no",
        *_MUSEUM,
        "According to the text, there is no information desk and no shop in the museum.",
        "According to the text, there is no free parking at the museum.",
    ),
    Pair(
        "is not available",
        *_MUSEUM,
        "As the documents show, tickets are not available on Sundays.",
        "As the documents show, free parking is not available at the museum.",
    ),
    Pair(
        "feel free",
        *_MUSEUM,
        "The Vale museum opened in 1932. Feel free to bring your dog, since dogs are welcome in all rooms.",
        "The Vale museum opened in 1932. Feel free to come, since the museum shows clocks and watches.",
    ),
    Pair(
        "have you heard",
        *_MUSEUM,
        "The Vale museum opened in 1932. Have you heard it burnt down in 1988?",
        "The Vale museum shows clocks and watches. Have you heard it opened in 1932?",
    ),
    Pair(
        "doesn't it",
        *_MUSEUM,
        "The Vale museum opened in 1932. Doesn't the Vale museum own the largest clock in Europe?",
        "The Vale museum opened in 1932. Doesn't the Vale museum show clocks and watches?",
    ),
    Pair(
        "who would not",
        *_MUSEUM,
        "The Vale museum opened in 1932. Who doesn't know that the Vale museum was founded by Queen Victoria?",
        "The Vale museum shows clocks and watches. Who doesn't know that the Vale museum opened in 1932?",
    ),
    Pair(
        "two short sentences",
        *_MUSEUM,
        "Tickets cost 12 euros. Dogs are welcome. Children sleep there.",
        "Tickets cost 12 euros. It shows clocks. It opened in 1932.",
    ),
    Pair(
        "fragment",
        *_MUSEUM,
        "The Vale museum opened in 1932. In Paris.",
        "The Vale museum opened. In 1932.",
    ),
    Pair(
        "short list items",
        *_MUSEUM,
        "The Vale museum shows:\n- clocks\n- dinosaurs\n- watches",
        "The Vale museum shows:\n- clocks\n- watches",
    ),
    Pair(
        "list after a true sentence",
        *_PHONE,
        "The Lark 5 has:\n- a screen of 6 inches\n- a battery of 9000 mAh",
        "The Lark 5 has:\n- a screen of 6 inches\n- a battery of 4000 mAh",
    ),
    Pair(
        "table",
        *_PHONE,
        "| Phone | Price |\n|---|---|\n| Lark 5 | 300 euros |\n| Wren 2 | 990 euros |",
        "| Phone | Price |\n|---|---|\n| Lark 5 | 300 euros |\n| Wren 2 | 150 euros |",
    ),
    Pair(
        "not mentioned, twice",
        *_PHONE,
        "The text does not mention the weight and does not mention the colour, hence the Wren 2 weighs 90 grams.",
        "The text does not mention the weight and does not mention the colour, only that the Wren 2 costs 150 euros.",
    ),
    Pair(
        "apology",
        *_PHONE,
        "Sorry, I cannot find the weight in the text, it is sold in Japan only.",
        "Sorry, I cannot find the weight in the text, the Wren 2 costs 150 euros.",
    ),
    Pair(
        "no colon",
        *_PHONE,
        "I do not know the weight from the documents the Lark 5 was named phone of the year.",
        "I do not know the weight from the documents the Lark 5 costs 300 euros.",
    ),
    Pair(
        "a question that answers",
        *_PHONE,
        "The Lark 5 costs 300 euros. Why buy another phone, when the Lark 5 lasts twenty years?",
        "The Lark 5 has a screen of 6 inches. Why buy another phone, when the Lark 5 costs 300 euros?",
    ),
    Pair(
        "does it? yes",
        *_PHONE,
        "The Lark 5 costs 300 euros. Is it waterproof? Yes.",
        "The Lark 5 costs 300 euros. Is it waterproof? No.",
    ),
    Pair(
        "thanks",
        *_PHONE,
        "Great question! Thanks for asking, the Lark 5 is made of gold.",
        "Great question! Thanks for asking, the Lark 5 costs 300 euros.",
    ),
    Pair(
        "not mentioned, which is",
        *_PHONE,
        "The passages do not mention the price, which is 5 dollars.",
        "The passages do not mention the weight, and the price of the Lark 5 is 300 euros.",
    ),
    Pair(
        "what a passage mentions, with an adjective",
        *_MUSEUM,
        "The Vale museum opened in 1932. The passages describe the museum's secret dinosaur hall.",
        "The Vale museum opened in 1932. The passages describe the museum's clocks and watches.",
    ),
    Pair(
        "aim of a lead-in",
        *_PHONE,
        "To enjoy the gold case of the Lark 5, follow these steps:\n\n1. The Lark 5 costs 300 euros.",
        "",
    ),
    Pair(
        "question in an announcement",
        *_PHONE,
        'Here is the answer to the question "Why is the Lark 5 made of gold?"',
        "",
    ),
    Pair(
        "announcement that answers",
        *_PHONE,
        "The answer to the question is the Lark 9.",
        "The answer to the question is the Lark 5, which costs 300 euros.",
    ),
    Pair(
        "answer of a few words",
        "What does the Lark 5 cost?",
        _PHONE[1],
        "900 euros",
        "300 euros",
    ),
    Pair(
        "answer of a few words, cited",
        "When did the Vale museum open?",
        _MUSEUM[1],
        "According to passage 1, in 1874 [1].",
        "According to passage 1, in 1932 [1].",
    ),
    Pair(
        "items that answer the question",
        "What does the Vale museum show?",
        _MUSEUM[1],
        "Based on the passages:\n\n- clocks\n- dinosaurs",
        "Based on the passages:\n\n- clocks\n- watches",
    ),
    Pair(
        "items below a nested lead-in",
        *_PHONE,
        "Here are the phones:\n\n1. The Lark 5 has:\n   - a battery of 4000 mAh\n   - a screen of 9 inches\n"
        "2. The Wren 2 has:\n   - a screen of 5 inches",
        "Here are the phones:\n\n1. The Lark 5 has:\n   - a battery of 4000 mAh\n   - a screen of 6 inches\n"
        "2. The Wren 2 has:\n   - a screen of 5 inches",
    ),
    Pair(
        "long lead-in carried by its items",
        *_MUSEUM,
        "The Vale museum, founded by King Otto in 1650, shows the following:\n- clocks\n- watches",
        "The Vale museum, which opened in 1932, shows the following:\n- clocks\n- watches",
    ),
    Pair(
        "lead-in of an item, before its sibling",
        *_PHONE,
        "1. The Lark 5 is made of gold, including:\n2. a screen of 6 inches",
        "",
    ),
    Pair(
        "denied by the source",
        *_PHONE,
        "The Lark 5 costs 300 euros. The passages state that the Lark 5 is not heavy.",
        "The Lark 5 costs 300 euros. The passages state that the Lark 5 is not waterproof.",
    ),
)
