"""LlamaIndex' retrieval metrics, which compare ids and ask no judge."""
