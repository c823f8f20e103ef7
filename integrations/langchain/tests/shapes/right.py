"""What is right for applications rebuilt from the documentation, cookbooks and templates of LangChain and LangGraph.

Written down before capture was run on any of them; the code is in `applications_*.py`. Where an expectation turned out
to rest on a mistake about the application, the history of this file says so.
"""

from __future__ import annotations

from integrations.langchain.tests.shapes.base import ANSWER, BARK, CALM, HEAL, QUESTION, Expected, Right

BOTH = ((CALM, True), (HEAL, True))
UNSEEN = ((CALM, False), (HEAL, False))
FOUND = (CALM, HEAL)
FOLLOW_UP = "And why else?"
SECOND = "To heal."
THIRD_QUESTION = "And when?"
THIRD = "At night."
FIRST_TURN = ((QUESTION, ANSWER, FOUND),)
NO_RETRIEVER = "no retriever run was seen"
NO_DOCUMENTS = (
    "no retriever run was seen, and no tool returned documents ({})"
    "; CaptureRules(contexts_tools=) names tools whose texts are passages"
)

REFUSAL = "I may not talk about that."
COUNTED = "How many cats purr?"
COUNT = "Two cats purr."
WEB = f'<Document source="web"/>\n{CALM}\n</Document>'
WIKI = f'<Document source="wiki"/>\n{HEAL}\n</Document>'
SECTIONS = ("Cats purr at ease.", "They purr to mend, too.")
REPORT = "\n\n---\n\n".join(SECTIONS)

AGENTS: dict[str, Right] = {
    "plan_and_execute": Right(
        about="plan and execute: a planner, an agent for each step, a re-planner that answers",
        why="the user asked under `input` and got `response`, an argument of the re-planner's tool call; both steps "
        "searched, but the re-planner was shown the steps' answers only",
        expect=(Expected(contexts=UNSEEN),),
    ),
    "supervisor": Right(
        about="a supervisor that sends the question to workers, whose answers are human messages with a name",
        why="a worker's message is nobody's question, though its type says so; the last worker's message is what "
        "the user "
        "reads, and it was written from the first worker's summary",
        expect=(Expected(contexts=UNSEEN),),
    ),
    "structured_response": Right(
        about="`create_agent` with a structured response, through a tool call",
        why="the user takes `structured_response`; its field `answer` is the answer, not the tool message that "
        "announces the structure",
    ),
    "summarised_conversation": Right(
        about="`SummarizationMiddleware`: the second turn is answered from a summary of the first",
        why="the summary stands among the messages as a human one, but the user never said it: the question is the "
        "user's, and the turn that the model knows in short is still the history",
        expect=(
            Expected(),
            Expected(question=FOLLOW_UP, answer=SECOND, contexts=None, no_context=NO_RETRIEVER, history=FIRST_TURN),
        ),
    ),
    "approved_by_a_human": Right(
        about="`HumanInTheLoopMiddleware`: the search waits for approval, and the agent is resumed",
        why="nothing was answered before the approval, so there is one sample, with the question of the first call",
    ),
    "streamed_agent": Right(
        about='an agent streamed as `["updates", "messages"]`, and the same with `async for`',
        why="how the caller reads an agent changes nothing about what was asked, found and said",
        expect=(Expected(), Expected()),
    ),
    "prompt_middleware": Right(
        about="`dynamic_prompt`: a retriever asked in a middleware, its documents in the system prompt",
        why="the documents were retrieved for this question and shown to the model, though no tool or node did it",
    ),
    "documents_middleware": Right(
        about="a `before_model` hook that searches a vector store, rewrites the message and keeps the documents in "
        "the state",
        why="the user's question is what came in, not the message with passages around it; the documents are in the "
        "state under `context`",
        expect=(Expected(contexts=((CALM, True),)),),
    ),
    "guardrail": Right(
        about="a `before_agent` guardrail that refuses",
        why="the user asked and got a refusal, without a model or a search: an exchange with an answer and no contexts",
        expect=(Expected(answer=REFUSAL, contexts=None, no_context=NO_RETRIEVER),),
    ),
    "search_result_blocks": Right(
        about="a tool that returns `search_result` content blocks, as models with citations take them",
        why="a block of this type is a passage by its declaration, with title and source, and the model reads its text",
        expect=(Expected(contexts=BOTH),),
    ),
    "two_shelves_in_events": Right(
        about="agentic RAG: two retriever tools called in one message, read with `astream_events`",
        why="both searches were made for the one question and the model read both results; they come in the order in "
        "which the model called the tools, whatever the reader filters from the events",
        expect=(Expected(contexts=(*BOTH, (BARK, True))),),
    ),
    "handed_over": Right(
        about="a swarm: an agent hands over with `Command(graph=Command.PARENT)`, the next one searches and answers",
        why="one run of the outer graph is one exchange; the hand-over is a tool call and no answer, and the user's "
        "message stays the question",
    ),
    "fallback_model": Right(
        about="`ModelFallbackMiddleware`: the model fails after the search, another one answers",
        why="the user got the second model's answer from what had been found; that a model failed before is no failure "
        "of the exchange",
    ),
    "agents_as_completed": Right(
        about="an agent's `abatch_as_completed` over two questions",
        why="each input is a root of its own, so each question has its sample",
        expect=(Expected(question=f"{QUESTION} (0)"), Expected(question=f"{QUESTION} (1)")),
        in_order=False,
    ),
}

GRAPHS: dict[str, Right] = {
    "self_rag": Right(
        about="self-RAG: documents graded, the question rewritten, a first answer thrown away",
        why="the user's question counts, not the rewritten one in the state; the answer is the second `generation`, "
        "made "
        "from what the second search found; the graders' words are no answers",
    ),
    "orchestrator_and_workers": Right(
        about="an orchestrator that plans sections, a worker with a search for each (`Send`), a report joined by code",
        why="the topic is what was asked; the report is the answer and every worker has a part in it, so each passage "
        "stood in the prompt of a call that answered",
        expect=(Expected(answer=REPORT, contexts=BOTH),),
    ),
    "evaluator_and_optimizer": Right(
        about="a writer and an evaluator that sends the first draft back",
        why="what the user gets is the last `draft`; the evaluator, who spoke last, gave a grade and no answer",
    ),
    "parallel_sources": Right(
        about="two searches side by side, each adding a formatted text to `context`; the answer is a message",
        why="`context` holds texts that were found and shown to the model, one of each search, in the state's order",
        expect=(Expected(contexts=((WEB, True), (WIKI, True))),),
    ),
    "sql_chain": Right(
        about="a question to a database: `question`, `query`, `result` and `answer` in one state",
        why="`query` is SQL and no question, `result` is rows and no answer; rows are no passages, so contexts are "
        "not known, and the tool that ran the query is named",
        expect=(
            Expected(question=COUNTED, answer=COUNT, contexts=None, no_context=NO_DOCUMENTS.format("sql_db_query")),
        ),
    ),
    "remembered_facts": Right(
        about="a long-term store: what is known of the user, beside what was retrieved",
        why="a fact about the user is no passage that an answer could be checked against; the retriever's documents "
        "are",
    ),
    "deleted_messages": Right(
        about="a conversation that deletes its older messages after each answer",
        why="the third turn cannot know the first, whose messages the application has deleted; the second it knows",
        expect=(
            Expected(),
            Expected(question=FOLLOW_UP, answer=SECOND, history=FIRST_TURN),
            Expected(question=THIRD_QUESTION, answer=THIRD, history=((FOLLOW_UP, SECOND, FOUND),)),
        ),
    ),
    "time_travel": Right(
        about="a fork: documents of a checkpoint edited, and the graph run on from there without an input",
        why="the fork answers the question that the checkpoint holds, from the documents as they were edited; it is "
        "the same turn again, so the first run is no history",
        expect=(Expected(), Expected(contexts=((HEAL, True),))),
    ),
    "hybrid_fan_in": Right(
        about="two searches side by side into one reduced list, reranked into a key of its own",
        why="the answering step was given the reranker's choice, in its order; what stays in the list beside it was "
        "thrown away",
        expect=(Expected(contexts=((HEAL, True), (CALM, True))),),
    ),
}

CHAINS: dict[str, Right] = {
    "hybrid_reranked": Right(
        about="hybrid search with a reranker: `ContextualCompressionRetriever` over an `EnsembleRetriever`",
        why="what the outermost retriever delivered is what was answered from, in the reranker's order",
        expect=(Expected(contexts=((BARK, True), (HEAL, True))),),
    ),
    "step_back": Right(
        about="step-back prompting: a search for the question and one for a more general question",
        why="both searches were made for the one question and both stand in the prompt, in the order in which they ran",
        expect=(Expected(contexts=((CALM, True), (HEAL, True), (BARK, True))),),
    ),
    "hypothetical_document": Right(
        about="`HypotheticalDocumentEmbedder`: the store is searched with a text that a model made up",
        why="the made-up text serves the search; that it says what the answer says does not make its call the "
        "answering one",
        expect=(Expected(contexts=((CALM, True),)),),
    ),
    "self_query": Right(
        about="`SelfQueryRetriever`: a model makes a query and a filter",
        why="one passage passes the filter, the others were never found; the structured query is no answer",
        expect=(Expected(contexts=((HEAL, True),)),),
    ),
    "decomposition": Right(
        about="decomposition: sub-questions answered one by one, and put together by a last call",
        why="each passage was found for a part of the question; the call that answered saw pairs of question and "
        "answer",
        expect=(Expected(contexts=UNSEEN),),
    ),
    "cited_answer": Right(
        about="citations by structured output, the documents given back beside the answer",
        why="the answer is the text in the structure, without the numbers of its sources",
    ),
    "conversation_template": Right(
        about="a template with `chat_history` as pairs: condensed where there is a history, else taken as it is",
        why="the client sent a turn along, so it is history; the condensed question is the application's, not the "
        "user's",
        expect=(Expected(history=(("Hello?", "Hi.", ()),)),),
    ),
    "streamed_with_sources": Right(
        about="a chain that streams its sources and then the answer, read with `for` and with `async for`",
        why="the pieces of the answer put together are the answer, and the sources come once",
        expect=(Expected(), Expected()),
    ),
    "answer_with_sources": Right(
        about="`RetrievalQAWithSourcesChain`: the model's text is cut into answer and sources",
        why="`answer` is what the user reads; the list of sources was cut from it",
    ),
    "service": Right(
        about="a service: requests at once on one chain and one handler, streamed; one client leaves early",
        why="two readers got an answer; the third left, which is said, and what it read is not taken for an answer",
        expect=(
            Expected(question=f"{QUESTION} (0)"),
            Expected(question=f"{QUESTION} (1)"),
            Expected(question=f"{QUESTION} (2)", answer=None, status="abandoned"),
        ),
        in_order=False,
    ),
}
