"""Forged model files and checkpoints, and exports of annotation tools that are none."""

import io
import json
import zipfile

import numpy as np

from support.files import sealed
from support.odd_columns import odd_json, odd_text
from support.odd_tables import damaged

NAMES = [
    "PartialLogisticRegression", "GaussianMixtureClassifier", "SoftNearestCentroid", "Labels",
    "Pipeline", "StandardScaler", "LogisticRegression", "DummyClassifier", "KMeans", "dict", "list",
    "tuple", "str", "ndarray", "int", "set", "system", "float64", "\x1b[31m", "Calibration",
]  # fmt: skip
MODULES = [
    "plausible.models.logistic.regression", "plausible.models.gaussian.mixture",
    "plausible.models.centroid",
    "plausible.labels.container", "sklearn.pipeline", "sklearn.preprocessing._data", "builtins",
    "sklearn.linear_model._logistic", "sklearn.dummy", "sklearn.cluster._kmeans", "numpy", "os",
]  # fmt: skip
LOADERS = [
    "ObjectNode", "DictNode", "ListNode", "JsonNode", "NdArrayNode", "TupleNode", "TypeNode",
    "SetNode", "DTypeNode", "FunctionNode", "SliceNode", "OperatorFuncNode", "x",
]  # fmt: skip
ARRAYS = [
    np.zeros(0), np.zeros((0, 2)), np.zeros(3), np.ones((3, 2)), np.full((3, 3), np.nan),
    np.array(1.0), np.array(["a", "b", "c"]), np.array(["\x1b[31m", "b", "c"]), np.array([True]),
    np.arange(3), np.full((2, 2), np.inf), np.zeros((3, 2, 2)), np.array([1 + 2j]),
    np.array(["2020-01-01"], "datetime64[D]"), np.array([b"a", b"b"]), np.zeros(2, "i4,f8"),
    np.array([None, "a", 1], dtype=object), -np.ones((3, 2)), np.full(2, 1e308),
]  # fmt: skip


def forged_model(random, model):
    """A model file of which something is different, nearly always with a checksum that fits."""
    head, about, body = model.split(b"\n", 2)
    kind = random.randrange(10)
    if kind == 0:
        return damaged(random, model)
    if kind <= 2:
        about = forged_about(random, about)
    elif kind <= 5:
        body = forged_schema(random, body)
    elif kind <= 7:
        body = forged_arrays(random, body)
    elif kind == 8:
        body = forged_archive(random, body)
    else:
        body = damaged(random, body)
    return sealed(about, body) if random.random() < 0.95 else head + b"\n" + about + b"\n" + body


def forged_about(random, about):
    """What a file says about itself, with other words."""
    said = json.loads(about)
    kind = random.randrange(6)
    if kind == 0:
        return json.dumps(odd_json(random)).encode()
    if kind == 1:
        return damaged(random, about).replace(b"\n", b" ")
    name = random.choice(list(said))
    if kind == 2:
        del said[name]
    elif kind == 3:
        said["versions"] = {odd_text(random): odd_json(random), "numpy": odd_text(random)}
    elif kind == 4 and said["classes"]:
        said["classes"] = random.choice([said["classes"][1:], ["\x1b[31m", "b", "c"], [1, 2, 3]])
    else:
        said[name] = odd_json(random)
    return json.dumps(said).encode()


def unpacked(body):
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return file.getvalue()


def forged_schema(random, body):
    """The description of the parts, changed in one or two places."""
    parts = unpacked(body)
    tree = json.loads(parts["schema.json"])
    for _ in range(random.choice([1, 1, 2])):
        places = list(places_in(tree))
        holder, key = random.choice(places)
        change_place(random, holder, key, random.choice(places))
    parts["schema.json"] = json.dumps(tree).encode()
    return packed(parts.items())


def places_in(tree):
    """Every place in a tree of dictionaries and lists."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree))
    for key in keys:
        yield tree, key
        if isinstance(tree[key], (dict, list)):
            yield from places_in(tree[key])


def change_place(random, holder, key, other):
    """Another value, none, or that of another place."""
    named = {"__class__": NAMES, "__module__": MODULES, "__loader__": LOADERS}
    kind = random.randrange(5)
    if key in named:
        holder[key] = random.choice(named[key])
    elif kind == 0:
        del holder[key]
    elif kind == 1 and not isinstance(other[0][other[1]], (dict, list)):
        holder[key] = other[0][other[1]]
    elif kind <= 3 and isinstance(holder[key], str):
        holder[key] = json.dumps(odd_json(random))
    else:
        holder[key] = odd_json(random)


def forged_arrays(random, body):
    """Other arrays than those that were learned."""
    parts = unpacked(body)
    names = [name for name in parts if name.endswith(".npy")]
    for _ in range(random.choice([1, 1, 2])):
        if names:
            parts[random.choice(names)] = odd_array(random, [parts[name] for name in names])
    return packed(parts.items())


def odd_array(random, others):
    """An array in a file, or something that is none."""
    if random.random() < 0.3:
        return random.choice(others)
    if random.random() < 0.15:
        return damaged(random, random.choice(others))
    file = io.BytesIO()
    np.save(file, random.choice(ARRAYS), allow_pickle=True)
    return file.getvalue()


def forged_archive(random, body):
    """Other parts, or another packing."""
    parts = list(unpacked(body).items())
    more = [*parts, (random.choice(["x", "../x", "schema.json "]), b"x")]
    return random.choice([
        lambda: packed(parts[1:]), lambda: packed(parts[:-1]), lambda: packed([]),
        lambda: packed(more), lambda: packed(parts, zipfile.ZIP_DEFLATED), lambda: b"",
        lambda: packed([("schema.json", json.dumps(odd_json(random)))]),
    ])()  # fmt: skip


def forged_checkpoint(random, checkpoint):
    """What --resume may find: a file of which something is different."""
    with np.load(io.BytesIO(checkpoint)) as file:
        arrays = {name: file[name] for name in file.files}
    kind = random.randrange(6)
    if kind == 0:
        return damaged(random, checkpoint)
    if kind <= 2:
        state = json.loads(str(arrays["state"]))
        holder, key = random.choice(list(places_in(state)))
        holder[key] = odd_json(random)
        arrays["state"] = np.array(json.dumps(random.choice([state, state, odd_json(random)])))
    else:
        name = random.choice(list(arrays))
        nowhere = arrays[name] * np.nan if arrays[name].dtype.kind == "f" else ARRAYS[0]
        arrays[name] = random.choice([*ARRAYS, *arrays.values(), nowhere])
        if kind == 3:
            del arrays[name]
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def odd_answer(random):
    """An answer of Prodigy, or nearly."""
    answer = {"answer": random.choice(["accept", "reject", "ignore", odd_json(random)]),
              "_input_hash": random.choice([1, 2, odd_json(random)]),
              "_session_id": random.choice(["ann", odd_json(random)])}  # fmt: skip
    options = [{"id": "ash"}, {"id": "elm"}, random.choice([{"id": "oak"}, odd_json(random)])]
    chosen = random.choice([["ash"], ["ash", "elm"], odd_json(random)])
    return answer | random.choice([
        {"label": random.choice(["ash", "elm", odd_json(random)])},
        {"options": options, "accept": chosen},
    ])  # fmt: skip


def odd_record(random):
    """A record of Argilla, or nearly."""
    value = random.choice(["ash", ["ash", "elm"], odd_json(random)])
    responses = random.choice([
        {"tree": [{"value": value, "user_id": "ann"}, {"value": "oak", "user_id": "bob"}]},
        [{"user_id": "ann", "status": "submitted", "values": {"tree": {"value": value}}}],
        odd_json(random),
    ])  # fmt: skip
    return {"id": random.choice(["x", "y", odd_json(random)]), "fields": {"text": "..."},
            "responses": responses, "suggestions": odd_json(random)}  # fmt: skip


def odd_export(random):
    """What annotation tools would not write, or nearly."""
    chosen = {"type": "choices", "value": {"choices": random.choice(
        [["ash"], ["ash", "elm"], "oak", odd_json(random), [odd_json(random)]])}}  # fmt: skip
    annotation = {"completed_by": random.choice([1, {"id": 1}, {"email": "a"}, odd_json(random)]),
                  "result": random.choice([[chosen], [], odd_json(random)])}  # fmt: skip
    several = random.choice([[annotation], [annotation] * 2, odd_json(random)])
    task = {"id": random.choice([1, 2, odd_json(random)]), "annotations": several}
    entry = {"id": random.choice([1, 2, odd_json(random)]),
             "label": random.choice([["ash"], "elm", [], odd_json(random)])}  # fmt: skip
    second = {"id": 5, "label": ["oak"]}
    content = random.choice([
        lambda: json.dumps([task, random.choice([task, odd_json(random)])]),
        lambda: json.dumps([task]),
        lambda: "\n".join(json.dumps(one) for one in (entry, second, random.choice([entry, task]))),
        lambda: json.dumps(odd_json(random)),
        lambda: "\n".join(json.dumps(odd_answer(random)) for _ in range(3)),
        lambda: json.dumps([odd_record(random) for _ in range(3)]),
    ])().encode()  # fmt: skip
    return damaged(random, content) if random.random() < 0.1 else content
