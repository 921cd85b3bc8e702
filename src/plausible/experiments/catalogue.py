"""Which figure of which paper is reproduced by which experiment, and what data that needs.

A new experiment is a file of its name beside this one and an entry in `CATALOGUE`. What it finds
out about a figure, it says itself: each of its claims (`comparison.claim`, `comparison.printed`)
names the figure that it belongs to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType

from plausible.experiments.comparison import Results, Row

PAPERS = {
    "come_2008": "Côme, Oukhellou, Denoeux, Aknin: Mixture model estimation with soft labels, 2008",
    "denoeux_2015": "Denoeux: Classification and clustering, slides, 2015",
    "grandvalet_2002": "Grandvalet: Logistic regression for partial labels, 2002",
    "lu_2020": "Lu, Qiao, Zhu, Wang, Ma, Xue: Generalisations of stochastic supervision, 2020",
    "vannoorenberghe": "Vannoorenberghe: Reasoning with unlabeled samples and belief functions",
    "real_sets": "no paper: what the same methods give on real sets",
    "page": "no paper: what the annotation page promises",
}
EVERYTHING = "all"


@dataclass(frozen=True)
class Experiment:
    """A program that reproduces one or several figures.

    Attributes
    ----------
    name : str
        Module of this package.
    paper : str
        Key of `PAPERS`.
    figures : mapping of str to str
        Titles by id.
    files : mapping of str to str
        Data that are not bundled: set by file, below the folder that PLAUSIBLE_DATA names.

    Examples
    --------
    >>> CATALOGUE[0].name
    'come_2008'
    """

    name: str
    paper: str
    figures: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def rows(self, results: Results) -> list[Row]:
        """What the paper says beside what a run found."""
        first = next(iter(self.figures))
        return [Row(**{**one, "figure": one["figure"] or first}) for one in results["claims"]]


CATALOGUE = (
    Experiment(
        "come_2008",
        "come_2008",
        {"come-2008-figure-1.1": "Côme et al. 2008, figure 1.1: a doubtful expert"},
    ),
    Experiment(
        "denoeux_2015_lda",
        "denoeux_2015",
        {"denoeux-2015-faces": "Denoeux 2015: faces judged by five people (simulated)"},
    ),
    Experiment(
        "denoeux_2015_e2m",
        "denoeux_2015",
        {
            "denoeux-2015-bernoulli": "Denoeux 2015, E2M: six patients, of one nothing is known",
            "denoeux-2015-uncertain-data": "Denoeux 2015, E2M: rounded and missing values (ours)",
        },
    ),
    Experiment(
        "denoeux_2015_neighbors",
        "denoeux_2015",
        {"denoeux-2015-ionosphere": "Denoeux 2015, evidential k-NN: ionosphere"},
        {"evclass/ionosphere.npz": "ionosphere"},
    ),
    Experiment(
        "denoeux_2015_classification",
        "denoeux_2015",
        {
            "denoeux-2015-vowel": "Denoeux 2015, evidential network: vowels",
            "denoeux-2015-sensors": "Denoeux 2015, evidential networks: two sensors, one noisy",
        },
        {"vowel/vowel.npz": "vowel"},
    ),
    Experiment(
        "denoeux_2015_ecm",
        "denoeux_2015",
        {
            "denoeux-2015-butterfly": "Denoeux 2015, evidential c-means: butterfly",
            "denoeux-2015-four": "Denoeux 2015, evidential c-means: four classes",
            "denoeux-2015-relatives": "Denoeux 2015, RECM, CECM and SECM: what they promise",
        },
        {"evclust/fourclass.npz": "fourclass", "evclust/protein.npz": "protein"},
    ),
    Experiment(
        "denoeux_2015_clustering",
        "denoeux_2015",
        {
            "denoeux-2015-a-sets": "Denoeux 2015, EK-NNclus: the A-sets",
            "denoeux-2015-more-sets": "Denoeux 2015, EK-NNclus: other sets, and peers (ours)",
            "denoeux-2015-evclus": "Denoeux 2015, EVCLUS and CEVCLUS (stresses of their authors)",
        },
        {
            f"{folder}/{name}.npz": name
            for folder, names in (
                ("sipu", "a1 a2 a3 s1 s2 s3 s4 d31 r15 unbalance birch1"),
                ("evclust", "fourclass protein"),
            )
            for name in names.split()
        },
    ),
    Experiment(
        "denoeux_2015_eeg",
        "denoeux_2015",
        {"denoeux-2015-eeg": "Denoeux 2015: waves judged by five experts (simulated)"},
    ),
    Experiment(
        "vannoorenberghe",
        "vannoorenberghe",
        {
            "vannoorenberghe-figure-1": "Vannoorenberghe, figure 1: one unlabeled item of four",
            "vannoorenberghe-table-2": "Vannoorenberghe, table II: 100 of 150 items unlabeled",
            "vannoorenberghe-figure-2": "Vannoorenberghe, figure 2: missing labels",
        },
    ),
    Experiment(
        "grandvalet_2002",
        "grandvalet_2002",
        {
            "grandvalet-2002-rates": "Grandvalet 2002, overall recognition rates",
            "grandvalet-2002-figure-1": "Grandvalet 2002, figure 1: missing labels, Bayes rate",
            "grandvalet-2002-figure-2": "Grandvalet 2002, figure 2: rows for each feature",
        },
    ),
    Experiment(
        "lu_2020_simulated",
        "lu_2020",
        {
            "lu-2020-figure-1": "Lu et al. 2020, figure 1: asymmetric assessments",
            "lu-2020-figure-2": "Lu et al. 2020, figure 2: extreme assessments",
            "lu-2020-figure-3": "Lu et al. 2020, figure 3: three classes",
            "lu-2020-figure-4": "Lu et al. 2020, figure 4: assessments that depend on the feature",
            "lu-2020-figure-5": "Lu et al. 2020, figure 5: several modes",
        },
    ),
    Experiment(
        "lu_2020_real",
        "lu_2020",
        {
            "lu-2020-figure-6": "Lu et al. 2020, figure 6: classifiers as experts",
            "lu-2020-table-1": "Lu et al. 2020, table 1: adjusted R2",
        },
        {
            "mnist_3_5/mnist_3_5.npz": "mnist_3_5",
            "cifar10n/cifar10n_train.npz": "cifar10",
            "cifar10h/cifar10h_test.npz": "cifar10",
            "emnist_balanced/emnist47.npz": "emnist",
        },
    ),
    Experiment(
        "partial_labels",
        "real_sets",
        {"real-sets-candidates": "Real sets of candidates (Grandvalet's criteria)"},
        {f"partial_labels/{name}.npz": name for name in ("lost", "msrcv2", "birdsong")},
    ),
    Experiment(
        "real_assessments",
        "real_sets",
        {"real-sets-grades": "Real grades of an expert (Lu's models)"},
        {"elpv/elpv.npz": "elpv", "mammographic/mammographic.npz": "mammographic"},
    ),
    Experiment(
        "real_soft_labels",
        "real_sets",
        {"real-sets-soft-labels": "Real soft labels (Côme's mixture)"},
        {
            "ferplus/ferplus.npz": "ferplus",
            "cifar10h/cifar10h_test.npz": "cifar10h",
            "labelme/labelme.npz": "labelme",
            "music_genre/music_genre.npz": "music_genre",
            "sjaffe/sjaffe.npz": "sjaffe",
        },
    ),
    Experiment(
        "real_belief_labels",
        "real_sets",
        {"real-sets-belief-labels": "Real belief labels (neighbors, trees, forests)"},
        {
            "cifar10s/cifar10s.npz": "cifar10s",
            "cifar10h/cifar10h_test.npz": "cifar10s",
            "labelme/labelme.npz": "labelme",
            "music_genre/music_genre.npz": "music_genre",
            "ferplus/ferplus.npz": "ferplus",
        },
    ),
    Experiment(
        "crowds",
        "real_sets",
        {"real-sets-crowds": "Real answers of crowds"},
        {
            "labelme/labelme.npz": "labelme",
            "music_genre/music_genre.npz": "music_genre",
            "sentiment_polarity/sentiment_polarity.npz": "sentiment_polarity",
            "cifar10n/cifar10n_train.npz": "cifar10n",
            "crowd_answers_only/bluebirds.npz": "bluebirds",
            "crowd_answers_only/dogs.npz": "dogs",
            "crowd_answers_only/face_sentiment.npz": "face_sentiment",
            "crowd_answers_only/product.npz": "product",
        },
    ),
    Experiment(
        "defaults",
        "real_sets",
        {"real-sets-defaults": "The default on real answers, beside what people do instead"},
        {
            "labelme/labelme.npz": "labelme",
            "music_genre/music_genre.npz": "music_genre",
            "sentiment_polarity/sentiment_polarity.npz": "sentiment_polarity",
            "cifar10n/cifar10n_train.npz": "cifar10n",
            "cifar10h/cifar10h_test.npz": "cifar10h",
            "ferplus/ferplus.npz": "ferplus",
            "cifar10s/cifar10s.npz": "cifar10s",
            "sjaffe/sjaffe.npz": "sjaffe",
        },
    ),
    Experiment("asking", "page", {"page-asking": "What to ask next: errors by way of asking"}),
)
EXPERIMENTS = tuple(one.name for one in CATALOGUE)
TITLES = {figure: title for one in CATALOGUE for figure, title in one.figures.items()}


def plain(name: str) -> str:
    """Capitals and the kind of dash make no difference."""
    return name.lower().replace("_", "-")


def select_figures(names: str | Iterable[str] = EVERYTHING) -> list[str]:
    """Ids of figures by paper, figure or experiment, each once and in the order of the catalogue.

    Parameters
    ----------
    names : str or iterable of str
        Keys of `PAPERS`, ids of figures, names of experiments, or "all".

    Raises
    ------
    ValueError
        If a name is unknown; the message has the nearest ones.

    Examples
    --------
    >>> select_figures(["grandvalet-2002-figure-2", "come_2008"])
    ['come-2008-figure-1.1', 'grandvalet-2002-figure-2']
    >>> select_figures("come_2007")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: Expected a paper, a figure, an experiment or "all", but 'come_2007' is none of ...
    """
    wanted = [names] if isinstance(names, str) else list(names)
    known = {plain(name): name for name in (EVERYTHING, *PAPERS, *EXPERIMENTS, *TITLES)}
    for name in wanted:
        if plain(name) not in known:
            near = [known[one] for one in get_close_matches(plain(name), known)]
            near = [one for one in near if one != EVERYTHING]
            if not near and len(plain(name)) > 2:
                near = [known[one] for one in known if plain(name) in one][:3]
            raise ValueError(
                f'Expected a paper, a figure, an experiment or "all", but {name!r} is none of '
                + (
                    f"them; did you mean {' or '.join(near)}?"
                    if near
                    else f"them; the experiments are {', '.join(EXPERIMENTS)}."
                )
            )
    chosen = {plain(name) for name in wanted}
    return [
        figure
        for one in CATALOGUE
        for figure in one.figures
        if chosen & {plain(key) for key in (EVERYTHING, one.paper, one.name, figure)}
    ]


def select(names: str | Iterable[str] = EVERYTHING) -> list[Experiment]:
    """Experiments that make the figures of `select_figures`, in the order of the catalogue.

    Examples
    --------
    >>> [one.name for one in select("lu_2020")]
    ['lu_2020_simulated', 'lu_2020_real']
    >>> [one.name for one in select(["lu-2020-figure-4", "come_2008"])]
    ['come_2008', 'lu_2020_simulated']
    """
    figures = select_figures(names)
    return [one for one in CATALOGUE if any(figure in figures for figure in one.figures)]
