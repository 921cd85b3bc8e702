"""Files: tables, features, labels and models, read with clear errors and written atomically.

Rows of a file are counted from 1 in errors, without the header; of a text file, the line is named
as well.
"""

from plausible.io.annotation_files import read_annotations
from plausible.io.annotation_writing import write_annotations
from plausible.io.errors import ModelFileError
from plausible.io.exports import read_doccano, read_label_studio
from plausible.io.features import Features, read_features
from plausible.io.known import Known, read_known
from plausible.io.label_files import read_labels
from plausible.io.label_writing import write_labels
from plausible.io.model_files import VersionWarning, inspect_model, load, save
from plausible.io.predictions import read_new, write_predictions
from plausible.io.streamed import StreamedTraining, stream_training
from plausible.io.streamed_predictions import stream_predictions
from plausible.io.training import Training, read_training
from plausible.io.writing import write_table
from plausible.tables import TableError, TableStream, read_table, stream_table

# isort: split
# For the rooms above; not part of the public interface.
from plausible.io.answer_databases import SETTLED as SETTLED
from plausible.io.answer_databases import Row as Row
from plausible.io.answer_databases import Settled as Settled
from plausible.io.answer_databases import Told as Told
from plausible.io.answer_databases import annotations_of as annotations_of
from plausible.io.answer_databases import answer_columns as answer_columns
from plausible.io.answer_databases import places_of as places_of
from plausible.io.answer_databases import settled_names as settled_names
from plausible.io.answer_databases import standing as standing
from plausible.io.answer_databases import statement_of as statement_of
from plausible.io.answer_databases import told_by as told_by
from plausible.io.answer_databases import worth_in as worth_in
from plausible.io.answer_layouts import find_meanings as find_meanings
from plausible.io.export_sources import tool_in as tool_in
from plausible.io.exports import field_of_items as field_of_items
from plausible.io.label_names import read_names as read_names
from plausible.io.large_answers import is_long as is_long
from plausible.io.model_files import check_model_name as check_model_name
from plausible.io.model_files import load_classifier as load_classifier
from plausible.io.pieces import has_many_items as has_many_items
from plausible.io.pieces import is_large as is_large
from plausible.io.pooled_files import pool_to_file as pool_to_file
from plausible.io.predictions import kinds_of as kinds_of
from plausible.io.predictions import preparation_of as preparation_of
from plausible.io.writing import kind_of_name as kind_of_name
from plausible.io.writing import new_file as new_file

__all__ = [
    "Features",
    "Known",
    "ModelFileError",
    "StreamedTraining",
    "TableError",
    "TableStream",
    "Training",
    "VersionWarning",
    "inspect_model",
    "load",
    "read_annotations",
    "read_doccano",
    "read_features",
    "read_known",
    "read_label_studio",
    "read_labels",
    "read_new",
    "read_table",
    "read_training",
    "save",
    "stream_predictions",
    "stream_table",
    "stream_training",
    "write_annotations",
    "write_labels",
    "write_predictions",
    "write_table",
]
