"""What was learned of people, for other answers of theirs.

Whoever is not known counts as people do on average, weighed by their answers.
"""

import numpy as np
from numpy.typing import NDArray

from plausible.errors import InputError
from plausible.experts.annotations import Annotations
from plausible.experts.answer_model import AnswerModel
from plausible.experts.answer_problem import Parameters
from plausible.experts.rate_model import confusions
from plausible.experts.reliability import Reliability, relative

FloatArray = NDArray[np.float64]


def known_people(
    found: Reliability, annotations: Annotations
) -> tuple[FloatArray, FloatArray | None]:
    """Rates (R,) of being right of the authors of answers, and confusions (R, K, K) if learned."""
    names, classes = found.classes.tolist(), annotations.classes.tolist()
    if set(names) != set(classes):
        raise InputError(
            f"Answers should be about the classes of which people are known, {names}",
            f"are about {classes}",
            "name all classes in classes= of both",
            parameter="doubt",
        )
    place = {name: number for number, name in enumerate(found.annotators.tolist())}
    rows = np.array([place.get(name, -1) for name in annotations.annotators.tolist()], dtype=int)
    weight = found.n_answers + 1e-9
    rates = np.append(found.accuracy, np.average(found.accuracy, weights=weight))[rows]
    if found.learned.shape[1:] == (1,):
        return rates, None
    table = found.learned if found.learned.ndim == 3 else confusions(found.learned, len(names))
    everybody = np.average(table, axis=0, weights=weight)
    order = [names.index(name) for name in classes]
    return rates, np.concatenate([table, everybody[None]])[rows][:, order][:, :, order]


def evidence_of(annotations: Annotations, confusion: FloatArray) -> FloatArray:
    """Contours (n, K) of the items, if people have these confusions."""
    even = np.full(annotations.n_classes, 1 / annotations.n_classes)
    problem = AnswerModel(annotations, 0.0, None, even)
    return relative(problem.evidence(Parameters(even, confusion)))
