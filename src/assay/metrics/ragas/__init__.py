"""ragas, from 0.0.11 to 0.4.3: its metrics by the names of 0.4, those that are gone by the names they had."""
