"""Who a request comes from: every way a munge credential can fail, provoked with real munged
daemons, and what each is told."""
import hashlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

import pytest

from daemon import AS_ROOT, wait_until

HERE = pathlib.Path(__file__).parent
RECORD = {"kind": "job_end", "cluster": "munged", "job_id": 1, "submit": 1700000000,
          "start": 1700000000, "end": 1700000060, "state": "COMPLETED"}


def digest(method, target, body=b""):
    return hashlib.sha256(f"{method}\n{target}\n".encode() + body).hexdigest()


def munge(socket, *args):
    return subprocess.run(["munge", "-S", str(socket), *args], stdout=subprocess.PIPE, check=True,
                          text=True, stdin=subprocess.DEVNULL).stdout.strip()


class Munged:
    """A munged of our own: another key, or a clock that is wrong by `shift` seconds."""

    def __init__(self, key=None, shift=0):
        # munged wants no directory above its files that others can write to, but for sticky ones.
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="tally-munged-", dir="/tmp"))
        self.dir.chmod(0o755)
        self.socket = self.dir / "s"
        if key is None:
            key = self.dir / "key"
            key.write_bytes(os.urandom(128))
            key.chmod(0o600)
        env = dict(os.environ)
        if shift:
            shim = self.dir / "clockshift.so"
            subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", shim, HERE / "clockshift.c",
                            "-ldl"], check=True)
            env |= {"LD_PRELOAD": str(shim), "CLOCK_SHIFT_S": str(shift)}
        self.process = subprocess.Popen(
            ["munged", "-F", "-f", f"--key-file={key}", f"--socket={self.socket}",
             f"--pid-file={self.dir}/pid", f"--log-file={self.dir}/log",
             f"--seed-file={self.dir}/seed", "--num-threads=1"],
            env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.socket.exists, 10, "another munged")

    def stop(self, final=False):
        self.process.terminate()
        self.process.wait(10)
        if final:
            shutil.rmtree(self.dir, ignore_errors=True)


@pytest.fixture
def other_munged():
    running = []

    def start(**kw):
        running.append(Munged(**kw))
        return running[-1]

    yield start
    for m in running:
        m.stop(final=True)


@pytest.fixture(scope="module")
def t(module_tallyd):
    return module_tallyd()


def key_of(t):
    return t.state / "munge/munge.key"


def refused(t, credential, kind, status=401, target="/v1/ping"):
    """The answer's detail; the log and the counter say the same."""
    before = count(t, kind)
    reply = t.get(target, headers={"Authorization": f"Munge {credential}"})
    assert reply.status == status, reply
    if status == 401:
        assert reply.headers["WWW-Authenticate"].startswith("Munge")
    p = reply.json()
    assert p["field"] == "Authorization"
    assert count(t, kind) == before + 1
    line = [x for x in t.log().splitlines() if f"kind={kind}" in x][-1]
    assert p["detail"] in line
    return p["detail"]


def count(t, kind):
    name = f'tally_munge_credentials_total{{result="{kind}"}} '
    text = t.get("/metrics", signed=False).text
    return int([x for x in text.splitlines() if x.startswith(name)][0].split()[1])


def test_a_good_credential_is_an_identity(t):
    p = t.get("/v1/ping").json()
    assert p["proof"] == "munge" and p["uid"] == os.geteuid() and p["controller"]
    assert count(t, "ok") > 0


def test_the_payload_may_end_in_a_newline(t):
    c = subprocess.run(["munge", "-S", t.munge], input=digest("GET", "/v1/ping") + "\n", text=True,
                       stdout=subprocess.PIPE, check=True).stdout.strip()
    assert t.get("/v1/ping", headers={"Authorization": f"Munge {c}"}).status == 200


def test_expired_by_waiting(t):
    c = munge(t.munge, "-s", digest("GET", "/v1/ping"), "-t", "1")
    time.sleep(3)
    detail = refused(t, c, "expired")
    assert "expired" in detail and "good for 1 s" in detail


def test_expired_by_a_clock_that_is_behind(t, other_munged):
    """FC-139"""
    m = other_munged(key=key_of(t), shift=-304)
    detail = refused(t, munge(m.socket, "-s", digest("GET", "/v1/ping")), "expired")
    assert "clocks differ by 304 s" in detail or "clocks differ by 305 s" in detail, detail
    assert detail.count("Z") >= 2


def test_rewound_by_a_clock_that_is_ahead(t, other_munged):
    """FC-140"""
    m = other_munged(key=key_of(t), shift=14502)
    detail = refused(t, munge(m.socket, "-s", digest("GET", "/v1/ping")), "rewound")
    assert "14502 s ahead" in detail or "14501 s ahead" in detail, detail


def test_nothing_is_written_on_a_bad_clock_and_all_is_well_once_it_is_right(t, other_munged):
    body = json.dumps(RECORD).encode()
    m = other_munged(key=key_of(t), shift=14502)
    c = munge(m.socket, "-s", digest("POST", "/v1/records", body))
    reply = t.post("/v1/records", body, headers={"Authorization": f"Munge {c}"})
    assert reply.status == 401
    assert t.send(RECORD)["accepted"] == 1  # and not duplicate


def test_replayed(t):
    c = t.credential("GET", "/v1/ping")
    assert t.get("/v1/ping", headers={"Authorization": f"Munge {c}"}).status == 200
    assert "used before" in refused(t, c, "replayed")


def test_another_key(t, other_munged):
    """FC-142"""
    c = munge(other_munged().socket, "-s", digest("GET", "/v1/ping"))
    assert "another munge key" in refused(t, c, "wrong_key")
    assert t.get("/v1/ping").status == 200


@pytest.mark.parametrize("text", ["MUNGE:AAAA:", "x", "MUNGE:", "MUNGE:AwQDAAA"])
def test_malformed(t, text):
    before = count(t, "malformed") + count(t, "wrong_key") + count(t, "unsupported")
    reply = t.get("/v1/ping", headers={"Authorization": f"Munge {text}"})
    assert reply.status == 401
    assert count(t, "malformed") + count(t, "wrong_key") + count(t, "unsupported") == before + 1


def test_another_scheme(t):
    reply = t.get("/v1/ping", headers={"Authorization": "Basic eDp5"})
    assert reply.status == 401 and "Munge <credential>" in reply.json()["detail"]


@pytest.mark.parametrize("method,target,body", [("GET", "/v1/pong", b""), ("POST", "/v1/ping", b""),
                                                ("GET", "/v1/ping", b"x"), ("GET", "/v1/ping?", b"")])
def test_made_for_another_request(t, method, target, body):
    c = munge(t.munge, "-s", digest(method, target, body))
    assert "not for this request" in refused(t, c, "other_request")


def test_without_a_payload(t):
    assert "not for this request" in refused(t, munge(t.munge, "-n"), "other_request")


def test_another_body(t):
    body = json.dumps(dict(RECORD, job_id=77)).encode()
    c = munge(t.munge, "-s", digest("POST", "/v1/records", body))
    forged = body.replace(b"77", b"78")
    reply = t.post("/v1/records", forged, headers={"Authorization": f"Munge {c}"})
    assert reply.status == 401
    assert t.send(dict(RECORD, job_id=78))["accepted"] == 1


@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_by_hand_as_the_contract_says(t, tmp_path):
    f = tmp_path / "f"
    f.write_text(json.dumps(dict(RECORD, job_id=81)))
    line = (f"C=$({{ printf 'POST\\n/v1/records\\n'; cat {f}; }} | sha256sum | cut -d' ' -f1 | "
            f"munge -S {t.munge}); "
            f'curl -s -H "Authorization: Munge $C" --data-binary @{f} {t.url}/v1/records')
    out = subprocess.run(["bash", "-c", line], stdout=subprocess.PIPE, check=True, text=True).stdout
    assert json.loads(out)["accepted"] == 1


def test_gzip_is_signed_as_sent(t):
    assert t.post("/v1/records", dict(RECORD, job_id=79), compress=True).status == 200


@pytest.mark.skipif(not AS_ROOT, reason="needs another uid")
def test_restricted_to_another_uid(t):
    c = munge(t.munge, "-s", digest("GET", "/v1/ping"), "-u", "12345")
    assert "another uid" in refused(t, c, "not_for_us")


@pytest.mark.skipif(not AS_ROOT, reason="needs other uids")
def test_only_controllers_send_records(t):
    reply = t.post("/v1/records", RECORD, uid=12345)
    assert reply.status == 403 and "12345" in reply.json()["detail"]
    ping = t.get("/v1/ping", uid=12345).json()
    assert ping["uid"] == 12345 and not ping["controller"] and ping["role"] == "user"


def test_the_unix_socket_needs_no_credential(t):
    p = t.get("/v1/ping", over="unix").json()
    assert p["proof"] == "peer" and p["uid"] == os.geteuid()
    assert t.post("/v1/records", dict(RECORD, job_id=80), over="unix").status == 200


def test_a_bad_credential_counts_on_the_unix_socket_too(t):
    reply = t.get("/v1/ping", over="unix", headers={"Authorization": "Munge nonsense"})
    assert reply.status == 401


@pytest.mark.parametrize("target", ["/healthz", "/readyz", "/metrics", "/openapi.yaml", "/v1/ping"])
def test_open_to_everybody(t, target):
    assert t.get(target, signed=False).status == 200


@pytest.mark.parametrize("method,target", [("GET", "/v1/jobs"), ("GET", "/v1/jobs/1"),
                                           ("GET", "/v1/jobs/1/why"), ("POST", "/v1/jobs/query"),
                                           ("GET", "/v1/clusters"), ("POST", "/v1/records"),
                                           ("GET", "/v1/quarantine"),
                                           ("POST", "/v1/quarantine/1/replay")])
def test_closed_without_an_identity(t, method, target):
    reply = t.request(method, target, body=b"{}" if method == "POST" else None, signed=False)
    assert reply.status == 401 and "WWW-Authenticate" in reply.headers


def test_anonymous_reads(module_tallyd):
    t = module_tallyd(conf="AllowAnonymousReads=yes\n")
    assert t.get("/v1/jobs", signed=False).status == 200
    assert t.post("/v1/records", RECORD, signed=False).status == 401
    assert t.get("/v1/quarantine", signed=False).status == 401


def test_no_munged(module_tallyd, other_munged):
    """Three causes, three texts; 503, since the fault is this host's; well again with munged."""
    m = other_munged()
    t = module_tallyd(args=["--munge-socket", str(m.socket)])
    key = m.dir / "key"
    good = [munge(m.socket, "-s", digest("GET", "/v1/ping")) for _ in range(4)]
    m.stop()
    if m.socket.exists():
        m.socket.unlink()
    assert "does not exist" in refused(t, good[0], "no_munged", 503)
    assert t.get("/healthz", signed=False).status == 200
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(m.socket))
    m.socket.chmod(0o777)
    assert "nobody listens" in refused(t, good[1], "no_munged", 503)
    dead.close()
    if AS_ROOT:
        m.socket.chmod(0)
        assert "wrong permissions" in refused(t, good[2], "no_access", 503)
    m.socket.unlink()
    m.process = subprocess.Popen(
        ["munged", "-F", "-f", f"--key-file={key}", f"--socket={m.socket}", f"--pid-file={m.dir}/pid",
         f"--log-file={m.dir}/log", f"--seed-file={m.dir}/seed", "--num-threads=1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(m.socket.exists, 10, "munged again")
    fresh = munge(m.socket, "-s", digest("GET", "/v1/ping"))
    assert t.get("/v1/ping", headers={"Authorization": f"Munge {fresh}"}).status == 200


def test_a_flood_of_bad_credentials_does_not_fill_the_log(module_tallyd):
    t = module_tallyd()
    for _ in range(120):
        assert t.get("/v1/ping", headers={"Authorization": "Munge x"}, over="unix").status == 401
    assert count(t, "malformed") == 120
    lines = [x for x in t.log().splitlines() if "kind=malformed" in x]
    assert 40 <= len(lines) <= 100
