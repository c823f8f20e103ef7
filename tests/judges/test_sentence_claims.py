"""Claims by rule: what states something, and into which claims a text is divided."""

from __future__ import annotations

import itertools
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judges.claim_rules import refuses, sentence_claims, states_something
from assay.metrics.shared_prompts import not_judged
from assay.text import split_sentences


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
        "Hope this helps!",
        "Hope that answers your question.",
        "Thank you for asking.",
        "Thanks so much for your great question!",
        "Glad to help!",
        "As an AI model I cannot say.",
        "As an AI language model, I don't have access to real-time information.",
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
        "I do not know the answer, unfortunately.",
        "I could not find anything, I'm afraid.",
        "The text does not mention a fee, though.",
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
        "I do not know the winner, Denver.",
        "I do not know the winner (Denver).",
        "I do not have access to the name of the winner, Denver Broncos.",
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
        "Hope this helps, members get 90 days.",
        "Hope it helps members get 90 days.",
        "Thank you for asking, members get 90 days.",
        "Thank you for the 90 days.",
        "As an AI model, I know that members get 90 days.",
        "I do not have access to that, but members get 90 days.",
        "See, members get 90 days.",
        "Source: members get 90 days.",
        "(source: members get 90 days)",
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
    assert places("The bridge is red. [1] It is long.") == ["The bridge is red. [1]", "It is long."]
    assert places("It is red.\n(Passage 3)\n\nIt is long.") == ["It is red.\n(Passage 3)", "It is long."]
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
    assert texts(text) == ["The bridge was built in 1889.", "It is red."]
    assert places(text) == ["1. The bridge was built in 1889.", "2. It is red."]


def test_a_lead_in_that_states_something_is_a_claim_too():
    assert texts("The shop gives all members these things:\n- a mug") == [
        "The shop gives all members these things:",
        "The shop gives all members these things: a mug",
    ]
    assert texts("Here are some tips:\n- a mug") == ["a mug"]  # small talk is not carried along
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


@pytest.mark.parametrize(
    ("sentence", "claim"),
    [
        ("It is red [1].", "It is red."),
        ("It is red [2, 3].", "It is red."),
        ("It is red (Passage 2).", "It is red."),
        ("It is red (passages 1 and 3).", "It is red."),
        ("It is red [source 2].", "It is red."),
        ("It is red【1】.", "It is red."),
        ("It is red【4†report.pdf】.", "It is red."),
        ("It is red (see Document 4).", "It is red."),
        ("It is red [1], [2] and long [3].", "It is red and long."),
        ("It is red.[1][2]", "It is red."),
        ("It is red.¹", "It is red."),
        ("It is red[^1].", "It is red."),
        ("It[1]is red.", "It is red."),
        ("2. It is red.", "It is red."),
        ("- It is red.", "It is red."),
        ("a) It is red.", "It is red."),
        ("As the documents show, tickets are not available.", "Tickets are not available."),
        ("As passage 2 clearly states, it is red.", "It is red."),
        ("Based on the given passages, it is red.", "It is red."),
        ("Therefore, based on the given passages, it appears that it is red.", "It is red."),
        ("According to the provided context, it is red.", "It is red."),
        ("According to [2], it is red.", "It is red."),
        ("As mentioned in passage 3, it is red.", "It is red."),
        ("In the passages, it is stated that it is red.", "It is red."),
        ("The passages state that it is red.", "It is red."),
        ("Passage 2 clearly states that it is red.", "It is red."),
        ("[2] says that it is red.", "It is red."),
        ("It is worth noting that passage 2 says that it is red.", "It is red."),
        ("Passage 2: It is red.", "It is red."),
        ("Colour: According to passage 1, it is red.", "Colour: It is red."),
        ("It is red, as stated in passage 2.", "It is red."),
        ("The bridge, according to passage 2, is red.", "The bridge is red."),
        ("The bridge (according to the text) is red.", "The bridge is red."),
        ("3. As mentioned in passage 2, it is red [2].", "It is red."),
        ("Passage 1 mentions a red bridge.", "A red bridge."),
    ],
)
def test_marks_and_talk_of_the_sources_are_no_part_of_what_is_read(sentence, claim):
    assert texts(sentence) == [claim]
    assert places(sentence) == [sentence]


@pytest.mark.parametrize(
    "sentence",
    [
        "A. Smith wrote it.",
        "It was built in [1889].",
        "The value lies in [0, 1].",
        "According to the text of the law, it is red.",
        "The passages do not say that it is red, but it is.",
        "Passage 1 mentions no colour but red.",
        "This document explains the colour of the bridge.",  # a summary says so of the whole
        "As shown in the museum, it is red.",
        "The documents provided to members mention the fee.",
        "The law firm documents 12 cases.",
    ],
)
def test_what_only_looks_like_it_stays(sentence):
    assert texts(sentence) == [sentence]


@pytest.mark.parametrize(
    "text",
    [
        "(Passage 2)",
        "Passage 1:",
        "Passage 1:\nPassage 2:",
        "Based on the provided passages:",
        "Based on the given passages, here are the steps:",
        "Here is a summary of the passages:",
        "Here is what the passages say:",
        "This information can be found in passage 3.",
        "The passages do not mention the price.",
        "None of the passages mention the price.",
        "Unable to answer based on given passages.",
        "Sure, I can help you with that!",
        "If you have any other questions, feel free to ask!",
    ],
)
def test_mere_talk_of_the_sources_claims_nothing(text):
    assert texts(text) == []


@pytest.mark.parametrize(
    "behind",
    [
        " (source: [1])", " (see [2])", " [source]", " (Source: Passage 1)", " See [1].", " Source: passage 1.",
        " Sources: passages 1 and 3.", "\n\n---\n\nSources: [1]", "\n\nSources:\n- [1]\n- [2]",
        "\n\n## References\n\n1. Rules of the library\n2. [2] Annual report of the board",
        "\n\n[^1]: Rules of the library", " (Document 1, page 3)", " <sup>1</sup>", " — Passage 1",
        " For more information, see passage 2.", " Please refer to passage 1 for details.",
        " You can read more in [2].",
        " This is supported by [1].", " This information comes from passage 1.", "\n### Sources\n- Passage 1",
    ],
)  # fmt: skip
def test_where_it_is_from_is_no_claim_of_its_own(behind):
    assert texts(f"Members get 90 days.{behind}") == ["Members get 90 days."]


@pytest.mark.parametrize(
    "around",
    [
        "I'd be happy to help! {}", "Sure thing! {}", "{} I hope that clears things up!", "{} Have a great day!",
        "{} That's all I know.", "{} That is all the information available.", "Let me check the documents. {}",
        "Good morning! {}", "Dear customer,\n\n{}\n\nBest regards", "Hi Anna,\n\n{}\n\nCheers",
        "Great! {}", "Got it! {}",
        "The answer is as follows. {}", "Please find the answer below. {}", "Below is a summary. {}",
        "Conclusion\n\n{}",
        "{}\n\nFinal answer.",
        "Q: How long may I keep it?\n{}", "**Question:** How long?\n{}",
        "{} Please note that this is not legal advice.", "{} Don't hesitate to ask.",
        "Correct. {}",
        "Exactly! {}",
    ],
)  # fmt: skip
def test_talk_around_an_answer_is_no_claim(around):
    text = around.format("Members get 90 days.")
    assert texts(text, "How long may members keep books?") == ["Members get 90 days."]


@pytest.mark.parametrize("answer", ["Great!", "Perfect.", "A conclusion."])
def test_one_word_alone_may_be_the_answer(answer):
    assert texts(answer, "How was the food?") == [answer]


@pytest.mark.parametrize(
    "sentence",
    [
        "See the 90 days that members get.", "Please refer to passage 1, since members get 90 days.",
        "This is supported by members.", "I checked the documents and members get 90 days.",
        "Dear members get 90 days.",
        "The answer is 90 days.", "Great, members get 90 days.", "That is all the information members get.",
        "This is not legal advice but members get 90 days.", "Members get 90 days (see the rules of 1988).",
        "Have a great day at 90 euros.", "Document 1, page 3 says members get 90 days.",
    ],
)  # fmt: skip
def test_what_begins_like_talk_and_goes_on_is_a_claim(sentence):
    assert len(texts(f"It is red. {sentence}")) == 2


def test_a_statement_in_a_list_of_sources_is_a_claim():
    text = "It is red.\n\nSources:\n- Rules of the library\n- Members get 90 days\n- A fee of 20 euros"
    assert texts(text) == ["It is red.", "Members get 90 days", "sources: A fee of 20 euros"]


def test_a_refusal_with_a_statement_in_it_is_a_statement():
    sentence = "The passages do not mention the price, which is 5 dollars."
    assert texts(sentence) == [sentence]


@pytest.mark.parametrize(
    ("lead", "dropped"),
    [
        ("To cook a rare steak, follow these steps:", True),
        ("Here is how to cook a rare steak:", True),
        ("The steps to cook a steak are as follows:", True),
        ('Therefore, the answer to the question "How do you cook a steak?" is:', True),
        ("Rare steak recipe:", True),
        ("To get the free knife, follow these steps:", False),
        ("The steak is rare:", False),
        ("The best steak is from Wagyu cows:", False),
    ],
)
def test_a_lead_in_is_no_claim_where_it_names_only_what_was_asked(lead, dropped):
    found = texts(f"{lead}\n\n1. It is turned once.", "How do you cook a rare steak?")
    assert found == ([] if dropped else [lead]) + ["It is turned once."]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Members pay nothing, including:\n- shipping", ["Members pay nothing, including: shipping"]),
        ("1. Members pay nothing, including:\n2. a mug", ["Members pay nothing, including:", "a mug"]),
        ("Members pay nothing, including:\n- I don't know", ["Members pay nothing, including:"]),
        ("## Free mugs for everyone, such as:\nSure!", ["Free mugs for everyone, such as:"]),
    ],
)
def test_what_a_lead_in_states_is_judged_with_an_item_or_by_itself(text, claims):
    assert texts(text) == claims


def test_items_hang_on_the_nearest_line_above_them():
    text = "Members get:\n- Fees:\n  - 20 euros\n  - 5 dollars\n- a mug\n\nGuests get:\n1. Fees:\n- 40 euros\n2. a pen"
    assert texts(text) == [
        "Fees: 20 euros",
        "Fees: 5 dollars",
        "Members get: a mug",
        "Fees: 40 euros",
        "Guests get: a pen",
    ]


def test_an_item_of_two_sentences_does_not_end_its_list():
    assert texts("Members get:\n- a mug. It is red.\n- a pen") == [
        "Members get: a mug.",
        "It is red.",
        "Members get: a pen",
    ]


def test_what_a_lead_in_names_goes_along_without_its_talk():
    text = "Based on the passages, here are some side effects of Solvane:\n- nausea"
    assert texts(text) == ["some side effects of Solvane: nausea"]
    assert texts("According to passage 2, members get:\n- a mug [2]") == ["Members get: a mug"]


def test_an_item_without_a_lead_in_is_read_as_the_answer_to_the_question():
    items = "Here is a list:\n- clocks\n- watches"
    question = "What does the museum show?"
    assert texts(items, question) == [f"{question} clocks", f"{question} watches"]
    assert texts(items) == texts(items, "Tell me about the museum.") == ["clocks", "watches"]
    assert texts("clocks", question) == ["clocks"]  # a reference is often just as short


PIECES = (
    "It is red", "members get 90 days", "[1]", " [2, 3]", "(Passage 2)", "【1】", "¹", ". ", ", ", "\n", "\n- ",
    "\n  * ",
    "\n1. ", ":", "?", "Based on the passages, ", "According to passage 2, ", "Passage 1 states that ", "Members get:",
    ", as mentioned in passage 3", "The passages do not mention ", "Here are the steps:", "## Fees",
    "members get 90 days, including:", "Yes", "No", " ",
)  # fmt: skip
SPOKEN = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@pytest.mark.long
@settings(max_examples=400, deadline=None)
@given(
    st.one_of(st.text(max_size=200), st.text("ab.!? \n-*#:|1[]", max_size=200), SPOKEN),
    st.one_of(st.none(), st.text(max_size=40), st.sampled_from(["Is it open?", "What is it?"])),
)
def test_claims_are_in_order_and_made_of_the_words_of_text_and_question(text, question):
    found = sentence_claims(text, "en", question)
    assert all(0 <= claim.span.start < claim.span.end <= len(text) for claim in found)
    assert all(a.span.end <= b.span.start for a, b in itertools.pairwise(found))
    known = set(re.findall(r"\w+", f"{text} {question or ''} yes no not".casefold()))
    for claim in found:
        assert claim.text.strip()
        assert set(re.findall(r"\w+", claim.text.casefold())) <= known


@settings(max_examples=300, deadline=None)
@given(SPOKEN)
def test_every_statement_is_in_a_claim_or_named_as_not_judged(text):
    claims = sentence_claims(text)
    left = not_judged(text, claims)
    for sentence in (span.of(text) for span in split_sentences(text)):
        if "members get 90 days" in sentence and "?" not in sentence and "not mention" not in sentence:
            assert any("members get 90 days" in claim.text.lower() for claim in claims), left


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
    "? ", "**", "| ", "\n- ", "a:\n", "do you know ", "1. ", "[1]", "[1] A ", "(passage 1) ", "passage 1 says that ",
    "based on the text, ", ", according to the text", "\n  - a:", "Here is a: ", "\n(passage 2)",
)  # fmt: skip


@pytest.mark.long
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
    assert any(seconds(100_000) < 30 * short + 0.5 for _ in range(3))  # another process may slow one of them
