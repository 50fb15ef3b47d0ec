"""Damaged, foreign and hostile files: a clear error, or the same predictions; nothing is executed or written."""

import hashlib
import io
import json
import random
import zipfile
from itertools import pairwise

import numpy as np
import pytest

import rio_uq
from rio_uq import FormatError, RIORegressor
from rio_uq.storage.archive import FORMAT_VERSION, MANIFEST, SUMS

pytestmark = pytest.mark.no_cover

X = np.linspace(0.0, 1.0, 12)[:, None]
NEW = np.array([[0.05], [0.5], [2.0]])


def double(X):
    return 2.0 * X[:, 0]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The bytes of a small file, and the predictions of its regressor."""
    y = np.sin(5.0 * X[:, 0])
    rio = RIORegressor(double, inference="sparse", n_inducing=3, noise="constant", max_iter=50, tol=0.1, random_state=0)
    rio.fit(X, y).calibrate(X, y, method="conformal", groups=np.arange(12) % 2)
    path = tmp_path_factory.mktemp("saved") / "model.rio"
    rio.save(path)
    return path.read_bytes(), answers(rio)


def answers(rio):
    given = {"y_pred": double(NEW), "groups": [0, 1, 0]}
    return np.hstack(
        [rio.predict(NEW, return_std=True, **given), rio.predict_interval(NEW, confidence_level=0.6, **given).T]
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.rio"


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def zipped(contents, *, resum=True, method=zipfile.ZIP_STORED, extra=()):
    """A zip of the given members, with sums that fit if asked for."""
    contents = dict(contents)
    if resum:
        lines = [f"{hashlib.sha256(value).hexdigest()}  {name}\n" for name, value in contents.items() if name != SUMS]
        contents[SUMS] = "".join(lines).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, value in [*contents.items(), *extra]:
            archive.writestr(name, value)
    return buffer.getvalue()


def with_manifest(content, change):
    contents = members(content)
    manifest = json.loads(contents[MANIFEST])
    changed = change(manifest)
    contents[MANIFEST] = json.dumps(manifest if changed is None else changed).encode()
    return zipped(contents)


def with_array(content, name, array):
    """With another array, and a manifest that describes it truly."""
    contents, buffer = members(content), io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=True)
    contents[name] = buffer.getvalue()
    manifest = json.loads(contents[MANIFEST])
    manifest["arrays"][name] = {"shape": list(array.shape), "dtype": array.dtype.str}
    contents[MANIFEST] = json.dumps(manifest).encode()
    return zipped(contents)


def outcome(path, content):
    """Load it: None if it is refused in the right way, otherwise the predictions."""
    path.write_bytes(content)
    try:
        return answers(rio_uq.load(path, estimator=None))
    except FormatError as error:
        if not str(error).startswith(str(path)):
            raise AssertionError("the message does not name the file") from error
        return None


def test_flipped_bytes(saved, path):
    content, expected = saved
    rng = random.Random(0)
    refused = 0
    for _ in range(120):
        damaged = bytearray(content)
        for _ in range(rng.choice([1, 1, 1, 4])):
            damaged[rng.randrange(len(content))] ^= rng.randrange(1, 256)
        found = outcome(path, bytes(damaged))
        refused += found is None
        if found is not None:
            np.testing.assert_array_equal(found, expected)
    assert refused > 90


def test_flipped_bytes_of_the_directory(saved, path):
    content, expected = saved
    directory = content.index(b"PK\x01\x02")
    rng = random.Random(1)
    for _ in range(60):
        damaged = bytearray(content)
        damaged[rng.randrange(directory, len(content))] = rng.randrange(256)
        found = outcome(path, bytes(damaged))
        if found is not None:
            np.testing.assert_array_equal(found, expected)


def test_truncated_and_prolonged(saved, path):
    content, expected = saved
    rng = random.Random(2)
    for _ in range(40):
        assert outcome(path, content[: rng.randrange(len(content))]) is None
        start, stop = sorted(rng.randrange(len(content)) for _ in range(2))
        found = outcome(path, content[:start] + content[stop:])
        assert found is None or np.array_equal(found, expected)
    for found in (outcome(path, content + b"x" * 100), outcome(path, b"x" + content), outcome(path, b"")):
        assert found is None or np.array_equal(found, expected)


def test_swapped_members(saved, path):
    contents = members(saved[0])
    names = sorted(set(contents) - {SUMS})
    for first, second in pairwise([*names, names[0]]):
        swapped = {**contents, first: contents[second], second: contents[first]}
        if contents[first] != contents[second]:
            assert outcome(path, zipped(swapped, resum=False)) is None
        assert outcome(path, zipped({name: contents[name] for name in contents if name != first}, resum=False)) is None
        assert outcome(path, zipped({name: contents[name] for name in contents if name != first})) is None


def places(value, path=()):
    """The path to every value inside a JSON value."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def value_at(value, path):
    for key in path:
        value = value[key]
    return value


ODD = [None, True, -1, 0, 3, 1e308, 10**400, "x", "", [], [[]], {}, {"x": 1}, [1, 2], -0.5, "rbf"]


def test_edited_manifests_even_with_sums_that_fit(saved, path):
    """An edit that says something else in the format's own terms is as good as another file; all others are errors."""
    content, _ = saved
    manifest = json.loads(members(content)[MANIFEST])
    refused, number, rng = 0, 0, random.Random(3)
    for place in places(manifest):
        odd = rng.choice(ODD)
        edited = json.loads(json.dumps(manifest))
        if place:
            value_at(edited, place[:-1])[place[-1]] = odd
        else:
            edited = odd
        number += 1
        path.write_bytes(with_manifest(content, lambda _, edited=edited: edited))
        try:
            rio_uq.load(path, estimator=None)
        except FormatError:
            refused += 1
        except TypeError as error:
            if "give it as features" not in str(error):
                raise
    assert number > 120
    assert refused > 0.75 * number


def test_left_out_and_added_keys(saved, path):
    content, _ = saved
    manifest = json.loads(members(content)[MANIFEST])
    named = [place for place in places(manifest) if place and isinstance(place[-1], str)]
    for place in named:

        def leave_out(edited, place=place):
            del value_at(edited, place[:-1])[place[-1]]

        assert outcome(path, with_manifest(content, leave_out)) is None, place
    for parent in sorted({place[:-1] for place in named}, key=str):

        def add(edited, parent=parent):
            value_at(edited, parent)["surplus"] = 1

        assert outcome(path, with_manifest(content, add)) is None, parent


def array_names(content):
    return [name for name in members(content) if name.endswith(".npy")]


def test_arrays_of_other_shapes_and_types(saved, path):
    content, _ = saved
    for name, value in members(content).items():
        if not name.endswith(".npy"):
            continue
        array = np.load(io.BytesIO(value))
        odd = [
            array[None],
            array.ravel()[:-1],
            array.astype(complex),
            array.astype(">f8"),
            array.astype("<f4"),
            array.astype("U5"),
            np.empty((10**9, 0)),
            array.astype(object),
        ]
        if array.dtype.kind == "f" and name != "arrays/gp/trust.npy":
            odd += [np.full_like(array, np.nan), np.full_like(array, np.inf)]
        for number, other in enumerate(odd):
            if other.dtype == array.dtype and other.shape == array.shape and np.array_equal(other, array):
                continue
            found = outcome(path, with_array(content, name, other))
            assert found is None or name == "arrays/check/rows.npy", (name, number)


EMPTIED = ["known/", "gp/posterior/", "gp/slope_at", "check/rows", "check/features", "calibration/", ""]


@pytest.mark.parametrize("prefix", EMPTIED)
@pytest.mark.parametrize("axis", [0, 1])
def test_empty_arrays(prefix, axis, saved, path):
    """Arrays that belong together are empty, and the manifest says so truly."""
    content, names = saved[0], []
    for name, value in members(content).items():
        array = np.load(io.BytesIO(value)) if name.endswith(".npy") else np.empty(0)
        if name.startswith(f"arrays/{prefix}") and array.ndim > axis:
            content = with_array(content, name, np.delete(array, np.s_[:], axis))
            names.append(name)
    if names:
        message = refusal(path, content)
        assert any(f"member {name}: " in message for name in names)
        assert "shape" in message or "columns" in message or "at least one" in message or "more than there" in message


def test_objects_are_never_unpickled(saved, path, tmp_path):
    class Bomb:
        def __reduce__(self):
            return open, (str(tmp_path / "executed"), "w")

    for name in array_names(saved[0]):
        array = np.array([Bomb()], dtype=object)
        with pytest.raises(FormatError, match=r"not allowed|not a plain"):
            path.write_bytes(with_array(saved[0], name, array)) and rio_uq.load(path)
    assert not (tmp_path / "executed").exists()


def refusal(path, content):
    path.write_bytes(content)
    with pytest.raises(FormatError) as caught:
        rio_uq.load(path)
    return str(caught.value)


def test_hostile_zips_are_named_for_what_they_are(saved, path):
    content, _ = saved
    contents = members(content)
    assert "compressed" in refusal(path, zipped(contents, method=zipfile.ZIP_DEFLATED))
    assert "'../evil.npy'" in refusal(path, zipped(contents, extra=[("../evil.npy", b"x")]))
    assert "name that no member" in refusal(path, zipped(contents, extra=[("/etc/passwd", b"x")]))
    with pytest.warns(UserWarning, match="Duplicate"):
        double_member = zipped(contents, extra=[(MANIFEST, contents[MANIFEST])])
    assert "two members" in refusal(path, double_member)
    assert "not in SHA256SUMS" in refusal(path, zipped(contents, extra=[("arrays/more.npy", b"x")]))
    assert "200 members" in refusal(path, zipped({}, extra=[(f"arrays/a{i}.npy", b"") for i in range(199)]))
    assert "unknown" in refusal(path, zipped({**contents, "model.onnx": b"x"}))
    assert "no zip file" in refusal(path, b"\x80\x04pickle")
    assert "there is no manifest.json" in refusal(path, zipped({"other.txt": b"x"}))
    assert "SHA-256" in refusal(path, zipped({**contents, MANIFEST: contents[MANIFEST] + b" "}, resum=False))


def test_sizes_are_checked_before_memory_is_taken(saved, path):
    content, _ = saved
    name = "arrays/gp/posterior/points.npy"
    for shape in ([2**40, 2], [2**62, 2**62], [-1, 2]):
        contents, buffer = members(content), io.BytesIO()
        np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": tuple(shape)})
        contents[name] = buffer.getvalue() + bytes(64)
        manifest = json.loads(contents[MANIFEST])
        manifest["arrays"][name]["shape"] = shape
        contents[MANIFEST] = json.dumps(manifest).encode()
        assert name in refusal(path, zipped(contents))
    damaged = bytearray(content)
    entry = content.index(b"PK\x01\x02", content.index(b"PK\x01\x02") + 1)
    damaged[entry + 20 : entry + 28] = b"\xf0\xff\xff\x7f" * 2
    assert "larger than the file" in refusal(path, bytes(damaged))


def test_odd_json(saved, path):
    contents = members(saved[0])
    for text in (
        b"[" * 100_000,
        b'{"format": "rio-uq", "format": "rio-uq"}',
        b'{"format": NaN}',
        b"\xff\xfe",
        b"",
        b"1" * 9999,
    ):
        assert "manifest.json" in refusal(path, zipped({**contents, MANIFEST: text}))


def test_a_newer_format_asks_for_an_upgrade(saved, path):
    def newer(manifest):
        manifest.update(format_version=FORMAT_VERSION + 1, library_version="9.9")

    assert f"rio-uq 9.9 in version {FORMAT_VERSION + 1}" in refusal(path, with_manifest(saved[0], newer))
    for wrong in (0, "1", None, True, 1.5):
        assert "format_version" in refusal(path, with_manifest(saved[0], lambda m, w=wrong: m.update(format_version=w)))


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("gp/inputs", lambda a: a * [[1.0], [-1.0]], "scales have to be more than zero"),
        ("gp/posterior/theta", lambda a: a + 1e4, "logarithms have to be"),
        ("gp/posterior/noise_variance", lambda a: -a, "variances have to be zero or more"),
        ("gp/evidence/noise_variance", lambda a: 0 * a, "values have to be more than zero"),
        ("calibration/n_rows", lambda a: 0 * a, "values have to be 3 or more"),
        ("calibration/sizes", lambda a: a[::-1].copy(), "ascending order"),
        ("calibration/sizes", lambda a: a - 1e3, "sizes have to be zero or more"),
    ],
)
def test_numbers_that_no_regressor_can_have(saved, path, name, change, reason):
    member = f"arrays/{name}.npy"
    array = np.load(io.BytesIO(members(saved[0])[member]))
    message = refusal(path, with_array(saved[0], member, change(array)))
    assert member in message
    assert reason in message


@pytest.mark.parametrize("change", [lambda a: -a, lambda a: 0 * a])
def test_weights_that_no_rows_can_have(change, path):
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(40, 1))
    rio = RIORegressor(double, inference="sparse", n_inducing=3, max_iter=5, tol=0.1, random_state=0)
    rio.fit(rows, rng.normal(size=40)).calibrate(rows, rng.normal(size=40), X_new=rows[10:])
    rio.save(path)
    member = "arrays/calibration/weights.npy"
    content = path.read_bytes()
    array = np.load(io.BytesIO(members(content)[member]))
    assert "weights have to be zero or more" in refusal(path, with_array(content, member, change(array)))


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("share", lambda a: 2.0 * a, "shares have to add up to one"),
        ("share", lambda a: -a, "values have to be more than zero"),
        ("theta", lambda a: a + 1e4, "logarithms have to be"),
        ("theta", lambda a: a[:-1].copy(), "shape"),
        ("noise_variance", lambda a: 0.0 * a, "values have to be more than zero"),
    ],
)
def test_members_that_no_average_can_have(name, change, reason, path):
    rng = np.random.default_rng(0)
    rows = rng.uniform(size=(30, 1))
    training = {"starts": "rio", "guard": True, "average": True}
    rio = RIORegressor(double, scale="identity", distribution="normal", training=training, random_state=0)
    rio.fit(rows, np.sin(5.0 * rows[:, 0]) + 0.1 * rng.normal(size=30), held_out=True).save(path)
    assert len(rio.fitted_.gp.posterior.members) > 1
    member = f"arrays/gp/members/{name}.npy"
    content = path.read_bytes()
    array = np.load(io.BytesIO(members(content)[member]))
    message = refusal(path, with_array(content, member, change(array)))
    assert member in message
    assert reason in message


@pytest.mark.parametrize(("key", "reason"), [("n", "more than zero"), ("jitter", "zero or more")])
def test_sums_that_no_rows_can_have(saved, path, key, reason):
    def negate(manifest):
        manifest["gp"]["evidence"][key] = -1.0

    assert f"'gp.evidence.{key}' has to be {reason}" in refusal(path, with_manifest(saved[0], negate))


def test_a_group_occurs_once(saved, path):
    def repeat(manifest):
        manifest["calibration"]["groups"] = [1, 1]

    assert "each label once" in refusal(path, with_manifest(saved[0], repeat))


STUDENT = {"kind": "student", "n_rows": 12, "gain": 3.0, "degrees": 4.0, "scale": 1.0, "heights": [0.5, 1.5]}
SKEWED = {"kind": "skewed", "n_rows": 12, "gain": 3.0, "degrees": 4.0, "lower": 1.0, "upper": 2.0}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ([], "one distribution for each of 1 outputs"),
        ([STUDENT, STUDENT], "one distribution for each of 1 outputs"),
        ([STUDENT | {"kind": "cauchy"}], "has to be one of normal, student, skewed"),
        ([STUDENT | {"degrees": 2.0}], "more than two"),
        ([STUDENT | {"scale": 0.0}], "more than zero"),
        ([STUDENT | {"heights": []}], "mean is one"),
        ([STUDENT | {"heights": [0.0, 2.0]}], "mean is one"),
        ([STUDENT | {"heights": [1.0, "1"]}], "mean is one"),
        ([STUDENT | {"heights": [1.0, 10**400]}], "mean is one"),
        ([STUDENT | {"edges": [0.2]}], "mean is one"),
        ([STUDENT | {"edges": []}], "a list of 1 numbers that descend"),
        ([STUDENT | {"edges": [1.0]}], "a list of 1 numbers that descend"),
        ([SKEWED | {"lower": -1.0}], "more than zero"),
        ([SKEWED | {"heights": [1.0]}], "unknown"),
        ([SKEWED | {"below": [1.0, 2.0], "above": [1.0, 1.0], "edges": [0.5]}], "mean is one"),
        ([SKEWED | {"below": [1.0, 1.0], "above": [1.0], "edges": [0.5]}], "as many numbers as below"),
        ([SKEWED | {"below": [1.0, 1.0], "above": [1.0, 1.0], "edges": [1.5]}], "descend between one and zero"),
    ],
)
def test_shapes_that_no_distribution_can_have(saved, path, wrong, reason):
    for shape in ([STUDENT], [SKEWED]):
        path.write_bytes(with_manifest(saved[0], lambda manifest, s=shape: manifest.update(shape={"outputs": s})))
        assert rio_uq.load(path).shape_.scores[0].kind == shape[0]["kind"]
    damaged = with_manifest(saved[0], lambda manifest: manifest.update(shape={"outputs": wrong}))
    assert reason in refusal(path, damaged)
