"""tally.conf and the command line, at a real start."""
import os
import pathlib
import signal
import socket
import subprocess

import pytest

from daemon import AS_ROOT, TALLYD, wait_until

root_only = pytest.mark.skipif(not AS_ROOT, reason="acts as other users")


def tallyd(*args):
    return subprocess.run([str(TALLYD), *map(str, args)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)


@pytest.mark.parametrize("text, says", [
    ("LogFiel=/x", [":1:", "did you mean LogFile?"]),
    ("\n\nStorageHost=a\nStorageDSN=b", ["StorageDSN and StorageHost"]),
    ("MaxBodySize=1", [":1:", "from 1024 to"]),
    ('LogFile="/x', [":1:", "quote"]),
    ("StorageType=accounting_storage/mysql", ["PostgreSQL"]),
])
def test_wrong_file_is_explained(tmp_path, text, says):
    conf = tmp_path / "tally.conf"
    conf.write_text(text + "\n")
    run = tallyd("-t", "-f", conf)
    assert run.returncode == 1
    for part in [*says, "/tally.conf:1:" if ":1:" in says else ""]:
        assert part in run.stderr


def test_example_file_is_right():
    run = tallyd("-t", "-f", pathlib.Path(__file__).parents[2] / "share/tally.conf")
    assert run.returncode == 0, run.stderr


def test_every_key_of_the_example_exists():
    keys = {line.split("\t")[0] for line in tallyd("--dump-config-keys").stdout.splitlines()}
    text = (pathlib.Path(__file__).parents[2] / "share/tally.conf").read_text()
    named = {line[1:].split("=")[0] for line in text.splitlines()
             if line.startswith("#") and "=" in line and " " not in line.split("=")[0]}
    assert named and named <= keys


@pytest.mark.parametrize("mode, good", [(0o600, True), (0o640, True), (0o644, False), (0o660, False)])
def test_file_with_a_password(tmp_path, mode, good):
    conf = tmp_path / "tally.conf"
    conf.write_text("StorageHost=h\nStoragePass=p\n")
    conf.chmod(mode)
    run = tallyd("-t", "-f", conf)
    assert (run.returncode == 0) == good
    if not good:
        assert "chmod 640" in run.stderr


def test_include(tmp_path):
    (tmp_path / "more.conf").write_text("\nDebugLevl=info\n")
    (tmp_path / "tally.conf").write_text("Include more.conf\n")
    run = tallyd("-t", "-f", tmp_path / "tally.conf")
    assert run.returncode == 1 and "more.conf:2" in run.stderr
    (tmp_path / "more.conf").write_text("Include tally.conf\n")
    run = tallyd("-t", "-f", tmp_path / "tally.conf")
    assert run.returncode == 1 and "too deep" in run.stderr


def test_command_line():
    assert tallyd("-V").stdout.startswith("tallyd ")
    assert "--state-dir" in tallyd("--help").stdout
    assert tallyd("--no-such-option").returncode == 2
    assert tallyd("sacct").returncode == 2
    assert tallyd("-f", "/no/such/file").returncode == 1


def test_sighup(fresh_tallyd):
    t = fresh_tallyd(conf="DebugLevel=info\n")
    log = t.dir / "new.log"
    t.conf_file.write_text("DebugLevl=debug\n")
    t.send_signal(signal.SIGHUP)
    wait_until(lambda: "did you mean DebugLevel" in t.log(), 10, "the error")
    t.conf_file.write_text(f"DebugLevel=debug\nLogFile={log}\nQueueRecords=5000\n")
    t.send_signal(signal.SIGHUP)
    wait_until(lambda: log.exists() and "QueueRecords" in log.read_text(), 10, "the new log")
    text = log.read_text()
    assert "DebugLevel is taken over" in text
    assert "QueueRecords has changed in the file; it needs a restart" in text
    log.rename(t.dir / "old.log")
    t.send_signal(signal.SIGHUP)
    wait_until(lambda: log.exists() and log.stat().st_size > 0, 10, "the log to be opened again")
    assert t.stop() == 0


def test_json_log(fresh_tallyd):
    import json
    t = fresh_tallyd(conf="LogFormat=json\n")
    t.stop()
    lines = [json.loads(line) for line in t.log().splitlines() if line.startswith("{")]
    assert lines and all({"time", "level", "text"} <= set(line) for line in lines)


def test_unused_keys_are_named(fresh_tallyd):
    t = fresh_tallyd(conf="CommitDelay=1\nTrackWCKey=yes\n")
    assert "CommitDelay is accepted and has no effect" in t.log()


def test_background(fresh_tallyd):
    t = fresh_tallyd(start=False)
    pid_file = t.dir / "pid"
    t.conf = f"PidFile={pid_file}\nLogFile={t.log_file}\n"
    command = [word for word in t.command() if word != "-D"]
    t.log_file.touch()
    t.log_file.chmod(0o666)
    run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, timeout=60)
    assert run.returncode == 0, t.log()
    pid = int(pid_file.read_text())
    os.kill(pid, signal.SIGTERM)
    wait_until(lambda: not pid_file.exists() and not t.servers(), 10, "its end")


def test_background_start_that_fails(fresh_tallyd):
    t = fresh_tallyd(start=False)
    t.conf = "AuthInfo=socket=/x\nPidFile=/no/such/dir/pid\n"
    command = [word for word in t.command() if word != "-D"]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=60, text=True)
    assert run.returncode == 1
    assert "PidFile" in run.stderr


@root_only
def test_as_an_ordinary_user(fresh_tallyd):
    t = fresh_tallyd(user=54321, start=False)
    rc, log = t.run_to_end()
    # initdb cannot run for a user that the system does not know; say which and end.
    assert rc == 1 and "initdb" in log
    t = fresh_tallyd(user=2)  # a user that every system has
    assert os.stat(t.state).st_uid == 2
    assert t.postgres_pid() is not None
    assert t.stop() == 0


@root_only
def test_root_is_given_up(fresh_tallyd):
    t = fresh_tallyd()
    status = pathlib.Path(f"/proc/{t.pid}/status").read_text()
    uids = next(line.split()[1:] for line in status.splitlines() if line.startswith("Uid:"))
    assert "0" not in uids
    for pid in t.servers():
        assert pathlib.Path(f"/proc/{pid}").stat().st_uid == int(uids[0])


@root_only
def test_user_that_does_not_exist(fresh_tallyd):
    t = fresh_tallyd(conf="TallyUser=no-such-user\n", start=False)
    rc, log = t.run_to_end()
    assert rc == 1 and "useradd --system" in log


@root_only
def test_state_of_another_user(fresh_tallyd):
    t = fresh_tallyd(start=False)
    t.state.mkdir()
    (t.state / "something").touch()
    os.chown(t.state, 2, 2)
    rc, log = t.run_to_end()
    assert rc == 1 and "chown -R tally" in log


def test_state_below_a_closed_directory(fresh_tallyd):
    t = fresh_tallyd(start=False)
    closed = t.dir / "closed"
    closed.mkdir()
    closed.chmod(0o700 if AS_ROOT else 0o600)
    if AS_ROOT:
        os.chown(closed, 2, 2)
    t.state = closed / "state"
    rc, log = t.run_to_end()
    closed.chmod(0o700)
    assert rc == 1 and str(closed) in log


def test_long_state_path(fresh_tallyd):
    """Sockets have 107 bytes for their path; the state directory may be deeper."""
    t = fresh_tallyd(start=False)
    t.state = t.dir / ("d" * 100) / ("e" * 100) / "state"
    t.start()
    assert t.psql("SELECT 1") == [["1"]]
    assert t.stop() == 0


def test_munged_refuses_writable_parents(fresh_tallyd):
    t = fresh_tallyd(start=False)
    t.dir.chmod(0o777)
    rc, log = t.run_to_end()
    t.dir.chmod(0o755)
    assert rc == 1 and f"chmod go-w {t.dir}" in log


def test_munge_key_that_others_may_read(fresh_tallyd):
    t = fresh_tallyd()
    assert t.stop() == 0
    key = t.state / "munge/munge.key"
    key.chmod(0o644)
    rc, log = t.run_to_end()
    assert rc == 1 and f"chmod 0400 {key}" in log


def test_configured_munged_is_used(fresh_tallyd, tallyd):
    t = fresh_tallyd(args=["--munge-socket", tallyd.munge])
    assert t.munged_pid() is None
    assert t.munge == tallyd.munge


def test_newer_postgresql_only(fresh_tallyd):
    t = fresh_tallyd()
    assert t.stop() == 0
    major = (t.state / "pg/PG_VERSION").read_text().strip()
    (t.state / "pg/PG_VERSION").write_text(f"{int(major) - 1}\n")
    rc, log = t.run_to_end()
    assert rc == 1 and "tally upgrade-state" in log and f"PostgreSQL {int(major) - 1}" in log
    (t.state / "pg/PG_VERSION").write_text(f"{major}\n")
    t.start()
