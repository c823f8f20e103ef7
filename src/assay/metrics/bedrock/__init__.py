"""Amazon Bedrock evaluations: the built-in metrics of its RAG and model jobs, and its custom metrics."""
