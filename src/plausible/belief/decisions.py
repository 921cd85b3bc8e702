r"""Decisions: a class, a set of classes, or a refusal.

An act a has a loss L(a, k) when class k is true. Belief leaves room for many probabilities, so
that the expected loss of an act is an interval:

.. math:: \underline{E}(a) = \sum_A m(A) \min_{k \in A} L(a, k), \qquad
          \overline{E}(a) = \sum_A m(A) \max_{k \in A} L(a, k).

======================  =====================================================================
"pignistic"             least expected loss under the pignistic probabilities
"plausibility"          most plausible class: least lower loss, for losses of 0 and 1
"belief"                most believed class: least upper loss, for losses of 0 and 1
"lower_loss"            least lower expected loss (optimist)
"upper_loss"            least upper expected loss (pessimist)
"hurwicz"               least mixture, `pessimism` of the upper and the rest of the lower loss
"interval_dominance"    every act whose lower loss is not above the upper loss of another
"maximality"            every act to which no other is better under all probabilities
"e_admissibility"       every act that is best under some probability
======================  =====================================================================

The last three answer with sets of acts; each is contained in the one above it. Mass on the empty
set is normalized away; a row with no other mass is refused.

For losses of 0 and 1 and a cost c of refusing (c = 1 if there is no refusal), class k is
E-admissible if and only if

.. math:: pl(k) \ge \max(1 - c, \max_A bel(A) / |A|),

and refusing if and only if the second maximum does not exceed 1 - c; other losses need one linear
program for each row and act in question.

References
----------
T. Denoeux, Decision-making with belief functions: a review, International Journal of Approximate
Reasoning 109 (2019) 87-110.
T. Denoeux, Analysis of evidence-theoretic decision rules for pattern classification, Pattern
Recognition 30 (1997) 1095-1107 (refusal and the unknown class).
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plausible.belief.acts import choose, hurwicz_loss
from plausible.belief.degrees import (
    check_contour,
    choose_by_degrees,
    loss_matrix,
    needs_no_sets,
)
from plausible.belief.forms import (
    SparseMasses,
    knows_its_masses,
    sparse_form,
    to_sparse,
)
from plausible.belief.frames import with_unknown
from plausible.belief.masses import bayesian, consonant, normal_form, normalize
from plausible.belief.notebooks import decision_page
from plausible.belief.sets import (
    BoolArray,
    FloatArray,
    IntArray,
    check_n_classes,
    class_names,
)
from plausible.checks import as_list, check_flag, check_number, check_option
from plausible.errors import InputError

SET_RULES = ("interval_dominance", "maximality", "e_admissibility")
RULES = (
    "pignistic",
    "plausibility",
    "belief",
    "lower_loss",
    "upper_loss",
    "hurwicz",
    *SET_RULES,
)
KINDS = ("masses", "plausibility", "probability")


@dataclass(frozen=True, eq=False)
class Decision:
    """What was decided for each row.

    Attributes
    ----------
    chosen : bool array (..., number of acts)
        The acts that were chosen: one, or several for the rules that answer with sets. The acts
        are the classes in order, then "unknown" and "refuse" where they were offered.
    index : int array
        The act, where there is one; -1 where the row was refused or several acts remain.
    refused : bool array
        Where the answer is to refuse, or where nothing at all was known.
    tied : bool array
        Where another act was as good as the one chosen. Ties go to the first act, so to a class
        rather than to a refusal. Rules that answer with sets keep both acts, and never tie.
    best : bool array (..., number of acts)
        The acts chosen and those that are tied with them.
    offers_refusal, offers_unknown : bool
        Whether refusing is the last of the acts, and "unknown" the one before it.
    classes : array (K,) or None
        Names of the classes, where they are known.

    Examples
    --------
    >>> found = decide([[0.9, 0.1], [0.6, 0.4]], kind="probability", reject=0.3, classes="ab")
    >>> found.names(), found.refused
    (['a', None], array([False,  True]))
    """

    chosen: BoolArray
    index: IntArray
    refused: BoolArray
    tied: BoolArray
    best: BoolArray
    offers_refusal: bool = False
    offers_unknown: bool = False
    classes: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.index)

    def _repr_html_(self) -> str:
        return decision_page(self)

    def names(self, acts: Sequence[Hashable] | None = None, ties: bool = False) -> Any:
        """Answers in words: the name of an act, a set of names, or None for a refusal.

        Where a rule keeps refusing among other acts, the set holds None.

        Parameters
        ----------
        acts : sequence, optional
            Names of the acts in order, usually of the classes, without refusing; by default the
            `classes`. The unknown class, if it was offered, is called "unknown" unless it is named
            here.
        ties : bool
            Whether to answer with all acts that are tied, and not with the first of them.

        Returns
        -------
        list with one answer for each row (nested as the rows are; one answer for a single row)

        Examples
        --------
        >>> masses = [[0.0, 0.7, 0.1, 0.2], [0.0, 0.1, 0.1, 0.8]]
        >>> decide(masses, kind="masses", reject=0.3).names(["a", "b"])
        ['a', None]
        >>> vacuous = [0.0, 0.0, 0.0, 1.0]
        >>> decide(vacuous, kind="masses", classes="ab").names(ties=True) == {"a", "b"}
        True
        """
        if acts is None:
            if self.classes is None:
                raise InputError(
                    "names should be given the names of the acts",
                    "none were given, and the decision does not know the classes",
                    "write names(classes), or decide(..., classes=)",
                    parameter="acts",
                )
            acts = self.classes.tolist()
        count = self.chosen.shape[-1] - self.offers_refusal
        names: list[Any] = class_names(acts)
        n_given = len(names)
        if self.offers_unknown and n_given == count - 1:
            names.append("unknown")
        if len(names) != count:
            raise InputError(
                f"acts should name the {count} acts",
                f"{n_given} names were given",
                "give one name for each row of the loss matrix, or for each class",
                parameter="acts",
            )
        names.append(None)
        kept = self.best if check_flag(ties, "ties") else self.chosen
        answers = np.empty(self.index.shape, dtype=object)
        for row in np.ndindex(self.index.shape):
            few = [names[act] for act in np.flatnonzero(kept[row])]
            answers[row] = set(few) if len(few) > 1 else few[0] if few else None
        return answers.tolist()


def _check_reject(reject: float) -> None:
    """Refuse a loss of refusing that may be meant in percent."""
    if 1.0 < reject <= 100.0:
        raise InputError(
            "reject should be at most 1, as a wrong class has the loss 1",
            f"{reject:g} was given",
            "write 0.3 to refuse where the best class has a probability below 0.7",
            parameter="reject",
            value=reject,
        )


def decide(
    beliefs: Any,
    rule: str = "pignistic",
    *,
    loss: ArrayLike | None = None,
    reject: float | None = None,
    unknown: bool = False,
    pessimism: float = 0.5,
    kind: str | None = None,
    classes: Sequence[Hashable] | NDArray[Any] | None = None,
) -> Decision:
    """Choose a class, a set of classes, or a refusal, for each row.

    Parameters
    ----------
    beliefs : SparseMasses, Labels, Beliefs, or an array of numbers of some `kind`
    rule : str
        One of `RULES`; see the table above.
    loss : array-like (number of acts, number of classes), optional
        Loss of each act (row) when each class (column) is true; by default 0 for the right class
        and 1 else.
    reject : float, optional
        Offer one more act, refusing, at this loss. For losses of 0 and 1 and the rule "pignistic",
        0.3 refuses where the best class has a betting probability below 0.7.
    unknown : bool
        Whether the truth may be a class that is not in the frame. It is then added to the frame by
        `with_unknown`: as the last class, supported by the mass on the empty set and possible where
        the whole frame is; a `loss` needs a column for it.
    pessimism : float in [0, 1]
        Weight of the upper loss for the rule "hurwicz".
    kind : {"masses", "plausibility", "probability"}, needed for an array
        What its numbers are: masses (..., 2^K) of sets, or a plausibility or probability (..., K)
        for each class.
    classes : sequence of K names, optional
        For the names of the decision; Labels and Beliefs bring theirs along.

    Returns
    -------
    Decision

    Examples
    --------
    >>> m = [[0.0, 0.7, 0.1, 0.2], [0.0, 0.1, 0.1, 0.8]]
    >>> decide(m, kind="masses", reject=0.3).index
    array([ 0, -1])
    >>> decide(m, "interval_dominance", kind="masses").chosen
    array([[ True, False],
           [ True,  True]])
    >>> decide([[0.9, 0.1]], kind="probability", loss=[[0, 10], [1, 0]]).index
    array([1])
    """
    check_option(rule, RULES, "rule")
    masses, kind, classes = _with_kind(beliefs, kind, classes)
    check_number(pessimism, "pessimism", 0.0, 1.0)
    check_flag(unknown, "unknown")
    if loss is None and reject is not None:
        _check_reject(check_number(reject, "reject"))
    if loss is not None and rule in ("plausibility", "belief"):
        raise InputError(
            f"rule={rule!r} should come without a loss matrix",
            "one was given",
            "use 'lower_loss' (optimist) or 'upper_loss' (pessimist) with it",
        )
    if needs_no_sets(masses, kind, loss is not None, unknown):
        best, informed = choose_by_degrees(masses, rule, loss, reject, pessimism, kind)  # type: ignore[arg-type]
    else:
        best, informed = _choose_by_masses(masses, rule, loss, reject, unknown, pessimism, kind)
    lead = np.shape(masses)[:-1]
    return _as_decision(
        best.reshape(*lead, best.shape[-1]),
        informed.reshape(lead),
        keeps_sets=rule in SET_RULES,
        offers_refusal=reject is not None,
        offers_unknown=unknown and loss is None,
        classes=_names_of(classes, masses, kind),
    )


def expected_losses(
    masses: ArrayLike | SparseMasses, loss: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Lower and upper expected loss of each act, (..., number of acts) both.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses
        Mass on the empty set is normalized away.
    loss : array-like (number of acts, number of classes)

    Examples
    --------
    >>> lower, upper = expected_losses([0.0, 0.7, 0.1, 0.2], loss=[[0, 1], [1, 0]])
    >>> lower.round(10), upper.round(10)
    (array([0.1, 0.7]), array([0.3, 0.9]))
    """
    m = normal_form(masses)
    losses = loss_matrix(loss, None, m.n_classes, unknown=False)
    return hurwicz_loss(m, losses, 0.0), hurwicz_loss(m, losses, 1.0)


def _choose_by_masses(
    masses: ArrayLike | SparseMasses,
    rule: str,
    loss: ArrayLike | None,
    reject: float | None,
    unknown: bool,
    pessimism: float,
    kind: str,
) -> tuple[BoolArray, BoolArray]:
    """The same from masses of sets."""
    chosen, informed = [], []
    for m in _blocks_of_masses(masses, kind, unknown):
        losses = loss_matrix(loss, reject, m.n_classes, unknown)
        informed.append(m.values[:, m.focal_sets != 0].any(axis=-1))
        m = sparse_form(normalize(m, on_conflict="vacuous"))
        chosen.append(choose(m, losses, rule, pessimism, error_only=loss is None))
    return np.concatenate(chosen), np.concatenate(informed)


# ---------------------------------------------------------------------------------------------
# In and out.


def _with_kind(
    beliefs: Any, kind: str | None, classes: Any
) -> tuple[ArrayLike | SparseMasses, str, Any]:
    """Numbers, what they are, and the classes; an array has to come with its kind."""
    if kind is not None:
        check_option(kind, KINDS, "kind")
    if isinstance(beliefs, SparseMasses):
        known: Any = beliefs
    elif knows_its_masses(beliefs):
        known = beliefs.masses()
        classes = getattr(beliefs, "classes", None) if classes is None else classes
    elif isinstance(beliefs, Decision):
        raise InputError(
            "decide should be given what is believed",
            "a Decision was given, which is decided already",
            "use its index, chosen or names()",
            parameter="beliefs",
        )
    elif kind is None:
        raise InputError(
            "decide should be told what the numbers of an array are",
            f"an array of shape {np.shape(beliefs)} was given without its kind",
            "write decide(array, kind='probability') for predict_proba, kind='plausibility' for "
            "predict_plausibility, kind='masses' for masses of all sets (n, 2^K), or ask the model "
            "itself: model.decide(X)",
            parameter="kind",
        )
    else:
        return beliefs, kind, classes
    if kind not in (None, "masses"):
        raise InputError(
            f"{type(beliefs).__name__} says what its numbers are",
            f"kind={kind!r} was given as well",
            "leave it out",
            value=kind,
        )
    return known, "masses", classes


def _names_of(classes: Any, masses: Any, kind: str) -> NDArray[Any] | None:
    """Names of the classes as an array, as many as there are classes."""
    if classes is None:
        return None
    letters = isinstance(classes, str)  # a short way to write names of one letter each
    names = np.asarray(list(classes) if letters else as_list(classes, "classes", "names"))
    if isinstance(masses, SparseMasses):
        n_classes = masses.n_classes
    else:
        n_columns = np.shape(masses)[-1]
        n_classes = n_columns.bit_length() - 1 if kind == "masses" else n_columns
    if names.shape != (n_classes,):
        raise InputError(
            f"classes should be one name for each of the {n_classes} classes",
            f"have shape {names.shape}",
            "say kind='probability' or kind='plausibility' if the array has a column for each class"
            if kind == "masses" and names.shape == (1 << n_classes,)
            else "give them in the order of the columns",
            parameter="classes",
            value=names.shape,
        )
    return names


def _blocks_of_masses(
    masses: ArrayLike | SparseMasses, kind: str, unknown: bool
) -> Iterator[SparseMasses]:
    """Sparse masses (rows, focal sets), block by block.

    Consonant masses have focal sets of their own in every row, so that only a block of rows fits
    into memory in sparse form.
    """
    if kind == "plausibility":
        contour = check_contour(masses)  # type: ignore[arg-type]
        contour = contour.reshape(-1, check_n_classes(contour.shape[-1]))
        n_rows = (1 << 22) // min(1 << contour.shape[1], 1 << 14)
        starts = range(0, max(1, len(contour)), n_rows)
        flat = (consonant(contour[i : i + n_rows]) for i in starts)
    else:
        m = bayesian(masses) if kind == "probability" else to_sparse(masses)  # type: ignore[arg-type]
        values = m.values.reshape(-1, m.shape[-1])
        flat = (SparseMasses(values, m.focal_sets, m.n_classes) for _ in range(1))
    yield from (with_unknown(m) if unknown else m for m in flat)


def _as_decision(
    best: BoolArray,
    informed: BoolArray,
    keeps_sets: bool,
    offers_refusal: bool,
    offers_unknown: bool,
    classes: NDArray[Any] | None,
) -> Decision:
    best = best & informed[..., None]
    several = best.sum(axis=-1) > 1
    first = best.argmax(axis=-1)
    chosen = best if keeps_sets else best & (np.arange(best.shape[-1]) == first[..., None])
    single = chosen.sum(axis=-1) == 1
    refuses = chosen[..., -1] & single if offers_refusal else np.zeros(single.shape, dtype=bool)
    return Decision(
        chosen=chosen,
        index=np.where(single & ~refuses, first, -1),
        refused=refuses | ~informed,
        tied=np.zeros(several.shape, dtype=bool) if keeps_sets else several,
        best=best,
        offers_refusal=offers_refusal,
        offers_unknown=offers_unknown,
        classes=classes,
    )
