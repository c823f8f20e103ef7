"""OpenAI evals: exported runs as rows."""
