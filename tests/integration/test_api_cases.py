"""Field cases over HTTP: a record in, its right value out."""
import csv
import io
import json
import socket
import threading
import time

import pytest

pytestmark = pytest.mark.threads

T = 1700000000


def end(job_id, **more):
    return {"kind": "job_end", "cluster": "c1", "job_id": job_id, "submit": T, "start": T,
            "end": T + 60, "state": "COMPLETED", "exit_code": 0, "user": "ann"} | more


@pytest.fixture(scope="module")
def t(module_tallyd):
    return module_tallyd()


def job(t, job_id, **params):
    query = "&".join(f"{k}={v}" for k, v in params.items())
    return t.get(f"/v1/jobs/{job_id}?{query}").json()["jobs"][0]


NAMES = {
    101: "a|b", 103: "f20\n", 104: "g\r", 105: "x'); drop table jobs;--", 106: "50%_\\",
    107: "dédé job", 110: "\x1b[31mred\x1b[0m\t\x07\x7f", 111: "say \"hi\", he said", 112: "'",
    113: "n" * 1024, 114: "\u2028\u202e", 115: " blanks ",
}


def test_names_are_data(t):
    """FC-001, 004, 006, 009, 010, 137: whatever a name holds, it comes back, in every form."""
    t.send(*[end(i, name=n, work_dir="/w/" + n) for i, n in NAMES.items()])
    window = f"start={T}&end={T + 100}&job={','.join(map(str, NAMES))}"
    raw = t.get(f"/v1/jobs?{window}&format=json")
    assert all(b >= 0x20 or b == 0x0a for b in raw.body) and b"\x7f" not in raw.body
    assert {j["job_id"]: j["name"] for j in raw.json()["jobs"]} == NAMES
    lines = t.get(f"/v1/jobs?{window}&format=ndjson")
    assert lines.body.count(b"\n") == len(NAMES)
    assert {j["job_id"]: j["name"] for j in lines.lines()} == NAMES
    text = t.get(f"/v1/jobs?{window}&format=csv").body.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert {int(r["job_id"]): r["name"] for r in rows} == NAMES
    assert rows[0]["work_dir"] == "/w/a|b"


@pytest.mark.parametrize("job_id", [i for i in NAMES if i not in (113,)])
def test_names_are_found_exactly(t, job_id):
    """FC-009: no wildcard, no comma, no quote means anything."""
    t.send(*[end(i, name=n) for i, n in NAMES.items()])
    found = t.post("/v1/jobs/query", {"name": [NAMES[job_id]], "start": T, "end": T + 100}).json()
    assert [j["job_id"] for j in found["jobs"]] == [job_id]


def test_a_name_that_is_not_utf8(t):
    """FC-007: both records are kept, the answer is UTF-8."""
    body = (json.dumps(end(108)).replace('"user"', '"name": "job@@", "user"').encode()
            .replace(b"@@", b"\xff\xfe") + b"\n" + json.dumps(end(109)).encode())
    reply = t.post("/v1/records", body, headers={"Content-Type": "application/x-ndjson"})
    assert reply.json()["accepted"] == 2, reply
    assert job(t, 108)["name"] == "job\ufffd\ufffd"
    assert "TextMended" in job(t, 108)["flaws"]
    assert job(t, 109)["job_id"] == 109


@pytest.mark.parametrize("limit,want", [("unlimited", "unlimited"), ("partition", "partition"),
                                        (610, 610), ("10:10:00", 610), (0, 0), (None, None)])
def test_time_limits_are_told_apart(t, limit, want):
    """FC-025"""
    number = 200 + abs(hash(str(limit))) % 1000
    t.send(end(number, timelimit=limit))
    assert job(t, number)["timelimit"] == want


def test_an_id_that_came_round(t):
    """FC-033"""
    old = end(5000, submit=T - 200000000, start=T - 200000000, end=T - 199999000, user="u1")
    t.send(old)
    assert job(t, 5000, times="epoch")["submit"] == T - 200000000
    t.send({"kind": "job_start", "cluster": "c1", "job_id": 5000, "submit": T, "eligible": T,
            "start": T, "state": "RUNNING", "user": "u2"})
    rows = t.get("/v1/jobs?job=5000").json()["jobs"]
    assert [r["user"] for r in rows] == ["u2"]
    rows = t.get("/v1/jobs?job=5000&duplicates=true&times=epoch").json()["jobs"]
    assert [(r["user"], r["submit"]) for r in rows] == [("u2", T), ("u1", T - 200000000)]


def test_who_cancelled_is_a_fact_of_its_own(t):
    """FC-036"""
    t.send(end(361, state="CANCELLED by 1000"), end(362, state="CANCELLED", killed_by_uid=0))
    assert (job(t, 361)["state"], job(t, 361)["killed_by_uid"]) == ("CANCELLED", 1000)
    assert (job(t, 362)["state"], job(t, 362)["killed_by_uid"], job(t, 362)["killed_by"]) == (
        "CANCELLED", 0, "root")


def test_out_of_memory_is_no_success(t):
    """FC-038, 187"""
    t.send(end(381, state="OUT_OF_MEMORY", exit_code=0, exit_signal=125),
           end(382, state="FAILED", exit_code=1, derived_exit="0:125", steps=[
               {"step_id": 0, "state": "OUT_OF_MEMORY", "exit": "0:125", "start": T, "end": T + 50}]))
    j = job(t, 381)
    assert (j["exit_code"], j["exit_signal"], j["failed"], j["oom"]) == (0, 125, True, True)
    j = job(t, 382)
    assert (j["state"], j["oom"], j["oom_step"]) == ("FAILED", True, 0)
    assert [r["job_id"] for r in t.get(f"/v1/jobs?state=OOM&start={T}&end={T + 100}&job=381,382")
            .json()["jobs"]] == [381]


@pytest.mark.parametrize("said,code,signal", [("137:0", 137, 0), ("200:0", 200, 0), ("0:9", 0, 9),
                                              ("0:53", 0, 53)])
def test_exit_codes_are_whole(t, said, code, signal):
    """FC-041, 043"""
    number = 4100 + code + signal
    record = end(number, state="FAILED", exit=said)
    del record["exit_code"]
    t.send(record)
    j = job(t, number)
    assert (j["exit_code"], j["exit_signal"]) == (code, signal)


def test_large_numbers_are_numbers(t):
    """FC-085"""
    t.send(end(4000000000, priority=4294967293))
    j = job(t, 4000000000)
    assert j["priority"] == 4294967293 and j["job_id"] == 4000000000
    assert b'"priority":4294967293' in t.get("/v1/jobs/4000000000").body


def test_what_is_no_quantity_is_null(t):
    """FC-014, 082"""
    t.send(end(820, steps=[{"step_id": 0, "start": T, "end": T + 60, "state": "COMPLETED",
                            "energy_j": 18446744073709551614,
                            "usage_in_max": {"mem": 18446744073709551615}}]))
    [s] = job(t, 820)["steps"]
    assert s["energy_j"] is None and s["max_rss_bytes"] is None
    assert job(t, 820)["peak_rss_bytes"] is None


def test_names_of_directory_services(t):
    """FC-132"""
    t.send(end(1321, user="ksa@bio.example"), end(1322, user="DOM\\ann", group="domänen-benutzer"))
    found = t.get(f"/v1/jobs?start={T}&end={T + 100}&user=ksa@bio.example").json()["jobs"]
    assert [j["job_id"] for j in found] == [1321]
    found = t.get(f"/v1/jobs?start={T}&end={T + 100}&user=DOM%5Cann&group=dom%C3%A4nen-benutzer")
    assert [j["user"] for j in found.json()["jobs"]] == ["DOM\\ann"]
    assert rb'"DOM\\ann"' in found.body


def test_clusters_keep_their_ids_apart(t):
    """FC-191"""
    t.send(end(1910, cluster="x1", user="u1"), end(1910, cluster="x2", user="u2"))
    both = t.get("/v1/jobs?job=1910").json()["jobs"]
    assert [(j["cluster"], j["user"]) for j in both] == [("x1", "u1"), ("x2", "u2")]
    t.send(end(1910, cluster="x2", user="u2", as_of=T + 100, state="FAILED", exit_code=1))
    assert job(t, 1910, cluster="x1")["state"] == "COMPLETED"
    assert job(t, 1910, cluster="x2")["state"] == "FAILED"


def test_a_thousand_questions_at_once(t):
    """FC-183: all are answered or told to try again, and records go in at the same time."""
    t.send(end(1830))
    stop, worst, verdicts = threading.Event(), [0.0], []

    def ingest():
        n = 183000
        while not stop.is_set():
            n += 1
            began = time.monotonic()
            verdicts.append(t.send(end(n), over="unix")["accepted"])
            worst[0] = max(worst[0], time.monotonic() - began)

    writer = threading.Thread(target=ingest)
    writer.start()
    answers = []
    try:
        for _ in range(4):
            questions = []
            for _ in range(250):
                s = socket.socket(socket.AF_UNIX)
                s.settimeout(60)
                s.connect(t.unix)
                s.sendall(b"GET /v1/jobs?job=1830 HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
                questions.append(s)
            for s in questions:
                got = b""
                while piece := s.recv(65536):
                    got += piece
                answers.append(got)
                s.close()
    finally:
        stop.set()
        writer.join()
    statuses = [a[9:12] for a in answers]
    assert set(statuses) <= {b"200", b"503"} and len(statuses) == 1000
    assert statuses.count(b"200") > 100
    for a in answers:
        if a[9:12] == b"503":
            assert b"Retry-After" in a
    assert all(verdicts) and len(verdicts) > 3 and worst[0] < 10


def test_the_database_away_and_back(fresh_tallyd):
    """FC-143: told to try again, and the next call works without a restart."""
    import os
    import signal
    from daemon import wait_until
    t = fresh_tallyd()
    wait_until(lambda: t.get("/readyz", signed=False).status == 200, 20, "readiness")
    t.send(end(1))
    os.kill(t.postgres_pid(), signal.SIGQUIT)
    seen = []

    def away():
        reply = t.get("/v1/jobs/1")
        seen.append(reply.status)
        return reply.status in (503, 504) and reply
    try:
        reply = wait_until(away, 5, "a question while the database is away")
        assert int(reply.headers["Retry-After"]) > 0
        assert reply.json()["hint"]
    except AssertionError:
        assert set(seen) == {200}  # it was back before the question
    wait_until(lambda: t.get("/v1/jobs/1").status == 200, 60, "the database to come back")
    wait_until(lambda: t.post("/v1/records", [end(2)]).status == 200, 60, "records to be taken")
