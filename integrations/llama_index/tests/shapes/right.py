"""What is right for applications rebuilt from the documentation, cookbooks and templates of LlamaIndex.

Written down before capture was run on any of them; the code is in `applications_*.py`. Where an expectation turned out
to rest on a mistake about the application, the history of this file says so.
"""

from __future__ import annotations

from integrations.llama_index.tests.fakes import ANSWER
from integrations.llama_index.tests.shapes.base import BARK, CALM, HEAL, Expected, Right

BOTH = ((CALM, True), (HEAL, True))
UNSEEN = ((CALM, False), (HEAL, False))
BEFORE = "Do cats purr?"
PIECES = ((f"Source 1:\n{CALM}\n", True), (f"Source 2:\n{HEAL}\n", True))

LONG = tuple(f"{word} " * 400 for word in ("calm", "heal"))
LOOKED_AHEAD = "Cats do so at ease. And to mend."
COUNTED = "How many cats purr?"
COUNT = "Two cats purr."
FACT = f"Here are some facts extracted from the provided text:\n\nCats -> PURR_WHEN -> Calm\n\n{CALM}"
COMBINED = f"{CALM}\n{HEAL}"

ENGINES: dict[str, Right] = {
    "flare": Right(
        about="FLARE: a text that is looked ahead, with searches in it, filled in from a query engine",
        why="the answer is the text put together in the end; the calls that wrote it saw the engine's answer, "
        "not the passages",
        expect=(Expected(answer=LOOKED_AHEAD, contexts=UNSEEN),),
    ),
    "sql_router": Right(
        about="a router that chooses between a database and documents: the database",
        why="LlamaIndex hands the rows to the synthesizer as a node, so they are the one context, as they were shown",
        expect=(Expected(question=COUNTED, answer=COUNT, contexts=(("[(2,)]", True),)),),
    ),
    "guided_retry": Right(
        about="a retry by a guideline: an evaluator rejects the first answer",
        why="the user asked once and got the second answer; the question with the evaluator's feedback in it is the "
        "engine's",
    ),
    "output_class": Right(
        about="a query engine with an output class",
        why="the user receives an object, whose text is its JSON; the passages were in the prompt that it was made "
        "from",
        expect=(Expected(answer='{"name":"cat","sound":"purr"}'),),
    ),
    "output_class_with_an_answer": Right(
        about="a query engine with an output class that has a field `answer`",
        why="what the user reads is the field; claims of the object's JSON would be about its other fields, too",
    ),
    "tree_of_summaries": Right(
        about="`tree_summarize` over more text than a window holds",
        why="the call that answered saw two summaries; each passage was cut for the calls below it",
        expect=(Expected(contexts=((LONG[0], False), (LONG[1], False))),),
    ),
    "chat_store": Right(
        about="a chat store: an engine for each request, the conversation under the user's key",
        why="the second engine reads the first turn from the store, as it was said; a buffer keeps no contexts",
        expect=(Expected(question=BEFORE), Expected(history=((BEFORE, ANSWER, ()),))),
    ),
    "hyde_over_citations": Right(
        about="HyDE around a citation engine",
        why="the made-up document serves the search and the user asked the question; the model was shown numbered "
        "pieces",
        expect=(Expected(contexts=PIECES),),
    ),
    "streamed_citations": Right(
        about="a citation engine that streams, read with `async for`",
        why="how the answer is read changes nothing about the pieces that it was made from",
        expect=(Expected(contexts=PIECES),),
    ),
    "two_users": Right(
        about="`condense_plus_context`: an engine for each user, both streams read at once",
        why="each user has an exchange of their own, and neither conversation is the other's history",
        expect=(Expected(question="q0"), Expected(question="q1")),
        in_order=False,
    ),
}

RETRIEVERS: dict[str, Right] = {
    "tree_index": Right(
        about="a tree index: built with a model's summaries, a leaf chosen by a model",
        why="building asks nobody's question, so it is no exchange; the chosen leaf is the passage, not the "
        "summaries above",
        expect=(Expected(contexts=((HEAL, True),)),),
    ),
    "property_graph": Right(
        about="a property graph: found by synonyms of a model, with the text that a fact came from",
        why="the retriever delivers fact and source text as one passage, and so the model reads it",
        expect=(Expected(contexts=((FACT, True),)),),
    ),
    "router_retriever": Right(
        about="`RouterRetriever`: a model chooses the retriever",
        why="only the chosen retriever was asked",
        expect=(Expected(contexts=((BARK, True),)),),
    ),
    "auto_retriever": Right(
        about="`VectorIndexAutoRetriever`: a model writes query and filter",
        why="one passage passes the filter; the model's query is not the user's question",
        expect=(Expected(contexts=((HEAL, True),)),),
    ),
    "neighbours": Right(
        about="`PrevNextNodePostprocessor`: the passage after the one that was found",
        why="the neighbour was delivered and shown as the found one was",
        expect=(Expected(contexts=BOTH),),
    ),
}

AGENTS: dict[str, Right] = {
    "router_as_a_tool": Right(
        about="`FunctionAgent` with a router query engine as its tool",
        why="only the chosen engine searched; the agent's model was shown the engine's answer and not the passage",
        expect=(Expected(contexts=((BARK, False),)),),
    ),
    "fan_out": Right(
        about="a workflow that searches for three wordings at once (`send_event`, `collect_events`), joins and reranks",
        why="the wordings are the application's; the synthesizer was given the reranker's order, each passage once",
        expect=(Expected(contexts=((HEAL, True), (CALM, True))),),
    ),
    "three_agents": Right(
        about="`AgentWorkflow` of three: one researches, one writes, one reviews and answers",
        why="one run, one exchange; what the researcher's tool found stays in the messages that the reviewer reads",
    ),
    "orchestrator": Right(
        about="an agent that asks other agents through functions",
        why="the inner run serves the outer one and is no exchange of its own; the outer model saw its summary only",
        expect=(Expected(contexts=UNSEEN),),
    ),
    "asks_a_human": Right(
        about="a tool that waits for a human's word",
        why="the run goes on after the word came: one exchange, with what was found before",
    ),
    "memory_blocks": Right(
        about="memory blocks: what is known of the user, put into the user's message",
        why="the block is written into the message for the model; the user asked the question without it",
    ),
    "corrective_rag": Right(
        about="corrective RAG as a workflow: passages graded, a web search, an index made of what was kept",
        why="the answer was made from the one text of kept passage and search result; a passage that was graded "
        "away is not it",
        expect=(Expected(contexts=((COMBINED, True),)),),
    ),
    "sub_questions": Right(
        about="sub-questions as a workflow: an engine for each, and a last call over their answers",
        why="the engines inside serve one question; the last call saw their answers and not their passages",
        expect=(Expected(contexts=UNSEEN),),
    ),
}
