"""openevals 0.2.2 and agentevals 0.0.9: their evaluators, by the names of their feedback keys and prompts."""
