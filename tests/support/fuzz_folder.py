"""The folder in which odd commands run: good files of every kind, and a model of every kind."""

import warnings

import numpy as np

from plausible.cli.fit import clean
from plausible.cli.models import MODELS, last_step, make
from plausible.io import read_training, save, write_table
from plausible.labels import Labels
from support.small_files import make_small_files


def make_folder(folder):
    """Fill a folder; bytes by name."""
    make_small_files(folder)
    training = read_training(folder / "answers.csv", folder / "features.csv")
    write_table(folder / "answers.csv", folder / "answers.parquet")
    bets = np.tile([0.2, 0.3, 0.5], (len(training.X), 1))
    bets[::2] = [0.6, 0.3, 0.1]
    for name, choice in MODELS.items():
        model = make(name, [], 0)
        if "checkpoint" in last_step(model).get_params(deep=False):
            last_step(model).set_params(checkpoint=folder / f"{name}.checkpoint")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if choice.from_answers:
                model.fit(training.X[training.rows], training.known.annotations)
            elif name == "supervision":
                model.fit(training.X, Labels.from_probability(bets, ["ash", "elm", "oak"]))
            else:
                model.fit(training.X, training.labels)
        save(clean(model), folder / f"{name}.skops", features=training.names, id=training.id)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / "folder").mkdir()
    (folder / "loop.csv").symlink_to("loop.csv")
    return files
