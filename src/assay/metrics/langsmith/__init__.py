"""LangSmith: the yes-or-no evaluators of its tutorials and of its ready-made prompts."""
