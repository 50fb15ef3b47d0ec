"""Every block of Python in docs/scale.md runs, one after the other, with a real scheduler behind the address.

The one for Spark is run in `tests/examples/test_spark.py`.
"""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parent.parent / "docs" / "scale.md"


def test_the_page_on_scale(tmp_path, monkeypatch, capsys):
    distributed = pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 8
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "processes": False}
    names: dict = {}
    for block in (block for block in blocks if "pyspark" not in block):
        if "tcp://scheduler.example:8786" in block:
            with distributed.LocalCluster(**options) as cluster:
                exec(block.replace("tcp://scheduler.example:8786", cluster.scheduler_address), names)
        else:
            exec(block, names)
    np.testing.assert_allclose(names["on_a_cluster"], names["on_threads"])
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "['mean', 'std', 'lower', 'upper']"
    assert 1 <= int(shown[1]) <= 400
    assert names["rio"].summary().n_rows == 1500
    assert names["other"].summary().n_rows == 667
