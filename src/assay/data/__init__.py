"""Rows from wherever they are, as samples: `open_data`.

    data = open_data("answers.csv")
    for number, sample in data:
        ...

Four steps, each once and in this order: `resolve` the data to its sources, read the head of each (`open_source`), map
its columns to fields and check them (`field_mapping`), and read the rows (`dataset`). No data library is imported
unless an object of it, or a Parquet file, is given.
"""

from assay.data.columns import ColumnMap as ColumnMap
from assay.data.dataset import Data as Data
from assay.data.dataset import Rows as Rows
from assay.data.dataset import missing_columns as missing_columns
from assay.data.dataset import open_data as open_data
from assay.data.rows import RowError as RowError
from assay.data.rows import sample_from_row as sample_from_row
