"""The file of a saved regressor: a zip of a JSON manifest and plain arrays, see docs/format.md.

Members are stored without compression, so that none is larger than the file that holds it. Nothing is unpacked to disk,
and no array may hold Python objects.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from rio_uq._base.errors import FormatError
from rio_uq._base.files import written_in_one_step

FORMAT, FORMAT_VERSION = "rio-uq", 2
MANIFEST, SUMS = "manifest.json", "SHA256SUMS"

MOST_MEMBERS, LARGEST_TEXT = 64, 64 * 2**20
"""Limits to the number of members, and to the size of the manifest and of the list of sums."""

DTYPES = ("|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iu" for size in (2, 4, 8)), "<f2", "<f4", "<f8")
MOST_AXES = 8

_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*\.[a-z]+")
_SUM = re.compile(r"([0-9a-f]{64})  (\S+)")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same contents give the same bytes


@dataclass(frozen=True)
class Archive:
    """The contents of a file.

    Attributes
    ----------
    path : str
        For messages.
    manifest : dict
    arrays : dict of arrays
        By the names of their members.
    blobs : dict of bytes
        The other members.
    """

    path: str
    manifest: dict[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    blobs: Mapping[str, bytes] = field(default_factory=dict)

    def fail(self, member: str, what: str) -> NoReturn:
        _fail(self.path, member, what)


def _fail(path: str, member: str | None, what: str, cause: Exception | None = None) -> NoReturn:
    where = path if member is None else f"{path}, member {member}"
    raise FormatError(f"{where}: {what}") from cause


def write_archive(
    path: str | os.PathLike[str],
    manifest: dict[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    blobs: Mapping[str, bytes],
    *,
    overwrite: bool,
) -> None:
    """Write the file in one step: an error on the way leaves what was there before.

    Parameters
    ----------
    path : path
    manifest : dict
        Of plain values; the list of arrays is added.
    arrays : dict
    blobs : dict of bytes
    overwrite : bool
        Whether a file of that name may be replaced.
    """
    if os.path.exists(path) and not overwrite:
        raise FileExistsError(f"{path} exists already: choose another name, or overwrite=True to replace it")
    described = {name: {"shape": list(a.shape), "dtype": _little(a).dtype.str} for name, a in arrays.items()}
    text = json.dumps({**manifest, "arrays": described}, allow_nan=False, ensure_ascii=False, indent=1)
    with written_in_one_step(path) as file:
        _write_members(file, text.encode(), arrays, blobs)


def _write_members(file: BinaryIO, text: bytes, arrays: Mapping[str, NDArray[Any]], blobs: Mapping[str, bytes]) -> None:
    sums = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:

        def add(name: str, content: bytes) -> None:
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content)
            sums.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")

        add(MANIFEST, text)
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, _little(array), version=(1, 0), allow_pickle=False)
            add(name, buffer.getvalue())
        for name, content in blobs.items():
            add(name, content)
        archive.writestr(zipfile.ZipInfo(SUMS, _EPOCH), "".join(sums))


def _little(array: NDArray[Any]) -> NDArray[Any]:
    """In the byte order of the format."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False)


def read_archive(path: str | os.PathLike[str]) -> Archive:
    """Read and check a file; a FormatError says what is wrong with it."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        members = _read_members(name, file)
    if MANIFEST not in members:
        _fail(name, None, f"not a saved regressor: there is no {MANIFEST} in it")
    manifest = _parse_manifest(name, members[MANIFEST])
    _check_sums(name, members)
    described = manifest.get("arrays")
    if not isinstance(described, dict):
        _fail(name, MANIFEST, "'arrays' has to be an object")
    contents = {member: content for member, content in members.items() if member not in (MANIFEST, SUMS)}
    stored = {member for member in contents if member.endswith(".npy")}
    for member in sorted(stored ^ set(described)):
        _fail(name, member, "missing" if member in described else "not described in the manifest")
    arrays = {member: _parse_array(name, member, contents.pop(member), described[member]) for member in described}
    return Archive(name, manifest, arrays, contents)


def _read_members(path: str, file: BinaryIO) -> dict[str, bytes]:
    """The bytes of each member; sizes are checked before anything is read."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(4) != b"PK\x03\x04":
        _fail(path, None, "not a saved regressor (or its beginning is damaged): it is no zip file")
    member: str | None = None
    try:
        with zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
            if len(infos) > MOST_MEMBERS:
                _fail(path, None, f"{len(infos)} members, and at most {MOST_MEMBERS} are allowed")
            _check_infos(path, infos, size)
            members: dict[str, bytes] = {}
            for info in infos:
                member = info.filename
                members[member] = archive.read(info)
        return members
    except FormatError:
        raise
    except Exception as error:  # what zipfile raises on damaged files is of many kinds
        _fail(path, member, f"damaged or truncated ({type(error).__name__}: {error})", error)


def _check_infos(path: str, infos: list[zipfile.ZipInfo], size: int) -> None:
    names: set[str] = set()
    for info in infos:
        member = info.filename
        if member != SUMS and not _NAME.fullmatch(member):
            _fail(path, repr(member), "a name that no member can have")
        if member in names:
            _fail(path, member, "there are two members of this name")
        names.add(member)
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 1:
            _fail(path, member, "compressed or encrypted, and members have to be stored as they are")
        if member in (MANIFEST, SUMS) and info.file_size > LARGEST_TEXT:
            _fail(path, member, f"{info.file_size} bytes, and at most {LARGEST_TEXT} are allowed")
    if sum(info.file_size for info in infos) > size:
        _fail(path, None, f"its members claim to be larger than the file, which has {size} bytes")


def _parse_manifest(path: str, content: bytes) -> dict[str, Any]:
    try:
        manifest = json.loads(content.decode(), object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        _fail(path, MANIFEST, f"not valid JSON ({error})", error)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        _fail(path, MANIFEST, f"not a saved regressor: 'format' has to be {FORMAT!r}")
    version = manifest.get("format_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        _fail(path, MANIFEST, f"'format_version' has to be a positive whole number; got {version!r}")
    if version > FORMAT_VERSION:
        by = str(manifest.get("library_version"))[:40]
        _fail(
            path,
            MANIFEST,
            f"written by rio-uq {by} in version {version} of the format, and this version of rio-uq reads versions up "
            f"to {FORMAT_VERSION}: upgrade rio-uq",
        )
    return manifest


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a key occurs twice")
    return fields


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _check_sums(path: str, members: Mapping[str, bytes]) -> None:
    lines = [] if SUMS not in members else members[SUMS].decode("ascii", "replace").splitlines()
    matches = [match.groups() for match in map(_SUM.fullmatch, lines) if match]
    sums = {member: digest for digest, member in matches}
    if not lines or len(sums) != len(lines):
        _fail(path, SUMS, "missing or damaged: it has to hold one line 'sum  member' for each other member")
    for member in sorted(set(sums) ^ (set(members) - {SUMS})):
        _fail(path, member, "missing" if member in sums else f"not in {SUMS}")
    for member, digest in sums.items():
        if hashlib.sha256(members[member]).hexdigest() != digest:
            _fail(path, member, "damaged or altered: its SHA-256 is not the one in the file")


def _parse_array(path: str, member: str, content: bytes, described: Any) -> NDArray[Any]:
    """The array, whose header has to agree with the manifest and with the size of the member."""
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        if version != (1, 0):
            raise ValueError(f"version {version} of the .npy format")
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    except Exception as error:  # the header is a Python literal, and fails in as many ways
        _fail(path, member, f"not a plain .npy array ({error})", error)
    if dtype.str not in DTYPES or dtype.hasobject:
        _fail(path, member, f"dtype {dtype} is not allowed: only plain numbers and truth values are")
    if described != {"shape": list(shape), "dtype": dtype.str}:
        _fail(path, member, f"an array of {dtype.str} of shape {shape}, and the manifest says {str(described)[:200]}")
    n_bytes = len(content) - file.tell()
    size = dtype.itemsize
    for length in shape:
        size *= length
    if len(shape) > MOST_AXES or min(shape, default=0) < 0 or size != n_bytes:
        _fail(path, member, f"shape {shape} needs {size} bytes, and there are {n_bytes}")
    flat = np.frombuffer(content, dtype=dtype, offset=file.tell()).astype(dtype.newbyteorder("="))
    return flat.reshape(shape, order="F" if fortran_order else "C")
