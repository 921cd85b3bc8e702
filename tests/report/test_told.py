"""How labels came about, what to give, the refusal that was chosen, and reports in notebooks."""

import html
import json
import re
import warnings
from collections.abc import Mapping

import numpy as np
import pytest

from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.metrics import rejection_curve, soft_accuracy
from plausible.models import SoftNearestCentroid
from plausible.report import Report, label_report, render, summarize
from plausible.report.style import STYLE

COMMAND = "plausible report answers.csv -o report.html"


def text_of(page):
    return html.unescape(re.sub("<[^>]*>", "", page.replace("</style>", "")))


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(0)
    said = np.array(["b", "c", "a"])[rng.integers(3, size=90)]
    items = [f"i{k // 3}" for k in range(90)]
    doubt = np.round(rng.uniform(0, 0.5, size=90), 2)
    doubt[:7] = 0
    return Annotations.from_long(items, ["ann", "bob", "cy"] * 30, said, doubt=doubt)


# -- How answers were pooled -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pooling", "rule", "doubt", "words"),
    [
        (None, "dempster", "own", "by Dempster's rule, with the doubts that came with them"),
        ({"doubt": 0.25}, "dempster", 0.25, "with a doubt of 0.25 in every answer, beyond those"),
        ({"doubt": "fit"}, "dempster", "learned", "doubts learned from how far annotators agree"),
        ({"rule": "cautious"}, "cautious", "own", "by the cautious rule, with the doubts that"),
        ({"doubt": dict.fromkeys(["ann", "bob", "cy"], 0.1)}, "dempster", "given", "were given"),
        ({"gold": {"i0": "a"}}, "dempster", "learned", "learned from how far annotators agree"),
    ],
)
def test_pooling_is_done_and_told(answers, pooling, rule, doubt, words):
    summary = summarize(annotations=answers, pooling=pooling)
    found = summary["pooling"]
    assert (found["rule"], found["doubt"]) == (rule, doubt)
    assert words in text_of(render(summary))
    pooled = answers.pool(**{"on_conflict": "unknown"} | (pooling or {}))
    assert summary["labels"]["informativeness"] == pytest.approx(pooled.informativeness.mean())


def test_own_doubts_are_told(answers):
    summary = summarize(annotations=answers)
    own = summary["pooling"]["own_doubt"]
    assert own["mean"] == pytest.approx(answers.doubt.mean())
    assert (own["least"], own["most"]) == (0.0, answers.doubt.max())
    assert own["n_sure"] == (answers.doubt == 0).sum() >= 7
    assert f"{own['n_sure']} answers came without any" in text_of(render(summary))
    bare = summarize(annotations=answers.without_doubt())
    assert bare["pooling"]["own_doubt"] is None


def test_what_is_not_known_is_not_told(answers):
    labels = answers.pool("mean")
    page = text_of(render(summarize(labels, answers)))
    assert "How the answers were pooled was not told; pooling= says it." in page
    assert "Dempster" not in page
    told = text_of(render(summarize(labels, answers, pooling={"rule": "mean"})))
    assert "pooled by their mean" in told
    assert summarize(labels)["pooling"] is None


def test_notes_of_reading_are_on_the_page(answers):
    notes = ["'a.csv': 90 answers of 3 people", "two <rows> were \x1b[31m empty"]
    page = render(summarize(annotations=answers, notes=notes))
    assert "two &lt;rows&gt; were \\x1b[31m empty" in page
    assert "When the data were read" in page
    alone = render(summarize(Labels.from_crisp(["a", "b"]), notes=notes))
    assert "How the labels were read" in alone
    assert "How answers became labels" not in alone


# -- Words of the command, and of Python -----------------------------------------------------------


def missing(summary):
    parts = [part for part in summary.values() if isinstance(part, dict)]
    return [part["missing"] for part in parts if "missing" in part]


def test_the_command_is_told_options_and_python_parameters(answers):
    for inputs in ({}, {"annotations": answers}):
        parts = summarize(**inputs, command=COMMAND)
        asked = missing(parts)
        assert asked
        assert not [line for line in asked if re.search(r"\w=", line)]
        assert any("--model" in line for line in asked)
        parts = summarize(**inputs, command="make report")
        asked = missing(parts)
        assert not [line for line in asked if "--" in line]
        assert all(re.search(r"\w=", line) for line in asked)


def test_an_estimate_that_has_not_settled_says_what_to_do(answers):
    told = {
        None: "give it more by reliability={'max_iter': 5000}",
        COMMAND: "in Python, summarize(..., reliability=",
    }
    for command, words in told.items():
        with pytest.warns(Warning, match="max_iter"):
            summary = summarize(annotations=answers, reliability={"max_iter": 1}, command=command)
        assert words in text_of(render(summary))


def test_a_report_without_features_warns_of_no_features(answers):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        summarize(annotations=answers)
        summarize(annotations=answers, reliability={"max_iter": 1})
        summarize(annotations=answers, reliability={"model": "full", "max_iter": 2})
    assert told
    assert not [line for line in told if "reg_covar" in str(line.message)]


def test_words_about_drawings_hold_in_light_and_in_dark(answers):
    X = np.random.default_rng(0).normal(size=(30, 2))
    labels = answers.pool()
    model = SoftNearestCentroid().fit(X, labels)
    page = text_of(render(summarize(labels, answers, model, X, labels, X)))
    assert not re.search(
        r"\b(pale|dark|bright|light|gray|blue|white|black)\b(?! as)", page.replace(STYLE, "")
    )


# -- The refusal on the curve ----------------------------------------------------------------------


@pytest.mark.parametrize("reject", [0.0, 0.1, 0.3, 0.5, 1.0])
def test_the_chosen_refusal_is_a_point_of_the_curve(reject):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=200)
    X = rng.normal(size=(200, 2)) + 1.5 * np.eye(3, 2)[truth]
    labels = Labels.from_doubt(np.array(["c", "a", "b"])[truth], rng.uniform(0, 0.9, size=200))
    model = SoftNearestCentroid().fit(X, labels)
    summary = summarize(model=model, X_test=X, y_test=labels, reject=reject)
    found = summary["scores"]["rejection"]["chosen"]
    p = model.predict_proba(X)
    kept = p.max(axis=1) >= 1 - reject
    weight = labels.informativeness
    assert found["n_refused"] == (~kept).sum()
    assert found["rejected"] == pytest.approx(weight[~kept].sum() / weight.sum())
    drawn = 'class="dot chosen"' in render(summary)
    if not kept.any():
        assert found["accuracy"] is None
        assert not drawn
        assert "would refuse every item" in text_of(render(summary))
        return
    assert found["accuracy"] == pytest.approx(
        soft_accuracy(labels[kept], model.classes_[p[kept].argmax(axis=1)])
    )
    curve = rejection_curve(labels, p, classes=model.classes_)
    place = np.abs(curve.rejected - found["rejected"]).argmin()
    assert curve.rejected[place] == pytest.approx(found["rejected"])
    assert curve.accuracy[place] == pytest.approx(found["accuracy"])
    assert drawn


# -- Notebooks -------------------------------------------------------------------------------------


def test_a_notebook_shows_the_page(answers, tmp_path):
    path = tmp_path / "report.html"
    report = label_report(path, annotations=answers, title='A "title" & <more>')
    shown = report._repr_html_()
    frame = re.fullmatch(r'<iframe srcdoc="([^"]*)" title="[^"<]*" style="[^"]*"></iframe>', shown)
    page = html.unescape(frame[1]).replace('<head><base href="about:srcdoc">', "<head>")
    assert page != html.unescape(frame[1])
    assert page == path.read_text(encoding="utf-8") == report.html
    assert report.path == str(path)
    assert len(repr(report)) < 300
    assert "report.html" in repr(report)


def test_a_report_is_still_the_dictionary_of_its_numbers(answers, tmp_path):
    report = label_report(tmp_path / "r.html", annotations=answers)
    numbers = summarize(annotations=answers)
    assert isinstance(report, Report)
    assert isinstance(report, Mapping)
    assert report == numbers == report.summary
    assert type(report.summary) is dict
    assert json.loads(json.dumps(report)) == numbers
    assert render(report) == report.html


def test_a_page_in_a_notebook_needs_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = label_report(labels=["cat", "dog", "dog"], date="1 May 2026")
    written = label_report("page.html", ["cat", "dog", "dog"], date="1 May 2026")
    assert report.html == written.html
    assert report._repr_html_().startswith("<iframe")
    assert repr(report) == repr(written).replace(" in page.html", "")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
