"""Amazon Bedrock evaluation files: datasets and results."""
