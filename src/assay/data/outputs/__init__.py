"""Files that assay itself writes, read back: rows with their scores.

content  which format a file has, by its first bytes, and what is not read back
records  what every reader yields
scored_json  JSON lines of `JsonlSink` and `--out`, JSON reports, lists of rows
score_tables  CSV, Parquet and others with a column for each metric, or a line for each score
reading  the reader of a file, whatever its format; and what to say of a file that is none of these
samples  the samples of such a file as rows of data
"""
