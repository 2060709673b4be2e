"""A PostgreSQL server of the tests' own, as an administrator's would be: TCP on loopback, passwords,
nothing in it."""
import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile

from daemon import AS_ROOT, as_user, wait_until

BIN = pathlib.Path(sorted(glob.glob("/usr/lib/postgresql/*/bin") or ["/usr/bin"])[-1])


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Postgres:
    def __init__(self):
        self.user = pwd.getpwnam("tally").pw_uid if AS_ROOT else None
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="tally-pg-", dir="/tmp"))
        if self.user is not None:
            os.chown(self.dir, self.user, self.user)
        self.dir.chmod(0o755)
        self.port = free_port()
        self.process = None
        password = self.dir / "password"
        password.write_text("geheim\n")
        password.chmod(0o644)
        subprocess.run([*as_user(self.user), str(BIN / "initdb"), "-D", str(self.dir / "data"), "-U",
                        "boss", "-A", "scram-sha-256", "--pwfile", str(password), "-N", "-E", "UTF8",
                        "--locale=C"], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def start(self):
        self.log = open(self.dir / "log", "ab")
        self.process = subprocess.Popen(
            [*as_user(self.user), str(BIN / "postgres"), "-D", str(self.dir / "data"), "-k",
             str(self.dir), "-c", "listen_addresses=127.0.0.1", "-c", f"port={self.port}", "-c",
             "fsync=off"], stdout=self.log, stderr=self.log, cwd="/")
        wait_until(lambda: subprocess.run([str(BIN / "pg_isready"), "-q", "-h", "127.0.0.1", "-p",
                                           str(self.port)], check=False).returncode == 0,
                   30, "PostgreSQL")
        return self

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(30)
            self.log.close()
            self.process = None

    def close(self):
        self.stop()
        shutil.rmtree(self.dir, ignore_errors=True)

    def sql(self, text, database="postgres"):
        return subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p",
             str(self.port), "-U", "boss", database, "-c", text], check=True, text=True,
            stdout=subprocess.PIPE, env={**os.environ, "PGPASSWORD": "geheim"}).stdout.strip()

    def conf(self, **keys):
        """tally.conf's lines for it."""
        keys = {"StorageHost": "127.0.0.1", "StoragePort": self.port, "StorageUser": "tally",
                "StoragePass": "secret", "StorageLoc": "acct", **keys}
        return "".join(f'{k}="{v}"\n' for k, v in keys.items() if v is not None)
