"""Words of certainty on the command line: their order is enough."""

import numpy as np
import pytest

from plausible.cli.main import main
from plausible.experts import Annotations, calibrate_words
from plausible.io import read_labels

WORDS = ["sure", "rather", "guess"]


def crowd(n_items=60, seed=0):
    """Truth by item, and columns of answers that are right as often as their word says."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["m", "z", "b"], size=n_items)
    items, people, labels, words = [], [], [], []
    for i in range(n_items):
        for person in ("ann", "bob", "cy"):
            word = rng.integers(3)
            right = rng.random() < (0.95, 0.7, 0.4)[word]
            items.append(f"i{i}")
            people.append(person)
            labels.append(str(truth[i] if right else rng.choice(["m", "z", "b"])))
            words.append(WORDS[word])
    return truth, (items, people, labels, words)


@pytest.mark.parametrize("with_gold", [True, False])
def test_words_in_their_order_are_worth_what_gold_shows(with_gold, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    truth, columns = crowd()
    lines = [",".join(row) for row in zip(*columns, strict=True)]
    (tmp_path / "answers.csv").write_text("item,annotator,label,confidence\n" + "\n".join(lines))
    known = {f"i{k}": str(truth[k]) for k in range(30)}
    gold = [f"{item},{label}" for item, label in known.items()]
    (tmp_path / "gold.csv").write_text("item,label\n" + "\n".join(gold))
    command = ["pool", "answers.csv", "-o", "out.csv", "--words", ",".join(WORDS), "--quiet"]
    assert main([*command, *(["--gold", "gold.csv"] if with_gold else [])]) == 0
    labels = read_labels("out.csv")
    answers = Annotations.from_words(*columns, order=WORDS)
    if with_gold:
        answers = calibrate_words(answers, known).apply(answers)
    expected = answers.pool()
    np.testing.assert_allclose(labels.scaled(), expected.scaled(), atol=1e-6)


def test_words_that_are_the_same_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.csv").write_text("item,annotator,label,confidence\nx,ann,a,sure\n")
    assert main(["pool", "answers.csv", "-o", "out.csv", "--words", "sure,Sure"]) == 2
    assert "different words of certainty" in capsys.readouterr().err
