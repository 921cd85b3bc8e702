"""What is learned from masses by estimators that compare bets, wherever rows lie."""

from plausible.belief import pignistic
from plausible.labels import Labels


def bets_of_masses(labels: Labels) -> Labels:
    """Labels whose masses are replaced by their bets, as probabilities where they favor a class.

    Rows that are not in memory carry no masses, but probabilities.

    Examples
    --------
    >>> from plausible.belief import masses_from_dicts
    >>> masses = masses_from_dicts([{("a",): 0.5, ("b", "c"): 0.5}, {("a", "b", "c"): 1.0}], "abc")
    >>> labels = bets_of_masses(Labels.from_masses(masses, "abc"))
    >>> labels.contour.tolist(), labels.is_probability.tolist()
    ([[1.0, 0.5, 0.5], [1.0, 1.0, 1.0]], [True, False])
    """
    if not labels.has_masses:
        return labels
    bets = pignistic(labels.masses())
    most = bets.max(axis=1, keepdims=True)
    favors = bets.min(axis=1) < most[:, 0]
    return Labels(bets / most, labels.classes.tolist(), is_probability=favors)
