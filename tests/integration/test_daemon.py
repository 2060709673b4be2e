"""Start, stop, and what a kill leaves behind."""
import os
import pathlib
import signal
import stat
import time

from daemon import alive, wait_until


def test_ready_line_and_orderly_stop(fresh_tallyd):
    t = fresh_tallyd()
    assert t.out_file.read_text().count("\n") == 1
    pg, munged = t.postgres_pid(), t.munged_pid()
    assert alive(pg) and alive(munged)
    began = time.monotonic()
    assert t.stop() == 0
    assert time.monotonic() - began < 10
    assert not alive(pg) and not alive(munged)
    assert not (t.state / "run").is_symlink()
    assert "shut down" in (t.state / "postgresql.log").read_text()


def test_sockets_are_short_and_postgres_is_private(fresh_tallyd):
    t = fresh_tallyd()
    run = pathlib.Path(os.readlink(t.state / "run"))
    assert stat.S_IMODE((run / "pg").stat().st_mode) == 0o700
    assert len(str(run / "pg/.s.PGSQL.6821")) <= 107
    assert stat.S_IMODE((t.state / "munge/munge.key").stat().st_mode) in (0o400, 0o600)
    assert t.psql("SHOW listen_addresses") == [[""]]
    assert t.psql("SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == [["f"]]


def test_second_start_reuses_the_state(fresh_tallyd):
    t = fresh_tallyd()
    key = (t.state / "munge/munge.key").read_bytes()
    t.psql("CREATE TABLE kept (n int)")
    t.psql("INSERT INTO kept VALUES (7)")
    assert t.stop() == 0
    t.start()
    assert t.psql("SELECT n FROM kept") == [["7"]]
    assert (t.state / "munge/munge.key").read_bytes() == key


def test_servers_left_by_kill_9_are_taken_over(fresh_tallyd):
    t = fresh_tallyd()
    before = t.postgres_pid(), t.munged_pid()
    t.kill9()
    assert all(alive(pid) for pid in before)
    t.start()
    assert (t.postgres_pid(), t.munged_pid()) == before
    assert t.log().count("taken over") == 2
    assert t.stop() == 0
    assert not any(alive(pid) for pid in before)


def test_killed_servers_are_brought_up_again(fresh_tallyd):
    t = fresh_tallyd()
    for which in (t.postgres_pid, t.munged_pid):
        old = which()
        os.kill(old, signal.SIGKILL)
        wait_until(lambda: which() not in (None, old) and alive(which()), 30, "a new server")
    wait_until(lambda: t.log().count("is up again") == 2, 30, "both to be up")
    assert t.psql("SELECT 1") == [["1"]]


def test_everything_killed_at_once(fresh_tallyd):
    t = fresh_tallyd()
    pids = t.postgres_pid(), t.munged_pid()
    t.kill9()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    t.start()
    assert t.psql("SELECT 1") == [["1"]]
    assert t.stop() == 0


def test_process_number_of_another_process_in_the_pid_files(fresh_tallyd):
    t = fresh_tallyd()
    assert t.stop() == 0
    # 1 lives and is not a server of ours.
    (t.state / "pg/postmaster.pid").write_text(f"1\n{t.state}/pg\n1700000000\n6821\n/tmp\n\n  1 2\n")
    (t.state / "munge/munged.pid").write_text("1\n")
    t.start()
    assert t.psql("SELECT 1") == [["1"]]


def test_state_directory_is_used_by_one_daemon_at_a_time(fresh_tallyd):
    t = fresh_tallyd()
    second = fresh_tallyd(start=False, directory=t.dir)
    second.log_file = t.dir / "second.log"
    second.conf_file = t.dir / "second.conf"
    rc, log = second.run_to_end()
    assert rc == 1
    assert "another tallyd" in log and str(t.pid) in log
    assert alive(t.postgres_pid())


def test_second_signal_does_not_break_the_stop(fresh_tallyd):
    t = fresh_tallyd()
    for _ in range(3):
        t.send_signal(signal.SIGTERM)
    assert t.stop() == 0
    assert "shut down" in (t.state / "postgresql.log").read_text()


def test_signal_while_starting(fresh_tallyd):
    t = fresh_tallyd(start=False)
    t.start(wait=False)
    wait_until(lambda: (t.state / "pg.new").exists(), 20, "initdb")
    assert t.stop(signal.SIGINT) == 0
    assert t.servers() == []
    t.start()
    assert t.psql("SELECT 1") == [["1"]]
