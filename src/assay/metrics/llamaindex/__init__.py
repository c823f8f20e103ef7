"""LlamaIndex' evaluators and retrieval metrics (llama-index-core 0.14)."""
