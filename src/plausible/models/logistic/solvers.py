"""How the coefficients of a softmax model are found: L-BFGS, Newton steps or EM; where to start."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plausible.engine import ArrayRows, Callback, Criterion, Progress, Result, climb, maximize
from plausible.models.logistic.criteria import FloatArray
from plausible.models.logistic.likelihood import PartialLikelihood, Step, target_pass

Renewed = tuple[Criterion, FloatArray, Callable[[FloatArray], FloatArray]]

SOLVERS = ("auto", "lbfgs", "newton", "em")
FEW = 100  # coordinates up to which Newton steps are quicker than L-BFGS,
NEWTON_WORK = 1e8  # while their square times the number of rows is below this
DENSE = 500  # coordinates up to which Newton steps factor the matrix of second derivatives
LOOSER = 10.0  # tolerance where the criterion is not concave, where the last digits take long
N_STARTS = 5  # where the criterion is not concave
RACE_ROWS = 1000  # on which they are compared
RACE_ITER = 10  # after so many iterations
SMALL = 1e-3  # about the standard deviation of what is added to the logits at a start
MANY_ROWS = 10_000  # beyond, starts are near zero instead of the solution of maximum entropy
ROUGH = 1e-3  # tolerance of that solution


class Straight:
    """The chart of coefficients, which have no constraints."""

    def flatten(self, parameters: FloatArray) -> FloatArray:
        """The coefficients as a vector."""
        return parameters.ravel()

    def restore(self, vector: FloatArray, like: FloatArray) -> FloatArray:
        """The vector as coefficients."""
        return vector.reshape(like.shape)


@dataclass(frozen=True)
class Solver:
    """A way to climb, and when to stop.

    Attributes
    ----------
    name : one of `SOLVERS`
    tol, max_iter : float, int
    callback : function of Progress, optional
    inner : whether runs are parts of a larger fit, see `climb`
    """

    name: str
    tol: float
    max_iter: int
    callback: Callback | None = None
    inner: bool = False

    def run(self, problem: PartialLikelihood, start: FloatArray) -> Result:
        """Maximize from coefficients (K, D); history and criterion are means over the rows."""
        if self.name == "em" and problem.name == "minimum_commitment" and problem.targets is None:
            return self._expect_and_maximize(problem, start)
        size = problem.coordinates.size
        second: dict[str, Any] = {}
        quick = size <= FEW and problem.rows.n_rows * size**2 <= NEWTON_WORK
        if self.name == "newton" or (self.name == "auto" and quick):
            if size <= DENSE:
                second["hessian"] = problem.hessian
            else:
                second["hessian_product"] = problem.hessian_product

        def renew(beta: FloatArray) -> Renewed:
            new = problem.renewed(beta)
            return new.at, new.coordinates.flatten(beta), new.coordinates.restore

        tol = self.tol if problem.targets is not None else LOOSER * self.tol
        return climb(
            problem.at,
            problem.coordinates.flatten(start),
            restore=problem.coordinates.restore,
            tol=tol,
            max_iter=self.max_iter,
            renew=renew,
            callback=self.callback,
            inner=self.inner,
            advice="raise max_iter or tol, or penalize more (alpha)",
            **second,
        )

    def _expect_and_maximize(self, problem: PartialLikelihood, start: FloatArray) -> Result:
        """EM: what the labels leave under the model, then the model that fits it best."""
        inner = replace(self, name="auto", callback=None, inner=True)

        def solve(step: Step) -> FloatArray:
            return inner.run(problem.given(step.targets), step.beta).parameters

        result = maximize(
            problem.expect,
            solve,
            [start],
            n_rows=problem.weight,
            tol=(LOOSER * self.tol) ** 2,
            max_iter=self.max_iter,
            chart=Straight(),
            callback=self.callback,
        )
        return replace(result, history=result.history / problem.weight)


def best_start(
    problem: PartialLikelihood, solver: Solver, n_init: int | None, random: np.random.RandomState
) -> Result:
    """Fit from the best of several small random starts, compared on few rows."""
    n_init = N_STARTS if n_init is None else n_init
    n_columns = problem.coordinates.shape.shape[0]
    spread = SMALL / np.sqrt(n_columns)
    points = random.normal(scale=spread, size=(n_init, problem.coordinates.size))
    center = _even_solution(problem, solver)
    starts = [center + problem.coordinates.restore(point) for point in points]
    if n_init == 1:
        return solver.run(problem, starts[0])
    few = race_course(problem, random)
    most = min(RACE_ITER, solver.max_iter)
    name = "auto" if solver.name == "em" else solver.name
    runner = Solver(name, solver.tol, most, inner=True)
    results = [runner.run(few, start) for start in starts]
    winner = int(np.argmax([result.criterion for result in results]))
    # What few rows teach is far from what all do, and no better start than the one before.
    if few is not problem or solver.max_iter <= RACE_ITER or solver.name == "em":
        return solver.run(problem, starts[winner])
    return go_on(problem, solver, results[winner])


def _even_solution(problem: PartialLikelihood, solver: Solver) -> FloatArray:
    """Roughly the solution of maximum entropy, which is unique; zero where it would take long.

    Of the maxima of minimum commitment, those near it predict best: higher ones far away fit labels
    that are there by chance.
    """
    n_columns = problem.coordinates.shape.shape[0]
    if problem.rows.n_rows > MANY_ROWS:
        return np.zeros((len(problem.coordinates.contrasts), n_columns))
    targets = problem.rows.reduce(target_pass, n_columns, problem.present)
    rough = replace(solver, tol=max(solver.tol, ROUGH), callback=None, inner=True)
    return rough.run(problem.given(targets), np.zeros_like(targets)).parameters


def begun(problem: PartialLikelihood, start: FloatArray) -> Result:
    """A fit that was interrupted before its first iteration: where it stands, by its criterion."""
    value = (problem.fidelity(start)[0] - problem.penalized(start)) / problem.weight
    history = np.array([value])
    return Result(start, history, 0, False, True, 0, history)


def go_on(problem: PartialLikelihood, solver: Solver, so_far: Result) -> Result:
    """A fit that was cut short, to its end."""
    if so_far.converged:
        if solver.callback is not None:
            solver.callback(Progress(so_far.n_iter, so_far.criterion, 0.0, 0.0, 0.0, 0))
        return so_far
    n_left = solver.max_iter - so_far.n_iter
    rest = replace(solver, max_iter=n_left).run(problem, so_far.parameters)
    return replace(
        rest,
        history=np.append(so_far.history, rest.history[1:]),
        n_iter=so_far.n_iter + rest.n_iter,
    )


def race_course(problem: PartialLikelihood, random: np.random.RandomState) -> PartialLikelihood:
    """The same problem on few rows."""
    if problem.rows.n_rows <= RACE_ROWS:
        return problem
    columns = problem.rows.sample(RACE_ROWS, random)
    weight = float(RACE_ROWS if columns[2] is None else columns[2].sum())
    if not weight > 0:
        return problem
    share = weight / problem.weight
    few = replace(problem, rows=ArrayRows(*columns), weight=weight, penalty=problem.penalty * share)
    return replace(few, constant=problem.constant * share)
