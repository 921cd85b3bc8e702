"""Objects as notebooks show them, read back."""

from html.parser import HTMLParser

import numpy as np

from plausible.cluster import ECM
from plausible.experts import Annotations
from plausible.labels import Labels
from plausible.neighbors import EvidentialNeighborsClassifier

HOSTILE = [
    "<script>document.title = 'taken'</script>",
    "</style></div><img src=x onerror=alert(1)>",
    "\u202ereversed\u202c",
    '" onmouseover="alert(1)',
    "long " * 200,
]


class Page(HTMLParser):
    """Elements, attributes and rows of a page, which must be well formed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes, self.rows, self.words = [], [], [], []
        self._open = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += attrs
        if tag != "br":
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if "style" in self._open:
            return
        self.words.append(data)
        if {"td", "th"} & set(self._open):
            self.rows[-1][-1] += data

    @property
    def text(self):
        """All words of the page."""
        return " ".join("".join(self.words).split())


def shown(thing):
    """What a notebook shows of an object."""
    return Page(thing._repr_html_())


def hostile_objects():
    """One of each class that notebooks show, with names that would like to be more."""
    rng = np.random.default_rng(0)
    code = np.arange(60) % 5
    X = rng.normal(size=(60, 2)) + 4 * rng.normal(size=(5, 2))[code]
    y = np.array(HOSTILE)[code]
    labels = Labels.from_doubt(y, np.arange(60) % 4 / 4, classes=HOSTILE)
    beliefs = EvidentialNeighborsClassifier(n_neighbors=4).fit(X, labels).believe(X)
    said = np.where(rng.uniform(size=(60, 3)) < 0.7, code[:, None], rng.integers(5, size=(60, 3)))
    answers = Annotations.from_answers(
        np.array(HOSTILE, dtype=object)[said],
        annotators=HOSTILE[:3],
        items=[f"{HOSTILE[1]} {i}" for i in range(60)],
    )
    partition = ECM(5, focal_sets="pairs", n_init=1, tol=1e-2, random_state=0).fit(X).partition_
    return {
        "Labels": labels,
        "Annotations": answers,
        "Reliability": answers.reliability(),
        "Decision": beliefs.decide("interval_dominance", reject=0.4),
        "Beliefs": beliefs,
        "CredalPartition": type(partition)(partition.masses(), HOSTILE),
    }
