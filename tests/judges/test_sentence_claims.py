"""Claims by rule: what states something, and into which claims a text is divided."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judges.sentence_claims import refuses, sentence_claims, states_something


def texts(text: str, question: str | None = None) -> list[str]:
    return [claim.text for claim in sentence_claims(text, "en", question)]


def places(text: str, question: str | None = None) -> list[str]:
    return [claim.span.of(text) for claim in sentence_claims(text, "en", question)]


@pytest.mark.parametrize(
    "sentence",
    [
        "I don't know.",
        "I’m sorry, but I cannot find that in the documents.",
        "I do not have enough information to answer.",
        "The provided context does not mention the year.",
        "There is no information about this in the passages.",
        "The answer is not mentioned in the text.",
        "Based on the given documents, I am unable to determine who won.",
        "What would you like to know?",
        "Sure, here is the summary:",
        "I hope this helps!",
        "Let me know if you need anything else.",
        "I do not know, but I can help you with other questions.",
        "Of course!",
        "The year isn't mentioned in the context.",
        "***",
        "",
        # of the development data
        "Unable to answer based on given passages.",
        "Therefore, I am unable to provide instructions on how to fry chicken in the oven based on the given passages.",
        "However, there is no detailed information about what these sandboxes represent or how they are configured.",
        "The passages do not provide specific guidance on how to reheat foods, such as meats, vegetables, or grains.",
        "Reginald Aubrey Fessenden's first patented invention was not mentioned in the given context.",
        "I'm sorry, but I don't have that information.",
        "We're sorry, the documents don't say how many passengers there were.",
        "Let me know if you have any further questions or if there's anything else I can help with.",
        "Which hurricane are you referring to?",
        "Are you asking about the Trial plan, the Standard Next plan, or something else?",
        "Do you know who invented the sport of rowing?",
        "Would you like more details?",
        "What is your budget?",
        "Anything else?",
        "Here is how you can do it:",
    ],
)
def test_refusals_questions_and_small_talk_state_nothing(sentence):
    assert not states_something(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Paris is the capital of France.",
        "The tower is not open on Mondays.",
        "Dinosaurs are not mammals.",
        "The cause of the fire is not known.",
        "The law does not address imports.",
        "He did not say a word to the press.",
        "Sure enough, the bridge fell in 1879.",
        "Certainly the oldest of them, the Rhine bridge was built in 1774.",
        "It has no windows.",
        "The document does not mention the year, but the treaty was signed in Rome in 1867.",
        "I am not sure who wrote it; the first edition came out in Paris.",
        "Here is where the river meets the sea.",
        "Hello Kitty was created in 1974.",
        # plain facts that share words with a refusal
        "The agent does not offer any benefits to those who switch, and the client agrees to receive information.",
        "According to the text, breakfast is not included.",
        "According to the text, there is no information desk in the hall.",
        "The plan has no data limit according to the document.",
        "We did not find a lower prevalence of high scores among women randomized to exercise.",
        # refusals that go on
        "The documents do not mention members, so members get 90 days.",
        "The text does not specify a fee and therefore no fee is charged to anyone.",
        "The passages don't mention the amount of time, so it's advisable to check on it periodically.",
        "Members, who are not mentioned in the text, get 90 days.",
        "The documents do not mention why members get 90 days.",
        "The text doesn't mention that members get 90 days.",
        "I am sorry to say that members pay a fee.",
        "I do not have much information about it but I can tell you that it is an important site.",
        "The text does not mention a fee (members pay 20 euros).",
        "The text does not mention a fee, and 20 euros for members.",
        "I am not sure, members enjoy free shipping.",
        "Not mentioned in the text, members enjoy free shipping.",
        "The text does not mention a fee, members enjoy free shipping.",
        # questions that tell
        "What if members enjoy free shipping?",
        "Have you ever thought of being a baker, a person who prepares tables?",
        "Could there be any doubt that members enjoy free shipping?",
        "Did you know that members get 90 days?",
        "Did you know members get 90 days?",
        "Isn't it true that members get 90 days?",
        "Is n't red the best color?",
        "Who doesn't know that the museum was founded in 1932?",
        "Have you heard that members get 90 days?",
        "Members get 90 days, right?",
        "Members get 90 days?",
        "Why buy another phone, when this one lasts twenty years?",
        "Would you like more, because members get 90 days?",
        # small talk that tells
        "Let me know if you need more, as members get 90 days.",
        "I hope this helps, and remember that members pay nothing.",
        "Feel free to bring your dog.",
        "Here is what matters, members get 90 days:",
    ],
)
def test_whatever_states_something_is_a_claim(sentence):
    assert states_something(sentence)


def test_claims_are_sentences_verbatim_with_their_place():
    text = "Sure! Paris is the capital of France. Is that all? It has 2.1 million people."
    assert texts(text) == ["Paris is the capital of France.", "It has 2.1 million people."]
    assert places(text) == texts(text)


def test_short_sentences_are_claims_of_their_own():
    assert texts("The tower is 90 m high. In Oslo.") == ["The tower is 90 m high.", "In Oslo."]
    assert texts("Very tall. The tower is 90 m high.") == ["Very tall.", "The tower is 90 m high."]
    assert texts("Germany") == ["Germany"]
    assert texts("It is red. The bridge was built in 1889. It's long.")[0] == "It is red."


def test_what_has_no_letter_belongs_to_its_neighbour():
    assert places("The bridge is red. It is long. [2]") == ["The bridge is red.", "It is long. [2]"]
    assert places("1.\n\nThe bridge is red.") == ["1.\n\nThe bridge is red."]
    assert places("1889") == ["1889"]


def test_items_carry_the_line_they_hang_on_and_keep_their_place():
    text = "Members get:\n- 30 days\n* free shipping\n\nThe shop opened in 1990."
    assert texts(text) == ["Members get: 30 days", "Members get: free shipping", "The shop opened in 1990."]
    assert places(text) == ["- 30 days", "* free shipping", "The shop opened in 1990."]
    assert texts("## Side effects\n- nausea\n- dizziness") == ["Side effects: nausea", "Side effects: dizziness"]
    assert texts("**Fee:**\n20 euros") == ["Fee: 20 euros"]


def test_items_that_are_sentences_stand_alone():
    text = "What we know:\n1. The bridge was built in 1889.\n2. It is red."
    assert texts(text) == places(text) == ["1. The bridge was built in 1889.", "2. It is red."]


def test_a_lead_in_that_states_something_is_a_claim_too():
    assert texts("The shop gives all members these things:\n- a mug") == [
        "The shop gives all members these things:",
        "The shop gives all members these things: a mug",
    ]
    assert texts("Here are some tips:\n- a mug") == ["- a mug"]  # small talk is not carried along
    assert texts("Members pay nothing:\n- It is free.")[0] == "Members pay nothing:"


@pytest.mark.parametrize(
    ("question", "answer", "claim"),
    [
        ("Is the library open on Mondays?", "Yes.", "Yes, the library is open on Mondays."),
        ("Is the library open on Mondays?", "No.", "No, the library is not open on Mondays."),
        ("Is the library open on Mondays?", "No, it isn't.", "No, the library is not open on Mondays."),
        ("Was it built in 1889?", "Correct.", "Yes, it was built in 1889."),
        ("Can members return goods in May?", "Yes, they can.", "Yes, members can return goods in May."),
        ("Hello. Can members pay in May?", "Yes, they can.", "Yes, members can pay in May."),
        ("Does the museum open on Mondays?", "False", "No, the museum does not open on Mondays."),
        ("Is Paris the capital of France?", "Absolutely!", "Yes, Paris is the capital of France."),
        ("Is it red or green?", "Yes.", "Is it red or green? Yes."),  # no rule for it: question and answer
        ("When did it open?", "Yes.", "When did it open? Yes."),
        ("Tell me about it.", "Yes.", "Yes."),
        (None, "Yes.", "Yes."),
    ],
)  # fmt: skip
def test_a_short_answer_is_judged_as_the_answer_to_its_question(question, answer, claim):
    assert texts(answer, question) == [claim]
    assert places(answer, question) == [answer]


def test_a_question_in_the_text_is_nearer_than_the_one_that_was_asked():
    assert texts("Is it waterproof? No.", "Is it heavy?") == ["No, it is not waterproof."]
    assert texts("It weighs 90 grams. Correct.", "Is it light?") == ["It weighs 90 grams.", "Yes, it is light."]


def test_politeness_is_no_answer():
    assert texts("Sure! It opened in 1889.", "Can you tell me when it opened?") == ["It opened in 1889."]
    assert texts("Of course!") == []
    assert texts("Yes. It opened in 1889.", "Tell me when it opened.") == ["It opened in 1889."]


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(st.text(max_size=200), st.text("ab.!? \n-*#:|1[]", max_size=200)),
    st.one_of(st.none(), st.text(max_size=40), st.just("Is it open?")),
)
def test_claims_of_any_text_are_in_order_and_end_with_its_words(text, question):
    found = sentence_claims(text, "en", question)
    assert all(0 <= claim.span.start < claim.span.end <= len(text) for claim in found)
    assert all(a.span.end <= b.span.start for a, b in itertools.pairwise(found))
    assert all(claim.text.strip() for claim in found)
    for claim in found:
        said = claim.span.of(text)
        whole = claim.text == said or ": " in claim.text
        assert whole or claim.text.startswith(("Yes, ", "No, ")) or claim.text.endswith(said.strip())


CLAUSES = ("members get 90 days", "no fee is charged", "the museum closed in 1988", "it weighs 90 grams")
REFUSALS = (
    "The documents do not mention a limit",
    "I don't know the exact amount",
    "There is no information about fees",
    "The price is not specified in the text",
    "I'm sorry, but I cannot find the date",
)


JOINTS = (", so ", " and ", ", but ", "; ", ": ", " - ", " because ", ", which means ")


@given(st.sampled_from(REFUSALS), st.sampled_from(JOINTS), st.sampled_from(CLAUSES))
def test_a_refusal_with_a_clause_behind_it_is_a_claim(refusal, joint, clause):
    assert refuses(refusal + ".")
    assert states_something(refusal + joint + clause + ".")


HOSTILE = (
    " ", "so ", "sorry, ", "no information ", "is not ", "of the ", "a, ", "(", "- ", "Yes. ", "the text does not ",
    "? ", "**", "| ", "\n- ", "a:\n", "do you know ", "1. ",
)  # fmt: skip


@pytest.mark.parametrize("part", HOSTILE)
def test_time_is_linear(part):
    counter = itertools.count()

    def seconds(size: int) -> float:
        # another text each time: how texts are divided is remembered
        text = f"{next(counter)} {part * size}"[:size]
        start = time.process_time()
        states_something(text)
        refuses(text)
        sentence_claims(text, "en", text)
        return time.process_time() - start

    short = min(seconds(10_000) for _ in range(3))
    assert seconds(100_000) < 30 * short + 0.5
