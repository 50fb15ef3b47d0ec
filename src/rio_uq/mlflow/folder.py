"""A regressor in a folder with all that it needs: its own file, the model under it, and what makes its features.

Without pickle, unless that is asked for. Models go by the tools that they have: ONNX, skops, or a folder that one of
MLflow's flavours has written.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sklearn.exceptions import NotFittedError

from rio_uq._base.warnings import NotStoredWarning
from rio_uq.features.extractors import Transformed
from rio_uq.features.layers import OnnxTensor
from rio_uq.models.files import FIRST_OUTPUT, KINDS, dump_skops, load_model, load_pickle, open_model
from rio_uq.models.network import NetworkModel
from rio_uq.models.onnx import OnnxNetwork
from rio_uq.regressor import RIORegressor, check_regressor, load_regressor
from rio_uq.storage import STORED
from rio_uq.storage.features import GIVEN_AT_LOAD, write_extractor

REGRESSOR, PICKLE, BASE, FEATURES, SETTINGS = "model.rio", "regressor.pkl", "base", "features", "parcel.json"

WELL_KNOWN = ("collections", "numpy", "scipy", "sklearn", "xgboost", "lightgbm", "catboost")
"""Libraries whose types in a model at hand are trusted where it is loaded again; others have to be named."""

PACKAGES = (("skops", "skops"), ("onnx", "onnxruntime"))
"""Packages that load a file of each kind."""

HELP = (
    "give it as base=... (an .onnx or .skops file, or a folder that mlflow.<flavor>.save_model has written), leave it "
    "out with base=False, or pickle the whole regressor with pickle=True"
)


def write_folder(rio: RIORegressor, folder: Path, *, base: Any, trusted: Sequence[str], pickle: bool) -> None:
    """Write a fitted regressor to an empty folder.

    Parameters
    ----------
    rio : RIORegressor
    folder : Path
    base : None, False, or path
        Where the model comes from: the regressor, nowhere, a file, or a folder or address of a model of MLflow.
    trusted : sequence of str
        Names of types that skops may load beside those of well-known libraries.
    pickle : bool
        Whether to pickle all of it instead.
    """
    settings: dict[str, Any] = {"pickled": pickle, "base": None, "features": None}
    types = set(trusted)
    if pickle:
        import cloudpickle

        (folder / PICKLE).write_bytes(cloudpickle.dumps(rio))
        settings["base"] = None if rio.estimator_ is None else "pickled"
    else:
        settings["features"] = _write_features(rio, folder, types)
        with TemporaryDirectory() as scratch:
            settings["base"], model_file = _write_base(rio, folder, base, types, Path(scratch))
            with warnings.catch_warnings():  # the rest is in the folder, or the user has said base=False
                warnings.simplefilter("ignore", NotStoredWarning)
                rio.save(folder / REGRESSOR, model_file=model_file, trusted=sorted(types))
    settings["trusted"] = sorted(types)
    (folder / SETTINGS).write_text(json.dumps(settings, indent=1))


def read_folder(folder: Path, *, estimator: Any = STORED) -> RIORegressor:
    """The regressor of a folder, with its own model or another one of the same predictions."""
    settings = json.loads((folder / SETTINGS).read_text())
    if settings["pickled"]:
        rio = _read_pickle(folder / PICKLE)
        if not isinstance(estimator, str):
            rio.estimator, rio.fitted_ = estimator, replace(rio.fitted_, model=estimator)
        return rio
    features = {} if settings["features"] is None else {"features": _read_features(folder, settings)}
    if settings["base"] == "mlflow" and isinstance(estimator, str):
        from mlflow import pyfunc

        estimator = pyfunc.load_model(str(folder / BASE))
    return load_regressor(folder / REGRESSOR, estimator=estimator, trusted=settings["trusted"], **features)


def _read_pickle(path: Path) -> RIORegressor:
    try:
        rio = load_pickle(path.read_bytes())
        check_regressor(rio)
    except (ImportError, AttributeError, TypeError, NotFittedError) as error:
        raise ValueError(
            f"{path} holds a regressor that was pickled by another version of rio-uq, or of a package in it, and "
            f"cannot be read here ({error}): log the model again, with pickle=False if you can"
        ) from error
    assert isinstance(rio, RIORegressor)
    return rio


def has_model(folder: Path) -> bool:
    """Whether the folder has a model in it, so that no predictions need be given."""
    return json.loads((folder / SETTINGS).read_text())["base"] is not None


def requirements(rio: RIORegressor, folder: Path) -> list[str]:
    """Packages that reading the folder of a regressor needs, with the versions of here."""
    settings = json.loads((folder / SETTINGS).read_text())
    kinds = {settings["base"], (settings["features"] or {}).get("kind"), "pickled" if settings["pickled"] else None}
    names = ["rio-uq", "numpy", "scipy", "scikit-learn", "pandas"]
    names += [name for kind, name in (("pickled", "cloudpickle"), *PACKAGES) if kind in kinds]
    modules = {name.split(".")[0] for name in settings["trusted"]}
    if settings["pickled"]:
        modules = modules.union(*map(_modules, getattr(rio.estimator_, "models", [rio.estimator_])))
    packages = packages_distributions()
    names += sorted({name for module in modules for name in packages.get(module, ())} - set(names))
    pinned = [f"{name}=={version(name)}" for name in names if _is_installed(name)]
    of_base = folder / BASE / "requirements.txt"
    own = of_base.read_text().splitlines() if of_base.exists() else []
    return pinned + [line for line in own if line.strip() and line.split("==")[0].strip() not in names]


def _modules(model: Any) -> set[str]:
    """The libraries that the class of a model, or of the network inside, is built upon."""
    inside = getattr(getattr(model, "network", model), "module", model)
    return {kind.__module__.split(".")[0] for kind in type(inside).__mro__}


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True


def _write_base(
    rio: RIORegressor, folder: Path, base: Any, types: set[str], scratch: Path
) -> tuple[str | None, Path | None]:
    """How the model is stored, and the file to put inside the regressor's; its types are added."""
    if base is False or (base is None and rio.estimator_ is None):
        return None, None
    if base is None:
        kind, content = _own_file(rio.estimator_, types)
        path = scratch / f"model.{kind}"
        path.write_bytes(content)
        return kind, path
    kind = str(base).rpartition(".")[2].lower()
    if kind in KINDS:
        return kind, Path(base)
    from mlflow.artifacts import download_artifacts

    try:
        downloaded = Path(download_artifacts(artifact_uri=str(base), dst_path=str(scratch)))
    except Exception as error:  # each store of artifacts has errors of its own
        raise ValueError(f"base: {base} is not to be found ({error}); {HELP}") from error
    if not (downloaded / "MLmodel").is_file():
        raise ValueError(f"base: {base} is no model of MLflow, for there is no file MLmodel in it; {HELP}")
    shutil.copytree(downloaded, folder / BASE)
    return "mlflow", None


def _own_file(model: Any, types: set[str]) -> tuple[str, bytes]:
    """The model as the bytes of a file of its own tool, and which."""
    network = model.network if isinstance(model, NetworkModel) else None
    if isinstance(network, OnnxNetwork) and network.name == network.output_names()[FIRST_OUTPUT]:
        return "onnx", network.graph
    return "skops", _skops_bytes(model, types, "the model", HELP)


def _skops_bytes(value: Any, types: set[str], what: str, advice: str) -> bytes:
    """A file of skops, which has to load again; those of its types that belong to well-known libraries are added."""
    try:
        content, unknown = dump_skops(value, f"storing {what}", advice)
        types |= {name for name in unknown if name.split(".")[0] in WELL_KNOWN}
        load_model("skops", content, sorted(types))
    except ImportError:
        raise
    except Exception as error:  # skops raises what the types that it meets raise
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"{what}, a {type(value).__name__}, cannot be stored by skops ({reason}); name types of your own in it "
            f"with trusted=[...], {advice}"
        ) from error
    return content


def _write_features(rio: RIORegressor, folder: Path, types: set[str]) -> dict[str, Any] | None:
    extract = rio.fitted_.extract
    if not isinstance(extract, Transformed) or write_extractor(extract) != {"columns": GIVEN_AT_LOAD}:
        return None  # in the file of the regressor
    made_by = extract.transform
    if isinstance(made_by, OnnxTensor):
        (folder / f"{FEATURES}.onnx").write_bytes(made_by.network.graph)
        return {"kind": "onnx", "tensor": made_by.network.name, "pool": made_by.pool}
    advice = "give the regressor a transformer or a tensor of an ONNX graph as features, or use pickle=True"
    (folder / f"{FEATURES}.skops").write_bytes(_skops_bytes(made_by, types, "what makes the features", advice))
    return {"kind": "skops"}


def _read_features(folder: Path, settings: dict[str, Any]) -> Any:
    described = settings["features"]
    path = folder / f"{FEATURES}.{described['kind']}"
    if described["kind"] == "onnx":
        return OnnxTensor(OnnxNetwork(path, described["tensor"]), described["pool"])
    return open_model(str(path), "skops", path.read_bytes(), settings["trusted"])
