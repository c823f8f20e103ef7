"""Result files of other systems as runs: `ragas:scores.csv`, `deepeval:test_run.json` for `assay compare`.

tables   files with a column for each metric: ragas, TruLens, LangSmith
nested   files in which each row has its scores inside: DeepEval, RAGChecker, LlamaIndex, Bedrock, OpenAI's evals
rows     what both make of a file: rows with what was given to each, as scored samples
scales   what a number is worth: range and direction of metrics that are known, or that the user states
"""
