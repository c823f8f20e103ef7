"""Metrics with pictures, of ragas, DeepEval and LlamaIndex, and assay's own claims over texts and pictures."""
