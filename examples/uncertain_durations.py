"""How long do repairs take? Durations that are known in part, and a family of one's own.

A workshop keeps rough notes: some repairs are timed, most are only known to have ended on one day
or another, some still go on, and of a few the note is lost. The Weibull law is not among the ready
families; stating its density is all it takes.
"""

from typing import Any, ClassVar

import numpy as np

from plausible.models import E2M, Family, UncertainValues


class Weibull(Family):
    """Durations with parameters ``shape`` (below 1: the longest drag on) and ``scale``."""

    bounds: ClassVar = {"shape": (0.0, np.inf), "scale": (0.0, np.inf)}
    support = (0.0, np.inf)

    def log_density(self, x: Any, params: dict[str, Any]) -> Any:
        """Log density of durations."""
        k, s = params["shape"], params["scale"]
        return np.log(k / s) + (k - 1) * np.log(x / s) - (x / s) ** k

    def start(self, x: Any) -> dict[str, float]:
        """Where to start: a constant rate."""
        return {"shape": 1.0, "scale": float(x.mean())}


SHAPE, SCALE, N, TODAY = 1.6, 3.0, 300, 5.0


def workshop(seed: int = 1) -> UncertainValues:
    """Notes on repairs: a quarter timed, the others in whole days, or open, or lost."""
    rng = np.random.default_rng(seed)
    days = SCALE * rng.weibull(SHAPE, size=N)
    whole = UncertainValues.from_intervals(np.floor(days), np.floor(days) + 1)
    notes = whole.where(np.arange(N) % 4 > 0, days)
    going_on = UncertainValues.from_intervals(np.full(N, TODAY), np.inf)
    notes = notes.where(days < TODAY, going_on)
    return notes.where(rng.uniform(size=N) > 0.05, UncertainValues.missing(N))


def main() -> dict[str, float]:
    """Estimate, and say how sure it is."""
    notes = workshop()
    model = E2M(Weibull()).fit(notes)
    print(f"{notes}\n")
    print(f"{'':8}{'true':>7}{'E2M':>9}{'95 % interval':>20}")
    for name, true in (("shape", SHAPE), ("scale", SCALE)):
        low, high = model.intervals(0.95)[name]
        print(f"{name:8}{true:7.2f}{model.params_[name]:9.3f}{low:13.2f} to {high:.2f}")
    rough = notes.midpoints()
    ignorant = E2M(Weibull()).fit(rough[np.isfinite(rough)])
    shape, scale = ignorant.params_.values()
    print(f"\nFrom midpoints, as if they were exact: shape {shape:.3f}, scale {scale:.3f}")
    print(f"{model.n_iter_} steps, log likelihood {model.log_likelihood_:.2f}")
    return model.params_


if __name__ == "__main__":
    main()
