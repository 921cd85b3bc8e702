"""A valid call of each way to make a picture, without drawing; see `calls`."""

from collections.abc import Iterator
from typing import Any

from fuzz.calls import (
    ANNOTATIONS,
    CLASSES,
    CONTOUR,
    HARD,
    KNOWN,
    PROBABILITY,
    SOFT,
    WEIGHT,
    Call,
    X,
)
from fuzz.calls import fitted as fitted_model
from fuzz.cluster_calls import fitted
from plausible import plots
from plausible.models import GaussianMixtureClassifier, SoftNearestCentroid


def plots_calls() -> Iterator[Call]:
    """All of the room of pictures."""
    for display, ways in {**of_labels(), **of_experts(), **of_models(), **of_clusters()}.items():
        for way, arguments in ways.items():
            function = getattr(getattr(plots, display), way)
            yield Call(f"plots.{display}.{way}", function, arguments)


def of_labels() -> dict[str, Any]:
    """Labels and single items."""
    some = {"rows": [2, 0], "items": KNOWN["item"]}
    model = {"estimator": fitted_model(SoftNearestCentroid), "X": X}
    return {
        "LabelTriangleDisplay": {
            "from_labels": {"labels": SOFT, "sample_weight": WEIGHT},
            "from_estimator": model,
        },
        "LabelKindsDisplay": {"from_labels": {"labels": SOFT, "sample_weight": WEIGHT}},
        "PlausibilityDisplay": {
            "from_labels": {"labels": SOFT, **some},
            "from_estimator": {**model, **some},
        },
        "BeliefIntervalDisplay": {
            "from_labels": {"labels": SOFT, **some},
            "from_estimator": {**model, **some},
            "from_beliefs": {"beliefs": model["estimator"].believe(X), **some},
        },
    }


def of_experts() -> dict[str, Any]:
    """Answers of people."""
    found = ANNOTATIONS.reliability()
    return {
        "ConflictDisplay": {
            "from_labels": {"labels": ANNOTATIONS.pool(doubt=0.1), "n_bins": 5},
            "from_annotations": {"annotations": ANNOTATIONS, "n_bins": 5, "doubt": 0.1},
        },
        "AgreementDisplay": {
            "from_annotations": {"annotations": ANNOTATIONS, "kind": "kappa", "max_annotators": 2}
        },
        "ReliabilityDisplay": {
            "from_annotations": {"annotations": ANNOTATIONS, "model": "class"},
            "from_reliability": {"reliability": found},
        },
    }


def of_models() -> dict[str, Any]:
    """Classifiers, and their answers against truth."""
    model = {"estimator": fitted_model(SoftNearestCentroid), "X": X}
    mixture = fitted_model(GaussianMixtureClassifier)
    more = {"sample_weight": WEIGHT, "classes": CLASSES}
    numbers = {"y_true": SOFT, "prediction": PROBABILITY, **more, "name": "ours"}
    bins = {"n_bins": 5, "strategy": "quantile"}
    return {
        "ConfusionDisplay": {
            "from_predictions": {"y_true": SOFT, "y_pred": HARD, **more, "normalize": "true"},
            "from_estimator": {**model, "y": SOFT, "sample_weight": WEIGHT, "normalize": None},
            "from_reliability": {"reliability": ANNOTATIONS.reliability(), "annotator": "ann"},
        },
        "CalibrationDisplay": {
            "from_predictions": {**numbers, **bins},
            "from_estimator": {**model, "y": SOFT, "name": "ours", **bins},
        },
        "RejectionDisplay": {
            "from_predictions": numbers,
            "from_estimator": {**model, "y": SOFT, "name": "ours"},
        },
        "SetSizeDisplay": {
            "from_predictions": {"y_true": SOFT, "y_pred": CONTOUR > 0.3, **more},
            "from_estimator": {
                **model, "y": SOFT, "rule": "maximality", "reject": 0.3, "sample_weight": WEIGHT,
            },
        },
        "DecisionRegionDisplay": {
            "from_estimator": {
                "estimator": mixture, "X": X, "y": SOFT, "rule": "pignistic", "reject": 0.3,
                "novelty": None, "grid_resolution": 4, "margin": 0.1,
            }
        },
        "MixtureDisplay": {
            "from_estimator": {
                "estimator": mixture, "X": X, "y": SOFT, "features": (1, 0), "level": 0.9,
            }
        },
        "CriterionDisplay": {
            "from_estimator": {"estimator": mixture, "name": "ours"},
            "from_histories": {"histories": {"one": [1.0, 2.0], "two": [3.0]}},
        },
    }  # fmt: skip


def of_clusters() -> dict[str, Any]:
    """Credal partitions."""
    model = fitted("ECM")
    return {
        "CredalPartitionDisplay": {
            "from_estimator": {"estimator": model, "X": X, "features": (1, 0)}
        },
        "MassSurfaceDisplay": {
            "from_estimator": {
                "estimator": model, "X": X, "clusters": [0], "kind": "mass", "grid_resolution": 4,
                "margin": 0.1,
            }
        },
        "PartitionImageDisplay": {
            "from_partition": {
                "partition": model.partition_, "shape": (4, 6), "image": None, "depth": None,
            },
            "from_estimator": {"estimator": model, "image": [[0.0] * 6] * 4, "depth": None},
        },
        "ShepardDisplay": {"from_estimator": {"estimator": fitted("EVCLUS")}},
    }  # fmt: skip
