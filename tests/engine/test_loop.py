"""The loop on problems small enough to know the answer."""

import json
import warnings
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from plausible.engine import maximize
from plausible.engine.reporting import reporter


class Seen(NamedTuple):
    point: tuple
    criterion: float


class Hill:
    """-(x - top)' A (x - top), climbed by steps that leave `rates` of the distance on each axis."""

    def __init__(self, rates, top=0.0):
        self.rates, self.top = np.array(rates), top
        self.passes = 0

    def height(self, x):
        return -float((((x - self.top) ** 2) * (1 - self.rates)).sum())

    def summarize(self, points):
        self.passes += 1
        return [Seen(point, self.height(point[0])) for point in points]

    def solve(self, seen):
        return (self.top + self.rates * (seen.point[0] - self.top),)


class Flat:
    """Coordinates: the array itself."""

    def flatten(self, parameters):
        return parameters[0]

    def restore(self, vector, like):
        return (vector.reshape(like[0].shape),)


START = (np.array([3.0, -2.0]),)


def climb(hill, starts=(START,), **options):
    return maximize(hill.summarize, hill.solve, list(starts), n_rows=1, **{"tol": 1e-12, **options})


def test_reaches_the_top_and_tells_how():
    hill = Hill([0.5, 0.8], top=1.0)
    result = climb(hill)
    assert result.converged
    assert not result.interrupted
    np.testing.assert_allclose(result.parameters[0], 1.0, atol=1e-4)
    assert len(result.history) == result.n_iter + 1 == hill.passes
    assert result.history[0] == hill.height(START[0])
    assert result.history[-1] == result.criterion == hill.height(result.parameters[0])


def test_stops_at_the_first_gain_for_a_row_below_tol():
    hill = Hill([0.9, 0.9])
    result = maximize(hill.summarize, hill.solve, [START], n_rows=10, tol=1e-3)
    gains = np.diff(result.history)
    assert gains[-1] < 1e-2 <= gains[-2]


def test_acceleration_reaches_the_same_top_in_fewer_passes():
    slow = [0.99, 0.9, 0.5]
    start = ((np.array([3.0, -2.0, 1.0])),)
    plain, quick = Hill(slow), Hill(slow)
    one = climb(plain, [start], max_iter=5000)
    other = climb(quick, [start], chart=Flat())
    assert quick.passes < plain.passes / 3
    assert other.criterion >= one.criterion
    assert (np.diff(other.history) >= 0).all()
    assert len(other.history) == other.n_iter + 1 == quick.passes


def test_acceleration_leaves_quick_problems_alone():
    plain, quick = Hill([0.1, 0.3]), Hill([0.1, 0.3])
    one, other = climb(plain), climb(quick, chart=Flat())
    np.testing.assert_array_equal(one.history, other.history)


class Ridge(Hill):
    """A hill with an abyss beside the path of plain maps."""

    path = START[0]

    def height(self, x):
        return super().height(x) - 1e3 * float((x != self.path).any())

    def solve(self, seen):
        mapped = super().solve(seen)
        self.path = mapped[0]
        return mapped


def test_jumps_that_fall_are_given_up():
    plain = climb(Hill([0.98, 0.97]), tol=1e-9)
    result = climb(Ridge([0.98, 0.97]), chart=Flat(), tol=1e-9)
    rises = np.diff(result.history)
    assert (rises >= 0).all()
    assert (rises == 0).sum() > 3
    np.testing.assert_allclose(result.history[np.r_[True, rises > 0]], plain.history)


class Twins(Hill):
    """Two tops: that of the right, x > 0, is the higher one."""

    def height(self, x):
        return -float(((np.abs(x) - 2) ** 2).sum()) + 5.0 * float(x[0] > 0)

    def solve(self, seen):
        x = seen.point[0]
        return (np.sign(x) * 2 + 0.8 * (x - np.sign(x) * 2),)


def test_the_best_of_several_starts_is_kept_and_losers_are_dropped():
    twins = Twins([0.0])
    starts = [(np.array([value]),) for value in (-1.0, 1.0, -3.0)]
    counted = []
    summarize = twins.summarize
    twins.summarize = lambda points: counted.append(len(points)) or summarize(points)
    result = climb(twins, starts)
    assert result.best_start == 1
    np.testing.assert_allclose(result.parameters[0], 2.0, atol=1e-4)
    assert result.criteria.argmax() == 1
    assert counted[0] == 3
    assert counted[-1] == 1
    assert counted.count(3) < 15


def test_max_iter_ends_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="max_iter=3"):
        result = climb(Hill([0.9, 0.9]), max_iter=3)
    assert result.n_iter == 3
    assert not result.converged


def test_an_interrupt_keeps_the_best_so_far():
    hill = Hill([0.9, 0.9])

    def interrupt(progress):
        if progress.iteration == 4:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted after 4 iterations"):
        result = climb(hill, callback=interrupt)
    assert result.interrupted
    assert not result.converged
    assert result.criterion == hill.height(result.parameters[0]) == result.history.max()


def test_an_interrupt_before_anything_is_known_goes_through():
    def summarize(points):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        maximize(summarize, lambda seen: seen, [START], n_rows=1)


def test_a_callback_sees_progress_and_can_stop():
    seen = []
    result = climb(Hill([0.9, 0.9]), callback=lambda p: seen.append(p) or p.iteration >= 7)
    assert [p.iteration for p in seen] == list(range(8))
    assert result.n_iter == 7
    assert [p.criterion for p in seen] == result.history.tolist()
    assert all(p.seconds_left > 0 for p in seen)
    np.testing.assert_allclose([p.gain for p in seen[1:]], np.diff(result.history))


@pytest.mark.parametrize("chart", [None, Flat()])
@pytest.mark.parametrize("n_starts", [1, 3])
@pytest.mark.parametrize("stop_at", [0, 1, 9, 10, 11, 12, 20])
def test_going_on_from_a_checkpoint_is_exact(tmp_path, chart, n_starts, stop_at):
    rng = np.random.default_rng(0)
    starts = [(rng.normal(size=3),) for _ in range(n_starts)]
    hill = Hill([0.99, 0.9, 0.5])
    whole = climb(hill, starts, chart=chart)
    path = tmp_path / "fit.npz"

    def interrupt(progress):
        if progress.iteration == stop_at:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        climb(hill, starts, chart=chart, callback=interrupt, checkpoint=path)
    resumed = climb(hill, starts, chart=chart, checkpoint=path)
    np.testing.assert_array_equal(resumed.history, whole.history)
    np.testing.assert_array_equal(resumed.parameters[0], whole.parameters[0])
    np.testing.assert_array_equal(resumed.criteria, whole.criteria)
    again = climb(hill, starts, chart=chart, checkpoint=path)
    np.testing.assert_array_equal(again.parameters[0], whole.parameters[0])
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    path = tmp_path / "fit.npz"
    climb(Hill([0.5, 0.5]), checkpoint=path)
    with pytest.raises(ValueError, match="criterion .* on these rows"):
        climb(Hill([0.5, 0.5], top=0.5), checkpoint=path)
    with pytest.raises(ValueError, match="2 starts, but has 1"):
        climb(Hill([0.5, 0.5]), [START, START], checkpoint=path)
    with pytest.raises(ValueError, match=r"shapes \[\(3,\)\], but has \[\(2,\)\]"):
        climb(Hill([0.5, 0.5, 0.5]), [(np.ones(3),)], checkpoint=path)
    content = path.read_bytes()
    for damaged in (content[: len(content) // 2], b"no checkpoint", b""):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="should be a checkpoint .* delete it"):
            climb(Hill([0.5, 0.5]), checkpoint=path)
        assert path.read_bytes() == damaged


def test_a_checkpoint_of_other_settings_is_refused(tmp_path):
    path = tmp_path / "fit.npz"
    climb(Hill([0.5, 0.5]), checkpoint=path, settings="full")
    with pytest.raises(ValueError, match="should have the settings tied, but has full"):
        climb(Hill([0.5, 0.5]), checkpoint=path, settings="tied")


@pytest.mark.parametrize("chart", [None, Flat()])
def test_a_smaller_tolerance_goes_on_from_a_checkpoint_that_had_converged(tmp_path, chart):
    path, hill = tmp_path / "fit.npz", Hill([0.99, 0.9])
    rough = climb(hill, checkpoint=path, chart=chart, tol=1e-2)
    fine = climb(hill, checkpoint=path, chart=chart, tol=1e-9)
    assert rough.converged
    np.testing.assert_array_equal(fine.history, climb(hill, chart=chart, tol=1e-9).history)
    # And a larger one has nothing to do.
    assert climb(hill, checkpoint=path, chart=chart, tol=1e-3).n_iter == fine.n_iter


def test_a_map_that_did_not_rise_is_the_end_for_any_tolerance(tmp_path):
    path = tmp_path / "fit.npz"
    top = (np.zeros(2),)
    assert climb(Hill([0.5, 0.5]), [top], checkpoint=path, tol=1e-2).converged
    again = climb(Hill([0.5, 0.5]), [top], checkpoint=path, tol=1e-9)
    assert again.converged
    assert again.n_iter == 1


def forge(path, **changes):
    """Change arrays of a checkpoint by name, `None` to leave one out, and numbers of its start."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    state = json.loads(str(arrays["state"]))
    for name, value in changes.items():
        if name in state["ascents"][0]:
            state["ascents"][0][name] = value
        elif value is None:
            del arrays[name]
        else:
            arrays[name] = value
    arrays["state"] = np.array(json.dumps(state))
    np.savez(path, **arrays)


@pytest.mark.parametrize("changes", [
    {"gain": None}, {"gain": "0.5"}, {"pause": np.inf}, {"n_jumps": [1]}, {"0.history": None},
    {"0.history": np.array(["a"])}, {"0.history": np.ones((2, 2))}, {"0.point.0": None},
    {"0.proposal.0": np.array(["a", "b"])}, {"0.point.0": np.array([1, 2])},
])  # fmt: skip
def test_a_forged_checkpoint_is_refused(tmp_path, changes):
    path = tmp_path / "fit.npz"
    climb(Hill([0.5, 0.5]), checkpoint=path)
    forge(path)
    climb(Hill([0.5, 0.5]), checkpoint=path)
    forge(path, **changes)
    with pytest.raises(ValueError, match="checkpoint.* delete it to start again"):
        climb(Hill([0.5, 0.5]), checkpoint=path)


class Failing(Hill):
    """A hill whose map fails left of zero."""

    def solve(self, seen):
        if seen.point[0][0] < 0:
            raise ValueError("left of zero")
        return super().solve(seen)


def test_a_start_that_fails_is_dropped_unless_all_do():
    bad, good = (np.array([-1.0, 0.0]),), (np.array([1.0, 0.0]),)
    result = climb(Failing([0.5, 0.5]), [bad, good])
    assert result.best_start == 1
    with pytest.raises(ValueError, match="left of zero"):
        climb(Failing([0.5, 0.5]), [bad, bad])


def test_a_start_without_a_criterion_is_refused():
    with pytest.raises(ValueError, match="finite at the start"):
        climb(Hill([0.5, 0.5]), [(np.array([np.nan, 1.0]),)])


@pytest.mark.parametrize(("verbose", "lines"), [(0, 0), (1, 2), (2, 6)])
def test_verbose_says_where_the_loop_is(capsys, verbose, lines):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        climb(Hill([0.9, 0.9]), max_iter=5, callback=reporter(verbose, "Hill"))
    said = capsys.readouterr().out.splitlines()
    assert len(said) == lines
    assert all(line.startswith("Hill: iteration") and "criterion" in line for line in said)


class Stairs:
    """Heights that rise by a step of their own at each map."""

    def summarize(self, points):
        return [Seen(point, float(point[0][0])) for point in points]

    def solve(self, seen):
        height, step = seen.point[0]
        return (np.array([height + step, step]),)


@pytest.mark.parametrize(("behind", "wins"), [(24.9, True), (25.1, False)])
def test_a_start_is_kept_while_twenty_gains_like_its_last_would_win(behind, wins):
    # After five maps, each of which gains 1, it is behind by 19.9 or by 20.1.
    leader, climber = (np.array([0.0, 1e-6]),), (np.array([-behind, 1.0]),)
    stairs = Stairs()
    with pytest.warns(ConvergenceWarning, match="max_iter=40"):
        result = maximize(
            stairs.summarize, stairs.solve, [leader, climber], n_rows=1, tol=0.0, max_iter=40
        )
    assert result.best_start == int(wins)
    np.testing.assert_allclose(result.criteria[1], 40 - behind if wins else 5 - behind)


class Mirrored(Twins):
    """Two tops of one height, but for the last digits of a sum."""

    def height(self, x):
        return -1e3 - float(((np.abs(x) - 2) ** 2).sum()) + 1e-12 * float(x[0] > 0)


def test_of_starts_that_tie_but_for_rounding_the_first_is_kept():
    starts = [(np.array([-1.0]),), (np.array([1.0]),)]
    result = climb(Mirrored([0.0]), starts)
    assert result.criteria.argmax() == 1
    assert result.best_start == 0
