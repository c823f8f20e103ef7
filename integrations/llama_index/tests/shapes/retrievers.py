"""Retrievers inside retrievers, and post-processors: what is delivered in the end, and not what it was chosen from."""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.node_parser import SentenceWindowNodeParser
from llama_index.core.postprocessor import (
    LLMRerank,
    MetadataReplacementPostProcessor,
    SimilarityPostprocessor,
    StructuredLLMRerank,
)
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import (
    AutoMergingRetriever,
    QueryFusionRetriever,
    RecursiveRetriever,
)
from llama_index.core.schema import IndexNode, NodeRelationship, NodeWithScore, RelatedNodeInfo, TextNode

from assay.capture.contexts import UNREAD
from integrations.llama_index.tests.fakes import ANSWER, NODES, QUESTION, Caller, FakeLLM, Last, Shelf, engine
from integrations.llama_index.tests.shapes.base import BARK, CALM, HEAL, Attach, Expected, Group

shape = Group("Retrievers and post-processors")


@shape("fusion of two retrievers: each passage once", Expected())
def fusion(attach: Attach) -> None:
    attach()
    retriever = QueryFusionRetriever(
        [Shelf(), Shelf()], llm=FakeLLM(), num_queries=1, use_async=False, similarity_top_k=2
    )
    engine(retriever).query(QUESTION)


@shape("fusion with questions that the model thinks of", Expected())
def fusion_of_queries(attach: Attach) -> None:
    attach()
    retriever = QueryFusionRetriever(
        [Shelf()], llm=FakeLLM(tokens=["When?\nHow?"]), num_queries=3, use_async=True, similarity_top_k=2
    )
    asyncio.run(engine(retriever).aquery(QUESTION))


WHOLE = "Cats purr when calm. Cats also purr to heal."


@shape("auto-merging: the parent in place of its leaves", Expected(contexts=((WHOLE, True),)))
def auto_merging(attach: Attach) -> None:
    attach()
    parent = TextNode(id_="parent", text=WHOLE)
    leaves = [TextNode(id_=node.node_id, text=node.text) for node in NODES]
    parent.relationships[NodeRelationship.CHILD] = [RelatedNodeInfo(node_id=leaf.node_id) for leaf in leaves]
    for leaf in leaves:
        leaf.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id="parent")
    storage = StorageContext.from_defaults()
    storage.docstore.add_documents([parent, *leaves])
    index = VectorStoreIndex(leaves, storage_context=storage, embed_model=MockEmbedding(4))
    retriever = AutoMergingRetriever(index.as_retriever(similarity_top_k=2), storage)
    engine(retriever).query(QUESTION)


@shape("recursive: from a summary to the passages behind it", Expected())
def recursive(attach: Attach) -> None:
    attach()
    pointer = IndexNode(text="All about cats.", index_id="cats", id_="pointer")
    retriever = RecursiveRetriever("root", {"root": Shelf(pointer), "cats": Shelf()})
    engine(retriever).query(QUESTION)


@shape("small to big: the window of sentences in place of the sentence", Expected(contexts=((WHOLE + " ", True),)))
def metadata_replacement(attach: Attach) -> None:
    from llama_index.core import Document

    attach()
    parser = SentenceWindowNodeParser.from_defaults(
        window_size=1, sentence_splitter=lambda text: ["Cats purr when calm. ", "Cats also purr to heal. "]
    )
    nodes = parser.get_nodes_from_documents([Document(text=WHOLE)])
    for node in nodes:
        node.metadata["window"] = WHOLE + " "
    replace = MetadataReplacementPostProcessor(target_metadata_key="window")
    engine(Shelf(nodes[0]), node_postprocessors=[replace]).query(QUESTION)


@shape("a similarity cut-off", Expected(contexts=((CALM, True),)))
def similarity_cutoff(attach: Attach) -> None:
    attach()
    engine(node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.85)]).query(QUESTION)


@shape("a cut-off that leaves nothing", Expected(contexts=(), answer="Empty Response"))
def nothing_left(attach: Attach) -> None:
    attach()
    engine(node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.99)]).query(QUESTION)


@shape("another order", Expected(contexts=((HEAL, True), (CALM, True))))
def reordered(attach: Attach) -> None:
    class Turned(BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> list[NodeWithScore]:
            return list(reversed(nodes))

    attach()
    engine(node_postprocessors=[Turned()]).query(QUESTION)


@shape("a reranker that asks a model", Expected(contexts=((HEAL, True),)))
def llm_rerank(attach: Attach) -> None:
    attach()
    rerank = LLMRerank(llm=FakeLLM(tokens=["Doc: 2, Relevance: 9"]), top_n=1)
    engine(node_postprocessors=[rerank]).query(QUESTION)


@shape("a reranker that asks a model for a structure", Expected(contexts=((HEAL, True),)))
def structured_llm_rerank(attach: Attach) -> None:
    def say(messages: list[ChatMessage]) -> Any:
        return [("DocumentRelevanceList", {"documents": [{"document_number": 2, "relevance": 9}]})]

    attach()
    rerank = StructuredLLMRerank(llm=Caller(say=say), top_n=1)
    engine(node_postprocessors=[rerank]).query(QUESTION)


@shape("two post-processors, one after the other", Expected(contexts=((HEAL, True),)))
def two_postprocessors(attach: Attach) -> None:
    attach()
    engine(node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.1), Last()]).query(QUESTION)


@shape("a post-processor that rewrites the text in place", Expected(contexts=((BARK, True), (HEAL, True))))
def rewritten(attach: Attach) -> None:
    class Rewrites(BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> list[NodeWithScore]:
            nodes[0].node.set_content(BARK)
            return list(nodes)

    attach()
    nodes = [TextNode(id_=node.node_id, text=node.text) for node in NODES]
    engine(Shelf(*nodes), node_postprocessors=[Rewrites()]).query(QUESTION)


@shape(
    "a post-processor that adds what it looked up itself", Expected(contexts=((CALM, True), (HEAL, True), (BARK, True)))
)
def added(attach: Attach) -> None:
    class Adds(BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> list[NodeWithScore]:
            return [*nodes, NodeWithScore(node=TextNode(text=BARK), score=0.1)]

    attach()
    engine(node_postprocessors=[Adds()]).query(QUESTION)


@shape("a retriever with a post-processor, called alone, is no exchange")
def retriever_alone(attach: Attach) -> None:
    attach()
    Last().postprocess_nodes(Shelf().retrieve(QUESTION))


class Lazy(BaseNodePostprocessor):
    """Chooses the last when somebody reads what it returns."""

    def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> Any:
        return filter(lambda node: HEAL in node.text, nodes)


class Listed(CustomQueryEngine):
    """Reads what the post-processor returned, and answers from that."""

    answers: bool = True

    def custom_query(self, query_str: str) -> Any:
        nodes = list(Lazy().postprocess_nodes(Shelf().retrieve(query_str)))
        assert [node.text for node in nodes] == [HEAL]
        return str(get_response_synthesizer(FakeLLM()).synthesize(query_str, nodes)) if self.answers else ANSWER


@shape("a post-processor that returns an iterator: it is left unread, and what was found is not known",
       Expected(contexts=None, no_context=UNREAD))  # fmt: skip
def iterator(attach: Attach) -> None:
    attach()
    Listed(answers=False).query(QUESTION)


@shape("the same, before a synthesizer that is given a list: the list", Expected(contexts=((HEAL, True),)))
def iterator_before_a_list(attach: Attach) -> None:
    attach()
    Listed().query(QUESTION)


@shape("an iterator for the next post-processor, which returns a list", Expected(contexts=((HEAL, True),)))
def iterator_between(attach: Attach) -> None:
    class Reads(BaseNodePostprocessor):
        def _postprocess_nodes(self, nodes: Any, query_bundle: Any = None) -> list[NodeWithScore]:
            return list(nodes)

    attach()
    response = engine(node_postprocessors=[Lazy(), Reads()]).query(QUESTION)
    assert [node.text for node in response.source_nodes] == [HEAL]
