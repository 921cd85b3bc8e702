"""What is said in words says what the numbers say."""

import numpy as np
import pytest

from plausible.models import GaussianMixtureClassifier
from plausible.report import render, summarize
from plausible.report.words import set_in_words, statement_in_words, without_folders

NAMES = ["cat", "dog", "eel"]


@pytest.mark.parametrize(
    ("contour", "words"),
    [
        ([0.0, 1.0, 0.0], "dog"),
        ([1.0, 0.0, 1.0], "cat or eel"),
        ([1.0, 1.0, 1.0], "cannot tell"),
        ([0.0, 0.0, 0.0], "none of these"),
        ([0.25, 1.0, 0.001], "dog 1, cat 0.25"),
    ],
)
def test_statements(contour, words):
    assert statement_in_words(np.array(contour), NAMES) == words


def test_long_statements_are_cut():
    names = [f"c{k}" for k in range(20)]
    assert set_in_words(names) == "c0, c1, c2, c3, c4, c5, c6 or 13 others"
    degrees = np.linspace(1.0, 0.1, 20)
    assert statement_in_words(degrees, names) == "c0 1, c1 0.95, c2 0.91, c3 0.86, ..."


@pytest.mark.parametrize(
    ("command", "bare"),
    [
        ("fit a.csv -o model.skops", "fit a.csv -o model.skops"),
        ("fit data/a.csv", "fit data/a.csv"),
        ("fit '/home/me/a.csv", "fit a.csv"),
        ("fit /home/my\\ self/a.csv", "fit a.csv"),
        (["fit", "/home/my files/a b.csv"], 'fit "a b.csv"'),
        ("fit file:///home/me/a.csv", "fit a.csv"),
        ("fit \\\\server\\share\\a.csv C:\\home\\b.csv", "fit a.csv b.csv"),
    ],
)
def test_commands_lose_their_absolute_folders(command, bare):
    assert without_folders(command) == bare


def test_the_page_names_the_model_and_its_parameters():
    X = np.array([[0.0], [0.2], [0.3], [1.0], [1.1], [1.3]])
    model = GaussianMixtureClassifier("tied", tol=1e-3).fit(X, list("aaabbb"))
    page = render(summarize(model=model, X=X))
    assert "GaussianMixtureClassifier (" in page
    assert "covariance_type=tied" in page
    assert "tol=0.001" in page
    assert "Suspicious" not in page
