"""LangChain's evaluators (langchain-classic 1.0.8), by their types: "langchain:qa", "langchain:criteria_depth"."""
