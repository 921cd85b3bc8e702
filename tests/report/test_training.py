"""A report on what was read for training needs no bookkeeping."""

import numpy as np
import pytest

from plausible.errors import InputError
from plausible.io import read_training
from plausible.models import DiscriminantClassifier
from plausible.report import label_report


@pytest.fixture
def training():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=40)
    items = [f"leaf {k}" for k in rng.permutation(40)]  # not in the order of the features
    names = np.array(["oak", "ash", "elm"])
    answers = {
        "item": items * 2,
        "annotator": ["ann"] * 40 + ["bob"] * 40,
        "label": [*names[truth], *names[rng.integers(3, size=40)]],
        "doubt": rng.uniform(0, 0.5, size=80),
    }
    place = [items.index(f"leaf {k}") if f"leaf {k}" in items else 0 for k in range(45)]
    features = {
        "item": [f"leaf {k}" for k in range(45)],  # five that nobody has seen
        "length": 2.0 * truth[place] + rng.normal(size=45),
        "width": rng.normal(size=45),
    }
    return read_training(answers, features)


def test_it_is_the_report_on_its_parts(training, tmp_path):
    model = DiscriminantClassifier().fit(training.X, training.labels)
    known, X = training.known, training.X[training.rows]
    short = label_report(tmp_path / "a.html", training, model=model, date="1 May 2026")
    long = label_report(
        tmp_path / "a.html",
        known.labels,
        known.annotations,
        model,
        X,
        items=known.items.tolist(),
        feature_names=training.names,
        notes=training.notes,
        date="1 May 2026",
    )
    assert dict(short) == dict(long)
    assert short["labels"]["n_items"] == 40  # and not those of which nothing is known
    assert "leaf" in short["clash"]["worst"][0]["item"]
    assert {"length", "width"} <= {f["feature"] for f in short["features"]["features"]}


def test_options_of_ones_own_come_first(training, tmp_path):
    found = label_report(tmp_path / "a.html", training, notes=["mine"], title="Leaves")
    assert found["title"] == "Leaves"
    assert "mine" in str(found["pooling"])


@pytest.mark.parametrize("name", ["annotations", "X"])
def test_parts_that_it_has_already_are_refused(training, tmp_path, name):
    given = {"annotations": training.known.annotations, "X": training.X}[name]
    with pytest.raises(InputError, match=f"{name} should be left out") as caught:
        label_report(tmp_path / "a.html", training, **{name: given})
    assert caught.value.parameter == name
    assert not (tmp_path / "a.html").exists()
