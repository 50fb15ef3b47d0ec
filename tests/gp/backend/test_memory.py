"""Memory of the machine, or of the container that the process runs in."""

import pytest

from rio_uq.gp.backend import memory


@pytest.mark.parametrize(("text", "limit"), [("1048576\n", 2.0**20), ("max\n", None), (None, None)])
def test_the_limit_of_a_container_counts(text, limit, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "LIMITS", ())
    of_machine = memory.memory_of_machine()
    assert of_machine > 2.0**20
    path = tmp_path / "memory.max"
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr(memory, "LIMITS", (path,))
    assert memory.memory_of_machine() == (of_machine if limit is None else limit)
