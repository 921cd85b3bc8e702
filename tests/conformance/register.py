"""The one register of estimators: whatever is in it is put through every check."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from plausible.cluster import CECM, CEVCLUS, ECM, EVCLUS, RECM, SECM, EKNNClus
from plausible.experts import (
    Annotations,
    EvidentialFusionClassifier,
    JointAnnotatorClassifier,
)
from plausible.models import (
    AutoClassifier,
    BeliefForestClassifier,
    BeliefTreeClassifier,
    ConformalClassifier,
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    EvidentialNetworkClassifier,
    GaussianMixtureClassifier,
    GeneralizedBayesClassifier,
    PartialLogisticRegression,
    SoftBaggingClassifier,
    SoftLabelClassifier,
    SoftNearestCentroid,
    SoftStackingClassifier,
    SoftVotingClassifier,
    StochasticSupervisionClassifier,
    UncertainGaussianMixture,
)
from plausible.neighbors import (
    ContextualNeighborsClassifier,
    EvidentialNeighborsClassifier,
    RelabellingClassifier,
)
from plausible.testing.subject import Subject


def fit_assessments(estimator, X, labels, sample_weight):
    """Labels as an expert's probabilities; none where a row says nothing."""
    shares = labels.contour / labels.contour.sum(axis=1, keepdims=True)
    shares[labels.is_unknown] = np.nan
    return estimator.fit(X, shares, sample_weight=sample_weight, classes=labels.classes.tolist())


def fit_annotations(estimator, X, labels, sample_weight):
    """Labels as the answers of one annotator."""
    said = Annotations.from_classes(labels.scaled(), "plausibility", labels.classes.tolist())
    return estimator.fit(X, said, sample_weight=sample_weight)


CONFORMAL = "its sets are conformal, and empty where no class fits as well as usual"
LEFT_OUT_OF_CONFORMAL = {
    "predict_is_in_its_set": CONFORMAL,
    "sets_by_interval_dominance": CONFORMAL,
}
NEIGHBORS = EvidentialNeighborsClassifier(15, gamma="heuristic")

# Estimators that take Labels.
ESTIMATORS: dict[str, Subject] = {
    "SoftNearestCentroid": Subject(SoftNearestCentroid(), unknown="refuses", y_none="refuses"),
    "DiscriminantClassifier": Subject(
        DiscriminantClassifier(reg_covar=1e-6, random_state=0), unknown="works"
    ),
    "DiscriminantClassifier quadratic": Subject(
        DiscriminantClassifier(False, shrinkage=0.1, random_state=0), unknown="works"
    ),
    "GaussianMixtureClassifier": Subject(
        GaussianMixtureClassifier(random_state=0), unknown="works"
    ),
    "GaussianMixtureClassifier tied": Subject(
        GaussianMixtureClassifier("tied", random_state=0), unknown="works"
    ),
    "UncertainGaussianMixture": Subject(
        UncertainGaussianMixture("tied", random_state=0), unknown="works"
    ),
    "PartialLogisticRegression": Subject(PartialLogisticRegression(random_state=0)),
    "PartialLogisticRegression maximum_entropy": Subject(
        PartialLogisticRegression("maximum_entropy", random_state=0)
    ),
    "PartialLogisticRegression minimum_entropy": Subject(
        PartialLogisticRegression("minimum_entropy", random_state=0)
    ),
    "EvidentialCalibratedClassifier": Subject(
        EvidentialCalibratedClassifier(SoftNearestCentroid(), cv=2)
    ),
    "EvidentialCalibratedClassifier of scikit-learn": Subject(
        EvidentialCalibratedClassifier(
            LogisticRegression(solver="newton-cholesky", tol=1e-6), cv=2, scores="classes"
        ),
    ),
    "SoftVotingClassifier": Subject(
        SoftVotingClassifier(
            [
                ("near", SoftNearestCentroid()),
                ("bayes", GaussianNB()),
            ],
            weights=[1, 2],
        )
    ),
    "AutoClassifier": Subject(
        AutoClassifier([("near", SoftNearestCentroid()), ("bayes", GaussianNB())], cv=2)
    ),
    "SoftBaggingClassifier": Subject(
        SoftBaggingClassifier(SoftNearestCentroid(), n_estimators=5, random_state=0)
    ),
    "SoftStackingClassifier": Subject(
        SoftStackingClassifier(
            [("near", SoftNearestCentroid()), ("bayes", GaussianNB())],
            PartialLogisticRegression(random_state=0),
            cv=2,
        )
    ),
    "ConformalClassifier": Subject(
        ConformalClassifier(SoftNearestCentroid(), 0.6, "cross", cv=2, random_state=0),
        leave_out=LEFT_OUT_OF_CONFORMAL | {"one_pass": "it asks the classifier that it is around"},
    ),
    "ConformalClassifier split": Subject(
        ConformalClassifier(GaussianNB(), 0.6, cv=2, random_state=0),
        leave_out=LEFT_OUT_OF_CONFORMAL,
    ),
    "SoftLabelClassifier": Subject(
        SoftLabelClassifier(GaussianNB(), cv=2, max_iter=3, random_state=0), unknown="refuses"
    ),
    "SoftLabelClassifier maximum_entropy": Subject(
        SoftLabelClassifier(
            LogisticRegression(solver="newton-cholesky", tol=1e-6), "maximum_entropy"
        ),
        unknown="refuses",
    ),
    "EvidentialNeighborsClassifier": Subject(EvidentialNeighborsClassifier(15), unknown="refuses"),
    "EvidentialNeighborsClassifier c1": Subject(
        EvidentialNeighborsClassifier([5, 9, 15], loss="c1", unknown="skip"), unknown="refuses"
    ),
    "EvidentialNeighborsClassifier contours": Subject(
        EvidentialNeighborsClassifier(15, loss="c1", combination="contours"), unknown="refuses"
    ),
    "ContextualNeighborsClassifier": Subject(ContextualNeighborsClassifier(15), unknown="refuses"),
    "RelabellingClassifier": Subject(
        RelabellingClassifier(NEIGHBORS, NEIGHBORS), unknown="refuses"
    ),
    "EvidentialNetworkClassifier": Subject(
        EvidentialNetworkClassifier(
            3, regularization=0.1, max_iter=5000, tol=1e-10, random_state=0
        ),
        unknown="refuses",
    ),
    "GeneralizedBayesClassifier": Subject(
        GeneralizedBayesClassifier(GaussianMixtureClassifier(random_state=0)), unknown="works"
    ),
    "EvidentialFusionClassifier": Subject(
        EvidentialFusionClassifier(
            [("near", SoftNearestCentroid()), ("bayes", GaussianNB())], calibrate="none", cv=2
        ),
        unknown="refuses",
    ),
    "EvidentialFusionClassifier contextual": Subject(
        EvidentialFusionClassifier(
            [("near", SoftNearestCentroid()), ("bayes", GaussianNB())],
            discount="contextual",
            calibrate="none",
            cv=2,
        ),
        unknown="refuses",
    ),
    "EvidentialFusionClassifier calibrated": Subject(
        EvidentialFusionClassifier(
            [("tree", BeliefTreeClassifier(0.1)), ("near", SoftNearestCentroid())],
            rule="cautious",
            cv=2,
        ),
        unknown="refuses",
    ),
    "BeliefTreeClassifier": Subject(BeliefTreeClassifier(0.1), unknown="works", y_none="refuses"),
    "BeliefForestClassifier": Subject(
        BeliefForestClassifier(10, max_depth=3, random_state=0), unknown="works", y_none="refuses"
    ),
    "BeliefForestClassifier dempster": Subject(
        BeliefForestClassifier(10, max_depth=3, combination="dempster", random_state=0),
        unknown="works",
    ),
}

TOLD_APART = "assessments are data, as features are: doubted ones still tell classes apart here"

# Estimators whose y is something else, each fitted from Labels in its own way.
WITH_OWN_Y: dict[str, Subject] = {
    "StochasticSupervisionClassifier": Subject(
        StochasticSupervisionClassifier("g2", random_state=0),
        fit_assessments,
        leave_out={
            "degrees_matter": TOLD_APART,
            "cross_validation_keeps_degrees": TOLD_APART,
            "grid_search_keeps_degrees": TOLD_APART,
            "pipeline_keeps_degrees": TOLD_APART,
            "train_test_split_keeps_degrees": TOLD_APART,
        },
    ),
    "JointAnnotatorClassifier": Subject(
        JointAnnotatorClassifier(SoftNearestCentroid(), "one_coin"), fit_annotations
    ),
    "JointAnnotatorClassifier difficulty": Subject(
        JointAnnotatorClassifier(
            SoftNearestCentroid(), "one_coin", difficulty="features", tol=1e-3
        ),
        fit_annotations,
    ),
}
# Clusterings, which are given no labels.
CLUSTERINGS: dict[str, Subject] = {
    "ECM": Subject(ECM(3, n_init=3, random_state=0)),
    "RECM": Subject(RECM(3, metric="euclidean", n_init=2, random_state=0)),
    "SECM": Subject(SECM(3, n_init=2, random_state=0)),
    "CECM": Subject(CECM(3, n_init=2, random_state=0)),
    "ECM adaptive": Subject(ECM(3, n_init=2, metric="adaptive", random_state=0)),
    "EKNNClus": Subject(EKNNClus(random_state=0)),
    "EVCLUS": Subject(EVCLUS(2, n_init=1, tol=1e-4, random_state=0)),
    "CEVCLUS": Subject(CEVCLUS(2, [(0, 1)], n_init=1, tol=1e-4, random_state=0)),
}
REGISTER = ESTIMATORS | WITH_OWN_Y | CLUSTERINGS
# Other options of estimators that are registered above: looked at when there is time.
VARIANTS = {
    # Made of estimators that are looked at themselves.
    "AutoClassifier",
    "ConformalClassifier",
    "EvidentialFusionClassifier",
    "ContextualNeighborsClassifier",
    "EvidentialCalibratedClassifier",
    "GeneralizedBayesClassifier",
    "RelabellingClassifier",
    "SoftBaggingClassifier",
    "SoftStackingClassifier",
    "SoftVotingClassifier",
    # Other options.
    "CEVCLUS",
    "EVCLUS",
    "DiscriminantClassifier quadratic",
    "GaussianMixtureClassifier tied",
    "PartialLogisticRegression maximum_entropy",
    "PartialLogisticRegression minimum_entropy",
    "EvidentialCalibratedClassifier of scikit-learn",
    "ConformalClassifier split",
    "SoftLabelClassifier maximum_entropy",
    "EvidentialNeighborsClassifier c1",
    "JointAnnotatorClassifier difficulty",
    "EvidentialFusionClassifier calibrated",
    "EvidentialFusionClassifier contextual",
    "EvidentialNeighborsClassifier contours",
    "BeliefForestClassifier dempster",
    "CECM",  # without links, ECM
    "ECM adaptive",
    "SECM",  # without neighbors, ECM
}
