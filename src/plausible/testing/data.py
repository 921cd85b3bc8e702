"""Promises about data as they come: arrays, lists and frames of any make, and clear errors."""

from importlib import import_module
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from plausible.testing.promises import OWN_Y, assert_refused, assert_says, promised
from plausible.testing.samples import NAMES, Sample, answers, assert_close, assert_same, draw
from plausible.testing.subject import Subject

COLUMNS = ["length", "width"]


def _table(subject: Subject, sample: Sample, table: Any) -> Any:
    """Plausibilities as they are, or as Labels for an estimator with its own way of fitting."""
    return table if subject.own_fit is None else sample.plausible


@promised
def check_read_only_arrays(subject: Subject) -> None:
    """Arrays that cannot be written to are as good as others."""
    sample = draw()
    model = subject.fit(sample.X, sample.plausible)
    X, contour, fresh = sample.X.copy(), sample.contour.copy(), sample.fresh.copy()
    for array in (X, contour, fresh):
        array.flags.writeable = False
    other = subject.fit(X, _table(subject, sample, contour))
    assert_same(other, model, fresh, "read-only arrays")


@promised
def check_float32(subject: Subject) -> None:
    """In single precision the answers are nearly the same."""
    sample = draw()
    model = subject.fit(sample.X, sample.plausible)
    other = subject.fit(sample.X.astype(np.float32), sample.plausible)
    expected, probability = answers(model, sample.fresh)
    predicted, close = answers(other, sample.fresh.astype(np.float32))
    changed = int((predicted != expected).sum())
    assert changed <= len(expected) // 100, f"{changed} predictions change in single precision"
    if probability is not None:
        assert_close(close, probability, "single precision is far off", rtol=1e-3, atol=1e-4)


@promised
def check_lists(subject: Subject) -> None:
    """Lists are as good as arrays."""
    sample = draw()
    model = subject.fit(sample.X, sample.plausible)
    other = subject.fit(sample.X.tolist(), _table(subject, sample, sample.contour.tolist()))
    assert_same(other, model, sample.fresh.tolist(), "lists instead of arrays")


def imported(package: str) -> Any:
    """An optional package, or None where it is not installed."""
    try:
        return import_module(package)
    except ImportError:
        return None


def _check_frames(subject: Subject, package: str) -> str | None:
    """Data frames and series of pandas or polars, which are made alike."""
    frames = imported(package)
    if frames is None:
        return f"{package} is not installed"
    sample = draw()
    X = frames.DataFrame(dict(zip(COLUMNS, sample.X.T, strict=True)))
    fresh = frames.DataFrame(dict(zip(COLUMNS, sample.fresh.T, strict=True)))
    partly = [name if i % 5 else None for i, name in enumerate(sample.hard.tolist())]
    kinds = [
        ("a column of names", frames.Series(sample.hard.tolist()), sample.hard),
        ("a column with gaps", frames.Series(partly), partly),
        ("a table", frames.DataFrame(sample.plausible.to_dict()), sample.plausible),
        ("Labels", sample.plausible, sample.plausible),
    ]
    for what, y, same in kinds if subject.own_fit is None else kinds[-1:]:
        model, expected = subject.fit(X, y), subject.fit(sample.X, same)
        assert model.classes_.tolist() == NAMES.tolist(), f"class names of {what} are lost"
        assert_same(model, expected, fresh, f"{package}: {what}", others_points=sample.fresh)
    assert_feature_names(model, frames, sample)
    return None


def assert_feature_names(model: Any, frames: Any, sample: Any) -> None:
    """A model knows the columns of the frame it learned from, and wants them again."""
    named = list(getattr(model, "feature_names_in_", []))
    assert named == COLUMNS, f"feature_names_in_ should name the columns, but is {named}"
    if not hasattr(model, "predict"):
        return
    wrong = frames.DataFrame({"length": sample.X[:, 0], "weight": sample.X[:, 1]})
    assert_refused(lambda: model.predict(wrong), "feature names", "width", "weight")


@promised
def check_pandas(subject: Subject) -> str | None:
    """Frames and columns of pandas are understood, with their names."""
    return _check_frames(subject, "pandas")


@promised
def check_polars(subject: Subject) -> str | None:
    """Frames and columns of polars are understood, with their names."""
    return _check_frames(subject, "polars")


# -- Clear errors ----------------------------------------------------------------------------------


@promised
def check_error_on_unequal_lengths(subject: Subject) -> None:
    """Features, labels and weights of unequal length are refused, with both lengths."""
    sample = draw()
    for y in (sample.plausible[:-3], sample.hard[:-3]):
        assert_refused(lambda y=y: subject.fit(sample.X, y), 60, 57)  # type: ignore[misc]
    if subject.weights:
        short = np.ones(57)
        assert_refused(
            lambda: subject.fit(sample.X, sample.doubted, short), "sample_weight", 60, 57
        )


@promised
def check_error_on_nan(subject: Subject) -> None:
    """NaN is refused among plausibilities, and in features unless the tags allow it there."""
    sample = draw()
    holes = sample.X.copy()
    holes[7, 1] = np.nan
    if get_tags(subject.estimator).input_tags.allow_nan:
        answered = answers(subject.fit(holes, sample.plausible), holes)
        assert len(answered[0]) == len(holes), "missing features are allowed, but give no answers"
    else:
        assert_refused(lambda: subject.fit(holes, sample.plausible), "X", "NaN")
        model = subject.fit(sample.X, sample.plausible)
        assert_refused(lambda: model.predict(holes), "X", "NaN")
    if subject.own_fit is None:
        contour = sample.contour.copy()
        contour[5, 1] = np.nan
        assert_refused(lambda: subject.fit(sample.X, contour), "plausibilities", "nan", "row 5")


@promised
def check_y_none(subject: Subject) -> str | None:
    """Without labels, fit works, or says that it needs them."""
    if subject.own_fit is not None:
        return OWN_Y
    sample = draw()
    refusal = None
    try:
        model = subject.make().fit(sample.X, None)
    except ValueError as error:
        refusal = error
    if refusal is None:
        assert subject.y_none != "refuses", "y=None should be refused; nothing was"
        assert len(model.predict(sample.fresh)) == len(sample.fresh), "one answer for each row"
        return None
    assert subject.y_none != "works", f"y=None should work, but was refused: {refusal}"
    assert_says(refusal, "y", "None")
    return None


@promised
def check_error_on_rows_of_zeros(subject: Subject) -> str | None:
    """Rows in which no class is possible are refused by their numbers."""
    if subject.own_fit is not None:
        return OWN_Y
    sample = draw()
    contour = sample.contour.copy()
    contour[[4, 9]] = 0.0
    assert_refused(lambda: subject.fit(sample.X, contour), "possible class", "rows 4, 9")
    return None


@promised
def check_error_before_fit(subject: Subject) -> None:
    """Whoever asks before fit is told so."""
    sample = draw()
    model = subject.make()
    for method in ["predict"] + ["predict_proba"] * hasattr(model, "predict_proba"):
        ask = getattr(model, method)
        assert_refused(
            lambda ask=ask: ask(sample.X),  # type: ignore[misc]
            type(model).__name__,
            "fit",
            error=NotFittedError,
        )


@promised
def check_number_of_features(subject: Subject) -> None:
    """`n_features_in_` is known, and another number is refused."""
    sample = draw()
    model = subject.fit(sample.X, sample.plausible)
    assert getattr(model, "n_features_in_", None) == 2, "n_features_in_ should be 2"
    wide = np.hstack([sample.fresh, sample.fresh[:, :1]])
    for method in ["predict"] + ["predict_proba"] * hasattr(model, "predict_proba"):
        ask = getattr(model, method)
        assert_refused(lambda ask=ask: ask(wide), "3 features", "2 features")  # type: ignore[misc]
