"""Two experts name mushrooms from photographs: combine what they half believe, and decide.

The three species look alike. Each expert puts masses on sets of species: mass on one species is a
firm opinion, mass on two is "one of these", mass on all three is "I cannot tell".
"""

import textwrap

import numpy as np

from plausible.belief import (
    SparseMasses,
    conflict,
    contour,
    decide,
    decode_sets,
    dempster,
    discount,
    masses_from_dicts,
    nonspecificity,
)

SPECIES = ["chanterelle", "false chanterelle", "jack-o'-lantern"]
C, F, J = SPECIES

Opinion = dict[tuple[str, ...], float]

FIRST_EXPERT: list[Opinion] = [
    {(C,): 0.9, (C, F, J): 0.1},
    {(C, F): 0.8, (C, F, J): 0.2},
    {(C, J): 0.9, (C, F, J): 0.1},
    {(C,): 0.9, (C, F): 0.1},
    {(C, F, J): 1.0},
    {(C,): 0.5, (C, F): 0.3, (C, F, J): 0.2},
]
SECOND_EXPERT: list[Opinion] = [
    {(C,): 0.6, (C, F): 0.4},
    {(F,): 0.7, (F, J): 0.2, (C, F, J): 0.1},
    {(F, J): 0.8, (C, F, J): 0.2},
    {(J,): 0.9, (F, J): 0.1},
    {(F, J): 0.3, (C, F, J): 0.7},
    {(C,): 0.4, (J,): 0.1, (C, F, J): 0.5},
]
DOUBT = 0.1  # nobody is believed completely

# What each act costs in the kitchen when each species is the truth.
ACTS = ["eat it", "leave it"]
KITCHEN_LOSS = [
    [0.0, 2.0, 20.0],  # a false chanterelle is a poor meal, a jack-o'-lantern a poisonous one
    [1.0, 0.0, 0.0],
]


def doubted_opinions() -> list[SparseMasses]:
    """Masses of both experts for all photographs, a little less sure than they are."""
    experts = (masses_from_dicts(rows, SPECIES) for rows in (FIRST_EXPERT, SECOND_EXPERT))
    return [discount(expert, DOUBT) for expert in experts]


def in_words(masses: SparseMasses, row: int) -> str:
    """One expert's opinion of one photograph, strongest part first."""
    order = np.argsort(-masses.values[row], kind="stable")
    parts = []
    for column in order[masses.values[row][order] > 0]:
        names = decode_sets(masses.focal_sets[[column]], SPECIES)[0]
        meaning = "any" if len(names) == len(SPECIES) else " or ".join(str(n) for n in names)
        parts.append(f"{meaning} {masses.values[row, column]:.1f}")
    return ", ".join(parts)


def answer_in_words(answer: object) -> str:
    """A decision as a person would say it."""
    if answer is None:
        return "refuse: ask someone else"
    return (
        " or ".join(s for s in SPECIES if s in answer) if isinstance(answer, set) else str(answer)
    )


def say(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(text, width=88) + "\n")


def main() -> None:
    """Combine, measure, decide, and say what happened."""
    experts = [masses_from_dicts(rows, SPECIES) for rows in (FIRST_EXPERT, SECOND_EXPERT)]
    doubted = doubted_opinions()
    pooled = dempster(*doubted)
    clash = conflict(*doubted)
    plausible = contour(pooled)
    vague = nonspecificity(pooled)
    named = decide(pooled, reject=0.3).names(SPECIES)
    kept = decide(pooled, "interval_dominance").names(SPECIES)
    cooked = decide(pooled, "upper_loss", loss=KITCHEN_LOSS).names(ACTS)

    say(
        "Two experts name six mushrooms from photographs. Neither is always sure, and their "
        f"opinions are combined by Dempster's rule after a doubt of {DOUBT} about each."
    )
    for row in range(len(FIRST_EXPERT)):
        degrees = ", ".join(f"{s} {p:.2f}" for s, p in zip(SPECIES, plausible[row], strict=True))
        print(f"Photograph {row + 1}")
        print(f"  first expert    {in_words(experts[0], row)}")
        print(f"  second expert   {in_words(experts[1], row)}")
        print(f"  plausibility    {degrees}")
        print(f"  conflict {clash[row]:.2f}, vagueness {vague[row]:.2f} bits")
        print(f"  one name        {answer_in_words(named[row])}")
        print(f"  set of names    {answer_in_words(kept[row])}")
        print(f"  in the kitchen  {answer_in_words(cooked[row])}\n")
    say(
        "Photographs 4 and 5 are both refused, for opposite reasons: in 4 the experts contradict "
        f"each other (conflict {clash[3]:.2f}), in 5 hardly anything was said (vagueness "
        f"{vague[4]:.2f} of at most {np.log2(len(SPECIES)):.2f} bits). Probabilities alone would "
        "show the same shrug twice. And photograph 6 is good enough to be named, but not to be "
        "eaten: the cook looks at the worst that is still plausible."
    )


if __name__ == "__main__":
    main()
