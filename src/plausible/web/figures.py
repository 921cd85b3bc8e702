"""Numbers of the overview: which items are settled, clash, or stay open, and whom to believe."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plausible.web.ledger import BROKEN, NONE_OF_THEM, REASONS, SAID
from plausible.web.live import Live
from plausible.web.room import Room

CLASH = 0.5  # conflict from which people contradict each other
POSSIBLE = 0.5  # plausibility of a second class from which an item is not decided
STATES = ("settled", "clash", "unknown", "open", "broken")
MORE = 100  # answers ahead
FEW_KNOWN = 5  # answers about known items, from which it is told what their kind taught


def interval(hits: float, count: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    Examples
    --------
    >>> tuple(round(end, 2) for end in interval(9, 10))
    (0.6, 0.98)
    """
    if not count:
        return 0.0, 1.0
    z, share = 1.96, hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + (z / (2 * count)) ** 2)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def conflicts(live: Live) -> NDArray[np.float64]:
    """Conflict (n,) among the answers about each item, reckoned anew where there are new ones."""
    with live.lock:
        rows = sorted(row for row in live.dirty if live.count[row] > 1)
        live.conflict[list(live.dirty)] = 0.0
        live.dirty.clear()
        if rows:
            found = live.annotations(rows).pool(on_conflict="unknown").conflict
            live.conflict[rows] = 0.0 if found is None else found
        return live.conflict


def states(live: Live) -> NDArray[np.int64]:
    """The state (n,) of each item, by its place in `STATES`."""
    with live.lock:
        conflict = conflicts(live)
        second = np.sort(live.contours(), axis=1)[:, -2]
        found = np.full(len(live.items), STATES.index("open"))
        enough = live.ended | (live.count >= max(live.study.options["answers"], 1))
        enough &= live.extra <= live.count
        found[enough & (second <= POSSIBLE)] = STATES.index("settled")
        found[enough & (second > POSSIBLE)] = STATES.index("unknown")
        found[live.gold_rows] = STATES.index("settled")  # known, whatever people say
        found[conflict > CLASH] = STATES.index("clash")
        for row, one in live.settled.items():
            found[row] = STATES.index("unknown" if one.label == "open" else "settled")
        found[live.broken] = STATES.index("broken")
        return found


class Agreement(NamedTuple):
    """How far people agree about items that were drawn at random."""

    hits: int
    total: int
    low: float
    high: float


def agreement(live: Live) -> Agreement:
    """How often a random question got the same first pick as the first answer of somebody else."""
    with live.lock:
        hits = count = 0
        drawn = np.flatnonzero(live.answers["reason"] == REASONS.index("random"))
        for number in drawn.tolist():
            item = int(live.answers["item"][number])
            rows = [r for r in live.standing(item) if live.answers["kind"][r] == SAID]
            others = [r for r in rows if r < number
                      and live.answers["person"][r] != live.answers["person"][number]]  # fmt: skip
            if number not in rows or not others:
                continue
            first, mine = (live.statements[int(live.answers["statement"][r])].picks[0]
                           for r in (others[0], number))  # fmt: skip
            hits += first == mine
            count += 1
        return Agreement(hits, count, *interval(hits, count))


def overview(room: Room) -> dict[str, Any]:
    """All numbers of the overview, ready for JSON."""
    live = room.live
    room.look_again()
    with live.lock:
        counts = np.bincount(states(live), minlength=len(STATES)).tolist()
        chances = live.chances()
        logs = np.log2(chances, out=np.zeros_like(chances), where=chances > 0)
        asked = ~live.ended & ~live.practice & (live.gold < 0)
        open_bits = float(-(chances * logs).sum(axis=1)[asked].sum())
        gains = np.sort(live.gain(0.75)[asked])[::-1][:MORE]
        seconds = live.answers["seconds"]
        known = seconds[seconds > 0]
        drawn = agreement(live)
        n_answers = int((live.answers["kind"] <= NONE_OF_THEM).sum())
        n_broken = int((live.answers["kind"] == BROKEN).sum())
        standing = int(live.count.sum())
    found: dict[str, Any] = dict(zip(STATES, counts, strict=True))
    total = max(len(live.items), 1)
    found |= {f"{name}_share": count / total for name, count in zip(STATES, counts, strict=True)}
    found |= {
        "items": len(live.items),
        "answers": standing,
        "all_answers": n_answers + n_broken,
        "people": len({int(who) for who in live.answers["person"]}),
        "bits_open": round(open_bits, 1),
        "bits_ahead": round(float(gains.sum()), 1),
        "seconds": round(float(np.median(known)), 1) if len(known) else 0.0,
        "agreement": f"{drawn.hits / drawn.total:.0%}" if drawn.total else "not known yet",
        "agreement_told": f"{drawn.hits} of {drawn.total} random questions; 95 % interval "
        f"{drawn.low:.0%} to {drawn.high:.0%}" if drawn.total else
        "nobody was asked at random about an item that has an answer",
        "shared": f"{live.dependence.shared:.2f}" if live.dependence.source == "gold" else "",
        "model": room.model_told,
        "upto": live.upto,
    }  # fmt: skip
    return found


def of_people(room: Room) -> list[dict[str, Any]]:
    """What is known of each person."""
    live = room.live
    found = []
    with live.lock:
        known, truth = live.known_rows()
        true_of = dict(zip(known.tolist(), truth.tolist(), strict=True))
        who = live.answers["person"]
        for person in sorted(room.people.values(), key=lambda one: one.name):
            rows = np.flatnonzero((who == person.id) & ~live.answers["undone"])
            said = [r for r in rows.tolist() if live.answers["kind"][r] <= NONE_OF_THEM]
            seconds = live.answers["seconds"][rows]
            seconds = seconds[seconds > 0]
            right = [_holds(live, r, true_of[r]) for r in said if r in true_of]
            low, high = interval(sum(right), len(right))
            words = []
            for place, word in enumerate(live.words):
                mine = [_holds(live, r, true_of[r]) for r in said
                        if r in true_of and live.answers["word"][r] == place]  # fmt: skip
                n_said = sum(int(live.answers["word"][r] == place) for r in said)
                told = {"hits": sum(mine), "count": len(mine), "said": n_said}
                words.append({"word": word, **told})
            same, again = _consistent(live, said)
            found.append(
                {
                    "id": person.id, "name": person.name, "role": person.role,
                    "answers": len(said), "right": sum(right), "known": len(right),
                    "low": low, "high": high, "words": words,
                    "seconds": float(np.median(seconds)) if len(seconds) else None,
                    "same": same, "again": again, "pull": room.pull_of(person.id),
                }
            )  # fmt: skip
    return found


def _holds(live: Live, row: int, true: int) -> bool:
    """Whether an answer holds the truth."""
    return true in live.statements[int(live.answers["statement"][row])].picks


def _consistent(live: Live, said: list[int]) -> tuple[int, int]:
    """How often somebody picked the same first class when an item came again."""
    same = again = 0
    for row in said:
        before = int(live.answers["previous"][row])
        if live.answers["reason"][row] != REASONS.index("repeat") or before < 0:
            continue
        if live.answers["kind"][row] == live.answers["kind"][before] == SAID:
            one, two = (live.statements[int(live.answers["statement"][r])] for r in (row, before))
            same += one.picks[0] == two.picks[0]
            again += 1
    return same, again


class Elicited(NamedTuple):
    """What answers of one kind taught, where the class is known."""

    kind: str
    answers: int
    right: float
    bits: float
    seconds: float | None
    bits_per_minute: float | None


def elicited(live: Live) -> list[Elicited]:
    """Bits, and bits per minute, of words and sets in this study.

    An answer that names m of K classes holds the truth with a share p, that of the other answers
    of its kind, so that each class in it has the chance p / m, and each other one
    (1 - p) / (K - m). It taught the logarithm of K times the chance of the truth; whoever is wrong
    has taught less than nothing.
    """
    with live.lock:
        rows, truth = live.known_rows()
        word, size = live.answers["word"][rows], live.answers["size"][rows]
        seconds = live.answers["seconds"][rows].astype(np.float64)
        holds = np.array([_holds(live, int(r), int(t)) for r, t in zip(rows, truth, strict=True)])
        names = live.words if live.study.options["words"] else [""]
        bits = np.full(len(rows), np.nan)
        found = []
        for place, name in enumerate(names):
            for several, told in ((False, "one class"), (True, "a set")):
                mine = ((word == place) | (name == "")) & ((size > 1) == several)
                if mine.sum() >= FEW_KNOWN:
                    bits[mine] = taught(holds[mine], size[mine], live.study.n_classes)
                    kind = f"{name}, {told}" if name else told
                    found.append(_elicited(kind, holds[mine], bits[mine], seconds[mine]))
        every = np.isfinite(bits)
        if len(found) > 1:
            found.append(_elicited("all of these", holds[every], bits[every], seconds[every]))
        return found


def taught(holds: NDArray[np.bool_], size: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Bits (A,) that answers of one kind taught, each by the share of the others that held.

    Examples
    --------
    >>> taught(np.array([True] * 9 + [False]), np.ones(10, dtype=int), 4).round(2)[[0, 9]]
    array([ 1.71, -3.04])
    """
    others = (holds.sum() - holds + 1.0) / (len(holds) + 1.0)
    inside, outside = others / size, (1 - others) / np.maximum(n_classes - size, 1)
    chance = np.where(size >= n_classes, 1 / n_classes, np.where(holds, inside, outside))
    return np.asarray(np.log2(n_classes * chance))


def _elicited(
    kind: str, holds: NDArray[np.bool_], bits: NDArray[np.float64], seconds: NDArray[np.float64]
) -> Elicited:
    timed = seconds > 0
    total = float(seconds[timed].sum())
    return Elicited(
        kind, len(holds), float(holds.mean()), float(bits.mean()),
        float(np.median(seconds[timed])) if total else None,
        60 * float(bits[timed].sum()) / total if total else None,
    )  # fmt: skip
