r"""What is known about the class of each of n items.

The knowledge about one item is a contour: the plausibility pl(k) in [0, 1] of each of K classes.

====================  ================================================================
a hard label          (0, 1, 0)
a set of classes      (1, 1, 0)
a doubtful label      (d, 1, d), with the doubt d
probabilities         (0.2, 0.6, 0.2)
nothing               (1, 1, 1)
====================  ================================================================

A contour is enough for every estimator that maximizes the likelihood
:math:`\sum_k pl_k p_k`; it is known up to a factor, so that a label acts as a likelihood and not as
a posterior. Mass functions carry more, and are kept where they were given.

References
----------
E. Come, L. Oukhellou, T. Denoeux, P. Aknin, Mixture model estimation with soft labels, Soft
Methods in Probability and Statistics 2008, 165-174.
P. Vannoorenberghe, Reasoning with unlabeled samples and belief functions (table I).
"""

from plausible.labels.constructors import Constructors
from plausible.labels.face import Face


class Labels(Constructors, Face):
    """What is known about the classes of n items: a plausibility for each item and class.

    Use the constructors that say what the numbers mean: `from_crisp`, `from_sets`,
    `from_plausibility`, `from_probability`, `from_doubt`, `from_masses`, `unknown`.

    To numpy and to scikit-learn, labels look like the 1-D array of the most plausible classes,
    with -1 (or "" for names) where a row says nothing. So they pass through pipelines,
    `train_test_split`, `cross_validate` and grid search, and keep their degrees on the way.
    Classifiers of scikit-learn's own learn from the hard classes only, also voting, stacking,
    bagging, boosting, calibration and one-versus-rest, and `cross_val_predict` of probabilities: a
    `HardenedLabelsWarning` says so at that moment, and an error where a row says nothing.
    `SoftVotingClassifier`, `SoftBaggingClassifier`, `SoftStackingClassifier`,
    `EvidentialCalibratedClassifier` and `cross_val_beliefs` of `plausible.models` keep the degrees.

    Parameters
    ----------
    contour : array (n, K)
    classes : sequence of K distinct class names, all numbers or all strings
    masses : SparseMasses, optional
        Masses behind the contour, where they are known.
    conflict : array (n,), optional
        Conflict among the sources that were pooled.

    Attributes
    ----------
    classes : array (K,)
    contour : array (n, K), read-only
    conflict : array (n,) or None

    Examples
    --------
    >>> labels = Labels.from_sets([{"cat"}, {"cat", "dog"}, {"dog"}])
    >>> labels.contour
    array([[1., 0.],
           [1., 1.],
           [0., 1.]])
    >>> import numpy as np
    >>> np.asarray(labels)
    array(['cat', '', 'dog'], dtype='<U3')
    """
