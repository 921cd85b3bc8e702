"""Which model to take: a ladder of candidates, judged on rows that they have not seen.

`ladder` has the candidates, `trials` lets them bet, `choice` weighs the bets, `results` tells what
came of it; `classifier` is the estimator.
"""

from plausible.models.auto.classifier import AutoClassifier

__all__ = ["AutoClassifier"]
