"""Models in files: the same answers after a round trip, and nothing that runs code."""

import builtins
import io
import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import sklearn
import skops.io
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from conformance.register import ESTIMATORS, REGISTER
from plausible.cluster import EKNNClus
from plausible.experts import Annotations, JointAnnotatorClassifier
from plausible.io import ModelFileError, VersionWarning, inspect_model, load, save
from plausible.io.model_files import describe, load_classifier
from plausible.labels import Labels
from plausible.models import (
    BeliefForestClassifier,
    BeliefTreeClassifier,
    DiscriminantClassifier,
    EvidentialCalibratedClassifier,
    GaussianMixtureClassifier,
    SoftLabelClassifier,
    SoftNearestCentroid,
    StochasticSupervisionClassifier,
)
from plausible.testing.samples import draw
from support.files import sealed

METHODS = (
    "predict", "predict_proba", "predict_log_proba", "predict_plausibility", "predict_set",
    "decision_function", "transform", "score_samples", "predict_novelty",
)  # fmt: skip


def assert_same_answers(model, other, X):
    assert type(other) is type(model)
    asked = [method for method in METHODS if hasattr(model, method)]
    assert asked
    for method in asked:
        before, after = getattr(model, method)(X), getattr(other, method)(X)
        assert before.dtype == after.dtype
        assert before.tobytes() == after.tobytes(), method
    if hasattr(model, "predict_mass"):
        before, after = model.predict_mass(X), other.predict_mass(X)
        assert before.values.tobytes() == after.values.tobytes()
        assert before.focal_sets.tolist() == after.focal_sets.tolist()


@pytest.mark.parametrize("name", REGISTER)
def test_answers_are_the_same_for_every_estimator(tmp_path, name):
    sample = draw()
    model = REGISTER[name].fit(sample.X, sample.plausible)
    save(model, tmp_path / "model")
    assert_same_answers(model, load(tmp_path / "model"), sample.fresh)
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_answers_are_the_same_for_every_estimator_in_a_pipeline(tmp_path, name):
    sample = draw()
    pipeline = make_pipeline(StandardScaler(), ESTIMATORS[name].make())
    pipeline.fit(sample.X, sample.plausible)
    save(pipeline, tmp_path / "model")
    assert_same_answers(pipeline, load(tmp_path / "model"), sample.fresh)


@pytest.mark.parametrize("name", REGISTER)
def test_an_unfitted_model_keeps_its_parameters(tmp_path, name):
    model = REGISTER[name].make()
    save(model, tmp_path / "model")
    assert repr(load(tmp_path / "model")) == repr(model)


def test_a_loaded_model_can_be_fitted_and_saved_again(tmp_path):
    sample = draw()
    model = GaussianMixtureClassifier(random_state=np.random.RandomState(3), n_init=2)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    first, second = (m.fit(sample.X, sample.plausible) for m in (model, again))
    assert_same_answers(first, second, sample.fresh)
    save(second, tmp_path / "model")
    assert_same_answers(first, load(tmp_path / "model"), sample.fresh)


def test_parameters_of_many_kinds(tmp_path):
    model = GaussianMixtureClassifier(
        n_components=[1, 2], init={"means": np.zeros((3, 2))}, tol=np.float64(0.1)
    )
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model").get_params()
    assert loaded["n_components"] == [1, 2]
    assert loaded["init"]["means"].tolist() == [[0, 0]] * 3
    assert loaded["tol"] == 0.1
    calibrated = EvidentialCalibratedClassifier(SoftNearestCentroid(), cv=StratifiedKFold(3))
    save(calibrated, tmp_path / "model")
    assert load(tmp_path / "model").cv.n_splits == 3


def test_labels_can_be_kept_in_the_same_way(tmp_path):
    labels = Labels.from_masses([{("a",): 0.7, ("a", "b"): 0.3}], classes=["a", "b"])
    save(labels, tmp_path / "labels")
    assert load(tmp_path / "labels") == labels


def test_what_a_file_says_about_itself(tmp_path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"length": [1.0, 2, 3, 5, 7, 8], "width": [0.0, 1, 0, 2, 1, 2]})
    model = DiscriminantClassifier(reg_covar=0.1).fit(X, [1, 1, 1, 2, 2, 2])
    save(model, tmp_path / "model")
    about = inspect_model(tmp_path / "model")
    assert about["type"] == "DiscriminantClassifier"
    assert about["classes"] == [1, 2]
    assert about["features"] == ["length", "width"]
    assert about["n_features"] == 2
    assert about["versions"]["numpy"] == np.__version__
    assert load(tmp_path / "model").feature_names_in_.tolist() == ["length", "width"]


# -- What cannot be saved --------------------------------------------------------------------------


class Doubling(StandardScaler):
    def transform(self, X, copy=None):
        return 2 * super().transform(X, copy)


def test_classes_of_your_own_are_named_and_can_be_trusted(tmp_path):
    sample = draw()
    model = make_pipeline(Doubling(), SoftNearestCentroid()).fit(sample.X, sample.doubted)
    with pytest.raises(ModelFileError, match=r"names .*Doubling; .*trusted="):
        save(model, tmp_path / "model")
    assert os.listdir(tmp_path) == []
    save(model, tmp_path / "model", trusted=[Doubling])
    with pytest.raises(ModelFileError, match="Doubling"):
        load(tmp_path / "model")
    assert_same_answers(model, load(tmp_path / "model", trusted=[Doubling]), sample.fresh)
    for name in ("os.system", os.system, len):
        with pytest.raises(TypeError, match="should be classes"):
            load(tmp_path / "model", trusted=[name])


def test_functions_are_refused(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"before")
    models = {
        "print": GaussianMixtureClassifier(callback=print),
        "lambda": GaussianMixtureClassifier(callback=lambda progress: None),
        "system": FunctionTransformer(os.system),
        "eval": FunctionTransformer(eval),
        "test_functions": GaussianMixtureClassifier(callback=test_functions_are_refused),
    }
    for word, model in models.items():
        with pytest.raises(ModelFileError, match=word):
            save(model, path)
    with pytest.raises(ModelFileError, match="cannot be saved"):
        save(GaussianMixtureClassifier(random_state=(i for i in range(3))), path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["model"]
    save(FunctionTransformer(np.log1p), path)
    assert load(path).func is np.log1p


def test_trees_need_trust(tmp_path):
    sample = draw()
    forest = RandomForestClassifier(3, random_state=0)
    model = EvidentialCalibratedClassifier(forest, cv=2).fit(sample.X, sample.doubted)
    Tree = type(forest.fit([[0.0], [1.0]], [0, 1]).estimators_[0].tree_)
    with pytest.raises(ModelFileError, match=r"sklearn\.tree\._tree\.Tree"):
        save(model, tmp_path / "model")
    save(model, tmp_path / "model", trusted=[Tree])
    assert_same_answers(model, load(tmp_path / "model", trusted=[Tree]), sample.fresh)


def test_boosted_trees_are_saved_and_forged_ones_refused(tmp_path):
    sample = draw()
    X = sample.X
    boosting = HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5)
    model = SoftLabelClassifier(boosting, cv=2, max_iter=1).fit(X, sample.doubted)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict_proba(X), model.predict_proba(X))
    trees = model.estimator_._predictors[0]
    root = trees[0].nodes[0].copy()
    assert not root["is_leaf"]
    wrong = {
        "left": [0, len(trees[0].nodes), 4_000_000_000], "right": [0, len(trees[0].nodes)],
        "feature_idx": [-1, X.shape[1]], "is_categorical": [1],
    }  # fmt: skip
    for field, values in wrong.items():
        for value in values:
            trees[0].nodes[0][field] = value
            with pytest.raises(ModelFileError, match="nodes lead to each other"):
                save(model, tmp_path / "model")
            trees[0].nodes[0] = root
    save(model, tmp_path / "model")


def own_tree():
    return BeliefTreeClassifier().fit([[0.0], [1.0], [2.0]] * 3, ["b", "c", "a"] * 3)


def forest_tree():
    forest = BeliefForestClassifier(3, random_state=0)
    return forest.fit([[0.0], [1.0], [2.0]] * 5, ["b", "c", "a"] * 5)


def single_masses():
    X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0.0], [9.0], [18.0]], 10, 0)
    return EKNNClus(3, random_state=0).fit(X)


def neighbors():
    return KNeighborsClassifier(1).fit([[0.0], [1.0], [2.0]], ["b", "c", "a"])


def machine():
    return SVC().fit([[0.0], [1.0], [2.0]] * 3, ["b", "c", "a"] * 3)


def centers():
    return KMeans(2, n_init=1, random_state=0).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]])


def sparse_inside():
    return LogisticRegression(class_weight=csr_array(np.eye(3)))  # wherever it may be


def generator():
    return LogisticRegression(random_state=np.random.RandomState(0))


def move_pos(model):
    state = model.random_state.get_state(legacy=False)
    state["state"]["pos"] = 100_000
    model.random_state.set_state(state)


LEADS_NOWHERE = [
    (own_tree, lambda model: model.tree_.mass_column.__setitem__(0, 99)),
    (own_tree, lambda model: model.tree_.mass_start.__setitem__(-1, 99)),
    (own_tree, lambda model: model.tree_.children_left.__setitem__(0, 99)),
    (own_tree, lambda model: setattr(model, "focal_sets_", model.focal_sets_[:0])),
    (forest_tree, lambda model: model.estimators_[1].tree_.mass_column.__setitem__(0, -1)),
    (single_masses, lambda model: model.partition_.given.indices.__setitem__(0, 99)),
    (neighbors, lambda model: model._y.__setitem__(0, 10_000)),
    (neighbors, lambda model: model._y.__setitem__(0, -1)),
    (machine, lambda model: setattr(model, "_intercept_", model._intercept_[:1])),
    (machine, lambda model: setattr(model, "_dual_coef_", model._dual_coef_[:, :1].copy())),
    (centers, lambda model: setattr(model, "cluster_centers_", model.cluster_centers_[:, :1])),
    (sparse_inside, lambda model: model.class_weight.indices.__setitem__(0, 10_000)),
    (sparse_inside, lambda model: model.class_weight.indptr.__setitem__(1, 10_000)),
    (generator, move_pos),
]


@pytest.mark.parametrize(("make", "harm"), LEADS_NOWHERE)
def test_numbers_that_lead_beyond_arrays_are_refused(tmp_path, make, harm):
    """Compiled code would follow them: such a file once wrote into other objects of the process."""
    model = make()
    save(model, tmp_path / "model", trusted=[csr_array])
    load(tmp_path / "model", trusted=[csr_array])
    harm(model)
    with pytest.raises(ModelFileError, match="places that are there"):
        save(model, tmp_path / "model", trusted=[csr_array])


# -- Damaged and forged files ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def content(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model"
    save(SoftNearestCentroid().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"]), path)
    return path.read_bytes()


def forge(content: bytes, change) -> bytes:
    """The file after a change of its description, with a checksum that fits."""
    _, about, body = content.split(b"\n", 2)
    source = zipfile.ZipFile(io.BytesIO(body))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            data = source.read(name)
            if name == "schema.json":
                schema = json.loads(data)
                data = json.dumps(change(schema) or schema).encode()
            archive.writestr(name, data)
    return sealed(about, target.getvalue())


def json_node(value):
    return {"__class__": "str", "__module__": "builtins", "__loader__": "JsonNode",
            "content": json.dumps(value), "is_json": True}  # fmt: skip


def node(loader, module, name, **more):
    return {"__class__": name, "__module__": module, "__loader__": loader} | more


def tuple_node(*items):
    return node("TupleNode", "builtins", "tuple", content=list(items))


def dict_node(**items):
    types = node("ListNode", "builtins", "list",
                 content=[node("TypeNode", "builtins", "str") for _ in items])  # fmt: skip
    return node("DictNode", "builtins", "dict", content=items, key_types=types)


COMMAND = json_node("touch pwned")
SYSTEM = node("FunctionNode", os.system.__module__, "system")
PAYLOADS = {
    "os.system as a type": node("TypeNode", "os", "system"),
    "os.system as a function": node("FunctionNode", "os", "system"),
    "posix.system": SYSTEM,
    "eval": node("TypeNode", "builtins", "eval"),
    "exec as a function": node("FunctionNode", "builtins", "exec"),
    "Popen made": node(
        "ConstructorFromReduceNode", "subprocess", "Popen", content=tuple_node(COMMAND)),
    "Popen as an object": node(
        "ObjectNode", "subprocess", "Popen", content=dict_node(args=COMMAND)),
    "eval made": node("ConstructorFromReduceNode", "builtins", "eval", content=tuple_node(COMMAND)),
    "partial": node("PartialNode", "functools", "partial", content={
        "func": SYSTEM, "args": tuple_node(COMMAND), "kwds": dict_node(),
        "namespace": json_node(None)}),
    "partial of print": node("PartialNode", "functools", "partial", content={
        "func": node("TypeNode", "builtins", "print"), "args": tuple_node(COMMAND),
        "kwds": dict_node(), "namespace": json_node(None)}),
    "attrgetter": node("OperatorFuncNode", "operator", "attrgetter", attrs=tuple_node(COMMAND)),
    "methodcaller": node("OperatorFuncNode", "operator", "methodcaller", attrs=tuple_node(COMMAND)),
    "method": node("MethodNode", "plausible.models.centroid", "SoftNearestCentroid", content={
        "func": "fit",
        "obj": node("ObjectNode", "plausible.models.centroid", "SoftNearestCentroid")}),
    "list of another class": node("ListNode", "subprocess", "Popen", content=[COMMAND]),
    "set of another class": node("SetNode", "subprocess", "Popen", content=[COMMAND]),
    "dict of another class": node("DictNode", "os", "_Environ", content={}, key_types=dict_node()),
    "array of another class": node(
        "NdArrayNode", "subprocess", "Popen", type="numpy", file="schema.json"),
    "key made by eval": node("DictNode", "builtins", "dict", content={"1+1": json_node(1)},
                             key_types=node("ListNode", "builtins", "list", content=[
                                 node("TypeNode", "builtins", "eval")])),
    "default factory": node("DefaultDictNode", "collections", "defaultdict", content={
        "main": dict_node(), "default_factory": SYSTEM}),
    "old function": node("FunctionNode", "scipy.special._ufuncs", "expit", content={
        "module_path": "os", "function": "system"}),
    "bit generator": node("RandomGeneratorNode", "numpy.random._generator", "Generator", content={
        "bit_generator": dict_node(bit_generator=json_node("seed")), "seed_seq": dict_node()}),
    "module that is not there": node("ObjectNode", "no_such_module", "Thing"),
    "module that prints": node("ObjectNode", "this", "Thing"),
    "unknown loader": node("PickleNode", "builtins", "str", content="x"),
    "no loader": node(None, "builtins", "str", content="x"),
    "submodule": node("ObjectNode", "plausible.engine.sources", "CsvSource"),
    "test class": node("ObjectNode", "sklearn.tree._tree", "Tree"),
}  # fmt: skip


@pytest.mark.parametrize("protocol", [0, 1, 2])
@pytest.mark.parametrize("what", PAYLOADS)
def test_payloads_are_refused_before_anything_runs(content, tmp_path, monkeypatch, what, protocol):
    def alarm(*args, **kwargs):
        raise AssertionError("code of the file was run")

    def plant(schema):
        schema["protocol"] = protocol
        schema["content"]["content"]["means_"] = PAYLOADS[what]

    path = tmp_path / "model"
    path.write_bytes(forge(content, plant))
    with monkeypatch.context() as guarded:
        guarded.chdir(tmp_path)
        for module, name in [(os, "system"), (subprocess, "Popen"), (builtins, "eval")]:
            guarded.setattr(module, name, alarm)
        with pytest.raises(ModelFileError):
            load(path)
    assert os.listdir(tmp_path) == ["model"]
    assert "this" not in sys.modules


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("os.system as a type", "os.system"),
        ("os.system as a function", "os.system"),
        ("posix.system", f"{os.system.__module__}.system"),
        ("eval", "builtins.eval"),
        ("eval made", "builtins.eval"),
        ("Popen made", "subprocess.Popen"),
        ("Popen as an object", "subprocess.Popen"),
        ("partial", "functools.partial"),
        ("attrgetter", "operator.attrgetter"),
        ("methodcaller", "operator.methodcaller"),
        ("key made by eval", "builtins.eval"),
        ("default factory", f"{os.system.__module__}.system"),
        ("bit generator", "numpy.random.seed"),
        ("submodule", "plausible.engine.sources.CsvSource"),
    ],
)
def test_what_is_refused_is_named(content, tmp_path, what, name):
    def plant(schema):
        schema["content"]["content"]["means_"] = PAYLOADS[what]

    path = tmp_path / "model"
    path.write_bytes(forge(content, plant))
    with pytest.raises(ModelFileError, match=rf"'model' should .* but names .*{name}"):
        load(path)


def test_the_root_of_a_file_is_looked_at_as_well(content, tmp_path):
    path = tmp_path / "model"
    for what, payload in PAYLOADS.items():
        path.write_bytes(forge(content, lambda s, p=payload: p | {"protocol": s["protocol"]}))
        with pytest.raises(ModelFileError, match="model"):
            load(path)
        assert what


def test_a_file_without_changes_is_no_forgery(content, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(forge(content, lambda schema: None))
    assert load(path).predict([[4.9]]).tolist() == ["b"]


def test_every_altered_byte_is_noticed(content, tmp_path):
    path = tmp_path / "model"
    for at in range(0, len(content), 7):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        with pytest.raises(ModelFileError, match="'model' should"):
            load(path)
    for size in range(0, len(content), 13):
        path.write_bytes(content[:size])
        with pytest.raises(ModelFileError, match="'model' should"):
            load(path)
    path.write_bytes(content + b"x")
    with pytest.raises(ModelFileError, match="checksum"):
        load(path)


def test_archives_that_might_grow_without_end(content, tmp_path):
    _, about, _ = content.split(b"\n", 2)
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", b" " * 10_000_000)
    (tmp_path / "model").write_bytes(sealed(about, body.getvalue()))
    with pytest.raises(ModelFileError, match="not compressed"):
        load(tmp_path / "model")
    deep = b"[" * 100_000 + b"]" * 100_000
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr("schema.json", deep)
    (tmp_path / "model").write_bytes(sealed(about, body.getvalue()))
    with pytest.raises(ModelFileError):
        load(tmp_path / "model")


@pytest.mark.parametrize("about", [b"", b"x", b"[]", b"{}", b'{"versions": 3}', b"null"])
def test_files_that_do_not_say_what_they_hold(content, tmp_path, about):
    body = content.split(b"\n", 2)[2]
    (tmp_path / "model").write_bytes(sealed(about, body))
    with pytest.raises(ModelFileError, match="JSON"):
        load(tmp_path / "model")


def test_another_type_than_the_file_says(content, tmp_path):
    _, about, body = content.split(b"\n", 2)
    (tmp_path / "model").write_bytes(sealed(about.replace(b"SoftNearest", b"HardNearest"), body))
    with pytest.raises(ModelFileError, match="HardNearestCentroid, as it says"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("package", "version", "matters"),
    [
        ("plausible", "0.0.9", True),
        ("scikit-learn", "1.1.0", True),
        ("scikit-learn", ".".join([*sklearn.__version__.split(".")[:2], "99"]), False),
        ("numpy", "1.26.4", True),
        ("numpy", "2.0.0", False),
    ],
)
def test_versions_that_matter(content, tmp_path, package, version, matters):
    _, line, body = content.split(b"\n", 2)
    about = json.loads(line)
    about["versions"][package] = version
    (tmp_path / "model").write_bytes(sealed(json.dumps(about).encode(), body))
    if not matters:
        load(tmp_path / "model")
        return
    with pytest.warns(VersionWarning, match=f"{package} {version}") as caught:
        load(tmp_path / "model")
    assert caught[0].filename == __file__


def test_a_model_of_another_scikit_learn_warns_once(tmp_path):
    def age(schema):
        return json.loads(json.dumps(schema).replace(sklearn.__version__, "1.1.1"))

    path = tmp_path / "model"
    save(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), path)
    content = path.read_bytes()
    _, about, body = forge(content, age).split(b"\n", 2)
    assert b"1.1.1" in body
    path.write_bytes(sealed(about.replace(sklearn.__version__.encode(), b"1.1.1"), body))
    with pytest.warns(VersionWarning) as caught:
        load(path)
    assert len(caught) == 1


def test_versions_of_skops_that_trust_too_much(content, tmp_path, monkeypatch):
    import skops

    (tmp_path / "model").write_bytes(content)
    for version in ("0.14.0", "0.9"):
        monkeypatch.setattr(skops, "__version__", version)
        with pytest.raises(ImportError, match=rf"skops 0\.15 or later.*{version}"):
            load(tmp_path / "model")
        with pytest.raises(ImportError, match="plausible\\[io\\]"):
            save(SoftNearestCentroid(), tmp_path / "model")
    monkeypatch.setattr(skops, "__version__", "0.15.dev0")
    load(tmp_path / "model")


def test_nothing_half_written(tmp_path, monkeypatch, content):
    path = tmp_path / "model"
    path.write_bytes(content)
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        save(SoftNearestCentroid(), path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["model"]


def test_models_of_assessments_and_of_answers_are_the_same_after_a_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    X = rng.normal(size=(80, 2)) + 2 * y[:, None]
    z = 1 / (1 + np.exp(-rng.normal(np.where(y == 0, 2.0, -2.0))))
    said = np.where(rng.uniform(size=(80, 3)) < 0.8, y[:, None], 1 - y[:, None])
    supervised = StochasticSupervisionClassifier("g3").fit(X, z)
    joint = JointAnnotatorClassifier(model="one_coin").fit(X, Annotations.from_answers(said))
    for model in (supervised, joint):
        path = tmp_path / "model.skops"
        save(model, path)
        restored = load(path)
        np.testing.assert_array_equal(model.predict_proba(X), restored.predict_proba(X))
    np.testing.assert_array_equal(joint.reliability_.accuracy, restored.reliability_.accuracy)


WRONG = [
    ("type", 3), ("estimator", ["x"]), ("classes", "ab"), ("classes", [["a"], "b"]),
    ("classes", []), ("classes", [None, "b"]), ("features", [1]), ("features", ["x", "x"]),
    ("features", "xy"), ("n_features", -1), ("n_features", 1.5), ("n_features", True),
    ("id", 7), ("id", {"a": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("key", "value"), WRONG)
def test_files_that_say_something_of_another_kind(content, tmp_path, key, value):
    _, about, body = content.split(b"\n", 2)
    path = tmp_path / "model"
    path.write_bytes(sealed(json.dumps(json.loads(about) | {key: value}).encode(), body))
    with pytest.raises(ModelFileError, match=f"'model' should say .* its '{key}' cannot be"):
        inspect_model(path)


@pytest.mark.parametrize("change", [
    {"classes": [*"xyzw"]}, {"n_features": 9}, {"features": [*"abcde"]}, {"classes": None},
])  # fmt: skip
def test_classifiers_that_are_not_what_their_file_says(content, tmp_path, change):
    _, about, body = content.split(b"\n", 2)
    path = tmp_path / "model"
    path.write_bytes(content)
    assert load_classifier(path)[1] == inspect_model(path)
    path.write_bytes(sealed(json.dumps(json.loads(about) | change).encode(), body))
    load(path)
    with pytest.raises(ModelFileError, match="'model' should hold a .*classifier"):
        load_classifier(path)


@pytest.mark.parametrize("learned", [
    {"means_": np.zeros(3)}, {"means_": np.array(["a"])}, {"classes_": np.zeros((2, 2))},
    {"n_features_in_": "2"}, {"classes_": None},
])  # fmt: skip
def test_classifiers_whose_parts_do_not_fit(tmp_path, learned):
    model = SoftNearestCentroid().fit(np.eye(3), ["oak", "ash", "elm"])
    assert set(learned) <= set(vars(model))
    for name, value in learned.items():
        setattr(model, name, value)
    path = tmp_path / "model"
    about = describe(SoftNearestCentroid().fit(np.eye(3), ["oak", "ash", "elm"]))
    path.write_bytes(sealed(json.dumps(about).encode(), skops.io.dumps(model)))
    with pytest.raises(ModelFileError, match="parts do not fit each other"):
        load_classifier(path)
