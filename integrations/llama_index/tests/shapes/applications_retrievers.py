"""Indexes and retrievers as LlamaIndex's guides and notebooks build them; `right.RETRIEVERS` says what is right."""

from __future__ import annotations

from llama_index.core import MockEmbedding, TreeIndex, VectorStoreIndex
from llama_index.core.graph_stores import EntityNode, Relation, SimplePropertyGraphStore
from llama_index.core.indices.property_graph import LLMSynonymRetriever, PGRetriever
from llama_index.core.postprocessor import PrevNextNodePostprocessor
from llama_index.core.retrievers import RouterRetriever, VectorIndexAutoRetriever
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo, TextNode
from llama_index.core.selectors import LLMSingleSelector
from llama_index.core.storage.docstore import SimpleDocumentStore
from llama_index.core.tools import RetrieverTool
from llama_index.core.vector_stores.types import MetadataInfo, VectorStoreInfo

from integrations.llama_index.tests.fakes import QUESTION, FakeLLM, Shelf, engine
from integrations.llama_index.tests.shapes import right
from integrations.llama_index.tests.shapes.base import BARK, CALM, HEAL, Attach, Written

shape = Written("Applications: retrievers", right.RETRIEVERS)


@shape.application
def tree_index(attach: Attach) -> None:
    attach()
    llm = FakeLLM(replies=["About cats.", "About dogs.", "ANSWER: 1", "ANSWER: 2"])
    leaves = [TextNode(text=said) for said in (CALM, HEAL, BARK, "Dogs wag.")]
    index = TreeIndex(leaves, llm=llm, num_children=2)
    index.as_query_engine(llm=llm).query(QUESTION)
    assert llm.replies == []


@shape.application
def property_graph(attach: Attach) -> None:
    attach()
    graph = SimplePropertyGraphStore()
    graph.upsert_llama_nodes([TextNode(id_="n1", text=CALM)])
    cats, calm = (EntityNode(name=name, properties={"triplet_source_id": "n1"}) for name in ("Cats", "Calm"))
    graph.upsert_nodes([cats, calm])
    graph.upsert_relations([Relation(label="PURR_WHEN", source_id=cats.id, target_id=calm.id)])
    synonyms = LLMSynonymRetriever(graph, llm=FakeLLM(replies=["cats^felines"]))
    engine(PGRetriever([synonyms], use_async=False)).query(QUESTION)


@shape.application
def router_retriever(attach: Attach) -> None:
    attach()
    tools = [
        RetrieverTool.from_defaults(Shelf(), name="cats", description="about cats"),
        RetrieverTool.from_defaults(Shelf(TextNode(text=BARK)), name="dogs", description="about dogs"),
    ]
    selector = LLMSingleSelector.from_defaults(FakeLLM(replies=['[{"choice": 2, "reason": "so"}]']))
    engine(RouterRetriever(selector, tools, llm=FakeLLM())).query(QUESTION)


@shape.application
def auto_retriever(attach: Attach) -> None:
    attach()
    nodes = [TextNode(text=said, metadata={"topic": topic}) for said, topic in ((CALM, "calm"), (HEAL, "heal"))]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(4))
    known = VectorStoreInfo(
        content_info="cats", metadata_info=[MetadataInfo(name="topic", type="str", description="calm or heal")]
    )
    spec = '{"query": "reasons", "filters": [{"key": "topic", "value": "heal"}]}'
    engine(VectorIndexAutoRetriever(index, known, llm=FakeLLM(replies=[spec]))).query(QUESTION)


@shape.application
def neighbours(attach: Attach) -> None:
    attach()
    one, other = TextNode(id_="n1", text=CALM), TextNode(id_="n2", text=HEAL)
    one.relationships[NodeRelationship.NEXT] = RelatedNodeInfo(node_id="n2")
    other.relationships[NodeRelationship.PREVIOUS] = RelatedNodeInfo(node_id="n1")
    kept = SimpleDocumentStore()
    kept.add_documents([one, other])
    engine(Shelf(one), node_postprocessors=[PrevNextNodePostprocessor(docstore=kept, num_nodes=1)]).query(QUESTION)
