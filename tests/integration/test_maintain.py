"""backup, restore and upgrade of the private PostgreSQL; installing."""
import os
import pathlib
import stat
import subprocess

import pytest

from daemon import AS_ROOT, ROOT, TALLY, TALLYD, as_user, wait_until
from postgres import BIN


def tally(*args, uid=None, cwd="/"):
    return subprocess.run([*as_user(uid), str(TALLY), *map(str, args)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120, cwd=cwd)


def backup(t, file):
    run = tally("backup", "--state-dir", t.state, file)
    assert run.returncode == 0, run.stdout
    return file


def test_backup_and_restore(fresh_tallyd, tmp_path):
    t = fresh_tallyd()
    t.psql("CREATE TABLE kept (n int)")
    t.psql("INSERT INTO kept VALUES (7)")
    file = backup(t, tmp_path / "b.tally")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]
    t.psql("DROP TABLE kept")
    run = tally("restore", "--state-dir", t.state, file)
    assert run.returncode == 0, run.stdout
    assert t.psql("SELECT n FROM kept") == [["7"]]
    names = {row[0] for row in t.psql("SELECT datname FROM pg_database")}
    assert names == {"tally", "postgres", "template0", "template1"}
    assert t.process.poll() is None
    assert t.stop() == 0


def test_restore_brings_an_older_schema_up_to_date(fresh_tallyd, tmp_path):
    t = fresh_tallyd()
    file = backup(t, tmp_path / "b.tally")
    newest = t.psql("SELECT max(number) FROM migration")
    assert int(newest[0][0]) >= 1
    run = tally("restore", "--state-dir", t.state, file)
    assert run.returncode == 0, run.stdout
    wait_until(lambda: "SIGHUP" in t.log(), 10, "tallyd to look again")
    assert t.psql("SELECT max(number) FROM migration") == newest


def test_what_is_no_backup_changes_nothing(fresh_tallyd, tmp_path):
    t = fresh_tallyd()
    t.psql("CREATE TABLE kept (n int)")
    bad = tmp_path / "bad"
    bad.write_bytes(b"PGDMP but not really")
    for file, says in ((bad, "pg_restore"), (tmp_path / "none", "No such file")):
        run = tally("restore", "--state-dir", t.state, file)
        assert run.returncode == 1 and says in run.stdout
    assert t.psql("SELECT count(*) FROM kept") == [["0"]]
    assert t.psql("SELECT count(*) FROM pg_database WHERE datname LIKE 'tally%'") == [["1"]]


def test_backup_of_a_newer_tally_is_refused(fresh_tallyd, tmp_path):
    t = fresh_tallyd()
    t.psql("INSERT INTO migration SELECT 9000, '9000_future.sql', checksum, applied_at "
           "FROM migration WHERE number = 1")
    file = backup(t, tmp_path / "b.tally")
    t.psql("DELETE FROM migration WHERE number = 9000")
    run = tally("restore", "--state-dir", t.state, file)
    assert run.returncode == 1 and "newer tally" in run.stdout


def test_backup_without_a_daemon(fresh_tallyd, tmp_path):
    t = fresh_tallyd()
    t.stop()
    run = tally("backup", "--state-dir", t.state, tmp_path / "b")
    assert run.returncode == 1 and "no tallyd runs" in run.stdout
    assert tally("backup").returncode == 1
    assert tally("backup", "--help").returncode == 0


@pytest.mark.skipif(not AS_ROOT, reason="acts as another user")
def test_backup_is_for_root_and_the_daemons_user(fresh_tallyd):
    t = fresh_tallyd()
    run = tally("backup", "--state-dir", t.state, "/tmp/never", uid=2)
    assert run.returncode == 1 and "only root" in run.stdout
    assert not os.path.exists("/tmp/never")


def newer_programs(directory, major):
    """A directory like that of a newer PostgreSQL: tallyd sees the next major version, pg_upgrade
    the real one."""
    directory.mkdir()
    for program in BIN.iterdir():
        (directory / program.name).symlink_to(program)
    (directory / "postgres").unlink()
    (directory / "postgres").write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ] && [ "$(cat /proc/$PPID/comm)" = tallyd ]; then\n'
        f"\techo 'postgres (PostgreSQL) {major}.0'; exit 0\n"
        "fi\n"
        f'exec {BIN}/postgres "$@"\n')
    (directory / "postgres").chmod(0o755)


def test_upgrade_state(fresh_tallyd):
    t = fresh_tallyd()
    major = int((t.state / "pg/PG_VERSION").read_text())
    t.psql("CREATE TABLE kept (n int)")
    t.psql("INSERT INTO kept VALUES (7)")
    assert t.stop() == 0

    run = tally("upgrade-state", "--state-dir", t.state)
    assert run.returncode == 0 and "nothing to do" in run.stdout, run.stdout

    newer_programs(t.dir / "bin", major + 1)
    t.conf = f"PostgresBinDir={t.dir / 'bin'}\n"
    rc, log = t.run_to_end()
    assert rc == 1 and "tally upgrade-state" in log and f"only {major + 1} is installed" in log

    t.command()  # writes the configuration
    run = subprocess.run([str(TALLYD), "-f", str(t.conf_file), "--state-dir", str(t.state),
                          "--upgrade-state"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, timeout=300)
    assert run.returncode == 0, run.stdout
    assert f"of PostgreSQL {major + 1} now" in run.stdout
    assert (t.state / f"pg-{major}/PG_VERSION").exists()
    t.conf = ""
    t.start()
    assert t.psql("SELECT n FROM kept") == [["7"]]
    assert t.stop() == 0
    # A second one would put the kept data aside: refused.
    run = subprocess.run([str(TALLYD), "-f", str(t.conf_file), "--state-dir", str(t.state),
                          "--upgrade-state"], stdout=subprocess.PIPE, text=True, timeout=300)
    assert "nothing to do" in run.stdout


def test_upgrade_state_of_a_running_daemon_is_refused(fresh_tallyd):
    t = fresh_tallyd()
    run = tally("upgrade-state", "--state-dir", t.state)
    assert run.returncode == 1 and "another tallyd" in run.stdout


def test_install(tmp_path):
    run = subprocess.run(["make", "-s", "-C", str(ROOT), "install", f"DESTDIR={tmp_path}",
                          f"BUILD={os.environ.get('TALLY_BUILD', 'build')}"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert run.returncode == 0, run.stdout
    for place in ("usr/bin/tally", "usr/sbin/tallyd", "usr/lib/systemd/system/tallyd.service",
                  "etc/tally/tally.conf"):
        assert (tmp_path / place).is_file(), run.stdout
    unit = (tmp_path / "usr/lib/systemd/system/tallyd.service").read_text()
    assert "ExecStart=/usr/sbin/tallyd -D" in unit and "@SBIN@" not in unit
    conf = tmp_path / "etc/tally/tally.conf"
    conf.write_text("# mine\n")
    subprocess.run(["make", "-s", "-C", str(ROOT), "install", f"DESTDIR={tmp_path}",
                    f"BUILD={os.environ.get('TALLY_BUILD', 'build')}"],
                   stdout=subprocess.DEVNULL, check=True, timeout=300)
    assert conf.read_text() == "# mine\n"


def test_unit_file_is_right(tmp_path):
    """systemd-analyze knows every key of the unit."""
    if not pathlib.Path("/usr/bin/systemd-analyze").exists():
        pytest.skip("no systemd here")
    text = (ROOT / "share/systemd/tallyd.service.in").read_text()
    unit = tmp_path / "tallyd.service"
    unit.write_text(text.replace("@SBIN@", str(TALLYD.parent)))
    run = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=60)
    wrong = [line for line in run.stdout.splitlines() if "tallyd.service" in line]
    assert not wrong, run.stdout


def record(n, cluster="c1", user="ann"):
    return {"kind": "job_end", "job_id": n, "cluster": cluster, "user": user, "state": "COMPLETED",
            "submit": 1700000000 + n, "start": 1700000001 + n, "end": 1700009000 + n}


def stored(t):
    return sorted((c, int(n)) for c, n in t.psql("SELECT cluster, job_id FROM job"))


def test_restore_over_jobs(fresh_tallyd, tmp_path):
    t = fresh_tallyd()
    t.send(*[record(n) for n in range(1, 11)])
    file = backup(t, tmp_path / "b.tally")
    t.send(*[record(n, "c2", "bob") for n in range(1, 6)])
    after = stored(t)

    run = tally("restore", "--state-dir", t.state, file)
    assert run.returncode == 1 and "holds 15 jobs" in run.stdout and "--force" in run.stdout
    assert stored(t) == after

    run = tally("restore", "--force", "--state-dir", t.state, file)
    assert run.returncode == 0 and "10 jobs are back" in run.stdout, run.stdout
    assert stored(t) == [("c1", n) for n in range(1, 11)]
    (former,) = {row[0] for row in t.psql("SELECT datname FROM pg_database WHERE datname LIKE "
                                          "'tally_before%'")}
    assert former in run.stdout
    assert t.psql("SELECT count(*) FROM job", database=former) == [["15"]]

    # What tallyd remembered of the former database does not lead it astray in this one.
    def again():
        reply = t.post("/v1/records", [record(n, "c2", "bob") for n in range(1, 6)])
        assert reply.status in (200, 503), reply
        return reply.status == 200
    wait_until(again, 20, "records to be taken again")
    assert stored(t) == after
    found = t.get("/v1/jobs?cluster=c2&start=2023-01-01&fields=job_id,user").json()["jobs"]
    assert [(j["job_id"], j["user"]) for j in found] == [(n, "bob") for n in range(1, 6)]
    assert t.stop() == 0
