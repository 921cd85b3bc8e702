"""Tables as verbs take them, of which a part is odd, in files of every format."""

import csv
import gzip
import io
import json
import pickle
import zipfile

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet

from support.odd_columns import NUMBERS, odd_column, odd_json, odd_text, texts, with_gaps

CLASSES = ["ash", "elm", "oak"]
ENDINGS = [".csv", ".csv", ".tsv", ".txt", ".csv.gz", ".jsonl", ".json", ".parquet", ".arrow",
           ".feather", ".ipc", ""]  # fmt: skip


# -- What tables say -------------------------------------------------------------------------------


def classes(random):
    return CLASSES if random.random() < 0.8 else [odd_text(random) for _ in range(3)]


def items(n_rows):
    return pa.array([f"t{row}" for row in range(n_rows)])


def shares(random, n_rows):
    return pa.array([round(random.random(), 2) for _ in range(n_rows)])


def long_answers(random):
    """A row for each answer."""
    n_rows, names = random.choice([0, 1, 4, 12]), classes(random)
    cells = [random.choice([*names, "|".join(names[:2])]) for _ in range(n_rows)]
    columns = [
        ("item", pa.array([f"t{random.randrange(6)}" for _ in range(n_rows)])),
        ("annotator", pa.array([random.choice(["ann", "bob", "cy"]) for _ in range(n_rows)])),
        ("label", pa.array(cells, pa.string())),
    ]
    for name in ("doubt", "plausibility", "probability", "mass"):
        if random.random() < (0.5 if name == "doubt" else 0.06):
            columns.append((name, shares(random, n_rows)))
    return columns


def wide_answers(random):
    """A column for each annotator or class."""
    n_rows = random.choice([0, 1, 5])
    columns = [("item", items(n_rows))] if random.random() < 0.7 else []
    for name in ["ann", "bob", "cy"] if random.random() < 0.6 else classes(random):
        kind = random.random()
        if kind < 0.4:
            cells = pa.array([random.choice([*CLASSES, None]) for _ in range(n_rows)], pa.string())
        else:
            cells = shares(random, n_rows) if kind < 0.7 else pa.array([1] * n_rows, pa.int64())
        columns.append((name, cells))
    return columns


def labels(random):
    """A row for each item."""
    n_rows, names = random.choice([0, 1, 6, 24]), classes(random)
    columns = [("item", items(n_rows))] if random.random() < 0.8 else []
    kind = random.choice(["label", "label", "set", "possible", "plausibility", "probability",
                          "mass", "mass"])  # fmt: skip
    if kind in ("label", "set"):
        cells = pa.array([random.choice([*names, None]) for _ in range(n_rows)], pa.string())
        columns.append((kind, cells))
        if random.random() < 0.4:
            columns.append(("doubt", shares(random, n_rows)))
        return columns
    sets = [*names, "|".join(names)] if kind == "mass" else names
    for number, name in enumerate(sets):
        cells = [float(row % len(sets) == number) for row in range(n_rows)]
        columns.append((f"{kind}:{name}", pa.array(cells, pa.float64())))
    if kind == "mass" and random.random() < 0.3:
        columns += [(f"plausibility:{name}", pa.array([1.0] * n_rows)) for name in names]
    if random.random() < 0.2:
        columns.append(("conflict", shares(random, n_rows)))
    return columns


def features(random):
    """A row of numbers for each item."""
    n_rows = random.choice([0, 1, 24, 24])
    columns = [("item", items(n_rows))] if random.random() < 0.8 else []
    for name in ("length", "width"):
        columns.append((name, pa.array([random.gauss(1, 1) for _ in range(n_rows)], pa.float64())))
    return columns


TABLES = {
    "answers": lambda r: long_answers(r) if r.random() < 0.7 else wide_answers(r),
    "labels": labels,
    "truth": labels,
    "features": features,
}


# -- What is odd about them ------------------------------------------------------------------------


def odd_table(random, role):
    """A table of some role, up to three parts of which are odd."""
    columns = TABLES[role](random)
    for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
        if columns:
            change(random, columns)
    return columns


def change(random, columns):
    """Make one thing different."""
    place = random.randrange(len(columns))
    name, column = columns[place]
    kind = random.randrange(10)
    if kind <= 2:
        columns[place] = (name, odd_column(random, len(column)))
    elif kind == 3:
        other = random.choice(columns)[0]
        columns[place] = (random.choice([odd_text(random), other, f"probability:{name}"]), column)
    elif kind == 4:
        del columns[place]
    elif kind == 5:
        columns[place] = (name, with_gaps(random, column))
    elif kind == 6:
        cells = texts(random, len(column))
        columns[place] = (name, pa.array(cells, pa.string()))
    elif kind == 7:
        columns.append((odd_text(random), odd_column(random, len(column))))
    elif kind == 8:
        few = random.choice(
            [
                [0.0],
                [1e308, -1e308],
                [1e-320, 0.0],
                [1e16, 1e16 + 2, 5.0],
                [1, 2],
                [1e149, -1e149, 0.0],
                [1e-150, -1e-150],
                [3e9, 3e9 + 1e-6],
            ]
        )
        columns[place] = (name, pa.array([random.choice(few) for _ in column]))
    else:
        columns[place] = (name, pa.array([float(random.choice(NUMBERS)) for _ in column]))


# -- How they are written --------------------------------------------------------------------------


def odd_file(random, role):
    """The end of a name, and bytes."""
    columns, ending = odd_table(random, role), random.choice(ENDINGS)
    content = as_bytes(random, columns, ending)
    if random.random() < 0.1:
        content = damaged(random, content)
    if random.random() < 0.05:
        content = foreign(random, content)
    if random.random() < 0.05:
        ending = random.choice(ENDINGS)
    return ending, content


def as_bytes(random, columns, ending):
    """A table in the format that the end of its name promises."""
    if ending in (".parquet", ".arrow", ".feather", ".ipc"):
        return binary(random, columns, ending)
    if ending == ".jsonl" or (ending == "" and random.random() < 0.5):
        return "\n".join(json_lines(random, columns)).encode("utf-8", "surrogatepass")
    if ending == ".json":
        rows = [json.loads(line) for line in json_lines(random, columns)]
        return json.dumps(random.choice([rows, {"rows": rows}, odd_json(random)])).encode()
    text = as_csv(random, columns, "\t" if ending == ".tsv" else random.choice(",,,;"))
    encoding = random.choice(["utf-8"] * 8 + ["utf-8-sig", "utf-16", "latin-1", "cp1252"])
    content = text.encode(encoding, "replace")
    return gzip.compress(content, mtime=0) if ending.endswith(".gz") else content


def binary(random, columns, ending):
    """Parquet or Arrow; Arrow where Parquet does not know a type."""
    names, arrays = [name for name, _ in columns], [column for _, column in columns]
    table = pa.Table.from_arrays(arrays, names)
    if random.random() < 0.05:
        notes = random.choice([b"{", b"[]", b'{"index_columns": ["item", 1, {}]}', b"\xff"])
        table = table.replace_schema_metadata({b"pandas": notes})
    sink = io.BytesIO()
    try:
        if ending == ".parquet":
            pa.parquet.write_table(table, sink)
            return sink.getvalue()
    except (pa.ArrowException, OSError):
        sink = io.BytesIO()
    make = pa.ipc.new_stream if random.random() < 0.3 else pa.ipc.new_file
    with make(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def cells_of(column):
    """Cells as Python has them, or as Arrow shows them where Python cannot."""
    try:
        return column.to_pylist()
    except (ValueError, OverflowError, NotImplementedError):
        return [str(row) for row in range(len(column))]


def json_lines(random, columns):
    """An object for each row; some lines are odd."""
    cells = [(name, cells_of(column)) for name, column in columns]
    n_rows = len(cells[0][1]) if cells else 0
    lines = [json.dumps({name: c[row] for name, c in cells}, default=str) for row in range(n_rows)]
    if lines and random.random() < 0.2:
        place = random.randrange(len(lines))
        record = json.loads(lines[place])
        record[random.choice([*record, odd_text(random)])] = odd_json(random)
        lines[place] = json.dumps(random.choice([record, odd_json(random)]))
    return lines


def as_csv(random, columns, delimiter):
    """Text with a header; some rows are ragged."""
    text = io.StringIO()
    quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    end = random.choice(["\n", "\n", "\r\n"])
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow([name for name, _ in columns])
    cells = [cells_of(column) for _, column in columns]
    for row in zip(*cells, strict=True):
        shown = ["" if cell is None else str(cell) for cell in row]
        if random.random() < 0.01:
            shown = random.choice([shown[:-1], [*shown, "more"], [""]])
        writer.writerow(shown)
    return text.getvalue()


def damaged(random, content):
    """Bytes of which some are lost, others or more."""
    at = random.randrange(len(content) + 1)
    piece = random.randbytes(random.randint(1, 6))
    return random.choice([
        b"", content[:at], content[:at] + piece + content[at:], content[:at] + content[at + 3:],
        content[:at] + piece + content[at + len(piece):], content + piece, content[at:],
    ])  # fmt: skip


def foreign(random, content):
    """Files that are no tables."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("../x\x1b[31m", content)
    return random.choice([
        packed.getvalue(), pickle.dumps({"a": 1}), b"\x89PNG\r\n\x1a\n" + content, b"\0" * 50,
        b"%PDF-1.4", b"\x93NUMPY\x01\x00", gzip.compress(content), b"PAR1" + content + b"PAR1",
        b"ARROW1\0\0" + content, b"\xff\xff\xff\xff" + content, b"\n\n\n", b"plausible model 1",
        json.dumps(odd_json(random)).encode(), b"\xef\xbb\xbf", b'"' + content,
    ])  # fmt: skip
