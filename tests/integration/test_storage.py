"""A configured database: used when it will have us, explained and waited for when it will not."""
import signal

import pytest

from daemon import wait_until
from postgres import Postgres


@pytest.fixture(scope="module")
def postgres():
    server = Postgres().start()
    server.sql("CREATE ROLE tally LOGIN PASSWORD 'secret'")
    server.sql("CREATE ROLE poor LOGIN PASSWORD 'secret'")
    server.sql("CREATE DATABASE acct OWNER tally")
    yield server
    server.close()


def test_configured_database_is_used(fresh_tallyd, postgres):
    t = fresh_tallyd(conf=postgres.conf())
    assert t.postgres_pid() is None
    assert int(postgres.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", "acct")) > 0
    assert t.stop() == 0


def test_connection_string_is_used(fresh_tallyd, postgres):
    dsn = f"host=127.0.0.1 port={postgres.port} user=tally password=secret dbname=acct"
    t = fresh_tallyd(conf=f'StorageDSN="{dsn}"\n')
    assert t.postgres_pid() is None


def test_password_script(fresh_tallyd, postgres, tmp_path):
    t = fresh_tallyd(start=False)
    script = t.dir / "password"
    script.write_text("#!/bin/sh\necho secret\n")
    script.chmod(0o755)
    t.conf = postgres.conf(StoragePass=None, StoragePassScript=script)
    t.start()
    assert t.postgres_pid() is None


@pytest.mark.parametrize("keys, says", [
    ({"StoragePass": "wrong"}, "the password is wrong"),
    ({"StoragePass": None}, "set StoragePass"),
    ({"StorageLoc": "nowhere"}, "CREATE DATABASE"),
    ({"StorageUser": "poor"}, "GRANT CREATE ON SCHEMA"),
    ({"StoragePort": 1}, "is PostgreSQL running"),
    ({"StorageHost": "/nonexistent"}, "no such socket"),
    ({"StorageHost": "no-such-host.invalid"}, "spelling of StorageHost"),
], ids=["password", "no-password", "database", "rights", "port", "socket", "host"])
def test_what_is_wrong_is_said_and_the_daemon_stays(fresh_tallyd, postgres, keys, says):
    t = fresh_tallyd(conf=postgres.conf(**keys), start=False)
    t.start(wait=False)
    wait_until(lambda: says in t.log(), 20, f"{says!r} in the log")
    assert t.process.poll() is None
    assert t.out_file.read_text() == ""
    assert t.stop(signal.SIGTERM) == 0


def test_database_that_comes_later(fresh_tallyd):
    server = Postgres()
    try:
        t = fresh_tallyd(conf=server.conf(), start=False)
        t.start(wait=False)
        wait_until(lambda: "is PostgreSQL running" in t.log(), 20, "the first failure")
        server.start()
        server.sql("CREATE ROLE tally LOGIN PASSWORD 'secret'")
        server.sql("CREATE DATABASE acct OWNER tally")
        t.wait_ready()
        assert t.stop() == 0
    finally:
        server.close()


def test_newer_schema_is_refused(fresh_tallyd, postgres):
    postgres.sql("CREATE DATABASE newer OWNER tally")
    conf = postgres.conf(StorageLoc="newer")
    t = fresh_tallyd(conf=conf)
    assert t.stop() == 0
    postgres.sql("INSERT INTO migration SELECT 9000, '9000_future.sql', checksum, applied_at "
                 "FROM migration WHERE number = 1", "newer")
    rc, log = t.run_to_end()
    assert rc == 1 and "newer" in log
