"""A real tallyd in a directory of its own, and the ways to talk to it.

    t = Tallyd(conf="PrivateData=jobs\\n")
    t.start()
    t.get("/v1/ping").json()
    t.post("/v1/records", [{...}])               # signed by munge, over TCP
    t.get("/v1/jobs", over="unix")               # known by peer credentials
    t.get("/v1/jobs", uid=12345)                 # as another user (tests run by root only)
    t.tally("sacct", "-P")                       # the command
    t.stop()

Nothing here sleeps for a fixed time: every wait has a condition and a deadline.
"""
import gzip
import hashlib
import http.client
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TALLY_BUILD", ROOT / "build"))
TALLYD = BUILD / "tallyd"
TALLY = BUILD / "tally"
AS_ROOT = os.geteuid() == 0
START_S = 60
STOP_S = 10

# Sanitizers tell what they found in a file, so that a daemon's report is not lost in its log.
SANITIZER_ENV = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=99",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=0:exitcode=99",
}


def wait_until(condition, seconds=10, what="condition"):
    """Returns the first true value of condition(); fails when the time is over."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {what}")
        time.sleep(0.02)


def as_user(uid):
    """Words in front of a command that run it as another user."""
    if uid is None:
        return []
    assert AS_ROOT, "only root can act as another user"
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return stat[0] != "Z"


class Response:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        return json.loads(self.body)

    def lines(self):
        """NDJSON."""
        return [json.loads(line) for line in self.body.splitlines()]

    def __repr__(self):
        return f"<{self.status} {dict(self.headers)} {self.body[:500]!r}>"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Tallyd:
    def __init__(self, conf="", args=(), directory=None, env=None, user=None, http="127.0.0.1:0"):
        self.conf = conf
        self.args = list(args)
        self.env = env or {}
        self.user = user
        self.http = http
        self.made = directory is None
        self.dir = pathlib.Path(directory or tempfile.mkdtemp(prefix="tally-t-", dir="/tmp"))
        self.dir.chmod(0o755)
        if user is not None:
            os.chown(self.dir, user, user)
        elif AS_ROOT:
            os.chown(self.dir, pwd.getpwnam("tally").pw_uid, -1)
        self.state = self.dir / "state"
        self.conf_file = self.dir / "tally.conf"
        self.log_file = self.dir / "tallyd.log"
        self.process = None
        self.ready_line = None
        self.host = self.port = self.unix = self.munge = None

    # ---- start and stop -------------------------------------------------------------------

    def command(self):
        self.conf_file.write_text(self.conf)
        self.conf_file.chmod(0o640)
        if self.user is not None:
            os.chown(self.conf_file, self.user, self.user)
        elif AS_ROOT:
            os.chown(self.conf_file, 0, pwd.getpwnam("tally").pw_gid)
        return [*as_user(self.user), str(TALLYD), "-D", "-f", str(self.conf_file), "--state-dir",
                str(self.state), *(["--http", self.http] if self.http else []), *self.args]

    def start(self, wait=True, seconds=START_S):
        assert self.process is None
        # Read through a pipe with a thread of its own would be one more moving part: standard
        # output goes to a file as well, and the ready line is looked for there.
        self.out_file = self.dir / "tallyd.out"
        out = open(self.out_file, "wb")
        log = open(self.log_file, "ab")
        self.process = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=out, stderr=log,
            env={**os.environ, **SANITIZER_ENV, **self.env}, cwd="/")
        out.close()
        log.close()
        if wait:
            self.wait_ready(seconds)
        return self

    def wait_ready(self, seconds=START_S):
        def look():
            text = self.out_file.read_text()
            if "\n" in text:
                return text
            if self.process.poll() is not None:
                raise AssertionError(f"tallyd ended with {self.process.returncode}:\n{self.log()}")
            return None
        try:
            self.ready_line = wait_until(look, seconds, "the ready line").splitlines()[0]
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.log()}") from None
        self.parse_ready()

    def parse_ready(self):
        words = self.ready_line.split()
        assert words[:2] == ["tallyd:", "ready"], self.ready_line
        for word in words[2:]:
            kind, _, rest = word.partition(":")
            if kind == "http":
                self.host, _, port = rest.removeprefix("//").rpartition(":")
                self.port = int(port)
            elif kind in ("unix", "munge"):
                setattr(self, kind, rest)

    @property
    def url(self):
        return f"http://{self.host}:{self.port}"

    @property
    def pid(self):
        return self.process.pid

    def send_signal(self, signo):
        self.process.send_signal(signo)

    def wait(self, seconds=STOP_S):
        rc = self.process.wait(seconds)
        self.process = None
        return rc

    def stop(self, signo=signal.SIGTERM, seconds=STOP_S):
        """Orderly; returns the exit status."""
        self.send_signal(signo)
        try:
            return self.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill9()
            raise AssertionError(f"tallyd did not end within {seconds} s\n{self.log()}") from None

    def kill9(self):
        self.process.kill()
        self.process.wait()
        self.process = None

    def run_to_end(self, seconds=START_S):
        """For starts that must fail: (exit status, what it wrote to standard error)."""
        self.log_file.unlink(missing_ok=True)
        self.start(wait=False)
        rc = self.wait(seconds)
        return rc, self.log()

    def log(self):
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def postgres_pid(self):
        try:
            return int((self.state / "pg/postmaster.pid").read_text().split("\n")[0])
        except (FileNotFoundError, ValueError):  # not there, or half written
            return None

    def munged_pid(self):
        try:
            return int((self.state / "munge/munged.pid").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def servers(self):
        return [pid for pid in (self.postgres_pid(), self.munged_pid()) if pid and alive(pid)]

    def close(self, keep=False):
        """Ends it whatever state it is in, with the servers a kill -9 left; removes the
        directory."""
        if self.process is not None:
            try:
                self.stop()
            except AssertionError:
                pass
        for pid in self.servers():
            comm = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            if comm in ("postgres", "munged"):
                os.kill(pid, signal.SIGQUIT if comm == "postgres" else signal.SIGTERM)
                wait_until(lambda pid=pid: not alive(pid), 10, f"the end of {comm}")
        run = self.state / "run"
        if run.is_symlink():
            shutil.rmtree(os.readlink(run), ignore_errors=True)
        if self.made and not keep:
            shutil.rmtree(self.dir, ignore_errors=True)

    def psql(self, sql, role="tally", database="tally"):
        """Rows of the private PostgreSQL, unaligned, as a list of lists of text."""
        out = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h",
             os.readlink(self.state / "run") + "/pg", "-p", "6821", "-U", role, database, "-c", sql],
            stdout=subprocess.PIPE, check=True, text=True).stdout
        return [line.split("\t") for line in out.splitlines()]

    # ---- HTTP -----------------------------------------------------------------------------

    def connect(self, over="tcp", timeout=30):
        if over == "unix":
            return UnixConnection(self.unix, timeout)
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def credential(self, method, target, body=b"", uid=None):
        """A munge credential bound to one request, made as a user would."""
        digest = hashlib.sha256(f"{method}\n{target}\n".encode() + body).hexdigest()
        return subprocess.run([*as_user(uid), "munge", "-S", self.munge, "-s", digest],
                              stdout=subprocess.PIPE, check=True, text=True).stdout.strip()

    def request(self, method, target, body=None, headers=None, over="tcp", signed=True, uid=None,
                compress=False, timeout=30):
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            if isinstance(body, list):
                body = "".join(json.dumps(r) + "\n" for r in body)
                headers.setdefault("Content-Type", "application/x-ndjson")
            else:
                body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        if compress:
            body = gzip.compress(body)
            headers["Content-Encoding"] = "gzip"
        if signed and over == "tcp" and "Authorization" not in headers:
            headers["Authorization"] = "Munge " + self.credential(method, target, body or b"", uid)
        connection = self.connect(over, timeout)
        try:
            connection.request(method, target, body=body, headers=headers)
            reply = connection.getresponse()
            return Response(reply.status, reply.headers, reply.read())
        finally:
            connection.close()

    def get(self, target, **kw):
        return self.request("GET", target, **kw)

    def post(self, target, body, **kw):
        return self.request("POST", target, body=body, **kw)

    def send(self, *records, **kw):
        """Records in, verdicts out; every one must have been taken."""
        reply = self.post("/v1/records", list(records), **kw)
        assert reply.status == 200, reply
        answer = reply.json()
        assert answer["refused"] == 0, answer
        return answer

    # ---- the command ----------------------------------------------------------------------

    def tally(self, *args, over="unix", uid=None, stdin=None, env=None, check=False, text=True):
        """Runs `tally ARGS`; a CompletedProcess."""
        url = f"unix:{self.unix}" if over == "unix" else self.url
        full = {**os.environ, **SANITIZER_ENV, "TALLY_URL": url, "TALLY_MUNGE_SOCKET": self.munge,
                "TZ": "UTC", **(env or {})}
        return subprocess.run([*as_user(uid), str(TALLY), *map(str, args)], env=full, text=text,
                              input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              check=check, timeout=120)
