"""EK-NNclus on the A-sets and others; stresses of EVCLUS; CEVCLUS on two strips (Denoeux 2015).

The slides' protocol: quantile 0.9, K = 150, 200, 200 neighbors, starts from one cluster for each
item and from 1000 random ones, ten runs each. EVCLUS is measured on the sets of its authors, with
all dissimilarities, the scale at the 0.9 quantile, and the best of several starts.
"""

from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from plausible.cluster import CEVCLUS, EVCLUS, RECM, EKNNClus
from plausible.datasets import ClusterData, load_clusters
from plausible.experiments.clustering_peers import CONTESTANTS, contest
from plausible.experiments.common import Progress, describe, open_figure, save_figure, silent
from plausible.experiments.comparison import Claim, Results, Table, claim, printed

# Slides: K, and (clusters, seconds) for starts from n clusters and from 1000.
A_SETS: dict[str, dict[str, Any]] = {
    "a1": {"k": 150, "n": (20, 32.9), "1000": (20, 9.8), "others": "17 / 24 / 24"},
    "a2": {"k": 200, "n": (35, 193.0), "1000": (34, 23.8), "others": "26 / 39 / 39"},
    "a3": {"k": 200, "n": (49, 358.0), "1000": (49, 35.1), "others": "34 / 50 / 51"},
}
MORE_SETS = {
    "s1": 200, "s2": 200, "s3": 200, "s4": 200, "d31": 150, "r15": 40, "unbalance": 200,
    "birch1": 632,
}  # fmt: skip
SMALL = ("a1", "r15")  # in a quick run
WITHOUT_PEERS = {"birch1": ("EK-NNclus", "HDBSCAN")}  # the others would take hours
BUTTERFLY = [
    (-5.0, 0.0), (-3.34, 1.67), (-3.34, 0.0), (-3.34, -1.67), (-1.67, 0.0), (0.0, 0.0),
    (1.67, 0.0), (3.34, -1.67), (3.34, 0.0), (3.34, 1.67), (5.0, 0.0), (10.0, 10.0),
]  # fmt: skip
STRESSES = {"butterfly": 0.0037205, "fourclass, singletons": 0.0240, "fourclass, pairs": 0.0107}
DRAWN = 1500  # points of a set in the picture


def run(quick: bool = False, seed: int = 0, progress: Progress = silent) -> Results:
    """Numbers of clusters, agreement, times and stresses.

    Parameters
    ----------
    quick : bool
        Two sets, three runs of each.
    seed : int
    progress : function of a message
    """
    n_runs, n_strips = (3, 3) if quick else (10, 20)
    settings = {"runs": n_runs, "quantile": 0.9, "strips": n_strips}
    results = describe("denoeux_2015_clustering", seed, quick, settings)
    results["a_sets"] = {
        name: a_set(load_clusters(name), n_runs, seed, progress)
        for name in A_SETS
        if not quick or name in SMALL
    }
    results["contest"] = {}
    neighbors = {name: one["k"] for name, one in A_SETS.items()} | MORE_SETS
    for name, k in neighbors.items():
        if quick and name not in SMALL:
            continue
        names = WITHOUT_PEERS.get(name, tuple(CONTESTANTS))
        data = load_clusters(name)
        found = contest(data, k, seed, names)
        results["contest"][name] = {"k": k, "true": data.n_clusters, "found": found}
        progress(f"{name}: {found['EK-NNclus']['clusters']} clusters of {data.n_clusters}")
    results["evclus"] = stresses(quick, seed, progress)
    results["protein"] = proteins(quick, seed, progress)
    results["strips"] = [strip(seed, draw) for draw in range(n_strips)]
    results["claims"] = judge(results)
    return results


# -- EK-NNclus -------------------------------------------------------------------------------------


def a_set(data: ClusterData, n_runs: int, seed: int, progress: Progress) -> Results:
    """Runs of the slides' protocol on one set."""
    found: Results = {}
    for name, init in (("n", "n"), ("1000", 1000)):
        fits, seconds = [], []
        for draw in range(n_runs):
            start = perf_counter()
            model = EKNNClus(A_SETS[data.name]["k"], 0.9, init=init, random_state=seed + draw)
            fits.append(model.fit(data.X))
            seconds.append(perf_counter() - start)
        clusters = [fit.n_clusters_ for fit in fits]
        found[name] = {
            "clusters": float(np.median(clusters)),
            "spread": float(np.subtract(*np.percentile(clusters, [75, 25]))),
            "ari": float(np.median([adjusted_rand_score(data.y, fit.labels_) for fit in fits])),
            "seconds": float(np.median(seconds)),
        }
        progress(f"{data.name}, c0 = {name}: {found[name]['clusters']:g} clusters")
        if name == "n":
            found["picture"] = picture_of(data, fits[0].labels_, seed)
    return found


def picture_of(data: ClusterData, labels: Any, seed: int) -> Results:
    """Some of the points with their clusters, small enough to be stored."""
    some = np.random.default_rng(seed).permutation(len(labels))[:DRAWN]
    unit = np.ptp(data.X, axis=0).max() / 1000.0
    points = np.round((data.X[some] - data.X.min(axis=0)) / unit).astype(int)
    return {"x": points[:, 0].tolist(), "y": points[:, 1].tolist(), "c": labels[some].tolist()}


# -- EVCLUS ----------------------------------------------------------------------------------------


def stresses(quick: bool, seed: int, progress: Progress) -> Results:
    """The lowest stress of several starts on the authors' sets."""
    points = load_clusters("fourclass")
    n_init = 2 if quick else 5
    asked: dict[str, tuple[EVCLUS, Any]] = {
        "butterfly": (EVCLUS(2, "singletons", random_state=seed), np.array(BUTTERFLY)),
        "fourclass, singletons": (
            EVCLUS(4, "singletons", n_init=n_init, random_state=seed), points.X,
        ),
        "fourclass, pairs": (EVCLUS(4, "pairs", n_init=n_init, random_state=seed), points.X),
    }  # fmt: skip
    found: Results = {}
    for name, (model, X) in asked.items():
        model.fit(X)
        found[name] = {"stress": model.stress_, "never_rises": falls(model.history_)}
        progress(f"EVCLUS, {name}: stress {model.stress_:.6f}")
        if name == "butterfly":
            found[name]["masses"] = np.round(model.masses_, 4).tolist()
    return found


def falls(history: Any) -> bool:
    """Whether a criterion never rises."""
    return bool((np.diff(history) <= 0.0).all())


def proteins(quick: bool, seed: int, progress: Progress) -> Results:
    """EVCLUS and RECM on dissimilarities of proteins; clusters by the best bet."""
    data = load_clusters("protein")
    n_init = 1 if quick else 5
    models = {
        "EVCLUS, singletons": EVCLUS(
            4, "singletons", metric="precomputed", n_init=n_init, random_state=seed
        ),
        "EVCLUS, pairs": EVCLUS(4, "pairs", metric="precomputed", n_init=n_init, random_state=seed),
        "k-EVCLUS, k = 50": EVCLUS(
            4, "singletons", 50, metric="precomputed", n_init=n_init, random_state=seed
        ),
        "RECM": RECM(4, metric="precomputed", n_init=10, random_state=seed),
        "RECM, settings chosen for proteins": RECM(
            4, 0.2, 1.1, metric="precomputed", squared=False, n_init=10, random_state=seed
        ),
    }
    found: Results = {}
    for name, model in models.items():
        start = perf_counter()
        bets = model.fit(data.X).partition_.probability.argmax(axis=1)
        found[name] = {
            "ari": float(adjusted_rand_score(data.y, bets)),
            "seconds": perf_counter() - start,
        }
        if name == "EVCLUS, singletons":
            chosen = model.shepard_[:: max(len(model.shepard_) // 600, 1)]
            found[name]["shepard"] = np.round(chosen, 4).tolist()
        progress(f"{name} on proteins: ARI {found[name]['ari']:.3f}")
    return found


def strip(seed: int, draw: int) -> float:
    """Agreement of CEVCLUS with two parallel strips, with 100 constraints of random pairs."""
    rng = np.random.default_rng([seed, draw])
    truth = np.repeat([0, 1], 75)
    X = np.column_stack([rng.uniform(-3, 3, 150), rng.normal(3.0 * truth - 1.5, 0.5)])
    pairs = np.array([rng.choice(150, 2, replace=False) for _ in range(100)])
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    found = CEVCLUS(2, pairs[same], pairs[~same], random_state=seed).fit(X)
    return float(adjusted_rand_score(truth, found.labels_))


# -- What was found --------------------------------------------------------------------------------


def judge(results: Results) -> list[Claim]:
    """The slide's table, and what else was asked."""
    found = []
    for name, one in results["a_sets"].items():
        for start, within, required in (("n", 1.0, True), ("1000", 2.0, False)):
            found.append(
                printed(
                    f"{name.upper()}, c0 = {start}: clusters, median",
                    A_SETS[name][start][0],
                    one[start]["clusters"],
                    within,
                    1,
                    required=required,
                )
            )
    more = "denoeux-2015-more-sets"
    for name, one in results["contest"].items():
        ours = one["found"]["EK-NNclus"]
        peers = {peer: got["ari"] for peer, got in one["found"].items() if peer != "EK-NNclus"}
        best = max(peers, key=peers.__getitem__)
        words = f"{name}: EK-NNclus at least as near the truth as the best peer"
        told = f"ARI {ours['ari']:.3f}, {best} {peers[best]:.3f}"
        found.append(claim(words, ours["ari"] >= peers[best], told, figure=more, asked=True))
    return found + judge_evclus(results)


def judge_evclus(results: Results) -> list[Claim]:
    """Stresses, proteins and strips."""
    figure = "denoeux-2015-evclus"
    found = []
    for name, limit in STRESSES.items():
        stress = results["evclus"][name]["stress"]
        ours = f"{stress:.7f}" if limit < 0.01 else f"{stress:.5f}"
        holds = round(stress, 7 if limit < 0.01 else 4) <= limit
        words = f"{name}: stress at most {limit:g}"
        found.append(claim(words, holds, ours, required=True, figure=figure, asked=True))
    never = all(one["never_rises"] for one in results["evclus"].values())
    words = "the stress never rises"
    found.append(claim(words, never, "in no pass", required=True, figure=figure, asked=True))
    ari = {name: one["ari"] for name, one in results["protein"].items()}
    words = "proteins: EVCLUS at least as near the families as RECM, each with its defaults"
    told = ", ".join(f"{name} {value:.3f}" for name, value in ari.items())
    holds = ari["EVCLUS, singletons"] >= ari["RECM"]
    found.append(claim(words, holds, told, figure=figure, asked=True))
    low = min(results["strips"])
    words = "strips: CEVCLUS with ARI of at least 0.97 in every draw"
    told = f"at least {low:.3f} in {len(results['strips'])} draws"
    found.append(claim(words, low >= 0.97, told, figure=figure, asked=True))
    return found


def tables(results: Results) -> dict[str, Table]:
    """The slide's table beside ours, and the contest."""
    head = ["set", "start", "slide: c", "ours: c", "ARI", "slide: s", "ours: s", "slide: others' c"]
    rows = [
        [
            name.upper(),
            f"c0 = {start}",
            str(A_SETS[name][start][0]),
            f"{one[start]['clusters']:g} ({one[start]['spread']:g})",
            f"{one[start]['ari']:.3f}",
            f"{A_SETS[name][start][1]:g}",
            f"{one[start]['seconds']:.2f}",
            A_SETS[name]["others"],
        ]
        for name, one in results["a_sets"].items()
        for start in ("n", "1000")
    ]
    slide = Table(
        "Medians of ten runs, with the distance of quartiles in brackets. The last column has "
        "pdfCluster, model-based, and model-based with constraints.",
        head,
        rows,
    )
    return {"a_sets": slide, "contest": contest_table(results)}


def contest_table(results: Results) -> Table:
    """Clusters, agreement and time of everybody on every set."""
    rows = []
    for name, one in results["contest"].items():
        cells = [name, str(one["k"]), str(one["true"])]
        for contestant in CONTESTANTS:
            got = one["found"].get(contestant)
            told = (
                "-" if got is None else f"{got['clusters']}, {got['ari']:.3f}, {got['seconds']:.1f}"
            )
            cells.append(told)
        rows.append(cells)
    return Table(
        "Number of clusters, adjusted Rand index, seconds; one run each.",
        ["set", "K", "true c", *CONTESTANTS],
        rows,
    )


def draw(results: Results, path: Path) -> None:
    """Clusters of the A-sets, masses of the butterfly, and the Shepard diagram of proteins."""
    figure, panels = open_figure(1, 4, size=(12.0, 3.2), share=False)
    axes = panels[0]
    pictures = {name: one["picture"] for name, one in results["a_sets"].items()}
    first, *_, last = list(pictures)[:1] + list(pictures)[-1:]
    for place, name in zip(axes[:2], (first, last), strict=True):
        points = pictures[name]
        shade = (np.array(points["c"]) * 7) % 20  # neighbors in number are not in color
        place.scatter(points["x"], points["y"], c=shade, cmap="tab20", s=3, linewidths=0)
        found = results["a_sets"][name]["n"]["clusters"]
        place.set_title(f"{name.upper()}: {found:g} clusters (EK-NNclus)", fontsize=9)
        place.set_xticks([])
        place.set_yticks([])
    masses = np.array(results["evclus"]["butterfly"]["masses"])
    numbers = np.arange(1, len(masses) + 1)
    for column, name in enumerate(("no cluster", "cluster 1", "cluster 2", "either")):
        axes[2].plot(numbers, masses[:, column], "o-", ms=3, lw=1, label=name)
    axes[2].set_title("butterfly (EVCLUS)", fontsize=9)
    axes[2].set_xlabel("item")
    axes[2].set_xticks([1, 4, 8, 12])
    axes[2].set_ylabel("mass")
    axes[2].legend(frameon=False, fontsize=7)
    shepard = np.array(results["protein"]["EVCLUS, singletons"]["shepard"])
    axes[3].plot(shepard[:, 0], shepard[:, 2], ".", ms=2, label="conflict")
    axes[3].plot(shepard[:, 0], shepard[:, 1], "k-", lw=1, label="wanted")
    axes[3].set_title("proteins: Shepard diagram", fontsize=9)
    axes[3].set_xlabel("dissimilarity")
    axes[3].legend(frameon=False, fontsize=7)
    save_figure(figure, path)
