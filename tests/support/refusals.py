"""A good command for each verb, and what every refusal of a bad one should look like."""

COMMANDS = {
    "pool": "pool answers.csv -o out.csv",
    "fit": "fit answers.csv features.csv -o out.skops",
    "predict": "predict model.skops new.csv -o out.csv",
    "evaluate": "evaluate model.skops truth.csv features.csv",
    "report": "report answers.csv features.csv --model model.skops -o out.html",
    "info": "info new.csv",
}
BAD_DATA, USAGE = 1, 2


def swapped(verb, **given):
    """The good command of a verb, with other words in the place of some."""
    words = COMMANDS[verb].split()
    return [given.get(word.partition(".")[0], word) for word in words]


def refused(plausible, folder, words, code, says):
    """Run with an old output, and again without it and with JSON; look at all that is left."""
    outputs = [word for word in words if word.startswith("out.")]
    for name in outputs:
        (folder / name).write_bytes(b"precious")
    before = snapshot(folder)
    done = plausible(*words)
    verb = words[0]
    assert done.code == code, done
    assert "Traceback" not in done.stderr
    told = [line for line in done.lines if line.startswith(f"plausible {verb}: ")]
    assert len(told) == 1, done.stderr
    assert done.lines[-1] == told[0]
    assert done.stdout == b""
    for part in says:
        assert part in told[0], (part, told[0])
    assert told[0].endswith((".", "?"))
    assert snapshot(folder) == before
    for name in outputs:
        (folder / name).unlink()
        del before[name]
    again = plausible(*words, "--json", "--quiet")
    assert (again.code, len(again.lines)) == (code, 1)
    assert again.lines[0].endswith(again.json["error"])
    assert snapshot(folder) == before
    return told[0]


def snapshot(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }
