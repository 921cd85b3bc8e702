"""Promises about data as they come: arrays, lists and frames of any make, and clear errors."""

from importlib import import_module

import numpy as np
from sklearn.exceptions import NotFittedError

from conformance.promises import assert_refused, promised
from conformance.register import Entry
from conformance.samples import NAMES, answers, assert_same, draw


@promised
def check_read_only_arrays(entry):
    sample = draw()
    model = entry.make().fit(sample.X, sample.plausible)
    X, contour, fresh = sample.X.copy(), sample.contour.copy(), sample.fresh.copy()
    for array in (X, contour, fresh):
        array.flags.writeable = False
    assert_same(entry.make().fit(X, contour), model, fresh, "read-only arrays")


@promised
def check_float32(entry):
    sample = draw()
    model = entry.make().fit(sample.X, sample.plausible)
    other = entry.make().fit(sample.X.astype(np.float32), sample.plausible)
    expected, probability = answers(model, sample.fresh)
    predicted, close = answers(other, sample.fresh.astype(np.float32))
    changed = int((predicted != expected).sum())
    assert changed <= len(expected) // 100, f"{changed} predictions change in single precision"
    if probability is not None:
        np.testing.assert_allclose(
            close, probability, rtol=1e-3, atol=1e-4, err_msg="single precision is far off"
        )


@promised
def check_lists(entry):
    sample = draw()
    model = entry.make().fit(sample.X, sample.plausible)
    other = entry.make().fit(sample.X.tolist(), sample.contour.tolist())
    assert_same(other, model, sample.fresh.tolist(), "lists instead of arrays")


def _check_frames(entry: Entry, package: str) -> str | None:
    """Data frames and series of pandas or polars, which are made alike."""
    try:
        frames = import_module(package)
    except ImportError:
        return f"{package} is not installed"
    sample = draw()
    columns = ["length", "width"]
    X = frames.DataFrame(dict(zip(columns, sample.X.T, strict=True)))
    fresh = frames.DataFrame(dict(zip(columns, sample.fresh.T, strict=True)))
    partly = [name if i % 5 else None for i, name in enumerate(sample.hard.tolist())]
    for what, y, same in [
        ("a column of names", frames.Series(sample.hard.tolist()), sample.hard),
        ("a column with gaps", frames.Series(partly), partly),
        ("a table", frames.DataFrame(sample.plausible.to_dict()), sample.plausible),
        ("Labels", sample.plausible, sample.plausible),
    ]:
        model, expected = entry.make().fit(X, y), entry.make().fit(sample.X, same)
        assert model.classes_.tolist() == NAMES.tolist(), f"class names of {what} are lost"
        assert_same(model, expected, fresh, f"{package}: {what}", others_points=sample.fresh)
    assert list(model.feature_names_in_) == columns, "feature_names_in_ should name the columns"
    wrong = frames.DataFrame({"length": sample.fresh[:, 0], "weight": sample.fresh[:, 1]})
    assert_refused(lambda: model.predict(wrong), "feature names", "width", "weight")
    return None


@promised
def check_pandas(entry):
    return _check_frames(entry, "pandas")


@promised
def check_polars(entry):
    return _check_frames(entry, "polars")


# -- Clear errors ----------------------------------------------------------------------------------


@promised
def check_error_on_unequal_lengths(entry):
    sample = draw()
    assert_refused(lambda: entry.make().fit(sample.X, sample.plausible[:-3]), "length", 60, 57)
    assert_refused(lambda: entry.make().fit(sample.X, sample.hard[:-3]), "length", 60, 57)
    if entry.weighted:
        short = {"sample_weight": np.ones(57)}
        assert_refused(
            lambda: entry.make().fit(sample.X, sample.hard, **short), "sample_weight", 60, 57
        )


@promised
def check_error_on_nan(entry):
    sample = draw()
    holes = sample.X.copy()
    holes[7, 1] = np.nan
    assert_refused(lambda: entry.make().fit(holes, sample.plausible), "X", "NaN")
    model = entry.make().fit(sample.X, sample.plausible)
    assert_refused(lambda: model.predict(holes), "X", "NaN")
    contour = sample.contour.copy()
    contour[5, 1] = np.nan
    assert_refused(lambda: entry.make().fit(sample.X, contour), "plausibilities", "nan", "row 5")


@promised
def check_y_none(entry):
    sample = draw()
    if entry.clusters:
        entry.make().fit(sample.X, None).predict(sample.fresh)
        return
    assert_refused(lambda: entry.make().fit(sample.X, None), "y", "None", "labels")


@promised
def check_error_on_rows_of_zeros(entry):
    sample = draw()
    contour = sample.contour.copy()
    contour[[4, 9]] = 0.0
    assert_refused(lambda: entry.make().fit(sample.X, contour), "possible class", "rows 4, 9")


@promised
def check_error_before_fit(entry):
    sample = draw()
    model = entry.make()
    methods = ["predict"] + ["predict_proba"] * hasattr(model, "predict_proba")
    for method in methods:
        assert_refused(
            lambda method=method: getattr(model, method)(sample.X),
            type(model).__name__,
            "fit",
            error=NotFittedError,
        )


@promised
def check_number_of_features(entry):
    sample = draw()
    model = entry.make().fit(sample.X, sample.plausible)
    assert getattr(model, "n_features_in_", None) == 2, "n_features_in_ should be 2"
    wide = np.hstack([sample.fresh, sample.fresh[:, :1]])
    for method in ["predict"] + ["predict_proba"] * hasattr(model, "predict_proba"):
        call = getattr(model, method)
        assert_refused(lambda call=call: call(wide), "3 features", "2 features")
