"""Every estimator of the register keeps every promise, ours and scikit-learn's."""

import inspect

import pytest

from conformance.register import REGISTER, VARIANTS
from plausible import cluster, experts, models, neighbors
from plausible.testing.running import checks_of, run_check

CASES = [(name, check) for name, subject in REGISTER.items() for check in checks_of(subject)]
LEFT_OUT = [(name, check) for name, check in CASES if check in REGISTER[name].leave_out]


# scikit-learn's checks leave classes with hardly any items, and so rightly cause warnings.
@pytest.mark.filterwarnings("ignore::plausible.models.SingularCovarianceWarning")
@pytest.mark.parametrize(
    ("name", "check"),
    [
        pytest.param(*case, marks=[pytest.mark.long] * (case[0] in VARIANTS))
        for case in CASES
        if case not in LEFT_OUT
    ],
)
def test_keeps_the_promise(name, check):
    run_check(REGISTER[name], check)


@pytest.mark.parametrize(("name", "check"), LEFT_OUT)
def test_what_is_left_out_would_fail(name, check):
    subject = REGISTER[name]
    with pytest.raises(AssertionError):
        checks_of(subject)[check](subject)


def test_every_estimator_is_registered():
    ours = {
        one
        for room in (cluster, models, experts, neighbors)
        for one in vars(room).values()
        if inspect.isclass(one) and hasattr(one, "fit")
        # which give no answers about classes
    } - {neighbors.Relabeller, models.FeaturePreparation, models.E2M}
    assert ours == {type(subject.estimator) for subject in REGISTER.values()}
