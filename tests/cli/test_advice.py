"""What to do about an error is said in options that the verb has, and that mean that."""

from argparse import Namespace

import pytest

from plausible.cli.main import main
from plausible.cli.options import name_option

FILES = {
    "odd.csv": "photo,what\n1,a\n2,b\n",
    "named.csv": "item,what\n1,a\n2,b\n",
    "one.csv": "item,label\n1,a\n2,\n",
    "labels.csv": "item,label\n1,a\n2,b\n3,a\n",
    "features.csv": "item,x,y\n1,1,2\n2,3,4\n3,1,4\n",
    "clash.csv": "item,annotator,label\n1,ann,a\n1,bob,b\n",
    "long.csv": "item,annotator\n1,ann\n",
}


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["pool", "odd.csv", "--form", "labels"], "; rename them, or say --kind."),
        # --columns of fit are those of the features, and no help here.
        (["fit", "named.csv", "features.csv", "--form", "labels"], "; rename them, or say --kind."),
        (["pool", "one.csv"], "say which classes there are with --classes."),
        (["pool", "clash.csv", "--doubt", "0"], ", or say --on-conflict unknown."),
        (["pool", "long.csv", "--form", "answers", "--layout", "long"],
         "say which one is meant with --names label=item."),
    ],
)  # fmt: skip
def test_options_of_the_verb_are_named(words, advice, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    output = "out.skops" if words[0] == "fit" else "out.csv"
    assert main([*words, "-o", output]) == 1
    (told,) = [line for line in capsys.readouterr().err.splitlines() if " should " in line]
    assert told.endswith(advice)
    assert "=." not in told


def test_a_parameter_of_a_model_is_given_with_set(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    fit = ["fit", "labels.csv", "features.csv", "-o", "out", "--model", "logistic"]
    assert main([*fit, "--set", "tol=-1"]) == 2
    assert "--set 'tol=-1': tol should be" in capsys.readouterr().err
    given = Namespace(parameters=("covariance_type",), columns=None)
    assert name_option(given, "covariance_type", "tied") == "--set covariance_type=tied"
    assert name_option(given, "columns", ["a", "b"]) == "--columns a,b"
    assert name_option(given, "classes", None) is None


def test_files_of_evaluate_that_are_swapped(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    fit = ["fit", "labels.csv", "features.csv", "-o", "m.skops", "--model", "logistic"]
    assert main(fit) == 0
    assert main(["evaluate", "m.skops", "features.csv", "labels.csv"]) == 1
    told = capsys.readouterr().err
    assert "'features.csv' has the features of the model, and 'labels.csv' has none" in told
    assert "they look swapped; write plausible evaluate m.skops labels.csv features.csv" in told
    # What is wrong with files in the right order is still said.
    (tmp_path / "short.csv").write_text("item,x\n1,1\n")
    assert main(["evaluate", "m.skops", "labels.csv", "short.csv"]) == 1
    told = capsys.readouterr().err
    assert "column 'y'" in told
    assert "swapped" not in told
