"""Warnings of several estimators, so that they can be filtered."""


class EmptyClassWarning(UserWarning):
    """A class has no items, or a component has lost its items."""
