"""Result files of other systems as runs: `ragas:scores.csv`, `deepeval:test_run.json` for `assay compare`.

tables   files with a column for each metric: ragas, TruLens, LangSmith
nested   files in which each row has its scores inside: DeepEval, RAGChecker, LlamaIndex, Bedrock, OpenAI's evals
phoenix, langfuse   scores in exports of trace stores; scored has what both need: rows, in whatever order records come
rows     what all make of a file: rows with what was given to each, as scored samples
scales   what a number is worth: range and direction of metrics that are known, or that the user states
"""
