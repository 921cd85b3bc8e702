"""The checks find faults: each is shown broken estimators and must object for the right reason."""

import pytest

from conformance import broken
from conformance.checks import CHECKS
from conformance.register import Entry
from plausible.models import SoftNearestCentroid

# Check, the estimator whose fault it must find, and words of what it must say.
FAULTS = [
    ("row_scale", broken.RowScaleCounts, "times a factor"),
    ("class_order", broken.FirstClassCountsLess, "classes in the order"),
    ("class_order", broken.SortsTheNamesOnly, "classes in the order"),
    ("class_order", broken.KeepsTheOrderOfTheLabels, "should be sorted"),
    ("sample_order", broken.FirstRowsCountMore, "rows in another order"),
    ("forms_of_hard_labels", broken.DistrustsLabelsWithoutMasses, "as a 0/1 array and"),
    ("forms_of_sets", broken.DistrustsLabelsWithoutMasses, "as a 0/1 array and"),
    ("forms_of_sets", broken.TakesTheFirstOfASet, "as a bool array and as a list of sets"),
    ("forms_of_doubted_labels", broken.DistrustsLabelsWithoutMasses, "as an array of plaus"),
    ("forms_of_doubted_labels", broken.ReadsTablesByTheirMaximum, "as an array of plaus"),
    ("degrees_matter", broken.HardensLabels, "count like sure ones"),
    ("degrees_matter", broken.TurnsLabelsIntoArrays, "count like sure ones"),
    ("vacuous_labels", broken.LearnsFromNothing, "nothing was"),
    ("vacuous_labels", broken.StumblesOverNothing, "IndexError was raised"),
    ("unknown_rows", broken.RefusesUnknownRows, "all rows should be labelled"),
    ("unknown_rows", broken.TakesUnknownRowsForTheFirstClass, "favour a class"),
    ("weights_are_repetitions", broken.IgnoresWeights, "instead of repeated rows"),
    ("weights_are_repetitions", broken.SquaresWeights, "instead of repeated rows"),
    ("zero_weight_is_absence", broken.IgnoresWeights, "instead of dropped rows"),
    ("zero_weight_is_absence", broken.NoWeightIsSomeWeight, "instead of dropped rows"),
    ("pickle", broken.LosesMeansInPickle, "means_"),
    ("pickle", broken.RoundsMeansInPickle, "through pickle"),
    ("pickle", broken.CannotTravel, "cannot pickle"),
    ("clone", broken.ClonesStayFitted, "nothing was"),
    ("clone", broken.FitChangesParameters, "parameters were"),
    ("fit_returns_self_and_leaves_its_input", broken.FitReturnsNothing, "return self"),
    ("fit_returns_self_and_leaves_its_input", broken.CentresXInPlace, "X was modified"),
    ("fit_returns_self_and_leaves_its_input", broken.WritesIntoLabels, "labels were modified"),
    ("fit_returns_self_and_leaves_its_input", broken.WritesIntoWeights, "weights were modified"),
    ("second_fit_forgets_the_first", broken.RemembersTheFirstFit, "features"),
    ("cross_validation_keeps_degrees", broken.WantsArraysOfNames, "y should be an array"),
    ("cross_validation_keeps_degrees", broken.HardensLabels, "degrees are lost"),
    ("cross_validation_keeps_degrees", broken.ScoresHardenedLabels, "are not soft"),
    ("grid_search_keeps_degrees", broken.TurnsLabelsIntoArrays, "degrees are lost"),
    ("grid_search_keeps_degrees", broken.ScoresHardenedLabels, "is not soft"),
    ("grid_search_keeps_degrees", broken.CannotTravel, "pickle"),
    ("pipeline_keeps_degrees", broken.TurnsLabelsIntoArrays, "degrees are lost"),
    ("pipeline_keeps_degrees", broken.ScoresHardenedLabels, "is not soft"),
    ("train_test_split_keeps_degrees", broken.TurnsLabelsIntoArrays, "degrees are lost"),
    ("train_test_split_keeps_degrees", broken.ScoresHardenedLabels, "is not soft"),
    ("read_only_arrays", broken.CentresXInPlace, "read-only"),
    ("read_only_arrays", broken.WritesIntoTables, "read-only"),
    ("float32", broken.HalvesThePrecision, "single precision"),
    ("lists", broken.WantsArraysOfNumbers, "TypeError"),
    ("pandas", broken.WantsArraysOfNumbers, "was raised"),
    ("pandas", broken.ForgetsFeatureNames, "feature_names_in_"),
    ("pandas", broken.AcceptsAnyFeatureNames, "nothing was"),
    ("pandas", broken.ForgetsClassNamesOfTables, "class names of a table"),
    ("polars", broken.ForgetsFeatureNames, "feature_names_in_"),
    ("polars", broken.AcceptsAnyFeatureNames, "nothing was"),
    ("polars", broken.ForgetsClassNamesOfTables, "class names of a table"),
    ("error_on_unequal_lengths", broken.CutsToTheShorterLength, "nothing was"),
    ("error_on_unequal_lengths", broken.CutsWeights, "sample_weight.*nothing was"),
    ("error_on_unequal_lengths", broken.ComplainsVaguely, "is: bad input"),
    ("error_on_nan", broken.FillsHolesInX, "nothing was"),
    ("error_on_nan", broken.FillsHolesInFreshX, "nothing was"),
    ("error_on_nan", broken.FillsHolesInTables, "nothing was"),
    ("error_on_nan", broken.ComplainsVaguely, "is: bad input"),
    ("y_none", broken.TakesNoneForZeros, "nothing was"),
    ("y_none", broken.ComplainsVaguely, "is: bad input"),
    ("error_on_rows_of_zeros", broken.MendsRowsOfZeros, "nothing was"),
    ("error_on_rows_of_zeros", broken.ComplainsVaguely, "is: bad input"),
    ("error_before_fit", broken.AnswersBeforeFit, "nothing was"),
    ("error_before_fit", broken.MissesAnAttributeBeforeFit, "AttributeError was raised"),
    ("error_before_fit", broken.ComplainsVaguely, "is: bad state"),
    ("number_of_features", broken.CutsFeatures, "nothing was"),
    ("number_of_features", broken.ForgetsTheNumberOfFeatures, "n_features_in_ should be 2"),
    ("number_of_features", broken.ComplainsVaguely, "is: bad input"),
    ("probabilities", broken.ForgetsToNormalise, "sum to one"),
    ("probabilities", broken.ShiftsProbabilities, "negative"),
    ("probabilities", broken.ShiftsColumns, "follow classes_"),
    ("predict_is_the_most_probable", broken.PredictsByAnotherRule, "its own way"),
    ("score_on_hard_labels", broken.ScoresErrors, "is not accuracy"),
    ("score_on_hard_labels", broken.ScoresWithoutWeights, "ignores weights"),
    ("score_on_doubtful_labels", broken.ScoresHardenedLabels, "is not soft"),
    ("score_on_doubtful_labels", broken.CountsUnknownRowsAsWrong, "move the score"),
]
BY_NAME = {check.__name__.removeprefix("check_"): check for check in CHECKS}


@pytest.mark.parametrize(("name", "fault", "words"), FAULTS)
def test_the_check_finds_the_fault(name, fault, words):
    if name in ("pandas", "polars"):
        pytest.importorskip(name)
    with pytest.raises(AssertionError, match=f"(?s){words}"):
        BY_NAME[name](Entry(fault))


@pytest.mark.parametrize(
    ("name", "promise", "words"),
    [("vacuous_labels", {"vacuous": "works"}, "label"), ("y_none", {"clusters": True}, "None")],
)
def test_a_promise_in_the_register_is_held_against_the_estimator(name, promise, words):
    with pytest.raises(AssertionError, match=words):
        BY_NAME[name](Entry(SoftNearestCentroid, **promise))


def test_every_check_has_found_a_fault():
    assert {name for name, _, _ in FAULTS} == set(BY_NAME)
    assert len(BY_NAME) == len(CHECKS)


def test_every_broken_estimator_is_found_out():
    made = {
        one
        for one in vars(broken).values()
        if isinstance(one, type) and issubclass(one, SoftNearestCentroid)
    }
    bases = {SoftNearestCentroid, broken.Reweights}
    assert made - bases == {fault for _, fault, _ in FAULTS}
