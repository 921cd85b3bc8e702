import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from plausible.datasets import make_annotators, make_doubtful_expert
from plausible.experiments import come_2008, denoeux_2015_lda


@pytest.mark.parametrize("seed", [0, 1])
def test_soft_labels_win_where_the_expert_doubts_most(seed):
    results = come_2008.run(seed=seed, sizes=(2000,), doubts=(0.8,), n_draws=3)
    (row,) = results["errors"]
    error = {method: value["mean"] for method, value in row["error"].items()}
    assert error["soft"] < min(error["adaptive"], error["supervised"], error["unsupervised"])
    assert come_2008.BAYES_ERROR - 0.01 < error["soft"] < 0.23
    assert results["claims"][0]["required"]
    assert results["claims"][0]["holds"]


def test_the_supervised_method_is_quadratic_discriminant_analysis():
    data = make_doubtful_expert(500, 0.4, random_state=0)
    test = make_doubtful_expert(2000, 0.4, random_state=1)
    peer = QuadraticDiscriminantAnalysis().fit(data.X, data.expert)
    ours = come_2008.error_of("supervised", data, test)
    assert ours == pytest.approx((peer.predict(test.X) != test.y).mean(), abs=0.003)


def test_each_method_learns_its_share_of_the_knowledge():
    data = make_doubtful_expert(400, 0.5, random_state=0)
    assert come_2008.labels_for("unsupervised", data).is_unknown.all()
    assert come_2008.labels_for("supervised", data).crisp().tolist() == data.expert.tolist()
    adaptive = come_2008.labels_for("adaptive", data)
    np.testing.assert_array_equal(adaptive.is_unknown, data.doubt > 0.5)
    known = ~adaptive.is_unknown
    np.testing.assert_array_equal(adaptive.crisp()[known], data.expert[known])


def row_of(doubt, soft, supervised, adaptive, unsupervised, half=0.001):
    errors = {"supervised": supervised, "adaptive": adaptive, "unsupervised": unsupervised}
    around = lambda x: {"mean": x, "low": x - half, "high": x + half}  # noqa: E731
    return {
        "n": 2000,
        "doubt": doubt,
        "error": {name: around(x) for name, x in (errors | {"soft": soft}).items()},
        "gain": {name: around(x - soft) for name, x in errors.items()},
    }


def test_verdicts_can_go_either_way():
    good = [row_of(0.1, 0.16, 0.17, 0.17, 0.3), row_of(0.8, 0.18, 0.30, 0.24, 0.3)]
    assert [one["holds"] for one in come_2008.judge(good)] == [True] * 4
    bad = [row_of(0.1, 0.16, 0.17, 0.17, 0.15), row_of(0.8, 0.25, 0.16, 0.24, 0.2)]
    assert [one["holds"] for one in come_2008.judge(bad)] == [False] * 4
    unsure = [row_of(0.1, 0.16, 0.17, 0.17, 0.3, half=0.2)]
    assert come_2008.judge(unsure)[-1]["holds"] is None


def test_pooled_annotators_teach_better_than_their_majority():
    results = denoeux_2015_lda.run(n_draws=12, designs={"as described": {}})
    (row,) = results["designs"]
    error = {method: value["mean"] for method, value in row["error"].items()}
    assert error["majority"] - error["soft"] >= denoeux_2015_lda.MARGIN
    assert error["truth"] <= error["soft"] <= error["single soft"] <= error["single"]
    assert row["wrong_pooled"] < row["wrong_majority"]
    assert [one["holds"] for one in results["claims"]] == [True] * 3


def test_where_annotators_never_err_there_is_nothing_to_gain():
    data = make_annotators(noise=(0.02,) * 5, ambiguity=0.0, random_state=0)
    errors = denoeux_2015_lda.errors_of(data, ("truth", "soft", "majority"), seed=0)
    assert errors["truth"] == errors["majority"]
    assert errors["soft"] == pytest.approx(errors["truth"], abs=0.03)


def test_clusters_get_the_names_that_fit_best():
    y = np.repeat([0, 1, 2], 5)
    clusters = np.array([2, 0, 1])[y]
    clusters[0] = 0
    np.testing.assert_array_equal(denoeux_2015_lda.name_clusters(clusters, y)[clusters[1:]], y[1:])
