"""A valid call of everything public, from which the fuzzer starts.

Data are small: 24 items, three classes that are not sorted. Files are looked for in the working
folder, where `write_files` puts them.
"""

import json
from collections import namedtuple
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from plausible import (
    belief,
    cluster,
    datasets,
    engine,
    experts,
    io,
    labels,
    metrics,
    models,
    neighbors,
    plots,
    report,
)
from plausible.belief import SparseMasses
from plausible.experts import (
    Annotations,
    Dependence,
    EvidentialFusionClassifier,
    JointAnnotatorClassifier,
)
from plausible.labels import Labels
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
    Relabeller,
    RelabellingClassifier,
)

ROOMS = {
    "belief": belief,
    "labels": labels,
    "metrics": metrics,
    "models": models,
    "neighbors": neighbors,
    "experts": experts,
    "io": io,
    "datasets": datasets,
    "engine": engine,
    "report": report,
    "cluster": cluster,
    "plots": plots,
}
# What calls return: it is made by the library, from what was checked before.
RECORDS = {
    "belief": {"Decision"},
    "metrics": {"CalibrationCurve", "Estimate", "RejectionCurve", "Scorer", "SetSizes"},
    "models": {"Beliefs", "ComparedModel", "Comparison", "Evidence", "Imputed", "RowScores"},
    "experts": {"Agreement", "Drift", "Question", "Reliability", "SharedErrors"},
    "io": {"Features", "Known", "StreamedTraining", "TableStream", "Training"},
    "datasets": {
        "Annotators", "ClusterData", "CrowdData", "DoubtfulExpert", "GradedData", "ImageData",
        "MissingLabels", "PartialData", "RealData", "SplitData",
    },
    "engine": {"Progress", "Result", "Rows"},
    "report": {"Report"},
    "cluster": {"ClusterCounts", "SparsePartition"},
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """A function, and arguments with which it works; those named ``*0``, ``*1`` go by place."""

    name: str
    function: Callable[..., Any]
    arguments: dict[str, Any]
    slow: bool = False

    def __call__(self, **changed: Any) -> Any:
        given = self.arguments | changed
        placed = [value for name, value in given.items() if name.startswith("*")]
        return self.function(*placed, **{n: v for n, v in given.items() if not n.startswith("*")})


N = 24
RNG = np.random.default_rng(0)
CLASSES = ["cow", "ant", "bee"]
CODES = np.arange(N) % 3
HARD = np.array(CLASSES)[CODES]
X = RNG.normal(size=(N, 2)) + 2.0 * np.array([[0, 0], [1, 0], [0, 1]])[CODES]
FRESH = X[:5] + 0.1
CONTOUR = np.where(np.eye(3)[CODES] > 0, 1.0, RNG.uniform(0.05, 0.9, (N, 3)))
PROBABILITY = CONTOUR / CONTOUR.sum(axis=1, keepdims=True)
WEIGHT = RNG.uniform(0.5, 2.0, N)
SOFT = Labels.from_plausibility(CONTOUR, classes=CLASSES)
DENSE = RNG.dirichlet(np.ones(8), size=4)
ONE = RNG.dirichlet(np.ones(8))
NORMAL = np.hstack([np.zeros((4, 1)), RNG.dirichlet(np.ones(7), size=4)])
SUBNORMAL = np.array([0.4, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05])
SPARSE = SparseMasses(np.full((4, 2), 0.5), [1, 7], 3)
ANSWERS = np.array(CLASSES, dtype=object)[
    np.where(RNG.uniform(size=(N, 3)) < 0.8, CODES[:, None], RNG.integers(3, size=(N, 3)))
]
ANNOTATIONS = Annotations.from_answers(ANSWERS, annotators=["cy", "ann", "bob"])
OPINION = 1 / (1 + np.exp(-RNG.normal(np.where(CODES == 0, 2.0, -1.0))))
OPINIONS = PROBABILITY * 0.98 + 0.02 / 3
VOTES = RNG.integers(0, 4, size=(N, 3)) + np.eye(3, dtype=int)[CODES]
KNOWN = {"item": [f"i{k}" for k in range(N)], "label": HARD.tolist()}
TABLE = {"item": KNOWN["item"], "length": X[:, 0].tolist(), "width": X[:, 1].tolist()}
LONG = {
    "item": np.repeat(KNOWN["item"], 2).tolist(),
    "annotator": ["cy", "ann"] * N,
    "label": ANSWERS[:, :2].ravel().tolist(),
}
FEATURES = io.Features(X, ["length", "width"], np.array(KNOWN["item"]))
Point = namedtuple("Point", "x criterion")


def write_files() -> None:
    """Write the files that valid calls read into the working folder."""
    for ending in ("csv", "parquet", "arrow"):
        io.write_table(TABLE, f"features.{ending}")
        io.write_table({**KNOWN, "weight": WEIGHT, "x": X[:, 0]}, f"known.{ending}")
    io.write_table(LONG, "long.csv")
    io.save(fitted(SoftNearestCentroid), "model.skops")
    np.save("X.npy", X)
    np.save("y.npy", CONTOUR)
    rows = [json.dumps({"id": k, "label": [str(HARD[k])]}) for k in range(N)]
    for who in ("p", "q"):
        Path(f"{who}.jsonl").write_text("\n".join(rows))
    tasks = [
        {
            "id": k,
            "annotations": [
                {"completed_by": 1, "result": [{"type": "choices", "value": {"choices": [name]}}]}
            ],
        }
        for k, name in enumerate(HARD.tolist())
    ]
    Path("studio.json").write_text(json.dumps(tasks))


def every_call() -> list[Call]:
    """All calls, in one order."""
    from fuzz.cluster_calls import cluster_calls
    from fuzz.plots_calls import plots_calls

    parts = (
        belief_calls, labels_calls, metrics_calls, estimator_calls, models_calls,
        uncertain_calls, experts_calls, io_calls, datasets_calls, engine_calls, report_calls,
        cluster_calls, plots_calls,
    )  # fmt: skip
    return [call for part in parts for call in part()]


# -- belief ----------------------------------------------------------------------------------------

OF_MASSES = [
    "confusion",
    "contour",
    "deng_entropy",
    "discord",
    "dissonance",
    "nonspecificity",
    "negate",
    "pignistic",
    "pignistic_entropy",
    "plausibility_entropy",
    "plausibility_probability",
    "strife",
    "to_dense",
    "to_sparse",
    "with_unknown",
]
OF_MASSES_AND_SETS = [
    "belief",
    "commonality",
    "implicability",
    "plausibility",
    "interval_width",
    "conjunctive_weights",
    "disjunctive_weights",
]
RULES = [
    "bold",
    "cautious",
    "conjunctive",
    "dempster",
    "disjunctive",
    "dubois_prade",
    "mean",
    "pcr6",
    "yager",
]


def belief_calls() -> Iterator[Call]:
    b = belief
    given: dict[str, dict[str, Any]] = {name: {"masses": DENSE} for name in OF_MASSES}
    given |= {name: {"masses": DENSE, "sets": [1, 5]} for name in OF_MASSES_AND_SETS}
    given |= {name: {"*0": DENSE, "*1": DENSE[::-1]} for name in (*RULES, "conflict")}
    given["dempster"]["on_conflict"] = "raise"
    given["mean"]["weights"] = [0.3, 0.7]
    given |= {name: {"n_classes": 3} for name in ("all_sets", "full_set", "vacuous")}
    given |= {
        "SparseMasses": {"values": DENSE[:, :2] + 0.0, "focal_sets": [1, 7], "n_classes": 3},
        "bayesian": {"probabilities": PROBABILITY},
        "cardinality": {"sets": [1, 5, 7]},
        "categorical": {"sets": [1, 5], "n_classes": 3},
        "coarsen": {"masses": DENSE, "parts": [1, 6], "inner": False},
        "combine": {"sources": [DENSE, DENSE], "rule": "mean", "weights": [0.3, 0.7]},
        "concatenate": {"parts": [DENSE, SPARSE]},
        "condition": {"masses": DENSE, "event": 3, "normalize": True},
        "consonant": {"contour": CONTOUR},
        "contextual_discount": {"masses": DENSE, "doubt": [0.1, 0.2], "contexts": [1, 6]},
        "cylinders": {"shape": (2, 3), "axis": 0},
        "decide": {
            "beliefs": DENSE, "rule": "pignistic", "loss": 1.0 - np.eye(3), "reject": 0.3,
            "unknown": False, "pessimism": 0.5, "kind": "masses", "classes": CLASSES,
        },
        "contour_of_bets": {"probabilities": CONTOUR[:4] / CONTOUR[:4].sum(axis=1)[:, None]},
        "decode_sets": {"sets": [1, 5], "classes": CLASSES},
        "discount": {"masses": DENSE, "doubt": [0.1, 0.2, 0.3, 0.4]},
        "encode_sets": {"sets": [{"cow"}, {"ant", "bee"}], "classes": CLASSES},
        "expected_losses": {"masses": DENSE, "loss": 1.0 - np.eye(3)},
        "generalized_bayes": {"likelihoods": CONTOUR[:4], "prior": DENSE, "normalize": True},
        "is_at_least_as_committed": {
            "first": DENSE, "second": DENSE, "order": "plausibility", "tol": 1e-9,
        },
        "jousselme_distance": {"first": DENSE, "second": DENSE[::-1]},
        "marginalize": {"masses": DENSE, "shape": (3, 1), "axis": 0},
        "masses_from_belief": {"belief": b.belief(NORMAL)},
        "masses_from_commonality": {"commonality": b.commonality(DENSE)},
        "masses_from_conjunctive_weights": {"weights": b.conjunctive_weights(ONE)},
        "masses_from_dicts": {
            "rows": [{("cow",): 0.7, ("ant", "bee"): 0.3}], "classes": CLASSES,
        },
        "masses_from_disjunctive_weights": {"weights": b.disjunctive_weights(SUBNORMAL)},
        "masses_from_implicability": {"implicability": b.implicability(DENSE)},
        "masses_from_plausibility": {"plausibility": b.plausibility(NORMAL)},
        "membership": {"sets": [1, 5], "n_classes": 3},
        "normalize": {"masses": DENSE, "on_conflict": "raise"},
        "plausibility_given_sets": {"conditional": CONTOUR[:3], "sets": [1, 5]},
        "refine": {"masses": DENSE, "parts": [1, 2, 12], "n_classes": 4},
        "sets_from_membership": {"members": np.eye(3, dtype=bool)},
        "total_plausibility": {
            "masses": DENSE, "conditional": b.plausibility_given_sets(CONTOUR[:3]),
        },
        "vacuous_extension": {"masses": DENSE, "shape": (3, 2), "axis": 0},
    }  # fmt: skip
    for name, arguments in given.items():
        yield Call(f"belief.{name}", getattr(b, name), arguments)
    yield Call("belief.SparseMasses.to_dicts", SPARSE.to_dicts, {"classes": CLASSES})
    decision = b.decide(DENSE, reject=0.3, kind="masses")
    yield Call("belief.Decision.names", decision.names, {"acts": CLASSES, "ties": True})


# -- labels, metrics -------------------------------------------------------------------------------


def labels_calls() -> Iterator[Call]:
    masses = [{("cow",): 0.7, ("ant", "bee"): 0.3}, {("ant",): 1.0}]
    given: dict[str, dict[str, Any]] = {
        "from_crisp": {"y": [*HARD, None], "classes": CLASSES, "missing": None},
        "from_sets": {"sets": [{"cow"}, {"ant", "bee"}, None], "classes": CLASSES},
        "from_plausibility": {"plausibility": CONTOUR, "classes": CLASSES},
        "from_probability": {"probability": PROBABILITY, "classes": CLASSES},
        "from_doubt": {"y": HARD, "doubt": CONTOUR[:, 0], "classes": CLASSES, "missing": None},
        "from_masses": {"masses": masses, "classes": CLASSES, "conflict": [0.1, 0.2]},
        "unknown": {"n": 3, "classes": CLASSES},
        "concatenate": {"parts": [SOFT, SOFT]},
    }
    for name, arguments in given.items():
        yield Call(f"labels.Labels.{name}", getattr(Labels, name), arguments)
    yield Call(
        "labels.Labels.from_masses of arrays",
        Labels.from_masses,
        {"masses": DENSE, "classes": "abc"},
    )
    for name, arguments in {
        "condition": {"classes": ["cow", "bee"]},
        "discount": {"doubt": CONTOUR[:, 0]},
        "rename": {"names": {"cow": "dog", "ant": "x", "bee": "y"}},
        "reorder": {"classes": CLASSES[::-1]},
    }.items():
        yield Call(f"labels.Labels.{name}", getattr(SOFT, name), arguments)
    sure = Labels.from_masses(NORMAL, "abc")
    made = {"contour": sure.contour, "classes": list("abc"), "masses": sure.masses()}
    yield Call("labels.Labels", Labels, {**made, "conflict": [0.1, 0.2, 0.3, 0.4]})
    yield Call("labels.as_labels", labels.as_labels, {"y": HARD, "classes": CLASSES})
    yield Call("labels.as_labels of a table", labels.as_labels, {"y": CONTOUR, "classes": CLASSES})
    sets = [{"cow"}, {"ant", "bee"}]
    yield Call("labels.as_labels of sets", labels.as_labels, {"y": sets, "classes": CLASSES})


def metrics_calls() -> Iterator[Call]:
    truth = {"y_true": SOFT}
    more = {"sample_weight": WEIGHT, "classes": CLASSES}
    sets = CONTOUR > 0.3
    given: dict[str, dict[str, Any]] = {
        "c1_loss": {**truth, "prediction": PROBABILITY, **more},
        "c1_losses": {**truth, "prediction": PROBABILITY, "classes": CLASSES},
        "calibration_curve": {
            **truth, "prediction": PROBABILITY, "n_bins": 5, **more, "strategy": "quantile",
        },
        "co_membership": {"masses": NORMAL, "others": NORMAL},
        "credal_nonspecificity": {"masses": NORMAL},
        "credal_rand_index": {"masses": NORMAL, "other": NORMAL[::-1]},
        "expected_calibration_error": {**truth, "prediction": PROBABILITY, "n_bins": 5, **more},
        "generalized_log_likelihood": {**truth, "prediction": PROBABILITY, "classes": CLASSES},
        "get_scorer": {"name": "u65"},
        "rejection_curve": {**truth, "prediction": PROBABILITY, **more},
        "set_coverage": {**truth, "y_pred": sets, **more},
        "set_imprecision": {"y_pred": sets, "sample_weight": WEIGHT},
        "set_sizes": {**truth, "y_pred": sets, **more},
        "soft_accuracy": {**truth, "y_pred": HARD, **more},
        "soft_confusion_matrix": {**truth, "y_pred": HARD, **more, "normalize": "true"},
        "soft_brier_score": {**truth, "prediction": PROBABILITY, **more},
        "soft_log_loss": {**truth, "prediction": PROBABILITY, **more},
        "utility_discounted_accuracy": {**truth, "y_pred": sets, "value_of_pair": 0.8, **more},
    }  # fmt: skip
    for name, arguments in given.items():
        yield Call(f"metrics.{name}", getattr(metrics, name), arguments)
    scored = {"estimator": fitted(SoftNearestCentroid), "X": X, "y": SOFT, "sample_weight": WEIGHT}
    yield Call("metrics.Scorer of classes", metrics.SCORERS["soft_accuracy"], scored)
    yield Call("metrics.Scorer of numbers", metrics.SCORERS["neg_soft_log_loss"], scored)


# -- estimators ------------------------------------------------------------------------------------

STARTS = {"means": {"ant": [0.0, 2.0], "bee": [2.0, 0.0], "cow": [0.0, 0.0]}}
ESTIMATORS: dict[str, tuple[type, dict[str, Any], dict[str, Any]]] = {
    "SoftVotingClassifier": (
        SoftVotingClassifier,
        {"estimators": [("near", SoftNearestCentroid())], "weights": [1.0], "n_jobs": None},
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "AutoClassifier": (
        AutoClassifier,
        {
            "estimators": [("near", SoftNearestCentroid())], "combination": "votes",
            "calibrate": True, "cv": 2, "max_rows": 20, "max_seconds": 60.0, "random_state": 0,
            "verbose": 0, "n_jobs": None, "callback": None,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "SoftBaggingClassifier": (
        SoftBaggingClassifier,
        {
            "estimator": SoftNearestCentroid(), "n_estimators": 2, "max_samples": 1.0,
            "random_state": 0, "n_jobs": None,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "SoftStackingClassifier": (
        SoftStackingClassifier,
        {
            "estimators": [("near", SoftNearestCentroid())],
            "final_estimator": SoftNearestCentroid(), "cv": 2, "n_jobs": None,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "ConformalClassifier": (
        ConformalClassifier,
        {
            "estimator": SoftNearestCentroid(), "coverage": 0.5, "method": "cross",
            "by_class": False, "partial": "weighted", "nonconformity": "probability", "cv": 2,
            "n_jobs": None, "random_state": 0,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT, "gold": None},
    ),
    "SoftLabelClassifier": (
        SoftLabelClassifier,
        {
            "estimator": SoftNearestCentroid(), "criterion": "minimum_commitment", "cv": 2,
            "max_iter": 2, "tol": 1e-3, "class_weight": None, "n_jobs": None, "random_state": 0,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "SoftNearestCentroid": (
        SoftNearestCentroid, {}, {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "DiscriminantClassifier": (
        DiscriminantClassifier,
        {
            "shared_covariance": False, "shrinkage": 0.1, "n_components": 1, "init": "labels",
            "n_init": 1, "tol": 1e-4, "max_iter": 20, "reg_covar": 1e-6, "accelerate": True,
            "random_state": 0, "verbose": 0, "store_responsibilities": True, "callback": None,
            "checkpoint": None,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "GaussianMixtureClassifier": (
        GaussianMixtureClassifier,
        {
            "covariance_type": "diag", "n_components": 1, "init": STARTS, "n_init": 1, "tol": 1e-4,
            "max_iter": 20, "reg_covar": 1e-6, "accelerate": True, "random_state": 0,
            "verbose": 0, "prior": "weak", "n_classes": None, "store_responsibilities": True,
            "missing": "integrate",
            "callback": None, "checkpoint": None,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "UncertainGaussianMixture": (
        UncertainGaussianMixture,
        {
            "covariance_type": "tied", "n_components": 1, "init": STARTS, "n_init": 1, "tol": 1e-4,
            "max_iter": 20, "reg_covar": 1e-6, "accelerate": True, "random_state": 0, "verbose": 0,
            "prior": "weak", "n_classes": None, "n_lattice": 5, "callback": None,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "PartialLogisticRegression": (
        PartialLogisticRegression,
        {
            "criterion": "minimum_commitment", "alpha": 1.0, "fit_intercept": True,
            "penalize_intercept": False, "solver": "auto", "n_init": 1, "init": None, "tol": 1e-3,
            "max_iter": 50, "warm_start": False, "random_state": 0, "verbose": 0,
            "callback": None,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "EvidentialCalibratedClassifier": (
        EvidentialCalibratedClassifier,
        {"estimator": SoftNearestCentroid(), "cv": 2, "smoothing": True, "scores": "pairs"},
        {"X": X, "y": HARD, "sample_weight": WEIGHT},
    ),
    "StochasticSupervisionClassifier": (
        StochasticSupervisionClassifier,
        {
            "model": None, "covariance_type": "diag", "n_components": 1, "assessment": "gaussian",
            "scale": "probability", "saturated": "clip", "init": "assessments", "n_init": 1,
            "tol": 1e-3, "max_iter": 20, "reg_covar": 1e-6, "accelerate": True, "random_state": 0,
            "verbose": 0, "callback": None, "checkpoint": None,
        },
        {
            "X": X, "y": OPINION, "labels": None, "sample_weight": WEIGHT,
            "classes": ["sick", "well"],
        },
    ),
    "StochasticSupervisionClassifier of three": (
        StochasticSupervisionClassifier,
        {"model": None, "max_iter": 20, "tol": 1e-3, "random_state": 0},
        {"X": X, "y": OPINIONS, "labels": SOFT, "sample_weight": WEIGHT, "classes": CLASSES},
    ),
    "BeliefTreeClassifier": (
        BeliefTreeClassifier,
        {
            "discord_weight": 0.5, "max_depth": 3, "min_samples_split": 2, "min_samples_leaf": 1,
            "min_impurity_decrease": 0.0, "ccp_alpha": 0.0, "random_state": 0,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "BeliefForestClassifier": (
        BeliefForestClassifier,
        {"n_estimators": 3, "max_depth": 2, "combination": "mean", "random_state": 0},
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "EvidentialNetworkClassifier": (
        EvidentialNetworkClassifier,
        {
            "n_prototypes": 3, "regularization": 0.1, "init": "classes", "n_init": 1,
            "max_iter": 20, "tol": 0.1, "random_state": 0, "loss": "squared", "widest": 1.0,
            "verbose": 0,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "GeneralizedBayesClassifier": (
        GeneralizedBayesClassifier,
        {"estimator": None, "prior": [0.2, 0.3, 0.5], "unseen": None, "level": 0.01},
        {"X": X, "y": HARD, "sample_weight": WEIGHT},
    ),
    "EvidentialNeighborsClassifier": (
        EvidentialNeighborsClassifier,
        {
            "n_neighbors": 3, "gamma": "heuristic", "loss": "squared", "max_mass": 0.9,
            "unknown": "count", "metric": "minkowski", "algorithm": "auto", "n_jobs": None,
            "combination": "exact", "p": 2, "metric_params": None, "ann_options": None,
        },
        {"X": X, "y": SOFT},
    ),
    "ContextualNeighborsClassifier": (
        ContextualNeighborsClassifier,
        {
            "n_neighbors": 3, "gamma": 1.0, "max_mass": 0.9, "unknown": "skip",
            "metric": "minkowski", "algorithm": "auto", "n_jobs": None, "p": 2,
            "metric_params": None, "ann_options": None,
        },
        {"X": X, "y": SOFT},
    ),
    "Relabeller": (Relabeller, {"estimator": SoftNearestCentroid()}, {"X": X, "y": SOFT}),
    "RelabellingClassifier": (
        RelabellingClassifier,
        {"first": SoftNearestCentroid(), "final": SoftNearestCentroid(), "unknown": "relabel"},
        {"X": X, "y": SOFT},
    ),
    "EvidentialFusionClassifier": (
        EvidentialFusionClassifier,
        {
            "estimators": [("near", SoftNearestCentroid(), [0]), ("two", SoftNearestCentroid())],
            "rule": "dempster", "discount": "fit", "calibrate": "none", "cv": 2, "smoothing": 1.0,
            "n_jobs": None,
        },
        {"X": X, "y": SOFT, "sample_weight": WEIGHT},
    ),
    "JointAnnotatorClassifier": (
        JointAnnotatorClassifier,
        {
            "classifier": GaussianMixtureClassifier("diag", max_iter=5), "model": "full",
            "smoothing": 1.0, "difficulty": "features", "tol": 1e-2, "max_iter": 5, "verbose": 0,
            "callback": None,
        },
        {"X": X, "y": ANNOTATIONS, "gold": {0: "cow"}},
    ),
}  # fmt: skip
ANSWERING = [
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_plausibility",
    "predict_mass",
    "predict_set",
    "decision_function",
    "transform",
    "score_samples",
    "score_novelty",
    "predict_novelty",
    "score",
    "sample",
    "learn_class_weights",
]


@cache
def fitted(kind: type, number: int = 0) -> Any:
    """A fitted estimator, shared by all calls."""
    several = [parts for parts in ESTIMATORS.values() if parts[0] is kind]
    _, parameters, data = several[number]
    return kind(**parameters).fit(**data)


def estimator_calls() -> Iterator[Call]:
    seen: dict[type, int] = {}
    for name, (kind, parameters, data) in ESTIMATORS.items():
        number = seen[kind] = seen.get(kind, -1) + 1
        room = kind.__module__.split(".")[1]

        def fit(kind: type = kind, data: dict[str, Any] = data, **given: Any) -> Any:
            rows = {key: given.pop(key) for key in data}
            return kind(**given).fit(**rows)

        yield Call(f"{room}.{name}.fit", fit, {**parameters, **data})
        model = fitted(kind, number)
        for method in ANSWERING:
            if hasattr(model, method):
                function = getattr(model, method)
                arguments = method_arguments(function, len(model.classes_) == 2)
                yield Call(f"{room}.{name}.{method}", function, arguments)
        if hasattr(model, "predict"):
            yield Call(f"{room}.{name}.predict unfitted", clone(model).predict, {"X": FRESH})


def method_arguments(function: Callable[..., Any], of_two: bool) -> dict[str, Any]:
    """Arguments for five new items of two or three classes, as many as a method takes."""
    taken = signature(function).parameters
    known = [{"sick"}, {"sick", "well"}, {"well"}] * 2 if of_two else [{"cow"}, {"ant", "bee"}] * 3
    names = ["sick", "well"] if of_two else CLASSES
    every: dict[str, Any] = {
        "X": FRESH,
        "labels": known[:5],
        "y": ["sick", "well", "sick", "well", "well"] if of_two else HARD[:5],
        "sample_weight": WEIGHT[:5],
        "assessments": OPINION[:5] if of_two else OPINIONS[:5],
        "class_weight": None,
        "cost": {true: {said: float(true != said) for said in names} for true in names},
        "rule": "interval_dominance",
        "reject": None,
        "level": 0.05,
        "n_samples": 4,
    }
    return {name: every[name] for name in taken if name in every}


def fit_preparation(X: Any, **given: Any) -> Any:
    """A preparation, fitted."""
    return models.FeaturePreparation(**given).fit(X)


VALUES = models.UncertainValues.from_intervals(np.arange(6.0), np.arange(6.0) + 2)


def fit_law(X: Any, sample_weight: Any, family: Any, **given: Any) -> Any:
    """A law, estimated."""
    return models.E2M(family, **given).fit(X, sample_weight=sample_weight)


class Laplace(models.Family):
    """A family that states its density."""

    bounds = {"center": (-np.inf, np.inf), "width": (0.0, np.inf)}  # noqa: RUF012

    def log_density(self, x: Any, params: Any) -> Any:
        return -np.abs(x - params["center"]) / params["width"] - np.log(2 * params["width"])


def uncertain_calls() -> Iterator[Call]:
    u = models.UncertainValues
    numbers = np.arange(6.0)
    for name, arguments in {
        "from_precise": {"values": numbers},
        "from_intervals": {"low": numbers, "high": numbers + 1},
        "from_fuzzy": {"mean": numbers, "sd": 0.5},
        "missing": {"shape": 3},
        "concatenate": {"parts": [VALUES, VALUES]},
    }.items():
        yield Call(f"models.UncertainValues.{name}", getattr(u, name), arguments)
    inside = {"mean": numbers, "sd": numbers + 1, "low": numbers, "high": numbers + 2}
    yield Call("models.UncertainValues", u, inside)
    where = {"keep": numbers > 2, "other": numbers}
    yield Call("models.UncertainValues.where", VALUES.where, where)
    yield Call("models.UncertainValues.plausibility", VALUES.plausibility, {"x": numbers})
    fit = {"init": None, "tol": 1e-6, "max_iter": 50, "accelerate": True, "n_bootstrap": 0}
    weight = {"sample_weight": np.ones(6)}
    laws: dict[str, tuple[Any, Any, dict[str, Any]]] = {
        "Bernoulli": (models.Bernoulli(), [0, 1, 1, 0, 1, 0], {"theta": 0.3}),
        "Categorical": (models.Categorical(), list("abcabc"), {"probabilities": [0.3, 0.3, 0.4]}),
        "Poisson": (models.Poisson(), VALUES, {"rate": 2.0}),
        "Exponential": (models.Exponential(), VALUES, {"rate": 2.0}),
        "Normal": (models.Normal(), VALUES, {"mean": 2.0, "variance": 1.0}),
        "Family": (Laplace(), VALUES, {"center": 2.0, "width": 1.0}),
    }
    for name, (family, data, init) in laws.items():
        given = {**fit, "init": init, "family": family, "X": data, **weight}
        yield Call(f"models.{name} fit", fit_law, given)
    yield Call("models.Bernoulli of success", models.Bernoulli, {"success": "a"})
    model = models.E2M(models.Normal(), n_bootstrap=3, tol=1e-4, random_state=0).fit(VALUES)
    more = {"n_bootstrap": 2, "random_state": 0, "verbose": 0, "callback": None}
    yield Call(
        "models.E2M.fit", fit_law, {**fit, **more, "family": models.Normal(), "X": VALUES, **weight}
    )
    yield Call("models.E2M.intervals", model.intervals, {"level": 0.9, "method": "information"})
    yield Call("models.E2M.standard_errors", model.standard_errors, {"method": "bootstrap"})
    yield Call("models.E2M.score_samples", model.score_samples, {"X": VALUES})
    mixture = fitted(UncertainGaussianMixture)
    low = models.UncertainValues.from_intervals(FRESH, FRESH + 1)
    name = "models.UncertainGaussianMixture"
    yield Call(f"{name}.impute", mixture.impute, {"X": low, "labels": HARD[:5]})
    yield Call(f"{name}.predict_proba of intervals", mixture.predict_proba, {"X": low})
    for method in (mixture.standard_errors, mixture.intervals):
        given = {"X": X, "y": SOFT, "method": "bootstrap", "n_bootstrap": 2}
        yield Call(f"{name}.{method.__name__}", method, given, slow=True)


def models_calls() -> Iterator[Call]:
    logistic = fitted(PartialLogisticRegression)
    yield Call("models.believe", models.believe, {"model": logistic, "X": FRESH})
    scored = {"model": logistic, "X": X, "y": SOFT, "sample_weight": WEIGHT}
    scored |= {"n_bootstrap": 3, "random_state": 0}
    yield Call("models.score_rows", models.score_rows, scored)
    tree = fitted(BeliefTreeClassifier)
    for name in ("export_text", "export_svg"):
        shown = {"model": tree, "feature_names": ["x", "y"], "max_depth": 2, "decimals": 2}
        yield Call(f"models.{name}", getattr(models, name), shown)
    prepared = {"kinds": None, "max_categories": 5, "min_frequency": 2, "scale": True, "X": X}
    yield Call("models.FeaturePreparation.fit", fit_preparation, prepared)
    yield Call(
        "models.weights_of_evidence",
        models.weights_of_evidence,
        {"model": logistic, "X": FRESH, "center": [0.0, 0.5]},
    )
    evidence = models.weights_of_evidence(logistic, FRESH)
    yield Call("models.Evidence.feature_weights", evidence.feature_weights, {"rows": [0, 2]})
    yield Call(
        "models.partial_label_loss", models.partial_label_loss, {"criterion": "self_consistent"}
    )
    yield Call(
        "models.partial_label_loss, called",
        models.partial_label_loss("minimum_entropy"),
        {"*0": np.log(PROBABILITY), "*1": SOFT},
    )
    losses = {
        "logits": np.log(PROBABILITY), "labels": np.asarray(PROBABILITY), "criterion":
        "minimum_commitment", "is_probability": None, "sample_weight": None, "reduction": "mean",
    }  # fmt: skip
    yield Call("models.soft_label_loss", models.soft_label_loss, losses)
    yield Call("models.soft_label_gradient", models.soft_label_gradient, losses)
    asked = {"y": SOFT, "criterion": "maximum_entropy"}
    yield Call("models.xgboost_objective", models.xgboost_objective, asked)
    yield Call("models.lightgbm_objective", models.lightgbm_objective, asked)
    supervised = fitted(StochasticSupervisionClassifier)
    yield Call(
        "models.log_density", models.log_density, {"estimator": supervised, "X": X, "y": OPINION}
    )
    compared = {
        "X": X, "y": OPINION, "models": ["titterington", "g1"], "n_components": 1,
        "labels": None, "sample_weight": WEIGHT, "classes": ["sick", "well"], "cv": 2,
        "random_state": 0, "tol": 1e-2, "max_iter": 10,
    }  # fmt: skip
    yield Call("models.compare_models", models.compare_models, compared, slow=True)
    crossed = {
        "estimator": SoftNearestCentroid(), "X": X, "y": SOFT, "cv": 2, "groups": None,
        "sample_weight": WEIGHT, "n_jobs": None,
    }  # fmt: skip
    yield Call("models.cross_val_beliefs", models.cross_val_beliefs, crossed)


# -- experts, io -----------------------------------------------------------------------------------


PARTS = "items", "annotators", "classes", "item", "annotator", "statement", "contours", "doubt"


def experts_calls() -> Iterator[Call]:
    said = ANNOTATIONS
    long = {
        "items": LONG["item"], "annotators": LONG["annotator"], "labels": LONG["label"],
        "doubt": RNG.uniform(size=2 * N), "plausibility": None, "probability": None, "mass": None,
        "classes": CLASSES, "separator": "|", "abstain": ["?"], "none": ["none"],
    }  # fmt: skip
    yield Call("experts.Annotations.from_long", Annotations.from_long, long)
    wide = {
        "answers": ANSWERS, "classes": CLASSES, "items": KNOWN["item"],
        "annotators": ["cy", "ann", "bob"], "doubt": RNG.uniform(size=(N, 3)), "missing": -1,
        "separator": "|",
    }  # fmt: skip
    yield Call("experts.Annotations.from_answers", Annotations.from_answers, wide)
    table = {
        "table": PROBABILITY, "kind": "probability", "classes": CLASSES, "items": KNOWN["item"],
        "annotators": ["ann"] * N, "doubt": RNG.uniform(size=N),
    }  # fmt: skip
    yield Call("experts.Annotations.from_classes", Annotations.from_classes, table)
    pooled = {
        "rule": "dempster", "doubt": [0.1, 0.2, 0.3], "gold": None, "on_conflict": "unknown",
        "dependence": 0.5,
    }  # fmt: skip
    yield Call("experts.Annotations.pool", said.pool, pooled)
    together = {"doubt": [0.1, 0.2, 0.3], "gold": {0: "cow"}}
    yield Call("experts.Annotations.dependence", said.dependence, together)
    shared = {
        "shared": 0.5, "low": 0.2, "high": 0.8, "source": "gold", "copies": (), "n_answers": 3.0,
        "n_independent": 1.5,
    }  # fmt: skip
    yield Call("experts.Dependence", Dependence, shared)
    words = {"annotations": said, "gold": {0: "cow", 1: "ant"}, "prior": 4.0, "by_person": True}
    yield Call("experts.calibrate_words", experts.calibrate_words, words)
    calibrated = experts.calibrate_words(said, {0: "cow", 1: "ant"})
    yield Call("experts.WordCalibration.apply", calibrated.apply, {"annotations": said})
    yield Call("experts.Dependence.exponent", Dependence(0.5).exponent, {"n_answers": [1, 3]})
    learned = {
        "model": "one_coin", "gold": {0: "cow"}, "prior": [0.2, 0.3, 0.5], "smoothing": 1.0,
        "tol": 1e-3, "max_iter": 20, "accelerate": True, "callback": None,
    }  # fmt: skip
    yield Call("experts.Annotations.pool with fit", said.pool, {"doubt": "fit", **learned})
    yield Call("experts.Annotations.reliability", said.reliability, learned)
    yield Call("experts.fit_reliability", experts.fit_reliability, {"annotations": said, **learned})
    yield Call("experts.AnnotationParts", experts.AnnotationParts, {"source": [said]})
    grown = {"model": "class", "smoothing": 1.0, "dependence": 0.5, "tol": 1e-3}
    yield Call("experts.AnswerPool", experts.AnswerPool, {"answers": said, **grown})
    pool = experts.AnswerPool(said)
    yield Call("experts.AnswerPool.labels", pool.labels, {"items": said.items[:2].tolist()})
    again = {"tol": 1e-3, "max_iter": 20, "restart": True}
    yield Call("experts.AnswerPool.settle", pool.settle, again)
    level = {"annotations": said, "level": 0.05}
    yield Call("experts.find_shared_errors", experts.find_shared_errors, level)
    in_time = {"order": np.arange(len(said)), "reliability": said.reliability(), **level}
    yield Call("experts.find_drift", experts.find_drift, in_time)
    yield Call("experts.Annotations.select", said.select, {"answers": said.item < 5})
    members = np.array([True, False, True])
    yield Call("experts.Annotations.commonality", said.commonality, {"members": members})
    yield Call("experts.agreement", experts.agreement, {"votes": VOTES})
    asked = {
        "annotations": said, "n": 3, "labels": SOFT, "imprecision": CONTOUR[:, 0],
        "weights": (1.0, 2.0, 0.5), "by": "information", "annotator": "ann", "reliability": None,
        "predicted": SOFT, "seconds": [2.0] * N, "shared": 0.5,
    }  # fmt: skip
    yield Call("experts.next_items", experts.next_items, asked)
    made = {
        name: getattr(said, name)
        for name in [
            "items",
            "annotators",
            "classes",
            "item",
            "annotator",
            "statement",
            "contours",
            "doubt",
        ]
    }
    yield Call("experts.Annotations", Annotations, made)
    yield Call("experts.Annotations, pooled", lambda **given: Annotations(**given).pool(), made)


def io_calls() -> Iterator[Call]:
    names = ["length", "width"]
    given: dict[str, dict[str, Any]] = {
        "inspect_model": {"path": "model.skops"},
        "load": {"path": "model.skops", "trusted": [Labels]},
        "read_annotations": {
            "source": LONG, "layout": "long", "names": {"item": "item"}, "kind": None,
            "columns": None, "classes": CLASSES, "separator": "|", "abstain": ["?"],
            "none": ["none"], "map": {"a|b": "a"}, "words": {"high": 0.1}, "repeats": "once",
            "ignore": [], "on_rejected": "drop",
        },
        "read_doccano": {"sources": {"ann": "p.jsonl", "bob": "q.jsonl"}, "classes": CLASSES},
        "read_features": {
            "source": TABLE, "id": "item", "columns": names, "kinds": {"length": "number"},
            "missing": ["?"],
        },
        "read_known": {
            "source": LONG, "form": "answers", "rule": "dempster", "doubt": 0.1,
            "on_conflict": "unknown", "classes": CLASSES, "map": {"?": "a"}, "ignore": [],
            "dependence": 0.5, "gold": None,
        },
        "read_label_studio": {"source": "studio.json", "classes": CLASSES},
        "read_labels": {
            "source": {**KNOWN, "sure": [0.1] * N}, "kind": "doubt", "columns": ["label"],
            "doubt": "sure", "classes": CLASSES,
        },
        "read_new": {
            "source": TABLE, "names": names, "n_features": 2, "id": "item", "usual": "item",
            "kinds": "any", "keep": "all", "missing": ["?"],
        },
        "read_table": {"source": "features.csv", "columns": names},
        "read_training": {
            "known": KNOWN, "features": TABLE, "id": "item", "columns": names, "classes": CLASSES,
            "kinds": "any", "missing": ["?"], "on_unmatched": "drop", "n_features": 2,
        },
        "stream_training": {
            "known": KNOWN, "features": TABLE, "id": "item", "columns": names, "classes": CLASSES,
        },
        "stream_predictions": {
            "model": fitted(SoftNearestCentroid), "source": TABLE, "path": "streamed.csv",
            "reject": 0.3, "piece_rows": 7, "names": names,
        },
        "save": {
            "model": fitted(SoftNearestCentroid), "path": "saved.skops", "features": names,
            "id": "item", "trusted": [Labels],
        },
        "stream_table": {"source": "features.csv", "chunk_rows": 5, "columns": names},
        "write_annotations": {"annotations": ANNOTATIONS, "path": "written.csv"},
        "write_labels": {
            "labels": SOFT, "path": "labels.csv", "kind": "plausibility", "items": KNOWN["item"],
        },
        "write_predictions": {
            "model": fitted(SoftNearestCentroid), "features": FEATURES, "path": "answers.csv",
            "reject": 0.3, "names": names,
        },
        "write_table": {"table": TABLE, "path": "table.parquet"},
    }  # fmt: skip
    for name, arguments in given.items():
        yield Call(f"io.{name}", getattr(io, name), arguments)
    yield Call("io.read_table of columns", io.read_table, {"source": TABLE, "columns": names})
    yield Call("io.read_labels of a file", io.read_labels, {"source": "known.csv"})
    yield Call("io.Features.of", FEATURES.of, {"items": ["i3", "i1"]})
    yield Call(
        "io.stream_table, read", lambda **given: list(io.stream_table(**given)),
        {"source": "features.parquet", "chunk_rows": 5, "columns": names},
    )  # fmt: skip


# -- datasets, engine, report ----------------------------------------------------------------------


def datasets_calls() -> Iterator[Call]:
    small = {"n_features": 4, "random_state": 0}
    given: dict[str, dict[str, Any]] = {
        "estimate_doubt": {"votes": VOTES},
        "load": {"name": "sjaffe", "doubt": 0.1},
        "load_crowd": {"name": "labelme"},
        "load_elicited": {"name": "cifar10s", "doubt": 0.1},
        "load_clusters": {"name": datasets.CLUSTER_NAMES[0]},
        "load_split": {"name": datasets.SPLIT_NAMES[0]},
        "load_graded": {"name": datasets.GRADED_NAMES[0]},
        "load_images": {"name": datasets.IMAGE_NAMES[0]},
        "load_partial": {"name": datasets.PARTIAL_NAMES[0]},
        "majority_vote": {"votes": VOTES, "random_state": 0},
        "make_annotators": {
            "n": 12, "noise": (0.4, 0.5), "n_classes": 3, "n_factors": 3, "separation": 3.0,
            "ambiguity": 0.5, "confidence": 1.5, "doubt": [0.1, 0.2], **small,
        },
        "make_doubtful_expert": {
            "n": 12, "doubt": 0.5, "n_classes": 2, "distance": 2.0, "doubt_std": 0.2, **small,
        },
        "make_missing_labels": {"n": 12, "bayes_error": 0.1, "missing": 0.5, **small},
        "pool_plausibilities": {
            "plausibilities": [CONTOUR, CONTOUR], "doubt": [0.1, 0.2], "classes": CLASSES,
        },
        "pool_votes": {"votes": VOTES, "doubt": 0.5, "classes": CLASSES},
    }  # fmt: skip
    for name, arguments in given.items():
        yield Call(f"datasets.{name}", getattr(datasets, name), arguments)


def engine_calls() -> Iterator[Call]:
    columns = {"*0": X, "*1": CONTOUR, "*2": WEIGHT}
    array = engine.ArrayRows(X, CONTOUR, WEIGHT)
    yield Call("engine.ArrayRows", engine.ArrayRows, {**columns, "order": None, "chunk_rows": 7})
    yield Call("engine.ArrayRows, summed", summed(engine.ArrayRows), {**columns, "chunk_rows": 7})
    yield Call("engine.DaskRows", engine.DaskRows, dask_columns(), slow=True)
    chunks = [(X[:10], CONTOUR[:10]), (X[10:], CONTOUR[10:])]
    yield Call("engine.StreamRows", engine.StreamRows, {"source": chunks})
    yield Call("engine.StreamRows, summed", summed(engine.StreamRows), {"*0": chunks})
    for rows, kind in ((array, "ArrayRows"), (engine.StreamRows(chunks), "StreamRows")):
        drawn = {"n_rows": 5, "random": np.random.RandomState(0)}
        yield Call(f"engine.{kind}.sample", rows.sample, drawn)
        yield Call(f"engine.{kind}.coarser", rows.coarser, {"factor": 2})
        yield Call(f"engine.{kind}.map", rows.map, {"function": lambda columns: columns})
        yield Call(f"engine.{kind}.reduce", rows.reduce, {"summary": first_sum})
    climb = {
        "summarize": lambda points: [Point(x, -((x - 3) ** 2)) for x in points],
        "solve": lambda point: (point.x + 3) / 2,
        "starts": [0.0, 1.0], "n_rows": 1, "tol": 1e-3, "max_iter": 20, "chart": None,
        "callback": None, "checkpoint": None, "checkpoint_seconds": 60.0, "settings": "",
    }  # fmt: skip
    yield Call("engine.maximize", engine.maximize, climb)
    chosen = {"features": ["x"], "labels": "label", "weight": "weight", "chunk_rows": 5}
    yield Call("engine.read_any", engine.read_any, {"source": "known.csv", **chosen})
    for ending in ("csv", "parquet", "arrow"):
        read = getattr(engine, f"read_{ending}")
        given = {
            "path": f"known.{ending}", "features": ["x"], "labels": "label", "weight": "weight",
            "chunk_rows": 5,
        }  # fmt: skip
        yield Call(f"engine.read_{ending}", lambda read=read, **given: list(read(**given)), given)
    given = {"path": "X.npy", "labels": "y.npy", "weight": None, "chunk_rows": 5}
    yield Call("engine.read_npy", lambda **given: list(engine.read_npy(**given)), given)
    learned = {"X": engine.StreamRows(chunks), "y": None, "sample_weight": None}
    model = GaussianMixtureClassifier("diag", max_iter=5, tol=0.1, random_state=0)
    yield Call("engine.StreamRows, learned", lambda **given: clone(model).fit(**given), learned)
    yield Call(
        "engine.StreamRows of chunks, learned",
        lambda *chunks: clone(model).fit(engine.StreamRows([chunks])),
        columns,
    )


def first_sum(columns: tuple[Any, ...]) -> Any:
    return columns[0].sum()


def summed(kind: type) -> Callable[..., Any]:
    return lambda *columns, **options: kind(*columns, **options).reduce(first_sum)


def dask_columns() -> dict[str, Any]:
    import dask.array as da

    return {"*0": da.from_array(X, chunks=(10, 2)), "*1": da.from_array(CONTOUR, chunks=(10, 3))}


def report_calls() -> Iterator[Call]:
    model = fitted(SoftNearestCentroid)
    given = {
        "labels": SOFT, "annotations": ANNOTATIONS, "model": model, "X": X, "y_test": HARD[:5],
        "X_test": FRESH, "items": KNOWN["item"], "title": "Report", "n_worst": 3, "n_questions": 3,
        "n_shown": 2, "reject": 0.3, "n_bootstrap": 10, "seed": 0, "reliability": {"max_iter": 5},
        "command": "make it", "date": "1 May 2026", "texts": ["a text"] * len(SOFT),
        "pictures": [None] * len(SOFT), "feature_names": ["length", "width"], "notes": ["a note"],
        "pooling": {"doubt": 0.1},
    }  # fmt: skip
    yield Call("report.summarize", report.summarize, given, slow=True)
    yield Call("report.label_report", report.label_report, {"path": "r.html", **given}, slow=True)
    summary = report.summarize(labels=SOFT, annotations=ANNOTATIONS, n_bootstrap=10)
    yield Call("report.render", report.render, {"summary": summary})
