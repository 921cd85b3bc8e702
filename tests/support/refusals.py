"""A good command for each verb, and what every refusal of a bad one should look like."""

COMMANDS = {
    "pool": "pool answers.csv -o out.csv",
    "fit": "fit answers.csv features.csv -o out.skops --model logistic",
    "predict": "predict model.skops new.csv -o out.csv",
    "evaluate": "evaluate model.skops truth.csv features.csv",
    "partition": "partition features.csv --clusters 3 -o out.csv",
    "report": "report answers.csv features.csv --model model.skops -o out.html",
    "info": "info new.csv",
}
BAD_DATA, USAGE = 1, 2


def swapped(verb, **given):
    """The good command of a verb, with other words in the place of some."""
    words = COMMANDS[verb].split()
    return [given.get(word.partition(".")[0], word) for word in words]


def refused(plausible, folder, words, code, says):
    """Run with JSON where an old output is there; look at all that is said and left."""
    outputs = [word for word in words if word.startswith("out.")]
    for name in outputs:
        (folder / name).write_bytes(b"precious")
    before = snapshot(folder)
    done = plausible(*words, "--json")
    told = the_message(done, words[0], code)
    for part in says:
        assert part in told, (part, told)
    assert told.endswith(done.json["error"])
    assert snapshot(folder) == before
    for name in outputs:
        (folder / name).unlink()
    return told


def the_message(done, verb, code):
    """The one line of an error, which is the last."""
    assert done.code == code, done
    assert "Traceback" not in done.stderr
    told = [line for line in done.lines if line.startswith(f"plausible {verb}: ")]
    assert len(told) == 1, done.stderr
    assert done.lines[-1] == told[0]
    assert told[0].endswith((".", "?"))
    return told[0]


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
