"""Columns of any kind as numbers: what tables hold before a model can learn from them."""

from plausible.models.preparation.kinds import (
    CATEGORY,
    DATE,
    KINDS,
    LEFT_OUT,
    NUMBER,
    Column,
    Kind,
    find_kind,
    is_row_name,
    names_rows,
    says_id,
    tidy_column,
)
from plausible.models.preparation.transformer import FeaturePreparation

__all__ = [
    "CATEGORY",
    "DATE",
    "KINDS",
    "LEFT_OUT",
    "NUMBER",
    "Column",
    "FeaturePreparation",
    "Kind",
    "find_kind",
    "is_row_name",
    "names_rows",
    "says_id",
    "tidy_column",
]
