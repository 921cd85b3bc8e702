"""The E2M problem of one data set, as the engine's loop climbs it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.checks import shown
from plausible.errors import InputError
from plausible.labels import Labels
from plausible.models.e2m.classes import Bernoulli, Categorical, read_labels
from plausible.models.e2m.coordinates import BoundedChart, Params, entry_bounds, listed, shaped
from plausible.models.e2m.differences import hessian, newton_climb, steps_for
from plausible.models.e2m.family import (
    ExponentialFamily,
    Family,
    information_sums,
    louis_information,
    step_sums,
    sum_by_weight,
)
from plausible.models.e2m.points import (
    check_column,
    landmarks,
    points_of_labels,
    points_of_values,
    refuse_all_missing,
    row_log_sums,
)
from plausible.models.e2m.values import UncertainValues, as_values

FloatArray = NDArray[np.float64]


class Summary(NamedTuple):
    """Log likelihood at some parameters, and what the M step needs."""

    criterion: float
    statistics: FloatArray
    params: Params


class StatedSteps:
    """A family that states its E and M steps."""

    def __init__(self, family: Any, data: Any, weight: FloatArray) -> None:
        self.family, self.weight = family, weight
        read = getattr(family, "read", None)
        self.data, self.weight = (data, weight) if read is None else read(data, weight)
        self.bounds = getattr(family, "bounds", {})

    @property
    def classes(self) -> Any:
        """Of labels; None of values."""
        return getattr(self.data, "classes", None)

    @property
    def total_weight(self) -> float:
        """Of all rows."""
        return float(self.weight.sum())

    def start(self) -> Params:
        """Parameters to start from, as far as the family knows."""
        made = getattr(self.family, "start_from", None)
        return {} if made is None else dict(made(self.data, self.weight))

    def log_likelihoods(self, params: Params) -> FloatArray:
        """Log likelihood (n,) of each row."""
        return np.asarray(self.family.e_step(self.data, params)[0], dtype=np.float64)

    def summarize(self, starts: list[Params]) -> list[Summary]:
        """Log likelihood and mean of the expected statistics, for each set of parameters."""
        made = []
        for params in starts:
            criterion, sums = step_sums(self.family, self.data, self.weight, params)
            made.append(Summary(criterion, sums / self.weight.sum(), params))
        return made

    def solve(self, summary: Summary) -> Params:
        """The M step."""
        return dict(self.family.m_step(summary.statistics, summary.params))

    def chart(self, params: Params) -> Any:
        """Coordinates without constraints."""
        scale = max(float(np.abs(listed(params)).max()), 1e-300)
        if isinstance(self.family, ExponentialFamily):
            return self.family.chart(scale)
        return BoundedChart(self.bounds, scale)

    def information(self, params: Params) -> FloatArray:
        """Observed information (p, p) of the free parameters."""
        if isinstance(self.family, ExponentialFamily):
            sums = information_sums(self.family, self.data, self.weight, params)
            return louis_information(self.family, sums, params)
        return differenced_information(self, params)


class StatedDensity:
    """A family that states its density alone: sums over points, and an M step by Newton climbs."""

    def __init__(self, family: Any, data: Any, weight: FloatArray) -> None:
        self.family = family
        self.bounds = getattr(family, "bounds", {})
        support = getattr(family, "support", (-np.inf, np.inf))
        self.known = np.ones(len(weight), dtype=bool)
        if isinstance(data, Labels):
            contours, weight = read_labels(data, weight)
            self.points = points_of_labels(Labels(contours.table, contours.classes))
            self.known = np.ones(len(weight), dtype=bool)
            self.middle, self.scale = self.points.x, float(np.std(self.points.x)) or 1.0
        else:
            values = check_column(as_values(data))
            discrete = bool(getattr(family, "discrete", False))
            self.points = points_of_values(values, support, discrete)
            self.known = ~values.is_missing
            self.middle = np.clip(values.midpoints()[self.known], *support)
            self.scale = landmarks(values, support)[1]
        self.weight = weight[self.known]
        self.nodes, self.node_of = np.unique(self.points.x, return_inverse=True)

    classes = None

    @property
    def total_weight(self) -> float:
        """Of all rows."""
        return float(self.weight.sum())

    def start(self) -> Params:
        """Parameters to start from, as far as the family knows."""
        made = getattr(self.family, "start", None)
        return {} if made is None else dict(made(self.middle))

    def log_density(self, x: FloatArray, params: Params) -> FloatArray:
        """The density that the family states, with nothing where it is not defined."""
        with np.errstate(all="ignore"):
            found = np.asarray(self.family.log_density(x, params), dtype=np.float64)
        if found.shape != x.shape:
            raise InputError(
                f"log_density should return one number for each of {len(x)} values",
                f"returned shape {found.shape}",
                "compute with arrays",
                value=found.shape,
            )
        return np.where(np.isnan(found), -np.inf, found)

    def _rows(self, params: Params) -> tuple[FloatArray, FloatArray]:
        logs = self.log_density(self.nodes, params)[self.node_of] + self.points.log_weight
        return row_log_sums(self.points, logs)

    def log_likelihoods(self, params: Params) -> FloatArray:
        """Log likelihood (n,) of each row; that of a missing value is 0."""
        made = np.zeros(len(self.known))
        made[self.known] = self._rows(params)[0]
        return made

    def summarize(self, starts: list[Params]) -> list[Summary]:
        """Log likelihood and weight of each node, for each set of parameters."""
        made = []
        sizes = np.diff(self.points.starts, append=len(self.points.x))
        for params in starts:
            logs, share = self._rows(params)
            mass = np.bincount(
                self.node_of, share * np.repeat(self.weight, sizes), minlength=len(self.nodes)
            )
            made.append(Summary(sum_by_weight(logs, self.weight), mass.astype(np.float64), params))
        return made

    def solve(self, summary: Summary) -> Params:
        """The M step: climb the expected log density from where we are."""
        chart, like = self.chart(summary.params), summary.params
        held = summary.statistics > 0
        x, mass = self.nodes[held], summary.statistics[held]

        def expected(u: FloatArray) -> float:
            logs = self.log_density(x, chart.restore(u, like))
            value = float(mass @ logs)
            return value if np.isfinite(value) else -np.inf

        with np.errstate(all="ignore"):
            found = newton_climb(expected, chart.flatten(like))
        return chart.restore(found, like)

    def chart(self, params: Params) -> BoundedChart:
        """Coordinates without constraints, in units of the spread of the data."""
        return BoundedChart(self.bounds, self.scale)

    def information(self, params: Params) -> FloatArray:
        """Observed information (p, p), by differences of the log likelihood."""
        return differenced_information(self, params)


Problem = StatedSteps | StatedDensity


def pose(family: Any, data: Any, weight: FloatArray) -> Problem:
    """The problem of a family and data, by what the family states."""
    if callable(getattr(family, "e_step", None)) and callable(getattr(family, "m_step", None)):
        _refuse_nothing(family, data)
        return StatedSteps(family, data, weight)
    if callable(getattr(family, "log_density", None)):
        _refuse_nothing(family, data)
        return StatedDensity(family, data, weight)
    raise InputError(
        "family should state log_density(x, params), or e_step and m_step",
        f"{shown(family)} was given",
        "give Normal(), Poisson() or another of plausible.models, or a Family of your own",
        parameter="family",
        value=family,
    )


def _refuse_nothing(family: Any, data: Any) -> None:
    """Refuse numbers all of which are missing; what labels and other data say is up to a family."""
    if isinstance(data, Labels) or isinstance(family, Bernoulli | Categorical):
        return
    if isinstance(data, UncertainValues) or isinstance(family, Family):
        missing = as_values(data).is_missing
        refuse_all_missing(int(missing.sum()), missing.size)


def differenced_information(problem: Any, params: Params) -> FloatArray:
    """Observed information by differences of the log likelihood, for few parameters."""
    limits = entry_bounds(params, problem.bounds)
    here = listed(params)
    room = np.minimum(here - limits[:, 0], limits[:, 1] - here)

    def log_likelihood(entries: FloatArray) -> float:
        return problem.summarize([shaped(entries, params)])[0].criterion

    return -hessian(log_likelihood, here, steps_for(log_likelihood, here, room))
