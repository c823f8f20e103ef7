"""assay metrics as LlamaIndex evaluators, and capture of live query and chat engines."""
