"""The benchmark of exported graphs runs, and both engines say the same."""

import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from benchmarks import onnx_latency


def test_quick_run(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(onnx_latency, "PAGE", tmp_path / "onnx.md")
    monkeypatch.setattr(onnx_latency, "MANY_ROWS", 500)
    onnx_latency.main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert [line.split(" | ")[1] for line in lines[2:]] == [
        "rio-uq in Python",
        "onnxruntime",
        "onnxruntime, float in and out",
    ]
    assert not (tmp_path / "onnx.md").exists()


def test_the_page_says_what_was_measured(monkeypatch):
    monkeypatch.setattr(onnx_latency, "MANY_ROWS", 10_000)
    times = onnx_latency.Times(one_row=1e-3, many_rows=2.0)
    faster = onnx_latency.Times(one_row=5e-4, many_rows=4.0)
    found = onnx_latency.page({onnx_latency.PROBLEMS[0]: {"rio-uq in Python": times, "onnxruntime": faster}})
    assert "| sparse, 50 points | rio-uq in Python | 1,000 | 1.0 | 5,000 | 1.0 |" in found
    assert "| sparse, 50 points | onnxruntime | 500 | 2.0 | 2,500 | 0.5 |" in found
