"""Evidential c-means and its relatives (Denoeux 2015): butterfly, four classes, and beyond.

The butterfly (Windham 1985) has two wings, an object between them and an outlier. The four classes
are 400 points of multivariate t distributions, the proteins 213 objects known by dissimilarities
alone. The slides show pictures and an example of masses, but print no criterion; those that we hold
ourselves to are of the R package evclust. Strips, and the image, are simulated.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from plausible.cluster import CECM, ECM, RECM, SECM, select_n_clusters
from plausible.datasets import load_clusters
from plausible.experiments.common import (
    Progress,
    describe,
    open_figure,
    save_figure,
    seed_of,
    silent,
)
from plausible.experiments.comparison import Claim, Results, Table, claim, printed
from plausible.plots import CredalPartitionDisplay, MassSurfaceDisplay

BUTTERFLY = np.array([
    [-5.0, 0.0], [-3.34, 1.67], [-3.34, 0.0], [-3.34, -1.67], [-1.67, 0.0], [0.0, 0.0],
    [1.67, 0.0], [3.34, -1.67], [3.34, 0.0], [3.34, 1.67], [5.0, 0.0], [10.0, 10.0],
])  # fmt: skip
CRITERIA = {"10": 23.4129, "25": 35.1600}  # by squared outlier distance
FOUR_CLASSES = 265.379
N_LINKS = (0, 25, 50, 100, 200)
NOISES = (0.3, 0.4, 0.5, 0.6, 0.7)


def butterfly(seed: int) -> Results:
    """Masses and criterion for two distances to the empty set."""
    found: Results = {}
    for squared in CRITERIA:
        model = ECM(2, outlier_distance=float(squared) ** 0.5, random_state=seed).fit(BUTTERFLY)
        first = int(model.cluster_centers_[0, 0] > 0)  # the left wing first
        order = [0, 1 + first, 2 - first, 3]
        found[squared] = {
            "criterion": model.objective_,
            "masses": model.masses_[:, order].round(4).tolist(),
        }
    return found


def four_classes(seed: int) -> Results:
    """The partition of the four classes, and the number of clusters by nonspecificity."""
    data = load_clusters("fourclass")
    model = ECM(4, outlier_distance=20**0.5, random_state=seed).fit(data.X)
    partition = model.partition_
    inside = ~partition.outliers()
    sure = partition.rough().lower.any(axis=1)
    base = ECM(outlier_distance=20**0.5, n_init=5, random_state=seed)
    counts = select_n_clusters(data.X, range(2, 7), base)
    return {
        "criterion": model.objective_,
        "centers": model.cluster_centers_.round(6).tolist(),
        "rand": float(adjusted_rand_score(data.y[inside], partition.hard()[inside])),
        "rand_of_sure": float(adjusted_rand_score(data.y[sure], partition.hard()[sure])),
        "n_sure": int(sure.sum()),
        "n_outliers": int((~inside).sum()),
        "nonspecificity": dict(
            zip(map(str, counts.n_clusters), counts.nonspecificity, strict=True)
        ),
    }


def proteins(seed: int) -> Results:
    """Four families of proteins from their dissimilarities."""
    data = load_clusters("protein")
    model = RECM(4, 0.2, 1.1, squared=False, random_state=seed).fit(data.X)
    bets = model.partition_.fuzzy().argmax(axis=1)
    return {
        "rand": float(adjusted_rand_score(data.y, bets)),
        "shift": model.shift_,
        "criterion": model.objective_,
        "falls": bool((np.diff(model.history_) <= 0).all()),
        "nonspecificity": model.partition_.nonspecificity(),
    }


def strips(n_links: int, seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Any]:
    """Two parallel strips of 75 points, and random pairs of them."""
    rng = np.random.default_rng(seed)
    owner = np.repeat([0, 1], 75)
    across = np.where(owner, 1.5, -1.5) + 0.5 * rng.normal(size=150)
    X = np.column_stack([rng.uniform(-3, 3, 150), across])
    pairs = [rng.choice(150, 2, replace=False) for _ in range(n_links)]
    links = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return X, owner, links, owner[links[:, 0]] == owner[links[:, 1]]


def linked(n_draws: int, seed: int) -> Results:
    """Agreement with the strips, and links violated, by the number of links.

    `beaten` counts draws in which a start at the true means ends with a lower criterion.
    """
    found: Results = {}
    for n_links in N_LINKS:
        scores, violated, beaten = [], [], 0
        for draw_number in range(n_draws):
            X, owner, links, same = strips(n_links, seed_of(seed, 1, draw_number))
            model = CECM(2, links[same], links[~same], random_state=seed).fit(X)
            bets = model.partition_.fuzzy().argmax(axis=1)
            scores.append(float(adjusted_rand_score(owner, bets)))
            violated.append(model.n_violated_)
            means = [X[owner == k].mean(axis=0) for k in (0, 1)]
            told = CECM(2, links[same], links[~same], init=means).fit(X)
            beaten += int(told.objective_ < (1.0 - 1e-5) * model.objective_)
        found[str(n_links)] = {"rand": scores, "violated": violated, "beaten": beaten}
    return found


def noisy_image(noise: float, seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """A disk in the dark, 64 x 64 pixels, and what noise leaves of it."""
    row, column = np.mgrid[:64, :64]
    truth = ((row - 30) ** 2 + (column - 28) ** 2 < 20**2).astype(int)
    return truth, truth + noise * np.random.default_rng(seed).normal(size=truth.shape)


def pixel_errors(model: Any, truth: NDArray[Any]) -> float:
    """Part of the pixels that are wrong; the brighter cluster is the disk."""
    bright = int(np.argmax(model.cluster_centers_[:, 0]))
    found = model.partition_.fuzzy().argmax(axis=1) == bright
    return float((found != truth.ravel()).mean())


def images(seed: int) -> Results:
    """Errors of pixels without and with neighbors, by the noise."""
    found: Results = {}
    for noise in NOISES:
        truth, image = noisy_image(noise, seed_of(seed, 2))
        plain = ECM(2, random_state=seed).fit(image.reshape(-1, 1))
        spatial = SECM(2, weights=image.shape, random_state=seed).fit(image)
        found[f"{noise:g}"] = {
            "ecm": pixel_errors(plain, truth),
            "secm": pixel_errors(spatial, truth),
        }
    return found


def run(quick: bool = False, seed: int = 0, progress: Progress = silent) -> Results:
    """Butterfly, four classes, proteins, strips with links, a noisy image.

    Parameters
    ----------
    quick : bool
        Two draws of the strips instead of 40.
    seed : int
    progress : function of a message
    """
    n_draws = 2 if quick else 40
    results = describe("denoeux_2015_ecm", seed, quick, {"draws": n_draws})
    results["butterfly"] = butterfly(seed)
    results["four_classes"] = four_classes(seed)
    progress(f"four classes: J = {results['four_classes']['criterion']:.3f}")
    results["proteins"] = proteins(seed)
    results["strips"] = linked(n_draws, seed)
    progress("strips with links done")
    results["images"] = images(seed)
    results["claims"] = judge(results)
    return results


def judge(results: Results) -> list[Claim]:
    """What the slides show, and what we hold ourselves to."""
    found = []
    for squared, value in CRITERIA.items():
        part = results["butterfly"][squared]
        name = f"butterfly, squared outlier distance {squared}: J (of R evclust)"
        found.append(
            printed(name, value, part["criterion"], 1e-3, 4, True, "denoeux-2015-butterfly")
        )
    masses = np.array(results["butterfly"]["10"]["masses"])
    for number, column, words in ((6, 3, "both wings"), (12, 0, "no wing")):
        holds = bool(masses[number - 1].argmax() == column)
        text = f"butterfly: object {number} belongs to {words}"
        ours = f"mass {masses[number - 1, column]:.3f}"
        found.append(claim(text, holds, ours, True, "denoeux-2015-butterfly"))
    part = results["four_classes"]
    name = "four classes, squared outlier distance 20: J (of R evclust)"
    found.append(printed(name, FOUR_CLASSES, part["criterion"], 1e-3, 3, True, "denoeux-2015-four"))
    ours = f"{part['rand_of_sure']:.3f} against {part['rand']:.3f} for all"
    text = "four classes: the sure ones are better (adjusted Rand index)"
    found.append(
        claim(text, part["rand_of_sure"] > part["rand"], ours, False, "denoeux-2015-four", True)
    )
    values = part["nonspecificity"]
    best = min(values, key=values.get)
    text = "four classes: nonspecificity finds their number"
    found.append(claim(text, best == "4", f"{best}", False, "denoeux-2015-four", True))
    return found + judge_relatives(results)


def judge_relatives(results: Results) -> list[Claim]:
    """RECM, CECM and SECM."""
    part = results["proteins"]
    figure = "denoeux-2015-relatives"
    text = "RECM: families of proteins are found (adjusted Rand index above 0.9)"
    found = [claim(text, part["rand"] > 0.9, f"{part['rand']:.3f}", True, figure, True)]
    text = "RECM: the criterion never rises on dissimilarities of no points"
    found.append(claim(text, part["falls"], f"shift {part['shift']:.2f}", True, figure, True))
    alone = float(np.mean(results["strips"]["0"]["rand"]))
    text = "strips: ECM alone has a mean adjusted Rand index near 0.2"
    found.append(claim(text, abs(alone - 0.2) <= 0.1, f"{alone:.2f}", False, figure, True))
    for n_links in ("100", "200"):
        scores, violated = (results["strips"][n_links][key] for key in ("rand", "violated"))
        text = f"CECM: {n_links} links bring every draw to 0.97, at most one violated"
        n_good = sum(score >= 0.97 for score in scores)
        ours = f"{n_good} of {len(scores)}, lowest {min(scores):.3f}, violated {max(violated)}"
        holds = n_good == len(scores) and max(violated) <= 1
        found.append(claim(text, holds, ours, False, figure, True))
    beaten = sum(part["beaten"] for part in results["strips"].values())
    text = "CECM: no start at the true means of strips ends with a lower criterion"
    ours = f"lower in {beaten} of {sum(len(one['rand']) for one in results['strips'].values())}"
    found.append(claim(text, beaten == 0, ours, False, figure, True))
    ratios = [one["secm"] / one["ecm"] for one in results["images"].values()]
    text = "SECM: neighbors at least halve the errors of pixels"
    ours = f"{min(ratios):.2f} to {max(ratios):.2f} of them remain"
    found.append(claim(text, max(ratios) <= 0.5, ours, True, figure, True))
    return found


def tables(results: Results) -> dict[str, Table]:
    """Masses of the butterfly, strips by links, and images by noise."""
    masses = results["butterfly"]["10"]["masses"]
    head = ["object", "none", "left", "right", "both"]
    rows = [[str(i + 1), *(f"{value:.3f}" for value in row)] for i, row in enumerate(masses)]
    strips_rows = [
        [n, f"{np.mean(one['rand']):.3f}", f"{min(one['rand']):.3f}", str(max(one["violated"]))]
        for n, one in results["strips"].items()
    ]
    image_rows = [
        [noise, f"{one['ecm']:.4f}", f"{one['secm']:.4f}"]
        for noise, one in results["images"].items()
    ]
    return {
        "butterfly": Table("Masses of the butterfly, squared outlier distance 10.", head, rows),
        "strips": Table(
            "Two strips: adjusted Rand index, and links violated, by random links.",
            ["links", "mean", "lowest", "most violated"],
            strips_rows,
        ),
        "images": Table("Part of the pixels that are wrong.", ["noise", "ECM", "SECM"], image_rows),
    }


def draw(results: Results, path: Path) -> None:
    """The slides' pictures: butterfly masses, partitions of four classes; links and neighbors."""
    figure, panels = open_figure(2, 3, size=(12.0, 7.0), share=False)
    draw_butterfly(results, *panels[0, :2])
    X = load_clusters("fourclass").X
    start = np.array(results["four_classes"]["centers"])
    model = ECM(4, outlier_distance=20**0.5, init=start).fit(X)
    CredalPartitionDisplay.from_estimator(model, X).plot(panels[0, 2], legend=False)
    panels[0, 2].set_title("four classes: sure, and possible")
    MassSurfaceDisplay.from_estimator(model, X, [0], grid_resolution=60).plot(panels[1, 0])
    panels[1, 0].set_title("four classes: mass of one")
    draw_strips(results, panels[1, 1])
    noises = [float(noise) for noise in results["images"]]
    for name in ("ecm", "secm"):
        errors = [one[name] for one in results["images"].values()]
        panels[1, 2].plot(noises, errors, "o-", label=name.upper(), ms=4)
    panels[1, 2].set(xlabel="noise", ylabel="wrong pixels", title="a disk in noise")
    panels[1, 2].legend(frameon=False)
    save_figure(figure, path)


def draw_butterfly(results: Results, points: Any, lines: Any) -> None:
    """The points, and masses by object."""
    points.plot(*BUTTERFLY.T, "ko", ms=4)
    for number, place in enumerate(BUTTERFLY, start=1):
        points.annotate(str(number), place, xytext=(3, 3), textcoords="offset points", fontsize=8)
    points.set_title("butterfly")
    masses = np.array(results["butterfly"]["10"]["masses"])
    names = ("none", "left wing", "right wing", "both")
    for name, values, mark in zip(names, masses.T, "sov^", strict=True):
        lines.plot(range(1, 13), values, f"{mark}-", label=name, ms=4, lw=1)
    lines.set(xlabel="object", ylabel="mass", title="butterfly: masses")
    lines.legend(frameon=False, fontsize="small")


def draw_strips(results: Results, axes: Any) -> None:
    """Agreement by the number of links, each draw a dot."""
    numbers = [int(n) for n in results["strips"]]
    scores = [one["rand"] for one in results["strips"].values()]
    for n, several in zip(numbers, scores, strict=True):
        axes.plot([n] * len(several), several, ".", color="0.6")
    axes.plot(numbers, [float(np.mean(one)) for one in scores], "o-", ms=4)
    axes.set(xlabel="links", ylabel="adjusted Rand index", title="two strips, CECM")
