r"""Changes to what one source says: less trust, a new fact, the opposite.

.. math:: \text{discount:}\quad m'(A) = (1 - \delta)\, m(A), \qquad
          m'(\Omega) = (1 - \delta)\, m(\Omega) + \delta

with the doubt delta in [0, 1]; "the part kept" (alpha in some papers) is 1 - doubt.

References
----------
G. Shafer, A Mathematical Theory of Evidence, Princeton 1976.
D. Mercier, B. Quost, T. Denoeux, Refined modeling of sensor reliability in the belief function
framework using contextual discounting, Information Fusion 9 (2008) 246-258.
"""

import numpy as np
from numpy.typing import ArrayLike

from plausible.belief.forms import MassesT, check_unit_interval, columns, repack, unpack
from plausible.belief.masses import normalize_columns
from plausible.belief.sets import FloatArray, IntArray, check_set_list, check_sets, full_set
from plausible.checks import check_flag
from plausible.errors import InputError

MAX_CONTEXTUAL_SETS = 1 << 20


def discount(masses: MassesT, doubt: ArrayLike) -> MassesT:
    """Trust a source less: a part `doubt` of its mass goes to the whole frame.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses
    doubt : float or array-like in [0, 1]
        0 keeps the source as it is, 1 makes it say nothing. Broadcasts over the rows: a number, one
        for each row (n,), or, for masses (S, n, 2^K) of S sources, one for each source (S, 1).

    Examples
    --------
    >>> discount([0.0, 1.0, 0.0, 0.0], doubt=0.1)
    array([0. , 0.9, 0. , 0.1])
    """
    values, sets, n_classes = unpack(masses)
    delta = _broadcast_doubt(doubt, values.shape[:-1])
    return _mix(values, sets, np.full_like(sets, full_set(n_classes)), delta, n_classes, masses)


def contextual_discount(
    masses: MassesT, doubt: ArrayLike, contexts: ArrayLike | None = None
) -> MassesT:
    """Trust a source less when the truth lies in certain sets of classes.

    For each context C with doubt d, the mass of every set A moves in part d to ``A | C``: if the
    truth is in C, the source may have missed it. One context, the whole frame, is `discount`.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses
    doubt : array-like (number of contexts,) or (..., number of contexts), in [0, 1]
        Doubt in each context; a leading part broadcasts over the rows.
    contexts : array-like of bit masks, optional
        Sets that partition the frame or part of it; by default the single classes.

    Examples
    --------
    A source that says "a", though three times in ten it takes b for a:

    >>> contextual_discount([0.0, 1.0, 0.0, 0.0], doubt=[0.0, 0.3])
    array([0. , 0.7, 0. , 0.3])
    """
    values, sets, n_classes = unpack(masses)
    if contexts is None:
        within = np.int64(1) << np.arange(n_classes, dtype=np.int64)
    else:
        within = check_set_list(contexts, n_classes, "contexts")
    if np.bitwise_or.reduce(within) != within.sum():
        raise InputError(
            "contexts should not overlap",
            f"{within.tolist()} share classes",
            "give each class to one context",
            parameter="contexts",
        )
    rates = check_unit_interval(doubt, "doubt")
    if rates.ndim == 0 or rates.shape[-1] != len(within):
        raise InputError(
            f"doubt should have one value for each of the {len(within)} contexts",
            f"has shape {rates.shape}",
            f"give an array (..., {len(within)})",
            parameter="doubt",
            value=rates.shape,
        )
    out = repack(values, sets, n_classes, like=masses)
    for context, rate in zip(within, np.moveaxis(rates, -1, 0), strict=True):
        values, sets, _ = columns(out)
        if len(sets) > MAX_CONTEXTUAL_SETS:
            raise InputError(
                f"Contextual discounting should make at most {MAX_CONTEXTUAL_SETS} focal sets",
                f"{len(within)} contexts make more",
                "use fewer and larger contexts",
            )
        delta = _broadcast_doubt(rate, values.shape[:-1])
        out = _mix(values, sets, sets | context, delta, n_classes, out)
    return out


def condition(masses: MassesT, event: ArrayLike, normalize: bool = False) -> MassesT:
    """Learn for sure that the truth is in a set: m(. | event).

    Every mass moves to the part of its set that lies in the event.

    Parameters
    ----------
    masses : dense array (..., 2^K) or SparseMasses
    event : int or array-like of int
        Bit mask of the event; one, or one for each row.
    normalize : bool
        Whether to remove the mass that falls on the empty set (Dempster's conditioning); rows
        with no mass in the event then raise `TotalConflictError`.

    Examples
    --------
    >>> condition([0.0, 0.5, 0.2, 0.3], event=0b10)
    array([0.5, 0. , 0.5, 0. ])
    >>> condition([0.0, 0.5, 0.2, 0.3], event=0b10, normalize=True)
    array([0., 0., 1., 0.])
    """
    values, sets, n_classes = unpack(masses)
    known = check_sets(event, n_classes, "event")
    inside = sets & known[..., None]
    if known.ndim:
        try:
            lead: tuple[int, ...] = np.broadcast_shapes(values.shape[:-1], known.shape)
        except ValueError:
            raise InputError(
                "event should be one bit mask or one for each row",
                f"has shape {known.shape} for rows {values.shape[:-1]}",
                "give as many events as rows",
                parameter="event",
                value=known.shape,
            ) from None
        values = np.broadcast_to(values, (*lead, len(sets)))
        inside = np.broadcast_to(inside, values.shape)
    else:
        inside = inside.reshape(-1)
    out = repack(values, inside, n_classes, like=masses)
    if not check_flag(normalize, "normalize"):
        return out
    values, sets, _ = unpack(out)
    values, sets = normalize_columns(
        values,
        sets,
        n_classes,
        need="Normalized conditioning needs mass that meets the event",
        remedy="check the event, or keep the conflict with normalize=False",
    )
    return repack(values, sets, n_classes, like=masses)


def negate(masses: MassesT) -> MassesT:
    """Say the opposite: the mass of every set moves to its complement.

    Examples
    --------
    >>> negate([0.0, 0.7, 0.0, 0.3])
    array([0.3, 0. , 0.7, 0. ])
    """
    values, sets, n_classes = unpack(masses)
    return repack(values, full_set(n_classes) ^ sets, n_classes, like=masses)


def _mix(
    values: FloatArray,
    sets: IntArray,
    doubtful: IntArray,
    delta: FloatArray,
    n_classes: int,
    like: MassesT,
) -> MassesT:
    """Move the part `delta` of each mass from `sets` to `doubtful`."""
    moved = np.concatenate([(1.0 - delta) * values, delta * values], axis=-1)
    return repack(moved, np.concatenate([sets, doubtful]), n_classes, like=like)


def _broadcast_doubt(doubt: ArrayLike, lead: tuple[int, ...]) -> FloatArray:
    """Doubt in [0, 1], with an axis of length one for the focal sets."""
    remedy = "correct the values (10 percent is 0.1)"
    delta = check_unit_interval(doubt, "doubt", remedy, last_axis_is_row=False)
    try:
        np.broadcast_shapes(delta.shape, lead)
    except ValueError:
        raise InputError(
            f"doubt should be one number or fit the rows {lead}",
            f"has shape {delta.shape}",
            "for masses (S, n, 2^K) of S sources give (S, 1)",
            parameter="doubt",
            value=delta.shape,
        ) from None
    return delta[..., None]
