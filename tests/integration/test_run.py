"""`make run`, as a newcomer has it."""
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

from daemon import BUILD, ROOT, alive, wait_until

pytestmark = pytest.mark.skipif(BUILD.name != "build", reason="make run builds without sanitizers")


class Run:
    def __init__(self, state):
        self.out = pathlib.Path(str(state) + ".out")
        with open(self.out, "wb") as out:
            self.process = subprocess.Popen(
                [str(ROOT / "tools/run")], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                env={**os.environ, "TALLY_HTTP": "127.0.0.1:0", "TALLY_STATE": str(state)}, cwd="/",
                start_new_session=True)
        wait_until(lambda: "Ctrl-C ends it" in self.text() or self.process.poll() is not None, 300,
                   "make run")
        assert self.process.poll() is None, self.text()

    def text(self):
        return self.out.read_text()

    def commands(self):
        return [line.strip() for line in self.text().splitlines() if line.startswith("  ")]

    def ctrl_c(self):
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(20)


@pytest.fixture
def state():
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tally-run-", dir="/tmp"))
    directory.chmod(0o755)
    yield directory / "state"
    shutil.rmtree(directory)


def test_make_run(state):
    run = Run(state)
    try:
        assert "1000 stored" in run.text()
        commands = run.commands()
        assert len(commands) == 4
        for command in commands:
            done = subprocess.run(command, shell=True, cwd=ROOT, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
            assert done.returncode == 0 and len(done.stdout) > 100, (command, done)
        tallyd = int((state / "lock").read_text())
    finally:
        assert run.ctrl_c() == 0
    assert not alive(tallyd) and not (state / "run").exists()

    again = Run(state)
    try:
        assert "loading" not in again.text()
        first = subprocess.run(again.commands()[0], shell=True, cwd=ROOT, stdout=subprocess.PIPE,
                               text=True, timeout=60)
        assert first.returncode == 0 and "TIMEOUT" in first.stdout
    finally:
        assert again.ctrl_c() == 0


def test_make_run_stays_on_loopback(state):
    done = subprocess.run([str(ROOT / "tools/run")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, "TALLY_HTTP": "0.0.0.0:0", "TALLY_STATE": str(state)},
                          timeout=60, text=True)
    assert done.returncode != 0 and "loopback only" in done.stdout
