"""Commands of which some words, and the files that they name, are odd.

A command is drawn from a seed and its number alone, so that any one can be run again.
"""

import os
from dataclasses import dataclass
from random import Random

from support.odd_columns import odd_text
from support.odd_models import forged_checkpoint, forged_model, odd_export
from support.odd_tables import odd_file

VERBS = {
    "check": 3, "pool": 5, "fit": 5, "predict": 4, "evaluate": 3, "report": 3, "info": 2,
    "partition": 2, "other": 0.3,
}  # fmt: skip
MODELS = [
    "logistic",
    "mixture",
    "discriminant",
    "centroid",
    "tree",
    "supervision",
    "joint",
    "neighbors",
]
GOOD = {
    "answers": ["answers.csv", "answers.parquet", "labels.csv", "truth.csv"],
    "labels": ["labels.csv", "truth.csv"],
    "truth": ["truth.csv", "labels.csv", "answers.csv"],
    "features": ["features.csv", "features.parquet", "new.csv"],
    "model": ["model.skops", "nameless.skops", *(f"{name}.skops" for name in MODELS)],
}
STEMS = ["odd", "a b", "\x1b[31mred", "\x9b", "a\u202eb", "new\nline", "é", "-x", "--json", "=1",
         "\udcff", "%s", "{x}", "'", '"', "x" * 200, "\u2028"]  # fmt: skip
OUTPUTS = ["no/out.csv", "folder", "", "/dev/null", "/dev/full", "out", "out.xyz", "out.docx",
           "x" * 300 + ".csv", "/proc/out.csv", "answers.csv", "model.skops", "features.csv",
           "features.csv/out.csv", ".", "~"]  # fmt: skip
ENDS = {"pool": "csv", "fit": "skops", "predict": "csv", "report": "html", "partition": "csv"}
SETTINGS = [
    "max_iter", "tol", "n_init", "init", "criterion", "alpha", "covariance", "solver", "metric",
    "shrink_threshold", "priors", "nonsense", "", "random_state", "callback", "regularization",
    "fit_intercept", "reliability", "n_components", "assessment", "n_clusters", "focal_sets",
    "n_neighbors", "outlier_distance", "fuzzifier", "n_pairs",
]  # fmt: skip
VALUES = ["0", "-1", "1", "2", "0.5", "1e-300", "NaN", "Infinity", "true", "null", "[]", "[1, 2]",
          '{"a": 1}', '"text"', "tied", "x", "[[1]]", "-0.5", "[null]", "[0.2, 0.3, 0.5]",
          '["a"]', "1e30"]  # fmt: skip
OPTIONS = {
    "--form": ["answers", "labels", "label-studio", "doccano", "prodigy", "argilla"],
    "--map": ["ash=cannot tell", "ash=elm|oak", "ash=ash", "=", "ash", "=ash", "ash=", "-1=elm",
              '{"ash": "elm"}', '{"ash": ["elm"]}', "{", "ash=none of these", "x=y=z", "?=oak"],
    "--words": ["high=0.05,low=0.5", "1=0.5", "high=2", "high", "=", "high=nan", "0=0,1=1", ","],
    "--repeats": ["all", "once", "first", "last"],
    "--on-rejected": ["drop", "unknown", "keep"],
    "--ignore": ["doubt", "label", "item", "odd", ",", "[]", '["doubt"]'],
    "--names": ["item=item", "label=label", "item=odd,label=label", "annotator=annotator", "x=y",
                "item", "item=", "=", "item=item,item=label", "doubt=doubt", "mass=doubt",
                "label=item", "plausibility=doubt", "item=length", "confidence=doubt",
                "confidence=label", "item=data.image"],
    "--layout": ["long", "annotators", "items", "classes"],
    "--kind": ["plausibility", "probability", "count", "mass", "set"],
    "--classes": ["ash,elm,oak", "oak,elm,ash", "ash", "ash,ash", "a,b", '["ash","elm","oak"]',
                  "[1,2,3]", "[[1],[2]]", "[null,1]", "1,2,3", "true,false", "1.5,2", ",", "[",
                  '"a,b', "[]", '"ash",elm,oak', "[true, 1]", '[{"a": 1}]', "ash,elm,oak,yew"],
    "--rule": ["dempster", "conjunctive", "disjunctive", "cautious", "bold", "yager",
               "dubois_prade", "pcr6", "mean"],
    "--doubt": ["fit", "0", "1", "0.3", "nan", "-1", "1e-320", "²", "0.1"],
    "--on-conflict": ["raise", "unknown"],
    "--dependence": ["fit", "none", "auto", "1", "0.5", "0", "-1", "nan", "inf", "x"],
    "--id": ["item", "odd", "length", "label", "", "row", "row0", "row1"],
    "--missing": ["?", "n.d.,-999", "", ",", "[]", "0", "nan", '["?", ""]'],
    "--on-unmatched": ["raise", "drop"],
    "--categories": ["length", "odd", "item", "nonsense", "length,width", ""],
    "--leave-out": ["length", "odd", "length,width", "item", "nonsense", "[1]"],
    "--prepare": ["auto", "always", "never"],
    "--keep": ["all", "none", "odd", "item", "length", "nonsense", "all,none", ""],
    "--columns": ["length,width", "length", "item", "nonsense", "length,length", "", "[]", "[1]",
                  '["length"]', "width,length"],
    "--seed": ["0", "7", "4294967295", "4294967296", "-1", "x", "1.5", "²", "٣", "1e3", "9" * 5000],
    "--reject": ["0", "0.3", "1", "2", "nan", "x", "-0"],
    "--max-error": ["0", "0.05", "0.4", "1", "2", "nan", "x"],
    "--title": ["A title", ""],
    "--clusters": ["1", "2", "3", "5", "0", "-1", "x", "40", "1000", "1.5", "²", "9" * 30],
    "--method": ["ecm", "evclus", "neighbors"],
    "--raw": None,
    "--set": [],
    "--test": [],
    "--resume": None,
    "--json": None,
    "--quiet": None,
    "--help": None,
    "--nonsense": None,
}  # fmt: skip
KNOWN = ["--form", "--names", "--layout", "--kind", "--classes", "--rule", "--doubt",
         "--on-conflict", "--dependence", "--map", "--words", "--repeats", "--on-rejected",
         "--ignore"]  # fmt: skip
FEATURES = ["--id", "--columns", "--missing", "--on-unmatched"]
PREPARED = ["--categories", "--leave-out", "--prepare"]
OF_VERB = {
    "check": [*KNOWN, *FEATURES, *PREPARED],
    "pool": KNOWN,
    "fit": [*KNOWN, *FEATURES, *PREPARED, "--seed", "--set", "--set", "--set", "--resume"],
    "predict": ["--reject", "--max-error", "--id", "--keep", "--missing", "--columns"],
    "evaluate": [*KNOWN, *FEATURES, "--seed"],
    "report": [*KNOWN, *FEATURES, "--seed", "--reject", "--title", "--test"],
    "partition": ["--clusters", "--method", "--method", "--raw", "--set", "--set", "--seed", "--id",
                  "--columns", "--missing"],
    "info": [],
}  # fmt: skip
OTHERS = [
    line.split()
    for line in (
        "", "nonsense", "--version", "--completion", "--completion fish", "fit --help",
        "reproduce nonsense", "reproduce --seed x", "reproduce --list all x",
        "reproduce --list -o nowhere", "reproduce --list -o folder",
        "demo --seed", "demo --seed -1", "demo a b",
    )
]  # fmt: skip


@dataclass
class Command:
    """Words, files to put into the folder before, and what standard input holds."""

    words: list
    files: dict
    stdin: bytes = b""


def draw_command(seed, number, small_files):
    """A command by its number; `small_files` are the good ones, bytes by name."""
    return Drawing(Random(f"{seed} {number}"), small_files).command()


class Drawing:
    """A command in the making."""

    def __init__(self, random, small_files):
        self.random, self.small_files = random, small_files
        self.files, self.stdin, self.resumes = {}, b"", False
        self.n_odd = random.choice([0, 1, 1, 1, 2])  # how many inputs are odd

    def command(self):
        verb = self.random.choices(list(VERBS), list(VERBS.values()))[0]
        if verb == "other":
            words = list(self.random.choice(OTHERS))
            words += [self.option_value("--title")] * (self.random.random() < 0.3)
        else:
            words = self.of_verb(verb)
        return Command([word.replace("\0", "") for word in words], self.files, self.stdin)

    def of_verb(self, verb):
        words, random = getattr(self, verb)(), self.random
        if verb in ENDS:
            words += self.output(verb)
        for _ in range(random.choice([0, 0, 0, 1, 1, 2])):
            known = OF_VERB[verb]
            if not known or random.random() < 0.03:
                words += self.option(random.choice(list(OPTIONS)))
            else:
                words += self.option(random.choice(known))
        words += ["--json"] * (random.random() < 0.4) + ["--quiet"] * (random.random() < 0.1)
        if random.random() < 0.03 and words:
            place = random.randrange(len(words))
            words[place : place + 1] = random.choice([[], [odd_text(random)], ["--"], ["-"]])
        return [verb, *words]

    def check(self):
        return [self.table("answers"), *([self.table("features")] * (self.random.random() < 0.7))]

    def pool(self):
        return [self.table("answers")]

    def fit(self):
        if self.random.random() < 0.12:
            return self.resumed_fit()
        words = [self.table("answers"), self.table("features")]
        return words + ["--model", self.random.choice(MODELS)] * (self.random.random() < 0.7)

    def resumed_fit(self):
        """A fit that goes on from files that somebody has changed."""
        random, name = self.random, self.random.choice(MODELS)
        self.resumes = True
        self.files["out.skops"] = forged_model(random, self.small_files[f"{name}.skops"])
        checkpoint = self.small_files.get(f"{name}.checkpoint")
        if checkpoint is not None:
            self.files["out.skops.checkpoint"] = forged_checkpoint(random, checkpoint)
        return ["answers.csv", "features.csv", "--model", name, "--resume"]

    def predict(self):
        return [self.model(), self.table("features")]

    def evaluate(self):
        return [self.model(), self.table("truth"), self.table("features")]

    def report(self):
        words = [self.table("answers")]
        if self.random.random() < 0.6:
            words += [self.table("features"), "--model", self.model()]
        return words

    def partition(self):
        """Most often with a number of clusters, which most methods need."""
        known = ["--clusters", self.random.choice(["2", "3"])] * (self.random.random() < 0.8)
        return [self.table("features"), *known]

    def info(self):
        kind = self.random.random()
        if kind < 0.1:
            return []
        return [self.model() if kind < 0.4 else self.table("features")]

    # -- Files ---------------------------------------------------------------------------------

    def is_odd(self):
        if self.n_odd and self.random.random() < 0.6:
            self.n_odd -= 1
            return True
        return False

    def table(self, role):
        """A good table, or an odd one, of this or another role."""
        random = self.random
        if not self.is_odd():
            return random.choice(GOOD[role])
        if random.random() < 0.05:
            return random.choice(["folder", "nowhere.csv", "", ".", "/dev/null", "model.skops",
                                  odd_text(random), "loop.csv", "/proc/self/mem"])  # fmt: skip
        if role == "answers" and random.random() < 0.1:
            return self.put(".json", odd_export(random))
        other = random.choice(["answers", "labels", "features"])
        ending, content = odd_file(random, role if random.random() < 0.9 else other)
        return self.put(ending, content)

    def model(self):
        random = self.random
        if not self.is_odd():
            return random.choice(GOOD["model"])
        if random.random() < 0.1:
            return random.choice(["features.csv", "nowhere", "folder", "features.parquet"])
        good = self.small_files[random.choice(GOOD["model"])]
        return self.put(".skops", forged_model(random, good))

    def put(self, ending, content):
        """Put a file into the folder, or onto standard input."""
        random = self.random
        if random.random() < 0.1 and not self.stdin:
            self.stdin = content
            return "-"
        stem = random.choice(STEMS) if random.random() < 0.2 else "odd"
        name = f"{stem}{len(self.files)}{ending}"
        self.files[name] = content
        return name

    def output(self, verb):
        """Where the result goes, if that is said at all."""
        random, kind = self.random, self.random.random()
        if kind < 0.02:
            return []
        name = f"out.{ENDS[verb]}"
        if kind < 0.12:
            name = random.choice(OUTPUTS)
        elif kind < 0.2 and verb in ("pool", "predict", "partition"):
            name = random.choice(["out.tsv", "out.jsonl", "out.parquet", "out.arrow", "out.csv.gz"])
        elif kind < 0.25:
            name = f"out{random.choice(STEMS)}.{ENDS[verb]}"
        elif kind < 0.3:
            name = "-"
        elif kind < 0.33 and self.files:
            name = next(iter(self.files))
        return ["-o", "out.skops" if self.resumes else name]

    # -- Options -------------------------------------------------------------------------------

    def option(self, name):
        """An option, with a value of some kind, or without one, or twice."""
        random = self.random
        if OPTIONS[name] is None:
            return [name]
        if random.random() < 0.02:
            return [name]
        words = [name, self.option_value(name)]
        if name == "--test":
            words.append(self.table("features"))
        if random.random() < 0.05:
            words += [name, self.option_value(name)]
        return [f"{words[0]}={words[1]}"] if len(words) == 2 and random.random() < 0.1 else words

    def option_value(self, name):
        random = self.random
        if name == "--test":
            return self.table("truth")
        if name == "--set":
            what = random.choice(SETTINGS)
            value = odd_text(random) if random.random() < 0.1 else random.choice(VALUES)
            return f"{what}={value}"
        if random.random() < 0.04 or not OPTIONS[name]:
            return odd_text(random)
        if name == "--form" and random.random() < 0.3:
            return random.choice(["label-studio", "doccano", "prodigy", "argilla"])
        return random.choice(OPTIONS[name])


def file_name(name):
    """A name as the system takes it: half of a surrogate pair stands for a byte."""
    return os.fsencode(name)
