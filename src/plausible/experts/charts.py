"""Coordinates without constraints, in which steps of EM may be extrapolated."""

import numpy as np
from numpy.typing import NDArray

from plausible.experts.answer_problem import FLOOR, TINY, Parameters

FloatArray = NDArray[np.float64]

MOST_REMEMBERED = 5_000_000  # logarithms in a table that is kept


class RememberedLogs:
    """Logarithms of the last tables of probabilities, which several ask for."""

    def __init__(self) -> None:
        self.last: list[tuple[FloatArray, FloatArray]] = []

    def of(self, table: FloatArray) -> FloatArray:
        """Logarithms of a table that nobody changes in place."""
        for one, logs in self.last:
            if one is table:
                return logs
        logs = np.maximum(table, TINY)
        np.log(logs, out=logs)
        if table.size <= MOST_REMEMBERED:
            self.last = [(table, logs), *self.last[:2]]
        return logs


class LogChart:
    """Logarithms, in which steps may be extrapolated."""

    def __init__(self, logs: RememberedLogs | None = None) -> None:
        self.logs = RememberedLogs() if logs is None else logs
        self.last: list[tuple[Parameters, FloatArray]] = []

    def flatten(self, parameters: Parameters) -> FloatArray:
        """Logs of all probabilities, in a vector that nobody changes in place."""
        for one, vector in self.last:  # where a step ends, the next begins
            if one is parameters:
                return vector
        prior = np.log(np.maximum(parameters.prior, TINY))
        vector = np.concatenate([prior, self.logs.of(parameters.learned).ravel()])
        if len(vector) <= MOST_REMEMBERED:
            self.last = [(parameters, vector), *self.last[:2]]
        return vector

    def restore(self, vector: FloatArray, like: Parameters) -> Parameters:
        """The probabilities with these logs, up to a factor."""
        parts = np.split(vector, [len(like.prior)])
        tables = [part.reshape(shape.shape) for part, shape in zip(parts, like, strict=True)]
        powers = [np.exp(t - t.max(axis=-1, keepdims=True)) for t in tables]
        return Parameters(*(p / p.sum(axis=-1, keepdims=True) for p in powers))


class RateChart:
    """Log shares of classes and log odds of being right, in which steps may be extrapolated."""

    def flatten(self, parameters: Parameters) -> FloatArray:
        """Logs of the shares, and log odds of one annotator after the other."""
        rate = np.clip(parameters.learned, FLOOR, 1 - FLOOR)
        logs = np.log(np.maximum(parameters.prior, TINY))
        return np.concatenate([logs, np.log(rate / (1 - rate)).ravel()])

    def restore(self, vector: FloatArray, like: Parameters) -> Parameters:
        """The shares and rates with these coordinates."""
        n_classes = len(like.prior)
        prior = np.exp(vector[:n_classes] - vector[:n_classes].max())
        rate = 1 / (1 + np.exp(-np.clip(vector[n_classes:], -30, 30)))
        return Parameters(prior / prior.sum(), rate.reshape(like.learned.shape))
