"""Three doubtful experts, one model, honest scores.

The flowers and their measurements are scikit-learn's irises. The experts are simulated: they err
at different rates, hesitate between the two species that look alike, doubt more when they are
wrong, and often say nothing. Only the last lines look at the true species.
"""

import textwrap

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

from plausible.belief import SparseMasses, categorical, conflict, decide, dempster, discount
from plausible.labels import Labels
from plausible.metrics import c1_loss, soft_accuracy, soft_log_loss
from plausible.models import SoftNearestCentroid

SPECIES = ["setosa", "versicolor", "virginica"]
ALIKE = 0b110  # versicolor or virginica
ERROR_RATES = {"Ada": 0.05, "Ben": 0.2, "Cleo": 0.35}
SILENT = 0.5  # how often an expert gives no answer at all


def ask(species: NDArray[np.int64], error_rate: float, seed: int) -> SparseMasses:
    """One expert's answers: a species or a pair of them, each with a doubt, or nothing."""
    rng = np.random.default_rng(seed)
    n = len(species)
    wrong = rng.random(n) < error_rate
    answer = 1 << np.where(wrong, rng.integers(0, 3, n), species)
    hesitates = (answer != 1) & (rng.random(n) < 0.3)
    answer = np.where(hesitates, ALIKE, answer)
    doubt = np.where(wrong, rng.uniform(0.3, 0.9, n), rng.uniform(0.05, 0.5, n))
    doubt[rng.random(n) < SILENT] = 1.0
    return discount(categorical(answer, n_classes=3), doubt)


def in_words(masses: SparseMasses, row: int) -> str:
    """One answer as the expert would give it."""
    (opinion,) = masses[row].to_dicts(SPECIES)
    parts = {names: mass for names, mass in opinion.items() if len(names) < 3}
    if not parts:
        return "cannot tell"
    ((names, mass),) = parts.items()
    return f"{' or '.join(map(str, names))} (doubt {1 - mass:.1f})"


def say(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(text, width=88) + "\n")


def show_some(answers: dict[str, SparseMasses], labels: Labels, rows: list[int]) -> None:
    """What the experts said about some flowers, and what follows."""
    for row in rows:
        print(f"Flower {row}")
        for name, masses in answers.items():
            print(f"  {name:<14}{in_words(masses, row)}")
        degrees = zip(SPECIES, labels.contour[row], strict=True)
        print(f"  {'together':<14}" + ", ".join(f"{s} {p:.2f}" for s, p in degrees))
        assert labels.conflict is not None
        print(f"  {'conflict':<14}{labels.conflict[row]:.2f}\n")


def main() -> None:
    """Ask, pool, fit, decide, score."""
    X, species = load_iris(return_X_y=True)
    answers = {
        name: ask(species, rate, seed) for seed, (name, rate) in enumerate(ERROR_RATES.items())
    }
    pooled = dempster(*answers.values())
    clash = conflict(*answers.values())
    labels = Labels.from_masses(pooled, SPECIES, conflict=clash)

    say(
        "Three experts look at 150 irises. Each may name a species or a pair of them, doubt the "
        "answer, or pass. Their answers are pooled by Dempster's rule into one soft label for each "
        "flower; nothing is rounded to a hard one."
    )
    show_some(answers, labels, [int(clash.argmin()), int(clash.argmax()), 120])
    say(
        f"Of the 150 labels, {labels.is_unknown.sum()} say nothing at all, and the most plausible "
        f"species is right for {np.mean(labels.crisp() == np.array(SPECIES)[species]):.0%}."
    )

    X_train, X_test, y_train, y_test, _, truth = train_test_split(
        X, labels, np.array(SPECIES)[species], stratify=labels, test_size=0.4, random_state=0
    )
    model = SoftNearestCentroid().fit(X_train, y_train)
    names, p = model.predict(X_test), model.predict_proba(X_test)
    choice = decide(p, kind="probability", reject=0.3)
    answered = ~choice.refused

    print("A classifier learns from 90 of them and is scored on the other 60:")
    print(f"  soft accuracy against the experts   {soft_accuracy(y_test, names):.3f}")
    print(f"  scikit-learn's accuracy             {accuracy_score(y_test, names):.3f}")
    print(f"  soft log-loss                       {soft_log_loss(y_test, p):.3f}")
    print(f"  C1 loss                             {c1_loss(y_test, p):.3f}")
    print(f"  accuracy against the true species   {accuracy_score(truth, names):.3f}")
    sure = accuracy_score(truth[answered], names[answered])
    print(f"  the same when it may refuse         {sure:.3f} ({choice.refused.sum()} refused)\n")
    say(
        "The plain accuracy takes every flower about which the experts said nothing for a mistake, "
        "and every hesitation for a firm answer. The soft accuracy lets each label count as much "
        "as it says, and comes near to what the true species show, which nobody would know in "
        "practice."
    )


if __name__ == "__main__":
    main()
