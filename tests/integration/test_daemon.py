"""Start, stop, and what a kill leaves behind."""
import os
import pathlib
import signal
import stat
import time

import pytest

from daemon import alive, wait_until

pytestmark = pytest.mark.threads


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


def record(n, **more):
    return {"kind": "job_end", "job_id": n, "user": "ann", "state": "COMPLETED",
            "submit": 1700000000, "start": 1700000001 + n % 1000, "end": 1700009000, **more}


def jobs(t):
    return int(t.psql("SELECT count(*) FROM job")[0][0])


def test_ready_line_names_what_is_served(fresh_tallyd):
    t = fresh_tallyd()
    assert t.get("/healthz", signed=False).status == 200
    assert t.get("/readyz", over="unix").json()["status"] == "ready"
    assert (t.state / "socket").read_text() == t.unix + "\n"
    assert t.send(record(1))["accepted"] == 1
    assert t.post("/v1/records", [record(2)], over="unix").json()["accepted"] == 1
    assert jobs(t) == 2
    assert t.stop() == 0
    assert not os.path.exists(t.unix) and not (t.state / "socket").exists()


def test_records_survive_the_stop(fresh_tallyd):
    t = fresh_tallyd()
    t.send(*[record(n) for n in range(1, 501)])
    assert t.stop() == 0
    t.start()
    assert jobs(t) == 500


def test_port_in_use(fresh_tallyd):
    t = fresh_tallyd()
    second = fresh_tallyd(http=f"127.0.0.1:{t.port}", start=False)
    rc, log = second.run_to_end()
    assert rc == 1 and str(t.port) in log and "use" in log
    assert second.servers() == []


def test_no_tcp(fresh_tallyd):
    t = fresh_tallyd(conf="HttpAddr=none\n", http=None)
    assert t.port is None
    assert t.get("/v1/ping", over="unix").status == 200


def test_socket_elsewhere_and_none(fresh_tallyd):
    t = fresh_tallyd(start=False)
    t.conf = f"HttpSocket={t.dir}/s\n"
    t.dir.chmod(0o755)
    t.start()
    assert t.unix == f"{t.dir}/s"
    assert t.get("/v1/ping", over="unix").status == 200
    t.stop()
    t.conf = "HttpSocket=none\n"
    t.start()
    assert t.unix == f"{t.dir}/s" or t.unix is None
    assert "unix:" not in t.ready_line


def test_writing_goes_on_after_postgres_is_killed(fresh_tallyd):
    t = fresh_tallyd()
    t.send(record(1))
    os.kill(t.postgres_pid(), signal.SIGKILL)

    def again():
        reply = t.post("/v1/records", [record(2)])
        assert reply.status in (200, 503), reply
        return reply.status == 200
    wait_until(again, 30, "records to be taken again")
    wait_until(lambda: "is up again" in t.log(), 30, "PostgreSQL")
    assert jobs(t) == 2
    assert t.stop() == 0


def test_stop_ends_in_time_with_a_connection_that_sends_nothing(fresh_tallyd):
    t = fresh_tallyd()
    idle = t.connect()
    idle.connect()
    half = t.connect()
    half.connect()
    half.sock.sendall(b"POST /v1/records HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n")
    began = time.monotonic()
    assert t.stop() == 0
    assert time.monotonic() - began < 10
    idle.close()
    half.close()


def test_stop_ends_in_time_when_a_lock_holds_the_writer(fresh_tallyd):
    """Somebody sits on the table; the stop does not wait for them, and says nothing it does not
    hold."""
    import threading
    t = fresh_tallyd()
    t.send(record(1))
    holder = subprocess_psql(t, "BEGIN; LOCK TABLE job IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(60)")
    wait_until(lambda: t.psql("SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND "
                              "granted AND relation = 'job'::regclass") != [["0"]], 10, "the lock")
    replies = []
    sender = threading.Thread(target=lambda: replies.append(t.post("/v1/records", [record(2)])))
    sender.start()
    wait_until(lambda: t.psql("SELECT 1 FROM pg_locks WHERE NOT granted"), 10, "the writer to wait")
    began = time.monotonic()
    assert t.stop() == 0
    assert time.monotonic() - began < 10
    holder.wait(10)
    sender.join(10)
    assert not sender.is_alive() and len(replies) == 1
    t.start()
    stored = {row[0] for row in t.psql("SELECT job_id FROM job")}
    assert ("2" in stored) == (replies[0].status == 200), replies


def subprocess_psql(t, sql):
    import subprocess
    return subprocess.Popen(
        ["psql", "-X", "-q", "-h", os.readlink(t.state / "run") + "/pg", "-p", "6821", "-U", "postgres",
         "tally", "-c", sql], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_anonymous_reads_after_sighup(fresh_tallyd):
    t = fresh_tallyd()
    assert t.get("/v1/clusters", signed=False).status == 401
    t.conf_file.write_text("AllowAnonymousReads=yes\n")
    t.send_signal(signal.SIGHUP)
    wait_until(lambda: "AllowAnonymousReads is taken over" in t.log(), 10, "the reload")
    assert t.get("/v1/clusters", signed=False).status != 401


def test_slurm_user_that_is_not_there(fresh_tallyd):
    t = fresh_tallyd(conf="SlurmUser=no-such-user\n", start=False)
    rc, log = t.run_to_end()
    assert rc == 1 and "SlurmUser" in log and "no-such-user" in log


def test_systemd_is_told(fresh_tallyd):
    """Type=notify: READY when it serves, RELOADING is not used, STOPPING at the end."""
    import socket
    t = fresh_tallyd(start=False)
    address = str(t.dir / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(address)
        os.chmod(address, 0o777)
        notify.settimeout(30)
        t.env["NOTIFY_SOCKET"] = address
        t.start()
        assert b"READY=1" in notify.recv(4096)
        assert t.stop() == 0
        said = b""
        while b"STOPPING=1" not in said:
            said = notify.recv(4096)


def test_systemd_is_told_while_the_database_is_away(fresh_tallyd):
    import socket
    t = fresh_tallyd(conf="StorageHost=127.0.0.1\nStoragePort=1\n", start=False)
    address = str(t.dir / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(address)
        os.chmod(address, 0o777)
        notify.settimeout(30)
        t.env["NOTIFY_SOCKET"] = address
        t.start(wait=False)
        said = notify.recv(4096)
        assert b"READY=1" in said and b"waiting for the database" in said
    t.unix = os.readlink(t.state / "run") + "/tally.sock"
    ready = t.get("/readyz", over="unix")
    assert ready.status == 503 and ready.json()["database"] == "down"
    assert t.get("/healthz", over="unix").status == 200
    assert t.stop() == 0


def test_second_daemon_on_one_database_stands_by(fresh_tallyd):
    from postgres import Postgres
    server = Postgres().start()
    try:
        server.sql("CREATE ROLE tally LOGIN PASSWORD 'secret'")
        server.sql("CREATE DATABASE acct OWNER tally")
        first = fresh_tallyd(conf=server.conf())
        second = fresh_tallyd(conf=server.conf())
        assert "stands by" in second.log()
        first.send(record(1))
        reply = second.post("/v1/records", [record(2)])
        assert reply.status == 503 and "Retry-After" in reply.headers
        assert [j["job_id"] for j in second.get("/v1/jobs?start=2023-01-01").json()["jobs"]] == [1]
        first.kill9()
        began = time.monotonic()
        wait_until(lambda: second.post("/v1/records", [record(2)]).status == 200, 15, "the take-over")
        assert time.monotonic() - began < 10
        assert second.stop() == 0
    finally:
        server.close()


def test_environment_for_other_servers_is_no_matter(fresh_tallyd):
    t = fresh_tallyd(env={"PGHOSTADDR": "192.0.2.1", "PGOPTIONS": "-c search_path=nowhere",
                          "PGSERVICE": "none", "PGUSER": "other", "PGDATABASE": "other",
                          "PGPORT": "1", "PGSSLMODE": "require", "PGDATA": "/nowhere"})
    t.send(record(1))
    assert t.stop() == 0


def test_busy_backends_of_a_killed_server_are_ended(fresh_tallyd):
    """A backend that computes does not notice that its postmaster is gone."""
    t = fresh_tallyd()
    busy = subprocess_psql(t, "DO 'BEGIN LOOP END LOOP; END'")
    wait_until(lambda: t.psql("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND "
                              "query LIKE 'DO %'", role="postgres") == [["1"]], 10, "the statement")
    os.kill(t.postgres_pid(), signal.SIGKILL)
    wait_until(lambda: "is up again" in t.log(), 30, "the server")
    busy.wait(10)
    assert t.psql("SELECT 1") == [["1"]]
    assert t.stop() == 0
