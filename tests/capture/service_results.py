"""The same two passages as search services and retrievers return them, in the shapes that they document."""

from __future__ import annotations

from typing import Any

CALM, HEAL = "Cats purr when they are calm.", "Cats also purr to heal."

SERVICES: dict[str, Any] = {
    "Azure AI Search content": {
        "@odata.context": "https://s.search.windows.net/indexes('i')/$metadata#docs(*)",
        "@odata.count": 2,
        "value": [
            {"@search.score": 1.2, "@search.rerankerScore": 2.1, "id": "1", "content": t, "sourcepage": "a.pdf#page=1"}
            for t in (CALM, HEAL)
        ],
    },
    "Azure chunk": {
        "@odata.context": "x",
        "value": [
            {"@search.score": 1.2, "chunk_id": "c1", "parent_id": "p", "title": "a.pdf", "chunk": t}
            for t in (CALM, HEAL)
        ],
    },
    "Azure captions": {
        "value": [
            {
                "@search.score": 1.2,
                "@search.captions": [{"text": "purr", "highlights": ""}],
                "chunk_id": "c1",
                "chunk": t,
                "metadata_storage_path": "a.pdf",
            }
            for t in (CALM, HEAL)
        ]
    },
    "Brave": {
        "type": "search",
        "query": {"original": "q", "more_results_available": True},
        "mixed": {"main": []},
        "web": {
            "type": "search",
            "results": [
                {
                    "title": "A",
                    "url": "https://a",
                    "is_source_local": False,
                    "description": t,
                    "page_age": "2024-01-01",
                    "profile": {"name": "A", "long_name": "a b c"},
                    "language": "en",
                    "type": "search_result",
                    "subtype": "generic",
                    "meta_url": {"scheme": "https", "hostname": "a"},
                }
                for t in (CALM, HEAL)
            ],
            "family_friendly": True,
        },
    },
    "Brave extra": {
        "web": {
            "results": [
                {"title": "A", "url": "https://a", "description": t, "extra_snippets": []} for t in (CALM, HEAL)
            ]
        }
    },
    "Bedrock": {
        "retrievalResults": [
            {
                "content": {"text": t, "type": "TEXT"},
                "location": {"type": "S3", "s3Location": {"uri": "s3://b/a.pdf"}},
                "metadata": {"x-amz-bedrock-kb-source-uri": "s3://b/a.pdf"},
                "score": 0.6,
            }
            for t in (CALM, HEAL)
        ],
        "nextToken": "x",
        "guardrailAction": "NONE",
    },
    "Kendra retrieve": {
        "QueryId": "q",
        "ResultItems": [
            {
                "Id": "1",
                "DocumentId": "d",
                "DocumentTitle": "A",
                "Content": t,
                "DocumentURI": "https://a",
                "DocumentAttributes": [],
                "ScoreAttributes": {"ScoreConfidence": "HIGH"},
            }
            for t in (CALM, HEAL)
        ],
    },
    "Kendra query": {
        "QueryId": "q",
        "ResultItems": [
            {
                "Id": "1",
                "Type": "DOCUMENT",
                "DocumentId": "d",
                "DocumentTitle": {"Text": "A", "Highlights": []},
                "DocumentExcerpt": {"Text": t, "Highlights": []},
                "DocumentURI": "https://a",
            }
            for t in (CALM, HEAL)
        ],
        "TotalNumberOfResults": 2,
    },
    "OpenAI vector store": {
        "object": "vector_store.search_results.page",
        "search_query": ["q"],
        "data": [
            {
                "file_id": "f",
                "filename": "a.md",
                "score": 0.9,
                "attributes": {"x": 1},
                "content": [{"type": "text", "text": t}],
            }
            for t in (CALM, HEAL)
        ],
        "has_more": False,
        "next_page": None,
    },
    "Vertex RAG": {
        "contexts": {
            "contexts": [
                {"sourceUri": "gs://a", "sourceDisplayName": "a.pdf", "text": t, "score": 0.3, "chunk": {"text": t}}
                for t in (CALM, HEAL)
            ]
        }
    },
    "Vertex AI Search chunks": {
        "results": [
            {
                "chunk": {
                    "name": "projects/x",
                    "id": "c1",
                    "content": t,
                    "documentMetadata": {"uri": "gs://a", "title": "A"},
                }
            }
            for t in (CALM, HEAL)
        ],
        "totalSize": 2,
    },
    "Vertex AI Search snippets": {
        "results": [
            {
                "id": "1",
                "document": {
                    "name": "projects/x",
                    "id": "1",
                    "derivedStructData": {
                        "title": "A",
                        "link": "https://a",
                        "snippets": [{"snippet": t, "snippet_status": "SUCCESS"}],
                    },
                },
            }
            for t in (CALM, HEAL)
        ]
    },
    "Exa": {
        "requestId": "r",
        "resolvedSearchType": "neural",
        "results": [
            {
                "title": "A",
                "url": "https://a",
                "id": "https://a",
                "score": 0.3,
                "author": None,
                "text": t,
                "highlights": ["purr"],
                "summary": "short one",
            }
            for t in (CALM, HEAL)
        ],
    },
    "You.com": {
        "results": {
            "web": [{"url": "https://a", "title": "A", "description": "d e f", "snippets": [t]} for t in (CALM, HEAL)]
        },
        "metadata": {"query": "q"},
    },
    "You.com old": {
        "hits": [{"url": "https://a", "title": "A", "description": "", "snippets": [t]} for t in (CALM, HEAL)],
        "latency": 1.0,
    },
    "Solr": {
        "responseHeader": {"status": 0},
        "response": {"numFound": 2, "start": 0, "docs": [{"id": "1", "text": t, "score": 1.0} for t in (CALM, HEAL)]},
    },
    "Typesense": {
        "found": 2,
        "hits": [
            {"document": {"id": "1", "text": t, "url": "a"}, "highlights": [], "text_match": 1} for t in (CALM, HEAL)
        ],
        "page": 1,
    },
    "Vespa": {
        "root": {
            "id": "toplevel",
            "relevance": 1.0,
            "fields": {"totalCount": 2},
            "children": [
                {
                    "id": "id:a",
                    "relevance": 0.3,
                    "source": "s",
                    "fields": {"documentid": "id:a", "text": t, "title": "A"},
                }
                for t in (CALM, HEAL)
            ],
        }
    },
    "Meilisearch": {
        "hits": [{"id": 1, "title": "A", "content": t, "_rankingScore": 0.8} for t in (CALM, HEAL)],
        "query": "q",
    },
    "Algolia": {"hits": [{"objectID": "1", "url": "https://a", "content": t} for t in (CALM, HEAL)], "nbHits": 2},
    "Wikipedia": {
        "batchcomplete": "",
        "query": {
            "searchinfo": {"totalhits": 2},
            "search": [
                {"ns": 0, "title": "A", "pageid": 1, "size": 1, "wordcount": 2, "snippet": t, "timestamp": "x"}
                for t in (CALM, HEAL)
            ],
        },
    },
    "Weaviate GraphQL": {
        "data": {
            "Get": {
                "Article": [
                    {"text": t, "url": "https://a", "_additional": {"distance": 0.1, "id": "1"}} for t in (CALM, HEAL)
                ]
            }
        }
    },
    "Perplexity": {
        "id": "r",
        "results": [
            {"title": "A", "url": "https://a", "snippet": t, "date": "2024-01-01", "last_updated": None}
            for t in (CALM, HEAL)
        ],
    },
    "Jina": {
        "code": 200,
        "status": 20000,
        "data": [
            {"title": "A", "url": "https://a", "description": "d", "content": t, "usage": {"tokens": 1}}
            for t in (CALM, HEAL)
        ],
    },
    "Firecrawl v2": {
        "success": True,
        "data": {"web": [{"url": "https://a", "title": "A", "description": t, "position": 1} for t in (CALM, HEAL)]},
    },
    "Firecrawl v1": {
        "success": True,
        "data": [{"url": "https://a", "title": "A", "description": "d e", "markdown": t} for t in (CALM, HEAL)],
    },
    "SearXNG": {
        "query": "q",
        "number_of_results": 2,
        "results": [{"url": "https://a", "title": "A", "content": t, "engine": "x", "score": 1} for t in (CALM, HEAL)],
    },
    "SerpApi": {
        "search_metadata": {"id": "x"},
        "organic_results": [
            {"position": 1, "title": "A", "link": "https://a", "snippet": t, "source": "S"} for t in (CALM, HEAL)
        ],
    },
    "Cohere rerank": {
        "id": "x",
        "results": [{"index": 0, "relevance_score": 0.9, "document": {"text": t}} for t in (CALM, HEAL)],
        "meta": {},
    },
    "Haystack": {"documents": [{"id": "1", "content": t, "meta": {"file": "a"}, "score": 0.1} for t in (CALM, HEAL)]},
    "Semantic Scholar": {
        "total": 2,
        "offset": 0,
        "data": [{"paperId": "1", "title": "A", "abstract": t, "url": "https://a"} for t in (CALM, HEAL)],
    },
    "R2R": {
        "results": {
            "chunk_search_results": [
                {"id": "1", "document_id": "d", "score": 0.3, "text": t, "metadata": {"title": "A"}}
                for t in (CALM, HEAL)
            ]
        }
    },
    "Ragie": {
        "scored_chunks": [
            {"text": t, "score": 0.2, "document_id": "d", "document_name": "a.pdf", "metadata": {}}
            for t in (CALM, HEAL)
        ]
    },
    "Vectara": {
        "search_results": [
            {"text": t, "score": 0.6, "document_id": "d", "part_metadata": {"lang": "eng"}} for t in (CALM, HEAL)
        ]
    },
    "RAGFlow": {
        "code": 0,
        "data": {
            "chunks": [
                {
                    "content": t,
                    "document_id": "d",
                    "document_keyword": "a.txt",
                    "id": "1",
                    "similarity": 0.9,
                    "highlight": t,
                }
                for t in (CALM, HEAL)
            ],
            "total": 2,
        },
    },
    "Dify": {
        "records": [
            {"segment": {"id": "1", "content": t, "document": {"id": "d", "name": "a.txt"}}, "score": 0.9}
            for t in (CALM, HEAL)
        ]
    },
}
