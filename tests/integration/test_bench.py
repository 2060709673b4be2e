"""The bench runs to its end and measures everything; how fast is not judged here."""
import json
import subprocess

import pytest

from daemon import BUILD, ROOT


@pytest.mark.skipif(BUILD != ROOT / "build", reason="a sanitizer's speed says nothing")
def test_a_small_run_measures_everything(tmp_path):
    subprocess.run(["make", "-s", "build/bench/load"], cwd=ROOT, check=True)
    run = subprocess.run([ROOT / "tests/bench/run", "--jobs", "10000", "--out", tmp_path],
                         stdout=subprocess.PIPE, text=True,
                         check=False, timeout=300)
    assert run.returncode == 0, run.stdout
    got = json.loads((tmp_path / "bench.json").read_text())
    figures = got["figures"]
    assert len(figures) == 12 and all(f["value"] >= 0 for f in figures.values())
    for name in ("complete records, batches of 1000", "start and end apart, batches of 1000",
                 "everybody's month as NDJSON"):
        assert figures[name]["bare"] > 0 and figures[name]["ratio"] > 0
    assert figures["peak above idle while all jobs are read"]["rows"] >= 10000
    assert (tmp_path / "bench.txt").read_text().count("\n") == 12
