"""RAGChecker 0.1.9: all of its metrics, from one reading of the texts or from the tables of verdicts that it stores."""
