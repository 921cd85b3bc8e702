"""The checks find faults: each is shown broken estimators and must object for the right reason."""

import pytest

from base.toys import ToyClusters
from conformance import broken, broken_answers, broken_clusterings
from plausible.models import SoftNearestCentroid
from plausible.testing.promises import CLASSIFIER_CHECKS, CLUSTERING_CHECKS
from plausible.testing.running import checks_of
from plausible.testing.subject import Subject

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
    ("unknown_labels", broken.LearnsFromNothing, "nothing was"),
    ("unknown_labels", broken.StumblesOverNothing, "IndexError was raised"),
    ("unknown_rows", broken.RefusesUnknownRows, "all rows should be labeled"),
    ("unknown_rows", broken.TakesUnknownRowsForTheFirstClass, "favor a class"),
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
    ("probabilities", broken_answers.ForgetsToNormalize, "sum to one"),
    ("probabilities", broken_answers.ShiftsProbabilities, "negative"),
    ("probabilities", broken_answers.ShiftsColumns, "follow classes_"),
    ("predict_is_the_most_probable", broken_answers.PredictsByAnotherRule, "its own way"),
    ("score_on_hard_labels", broken.ScoresErrors, "is not accuracy"),
    ("score_on_hard_labels", broken.ScoresWithoutWeights, "ignores weights"),
    ("score_on_doubtful_labels", broken.ScoresHardenedLabels, "is not soft"),
    ("score_on_doubtful_labels", broken.CountsUnknownRowsAsWrong, "move the score"),
    ("scikit_learn", broken.SetsAttributesBeforeFit, "check_no_attributes_set_in_init"),
    ("tag", broken.LosesItsTag, "do not say that it takes Labels"),
    ("log_probabilities", broken_answers.ForgetsToNormaliseLogs, "is not the log"),
    ("single_rows", broken_answers.ComparesWithTheOthers, "otherwise for row"),
    ("single_rows", broken_answers.AnswersForNobody, "nothing was"),
    ("masses", broken_answers.GivesMassesAsAnArray, "should give SparseMasses"),
    ("masses", broken_answers.MassesAreNegative, "masses are negative"),
    ("masses", broken_answers.MassesMissAPart, "do not sum to one"),
    ("masses", broken_answers.MassIsOnTheEmptySet, "on the empty set"),
    ("plausibilities_of_masses", broken_answers.FindsAllMorePlausible, "not those of the masses"),
    ("bets_between_belief_and_plausibility", broken_answers.BetsOnTheImplausible, "exceed"),
    ("bets_between_belief_and_plausibility", broken_answers.BetsBelowItsBeliefs, "below beliefs"),
    ("believe", broken_answers.BelievesOtherwise, "does not say predict_proba"),
    ("one_pass", broken_answers.ComputesTwice, "runs 2 times"),
    ("predict_is_in_its_set", broken_answers.RulesOutItsPrediction, "is not in predict_set"),
    ("predict_is_in_its_set", broken_answers.GivesSetsAsNumbers, "should be of bool"),
    ("sets_by_interval_dominance", broken_answers.RulesNothingOut, "not those of interval"),
    ("refusals", broken_answers.RefusesTheOtherWayRound, "are refused at a cost of"),
    ("refusals", broken_answers.NeverRefuses, "refuses nothing"),
    ("refusals", broken_answers.DecidesWithoutNames, "names"),
    ("refusals", broken_answers.DecidesByAnotherRule, "are not what is predicted"),
    ("refusals", broken_answers.RefusesSetsByAnotherRule, "other rows than decide"),
    ("losses", broken_answers.IgnoresLosses, "more than others would"),
    ("signatures", broken_answers.HasFewerArguments, r"predict_set\(reject=\), predict_set\(loss"),
    ("labels_of_new_items", broken_answers.IgnoresLabelsOfNewItems, "are predicted otherwise"),
    ("labels_of_new_items", broken_answers.TakesUnknownForTheFirstClass, "unknown labels change"),
    ("labels_of_new_items", broken_answers.TurnsLabelsRound, "lowers the bet"),
    ("labels_of_new_items", broken_answers.RepeatsLabelsToTheLength, "nothing was"),
    ("clustering_labels", broken_clusterings.CountsFromOne, "go up to 2 for 2 clusters"),
    ("clustering_labels", broken_clusterings.LabelsAreFloats, "should be whole numbers"),
    ("clustering_labels", broken_clusterings.TakesManyForOutliers, "are outliers"),
    ("clustering_labels", broken_clusterings.SplitsByTheFirstFeature, "are mixed"),
    ("clustering_fit_predict", broken_clusterings.FitPredictsOtherwise, "other labels than fit"),
    ("clustering_fit_predict", broken_clusterings.FitReturnsNothing, "return self"),
    ("clustering_fit_predict", broken_clusterings.CentersItemsInPlace, "X was modified"),
    ("clustering_masses", broken_clusterings.MassesAreNegative, "masses are negative"),
    ("clustering_masses", broken_clusterings.MassesMissAPart, "do not sum to one"),
    ("clustering_masses", broken_clusterings.NamesASetTwice, "name a set twice"),
    ("clustering_partition", broken_clusterings.KeepsAnotherPartition, "masses_ are not of"),
    ("clustering_partition", broken_clusterings.LabelsAreNotOfThePartition, "labels_ are not"),
    ("clustering_new_items", broken_clusterings.PlacesNewItemsOtherwise, "predict moves"),
    ("clustering_new_items", broken_clusterings.BelievesNewItemsOtherwise, "masses of items"),
    ("clustering_new_items", broken_clusterings.BetsOnNewItemsOtherwise, "predict_proba is not"),
    ("clustering_random_state", broken_clusterings.DrawsFromTheGlobalState, "global state"),
    ("clustering_random_state", broken_clusterings.LeavesItToChance, "labels change"),
    ("clustering_sample_order", broken_clusterings.TakesTheFirstHalfForACluster, "another order"),
    ("clustering_copies", broken_clusterings.RoundsMassesInPickle, "through pickle: masses"),
    ("clustering_copies", broken_clusterings.ClonesStayFitted, "nothing was"),
    ("clustering_copies", broken_clusterings.FitChangesParameters, "parameters were"),
    ("clustering_second_fit", broken_clusterings.RemembersTheFirstFit, "fitted once before"),
    ("clustering_float32", broken_clusterings.HalvesThePrecision, "single precision"),
    ("clustering_lists", broken_clusterings.WantsArraysOfNumbers, "TypeError"),
    ("clustering_lists", broken_clusterings.CentersItemsInPlace, "read-only"),
    ("clustering_frames", broken_clusterings.ForgetsFeatureNames, "feature_names_in_"),
    ("clustering_errors", broken_clusterings.FillsHoles, "nothing was"),
    ("clustering_errors", broken_clusterings.FillsHolesInNewItems, "nothing was"),
    ("clustering_errors", broken_clusterings.CutsFeatures, "nothing was"),
    ("clustering_errors", broken_clusterings.AnswersBeforeFit, "nothing was"),
    ("scikit_learn", broken_clusterings.SetsAttributesBeforeFit, "check_no_attributes_set_in_init"),
]
# Faults only of those who promise otherwise.
PROMISES = {
    broken.LearnsFromNothing: {"unknown": "refuses"},
    broken.TakesNoneForZeros: {"y_none": "refuses"},
}


@pytest.mark.parametrize(("name", "fault", "words"), FAULTS)
def test_the_check_finds_the_fault(name, fault, words):
    if name in ("pandas", "polars"):
        pytest.importorskip(name)
    subject = Subject(fault(), **PROMISES.get(fault, {}))
    with pytest.raises(AssertionError, match=f"(?s){words}"):
        checks_of(subject)[name](subject)


@pytest.mark.parametrize(
    ("name", "promise", "words"),
    [
        ("unknown_labels", {"unknown": "works"}, "should work, but are refused"),
        ("y_none", {"y_none": "works"}, "should work, but was refused"),
        ("weights_are_repetitions", {"weighted": True}, "sample_weight"),
    ],
)
def test_a_promise_is_held_against_the_estimator(name, promise, words):
    class Weightless(SoftNearestCentroid):
        def fit(self, X, y):
            return super().fit(X, y)

    subject = Subject(Weightless(), **promise)
    with pytest.raises(AssertionError, match=words):
        checks_of(subject)[name](subject)


def test_every_check_has_found_a_fault():
    found = {(issubclass(fault, ToyClusters), name) for name, fault, _ in FAULTS}
    assert {name for clusters, name in found if not clusters} == set(CLASSIFIER_CHECKS)
    assert {name for clusters, name in found if clusters} == set(CLUSTERING_CHECKS)


def test_every_broken_estimator_is_found_out():
    sound = (SoftNearestCentroid, ToyClusters)
    made = {
        one
        for file in (broken, broken_answers, broken_clusterings)
        for one in vars(file).values()
        if isinstance(one, type) and issubclass(one, sound)
    }
    bases = {*sound, broken.Reweights, broken_answers.Relabels, broken_clusterings.Meddles}
    assert made - bases == {fault for _, fault, _ in FAULTS}
