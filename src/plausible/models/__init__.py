"""Estimators that learn from labels of any kind, in families.

A family is loaded when one of its names is first used.
"""

from typing import TYPE_CHECKING

from plausible._late import late_names

if TYPE_CHECKING:
    from plausible.base import (
        Beliefs,
        EmptyClassWarning,
        FarPointWarning,
        RowScores,
        SharpenedLabelsWarning,
        believe,
        score_rows,
    )
    from plausible.models.any_learner import (
        SoftLabelClassifier,
        lightgbm_objective,
        soft_label_gradient,
        soft_label_loss,
        xgboost_objective,
    )
    from plausible.models.auto import AutoClassifier
    from plausible.models.bayes import GeneralizedBayesClassifier
    from plausible.models.calibration import EvidentialCalibratedClassifier
    from plausible.models.centroid import SoftNearestCentroid
    from plausible.models.conformal import ConformalClassifier, CoverageWarning
    from plausible.models.e2m import (
        E2M,
        Bernoulli,
        Categorical,
        Exponential,
        Family,
        Imputed,
        InformationWarning,
        Normal,
        Poisson,
        UncertainGaussianMixture,
        UncertainValues,
    )
    from plausible.models.ensemble import (
        SoftBaggingClassifier,
        SoftStackingClassifier,
        SoftVotingClassifier,
        cross_val_beliefs,
    )
    from plausible.models.gaussian import (
        DiscriminantClassifier,
        GaussianMixtureClassifier,
        SingularCovarianceWarning,
        UnlabeledRowsWarning,
    )
    from plausible.models.logistic import (
        Evidence,
        PartialLogisticRegression,
        partial_label_loss,
        weights_of_evidence,
    )
    from plausible.models.network import EvidentialNetworkClassifier
    from plausible.models.preparation import FeaturePreparation
    from plausible.models.supervision import (
        ComparedModel,
        Comparison,
        StochasticSupervisionClassifier,
        SupervisionWarning,
        compare_models,
        log_density,
    )
    from plausible.models.tree import (
        BeliefForestClassifier,
        BeliefTreeClassifier,
        OutOfBagWarning,
        export_svg,
        export_text,
    )

    # isort: split
    # For the rooms above; not part of the public interface.
    from plausible.models.calibration import cross_calibrated as cross_calibrated
    from plausible.models.folds import content_folds as content_folds
    from plausible.models.folds import given_folds as given_folds
    from plausible.models.learners import fit_learner as fit_learner
    from plausible.models.learners import read_features as read_features
    from plausible.models.learners import take_rows as take_rows
    from plausible.models.learners import weighting as weighting
    from plausible.models.preparation import CATEGORY as CATEGORY
    from plausible.models.preparation import KINDS as KINDS
    from plausible.models.preparation import LEFT_OUT as LEFT_OUT
    from plausible.models.preparation import NUMBER as NUMBER
    from plausible.models.preparation import Kind as Kind
    from plausible.models.preparation import find_kind as find_kind
    from plausible.models.preparation import is_row_name as is_row_name
    from plausible.models.preparation import names_rows as names_rows
    from plausible.models.preparation import says_id as says_id
    from plausible.models.preparation import tidy_column as tidy_column

__all__ = [
    "E2M",
    "AutoClassifier",
    "BeliefForestClassifier",
    "BeliefTreeClassifier",
    "Beliefs",
    "Bernoulli",
    "Categorical",
    "ComparedModel",
    "Comparison",
    "ConformalClassifier",
    "CoverageWarning",
    "DiscriminantClassifier",
    "EmptyClassWarning",
    "Evidence",
    "EvidentialCalibratedClassifier",
    "EvidentialNetworkClassifier",
    "Exponential",
    "Family",
    "FarPointWarning",
    "FeaturePreparation",
    "GaussianMixtureClassifier",
    "GeneralizedBayesClassifier",
    "Imputed",
    "InformationWarning",
    "Normal",
    "OutOfBagWarning",
    "PartialLogisticRegression",
    "Poisson",
    "RowScores",
    "SharpenedLabelsWarning",
    "SingularCovarianceWarning",
    "SoftBaggingClassifier",
    "SoftLabelClassifier",
    "SoftNearestCentroid",
    "SoftStackingClassifier",
    "SoftVotingClassifier",
    "StochasticSupervisionClassifier",
    "SupervisionWarning",
    "UncertainGaussianMixture",
    "UncertainValues",
    "UnlabeledRowsWarning",
    "believe",
    "compare_models",
    "cross_val_beliefs",
    "export_svg",
    "export_text",
    "lightgbm_objective",
    "log_density",
    "partial_label_loss",
    "score_rows",
    "soft_label_gradient",
    "soft_label_loss",
    "weights_of_evidence",
    "xgboost_objective",
]

__getattr__, __dir__ = late_names(
    __name__,
    __all__,
    {
        "plausible.base": [
            "Beliefs",
            "EmptyClassWarning",
            "FarPointWarning",
            "RowScores",
            "SharpenedLabelsWarning",
            "believe",
            "score_rows",
        ],
        "plausible.models.any_learner": [
            "SoftLabelClassifier",
            "lightgbm_objective",
            "soft_label_gradient",
            "soft_label_loss",
            "xgboost_objective",
        ],
        "plausible.models.auto": [
            "AutoClassifier",
        ],
        "plausible.models.bayes": [
            "GeneralizedBayesClassifier",
        ],
        "plausible.models.calibration": [
            "EvidentialCalibratedClassifier",
            "cross_calibrated",
        ],
        "plausible.models.centroid": [
            "SoftNearestCentroid",
        ],
        "plausible.models.conformal": [
            "ConformalClassifier",
            "CoverageWarning",
        ],
        "plausible.models.e2m": [
            "Bernoulli",
            "Categorical",
            "E2M",
            "Exponential",
            "Family",
            "Imputed",
            "InformationWarning",
            "Normal",
            "Poisson",
            "UncertainGaussianMixture",
            "UncertainValues",
        ],
        "plausible.models.ensemble": [
            "SoftBaggingClassifier",
            "SoftStackingClassifier",
            "SoftVotingClassifier",
            "cross_val_beliefs",
        ],
        "plausible.models.folds": [
            "content_folds",
            "given_folds",
        ],
        "plausible.models.gaussian": [
            "DiscriminantClassifier",
            "GaussianMixtureClassifier",
            "SingularCovarianceWarning",
            "UnlabeledRowsWarning",
        ],
        "plausible.models.learners": [
            "fit_learner",
            "read_features",
            "take_rows",
            "weighting",
        ],
        "plausible.models.logistic": [
            "Evidence",
            "PartialLogisticRegression",
            "partial_label_loss",
            "weights_of_evidence",
        ],
        "plausible.models.network": [
            "EvidentialNetworkClassifier",
        ],
        "plausible.models.preparation": [
            "CATEGORY",
            "FeaturePreparation",
            "KINDS",
            "Kind",
            "LEFT_OUT",
            "NUMBER",
            "find_kind",
            "is_row_name",
            "names_rows",
            "says_id",
            "tidy_column",
        ],
        "plausible.models.supervision": [
            "ComparedModel",
            "Comparison",
            "StochasticSupervisionClassifier",
            "SupervisionWarning",
            "compare_models",
            "log_density",
        ],
        "plausible.models.tree": [
            "BeliefForestClassifier",
            "BeliefTreeClassifier",
            "OutOfBagWarning",
            "export_svg",
            "export_text",
        ],
    },
)
