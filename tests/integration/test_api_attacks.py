"""Requests that are broken, huge, slow or many: each ends with a clear answer or a cut, the daemon
lives, and records are taken as before."""
import gzip
import http.client
import json
import socket
import threading
import time

import pytest

from daemon import wait_until

pytestmark = pytest.mark.threads

CONF = """
RequestTimeout=3
IdleTimeout=4
SlowGrace=2
MinRate=1K
MaxBodySize=4M
MaxInflatedSize=16M
MaxBodiesSize=64M
"""
RECORD = {"kind": "job_end", "cluster": "attacked", "job_id": 1, "submit": 1700000000,
          "start": 1700000000, "end": 1700000060, "state": "COMPLETED"}


@pytest.fixture(scope="module")
def target(module_tallyd):
    t = module_tallyd(conf=CONF)
    yield t
    assert t.process.poll() is None


@pytest.fixture(autouse=True)
def unharmed(target):
    """After every attack: alive, quick, and records go in."""
    yield
    began = time.monotonic()
    RECORD["job_id"] += 1
    assert target.send(RECORD)["accepted"] == 1
    assert target.get("/healthz").json() == {"status": "ok"}
    assert time.monotonic() - began < 5


def raw(t, data=b"", seconds=15):
    """Sends bytes; all that came back, and how long the connection lived."""
    began = time.monotonic()
    with socket.create_connection((t.host, t.port), timeout=seconds) as s:
        s.sendall(data)
        return read_all(s), time.monotonic() - began


def read_all(s):
    got = b""
    try:
        while piece := s.recv(65536):
            got += piece
    except ConnectionError:
        pass
    return got


def head(t, length, body=b"", more=""):
    credential = t.credential("POST", "/v1/records", body)
    return (f"POST /v1/records HTTP/1.1\r\nHost: t\r\nAuthorization: Munge {credential}\r\n"
            f"Content-Type: application/json\r\n{length}\r\n{more}\r\n").encode()


def problem(reply, status, field=None):
    assert reply.status == status, reply
    assert reply.headers["Content-Type"] == "application/problem+json"
    p = reply.json()
    assert p["status"] == status
    if field:
        assert p["field"] == field, p
    return p


@pytest.mark.parametrize("body", [b"garbage", b"\x00\xff\x80", b"<xml/>", b"12", b'"text"', b"null",
                                  b"]", b"{", b"[", b'[{"kind":"job_end"', b'{"a":"', b"[[[[[[[["],
                         ids=range(12))
def test_garbage(target, body):
    p = problem(target.post("/v1/records", body), 400)
    assert p["detail"]


def test_no_body(target):
    problem(target.post("/v1/records", b""), 400, "body")


def test_empty_list(target):
    problem(target.post("/v1/records", b"[]"), 400, "body")


def test_nothing_of_half_a_body_is_kept(target):
    whole = json.dumps([dict(RECORD, job_id=900001), dict(RECORD, job_id=900002)])
    problem(target.post("/v1/records", whole[:-10].encode()), 400)
    assert target.send(dict(RECORD, job_id=900001))["accepted"] == 1


def test_hundred_megabytes_with_a_length(target):
    p = problem(target.post("/v1/records", b"x" * (100 << 20)), 413, "body")
    assert "4194304" in p["detail"]


def test_hundred_megabytes_are_refused_before_they_are_read(target):
    got, seconds = raw(target, head(target, f"Content-Length: {100 << 20}"))
    assert got.startswith(b"HTTP/1.1 413 ")
    assert seconds < 2


def test_hundred_megabytes_in_chunks(target):
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with socket.create_connection((target.host, target.port), timeout=15) as s:
        try:
            s.sendall(head(target, "Transfer-Encoding: chunked"))
            for _ in range(100):
                s.sendall(chunk)
        except ConnectionError:
            pass
        assert read_all(s).startswith(b"HTTP/1.1 413 ")


def test_gzip_bomb(target):
    bomb = gzip.compress(b" " * (1 << 30), 9)
    assert len(bomb) < 2 << 20
    p = problem(target.post("/v1/records", bomb, headers={"Content-Encoding": "gzip"}), 413, "body")
    assert "inflated" in p["detail"]


def test_gzip_ratio(target):
    bomb = gzip.compress(b" " * (8 << 20), 9)
    p = problem(target.post("/v1/records", bomb, headers={"Content-Encoding": "gzip"}), 413, "body")
    assert "times" in p["detail"]


def test_damaged_gzip(target):
    good = gzip.compress(json.dumps(RECORD).encode())
    for bad in (b"no gzip", good[:-4], good[:20], good + b"x"):
        problem(target.post("/v1/records", bad, headers={"Content-Encoding": "gzip"}), 400,
                "Content-Encoding")


@pytest.mark.parametrize("header,value", [("Content-Type", "text/plain"), ("Content-Type", "text/xml"),
                                          ("Content-Type", "application/octet-stream"),
                                          ("Content-Encoding", "br")])
def test_wrong_types(target, header, value):
    problem(target.post("/v1/records", RECORD, headers={header: value}), 415, header)


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON",
                                          "application/x-ndjson"])
def test_right_types(target, content_type):
    record = dict(RECORD, job_id=910000 + len(content_type))
    reply = target.post("/v1/records", record, headers={"Content-Type": content_type})
    assert reply.status == 200, reply


def test_half_a_body_that_hangs_up(target):
    with socket.create_connection((target.host, target.port), timeout=10) as s:
        s.sendall(head(target, "Content-Length: 1000") + b'{"kind":')


def test_half_a_body_that_waits(target):
    got, seconds = raw(target, head(target, "Content-Length: 1000") + b'{"kind":')
    assert got.startswith(b"HTTP/1.1 408 ")
    assert json.loads(got.partition(b"\r\n\r\n")[2])["status"] == 408
    assert seconds < 8


def trickle(t, start, pieces, seconds=15):
    """A byte a second for so long; what came back."""
    s = socket.create_connection((t.host, t.port), timeout=seconds)
    began = time.monotonic()
    got = b""
    try:
        s.sendall(start)
        while time.monotonic() - began < seconds:
            s.settimeout(1)
            try:
                piece = s.recv(65536)
                if not piece:
                    break
                got += piece
            except TimeoutError:
                s.sendall(pieces)
    except ConnectionError:
        pass
    finally:
        s.close()
    return got, time.monotonic() - began


def test_a_byte_a_second_of_body(target):
    got, seconds = trickle(target, head(target, "Content-Length: 1000"), b" ")
    assert got.startswith(b"HTTP/1.1 408 ")
    assert seconds < 8


def test_a_byte_a_second_of_headers(target):
    got, seconds = trickle(target, b"GET /healthz HTTP/1.1\r\nX: ", b"x")
    assert got.startswith(b"HTTP/1.1 408 ")
    assert seconds < 8


def test_a_byte_a_second_of_chunks(target):
    got, seconds = trickle(target, head(target, "Transfer-Encoding: chunked"), b"1\r\n \r\n")
    assert got.startswith(b"HTTP/1.1 408 ")
    assert seconds < 8


def test_a_steady_body_above_the_rate_is_taken(target):
    body = json.dumps(dict(RECORD, job_id=920000)).encode() + b" " * 12000
    with socket.create_connection((target.host, target.port), timeout=10) as s:
        s.sendall(head(target, f"Content-Length: {len(body)}", body, "Connection: close\r\n"))
        for at in range(0, len(body), 2000):
            s.sendall(body[at:at + 2000])
            time.sleep(0.6)
        assert read_all(s).startswith(b"HTTP/1.1 200 ")


def test_idle_connections_do_not_hurt_and_end(target):
    idle = [socket.create_connection((target.host, target.port), timeout=10) for _ in range(200)]
    kept = http.client.HTTPConnection(target.host, target.port, timeout=10)
    kept.request("GET", "/healthz")
    kept.getresponse().read()
    began = time.monotonic()
    assert target.send(dict(RECORD, job_id=930000))["accepted"] == 1
    assert time.monotonic() - began < 2
    for s in idle:
        assert read_all(s).startswith(b"HTTP/1.1 408 ")
        s.close()
    assert kept.sock.recv(100) == b""
    kept.close()
    now = [line for line in target.get("/metrics").text.splitlines()
           if line.startswith("tally_http_connections ")]
    assert int(now[0].split()[1]) < 20


@pytest.mark.parametrize("request_head", [
    b"GET /healthz HTTP/1.1\r\nHost: t\r\nX: " + b"a" * 200000 + b"\r\n\r\n",
    b"GET /healthz?" + b"a" * 200000 + b" HTTP/1.1\r\nHost: t\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: t\r\n" + b"X: 1\r\n" * 20000 + b"\r\n",
], ids=["one header", "the target", "many headers"])
def test_huge_headers(target, request_head):
    got, seconds = raw(target, request_head)
    assert got[:12] in (b"HTTP/1.1 431", b"HTTP/1.1 414", b"HTTP/1.1 413"), got[:200]
    assert seconds < 5


@pytest.mark.parametrize("request_head", [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\xaa" * 500 + b"\r\n\r\n",
    b"\r\n\r\n\r\n\r\n", b"GET\r\n\r\n", b"GET /healthz\r\n\r\n", b"GET /healthz HTTP/9.9\r\n\r\n",
    b"POST /v1/records HTTP/1.1\r\nHost: t\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/records HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /v1/records HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
], ids=["tls", "empty lines", "a word", "no version", "version 9", "length -1", "length 10^20",
        "chunk zz"])
def test_what_is_no_http_is_answered_or_ended(target, request_head):
    got, seconds = raw(target, request_head)
    assert got == b"" or got.startswith(b"HTTP/1."), got[:200]
    assert b" 200 " not in got[:15] or request_head.startswith(b"GET /healthz")
    assert seconds < 8


def test_pipelining(target):
    with socket.create_connection((target.host, target.port), timeout=10) as s:
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n" * 50
                  + b"GET /healthz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
        assert read_all(s).count(b"HTTP/1.1 200 ") == 51


def test_keep_alive_goes_on_after_errors(target):
    c = http.client.HTTPConnection(target.host, target.port, timeout=10)
    for path, status in (("/nope", 404), ("/healthz", 200), ("/v1/ping?x=1", 400), ("/healthz", 200),
                         ("/v1/quarantine", 401), ("/healthz", 200)):
        c.request("GET", path)
        reply = c.getresponse()
        reply.read()
        assert reply.status == status, path
    c.close()


def test_past_the_limit_the_answer_is_503(module_tallyd):
    t = module_tallyd(conf="MaxConnections=8\nRequestTimeout=30\n")
    idle = [socket.create_connection((t.host, t.port), timeout=10) for _ in range(8)]
    got, _ = raw(t, b"GET /healthz HTTP/1.1\r\nHost: t\r\n\r\n")
    assert got.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nRetry-After: " in got
    # The longest idle one was let go for it, so that another try gets in.
    wait_until(lambda: t.get("/healthz").status == 200, 10, "room for one more")
    for s in idle:
        s.close()


def test_bodies_at_once_have_a_limit(module_tallyd):
    t = module_tallyd(conf="MaxBodySize=1M\nMaxBodiesSize=3M\nSlowGrace=60\n")
    waiting = []
    for _ in range(3):
        s = socket.create_connection((t.host, t.port), timeout=10)
        s.sendall(head(t, f"Content-Length: {1 << 20}") + b" ")
        waiting.append(s)
    reply = wait_until(lambda: (r := t.post("/v1/records", RECORD)).status == 503 and r, 30, "503")
    assert int(reply.headers["Retry-After"]) > 0
    for s in waiting:
        s.close()
    wait_until(lambda: t.post("/v1/records", RECORD).status == 200, 30, "the budget to come back")


def test_many_at_once(target):
    """Bad and good ones from many threads; every good one is answered."""
    errors = []

    def work(n):
        for i in range(10):
            reply = target.post("/v1/records", dict(RECORD, job_id=1000000 + n * 100 + i))
            if reply.status != 200:
                errors.append(reply)
            raw(target, b"GET /nope HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for th in threads:
        th.start()
    for th in threads:
        th.join()
    assert not errors
