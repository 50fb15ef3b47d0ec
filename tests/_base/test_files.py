"""Files and folders that take their names in one step: an error leaves what was there, and nothing else."""

import os

import pytest

from rio_uq._base.files import file_in_one_step, folder_in_one_step, written_in_one_step


def fail_after(step, *arguments):
    step(*arguments)
    raise ZeroDivisionError


def test_an_error_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), written_in_one_step(path) as file:
        fail_after(file.write, b"half of the new")
    with pytest.raises(ZeroDivisionError), file_in_one_step(path) as temporary:
        fail_after(temporary.write_text, "half of the new")
    assert path.read_text() == "old"
    with written_in_one_step(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    with written_in_one_step(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_new_files_have_the_usual_permissions(tmp_path):
    (tmp_path / "usual").write_bytes(b"")
    with written_in_one_step(tmp_path / "file") as file:
        file.write(b"")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_folders(tmp_path):
    path = tmp_path / "new" / "folder"
    with pytest.raises(ZeroDivisionError), folder_in_one_step(path) as temporary:
        fail_after(temporary.mkdir)
    assert os.listdir(tmp_path) == []
    path.mkdir(parents=True)
    with folder_in_one_step(path) as temporary:
        temporary.mkdir()
        (temporary / "a.txt").write_text("all of it")
    assert os.listdir(tmp_path / "new") == ["folder"]
    assert (path / "a.txt").read_text() == "all of it"
    with pytest.raises(FileExistsError, match="no empty folder"), folder_in_one_step(path):
        pass


def test_places_that_are_none(tmp_path):
    with pytest.raises(IsADirectoryError), written_in_one_step(tmp_path):
        pass
    with pytest.raises(FileNotFoundError, match="make it first"), written_in_one_step(tmp_path / "no" / "a.txt"):
        pass
