"""Questions about jobs over HTTP: every condition, the window, forms of the answer, order and
cursors, one job with its runs, and what a user may see."""
import csv
import http.client
import io
import json
import os
import signal
import socket
import time
import urllib.parse

import pytest

from daemon import AS_ROOT, BUILD, wait_until

pytestmark = pytest.mark.threads

T = 1700000000  # 2023-11-14T22:13:20Z


def job(job_id, submit=T, start=None, end=None, kind="job_end", **more):
    record = {"kind": kind, "cluster": "c1", "job_id": job_id, "submit": submit, "user": "ann",
              "uid": 5001, "group": "staff", "gid": 500, "account": "bio", "partition": "main",
              "qos": "normal", "name": f"job{job_id}"}
    if kind == "job_end":
        record |= {"start": start or submit, "end": end or (start or submit) + 60,
                   "state": "COMPLETED", "exit_code": 0, "tres_alloc": {"cpu": 4, "mem": 8000},
                   "alloc_nodes": 1, "nodes": "n001", "timelimit": 60}
    return record | more


JOBS = [
    job(1),
    job(2, user="bob", uid=5002, account="astro", partition="gpu", qos="high", state="FAILED",
        exit_code=1, tres_alloc={"cpu": 8, "gres/gpu": 2, "mem": 16000}, wckey="*w1"),
    job(3, group="guests", gid=501, name="a|b,\"c\"\n", reason="Resources", reservation="maint",
        reservation_id=9, alloc_nodes=4, nodes="n[002-005]", timelimit="unlimited",
        constraints="ib&a100"),
    job(4, state="TIMEOUT", timelimit=1, flags=["SchedBackfill"], assoc_id=77, wckey="w2"),
    job(20, array_job_id=20, array_task_id=1), job(21, array_job_id=20, array_task_id=2),
    job(25, array_job_id=20, array_task_id=3),
    job(30, het_job_id=30, het_offset=0), job(31, het_job_id=30, het_offset=1),
    job(40, submit=T, end=T + 100, state="REQUEUED"), job(40, submit=T + 200, end=T + 300),
    job(50, cluster="c2", user="carl", uid=5003),
    job(1, cluster="c2", user="carl", uid=5003),
    job(60, submit=T + 7200, eligible=T + 7200, start=T + 7300, end=T + 10000, name="dédé job",
        steps=[{"step_id": "batch", "name": "batch", "start": T + 7300, "end": T + 10000,
                "state": "COMPLETED", "usage_in_max": {"mem": 1000000}},
               {"step_id": 0, "name": "work", "start": T + 7400, "end": T + 9000,
                "state": "COMPLETED"}]),
    job(70, kind="job_start", submit=T + 20000, eligible=T + 20000, state="PENDING"),
]
EVERYTHING = f"start={T - 1000}&end={T + 100000}"


@pytest.fixture(scope="module")
def t(module_tallyd):
    daemon = module_tallyd()
    verdicts = daemon.send(*JOBS)
    assert verdicts["accepted"] == len(JOBS), verdicts
    return daemon


def ready(t):
    wait_until(lambda: t.get("/readyz", signed=False).status == 200, 20, "readiness")
    return t


def query(t, conditions, window=EVERYTHING, **kw):
    reply = t.get("/v1/jobs?" + "&".join(filter(None, [window, conditions])), **kw)
    assert reply.status == 200, reply
    return reply.json()["jobs"]


def ids(t, conditions, window=EVERYTHING, **kw):
    return [(j["cluster"], j["job_id"]) for j in query(t, conditions + "&fields=cluster,job_id",
                                                       window, **kw)]


def c1(*numbers):
    return [("c1", n) for n in numbers]


@pytest.mark.parametrize("conditions,want", [
    ("user=bob", c1(2)), ("user=bob,carl", [("c2", 1), ("c1", 2), ("c2", 50)]),
    ("uid=5002", c1(2)), ("user=nobody", []), ("user=BOB", []),
    ("group=guests", c1(3)), ("gid=501", c1(3)),
    ("account=astro", c1(2)), ("account=ast", []), ("account=astro,bio&user=bob", c1(2)),
    ("cluster=c2", [("c2", 1), ("c2", 50)]), ("cluster=c1,c2&user=carl", [("c2", 1), ("c2", 50)]),
    ("partition=gpu", c1(2)), ("qos=high", c1(2)), ("wckey=w1", c1(2)), ("wckey=*w1", c1(2)),
    ("wckey=w1,w2", c1(2, 4)), ("name=job4", c1(4)), ("reason=Resources", c1(3)),
    ("name=" + urllib.parse.quote("dédé job"), c1(60)), ("name=d%C3%A9d%C3%A9+job", c1(60)),
    ("reservation=maint", c1(3)), ("reservation_id=9", c1(3)), ("assoc=77", c1(4)),
    ("constraints=ib,a100", c1(3)), ("constraints=ib,v100", []),
    ("nodes=n003", c1(3)), ("nodes=n[004-009],x", c1(3)), ("nodes=n00", []),
    ("ncpus=8", c1(2)), ("ncpus=5-100", c1(2)), ("ncpus=5-", c1(2)),
    ("nnodes=4", c1(3)), ("nnodes=2-8", c1(3)),
    ("timelimit_min=1", c1(4)), ("timelimit_min=1&timelimit_max=30", c1(4)),
    ("flags=SchedBackfill", c1(4)), ("flags=schedbackfill,SchedMain", c1(4)),
    ("job=2", c1(2)), ("job=2,4", c1(2, 4)), ("job=1", [("c1", 1), ("c2", 1)]),
    ("job=1&cluster=c1", c1(1)), ("job=20", c1(20, 21, 25)), ("job=20_3", c1(25)),
    ("job=25", c1(25)), ("job=20_[1-2]", c1(20, 21)), ("job=30", c1(30, 31)),
    ("job=30+1", c1(31)), ("job=31", c1(31)), ("job=31&whole_het=true", c1(30, 31)),
    ("job=30&whole_het=false", c1(30)), ("job=99999", []),
    ("state=F", c1(2)), ("state=failed,TO", c1(2, 4)), ("state=OOM", []),
    ("state=RQ", c1(40)),
])
def test_conditions(t, conditions, want):
    assert ids(t, conditions) == want


def test_no_condition_brings_all(t):
    assert len(ids(t, "")) == len(JOBS) - 1  # one is an earlier run
    assert len(ids(t, "duplicates=true")) == len(JOBS)


def test_the_same_by_post(t):
    body = {"job": [1, "20_3", 2], "cluster": ["c1"], "fields": ["job_id"], "start": T - 1000,
            "end": T + 100000}
    reply = t.post("/v1/jobs/query", body)
    assert [j["job_id"] for j in reply.json()["jobs"]] == [1, 2, 25]
    assert t.post("/v1/jobs/query", {}).status == 200
    assert t.post("/v1/jobs/query", {"nope": 1}).json()["field"] == "nope"
    assert t.post("/v1/jobs/query", b"[1]").status == 400
    names = {"name": ["a|b,\"c\"\n"], "start": T - 1000, "end": T + 100000}
    assert [j["job_id"] for j in t.post("/v1/jobs/query", names).json()["jobs"]] == [3]


def test_a_subtree_is_the_accounts_below(t):
    """FC-188: exact accounts are answered alone; subtree takes what is below them too."""
    assert ids(t, "account=physics") == [] and ids(t, "account=physics&subtree=true") == []
    every = len(ids(t, ""))
    assert len(ids(t, "account=root&subtree=true")) == every
    assert ids(t, "account=bio&subtree=true") == ids(t, "account=bio")


def test_thousands_of_ids(t):
    """FC-182"""
    body = {"job": list(range(1, 20001)), "duplicates": True, "fields": ["cluster", "job_id"],
            "limit": 1000}
    jobs = t.post("/v1/jobs/query", body).json()["jobs"]
    assert len(jobs) == len(JOBS)


# ---- the window ----------------------------------------------------------------------------------

def window_of(t, query_string):
    reply = t.get("/v1/jobs?times=epoch&" + query_string)
    assert reply.status == 200, reply
    return reply.json()["window"]


def test_window_defaults(t):
    now = t.get("/v1/ping").json()["time"]
    w = window_of(t, "")
    assert w["start"] == now // 86400 * 86400 and 0 <= w["end"] - now < 10
    w = window_of(t, "job=1")
    assert w["start"] == 0 and 0 <= w["end"] - now < 10
    w = window_of(t, "state=F")
    assert 0 <= w["start"] - now < 10 and w["end"] == w["start"]
    w = window_of(t, f"state=F&start={T}")
    assert w == {"start": T, "end": T}


def test_a_state_over_a_window(t):
    """FC-068"""
    assert ids(t, "state=F", f"start={T}&end={T + 1000}") == c1(2)
    assert ids(t, "state=F", f"start={T}") == []
    assert ids(t, "state=R", f"start={T + 7350}&end={T + 7360}") == c1(60)
    assert ids(t, "state=PD", f"start={T + 7250}&end={T + 7260}") == c1(60)
    assert ids(t, "state=PD", f"start={T + 30000}&end={T + 30010}") == c1(70)


def test_an_impossible_window(t):
    """FC-069"""
    reply = t.get("/v1/jobs?start=2026-03-09T23:50Z&end=2026-03-09T22:59Z")
    assert reply.status == 400
    assert "23:50" in reply.json()["detail"] and "22:59" in reply.json()["detail"]


def test_times_in_every_form(t):
    """FC-156"""
    forms = [str(T), "2023-11-14T22:13:20Z", "2023-11-14T23:13:20%2B01:00",
             "2023-11-14T23:13:20+01:00", "2023-11-14T17:13:20-0500"]
    for form in forms:
        assert window_of(t, f"start={form}&end={T + 1}") == {"start": T, "end": T + 1}, form
    assert window_of(t, f"start=2023-11-14&end={T}")["start"] == T // 86400 * 86400
    now = t.get("/v1/ping").json()["time"]
    assert abs(window_of(t, "start=now-7days")["start"] - (now - 7 * 86400)) < 10
    reply = t.get("/v1/jobs?start=last+tuesday")
    assert reply.status == 400
    for accepted in ("1970", "ISO 8601", "now-7days", "date"):
        assert accepted in reply.json()["detail"]


def test_no_silently_local_times(t):
    """FC-071"""
    reply = t.get("/v1/jobs?start=2026-08-21T15:38:00")
    assert reply.status == 400 and reply.json()["field"] == "start"
    w = window_of(t, "start=2026-08-21T15:38:00&end=2026-08-21T15:39:00&zone=America/New_York")
    assert w["start"] == 1787326680 + 4 * 3600
    w = window_of(t, "start=2026-08-21T15:38:00Z&end=1787326681&zone=America/New_York")
    assert w["start"] == 1787326680


def test_truncation(t):
    """FC-066's rule: the life inside the window."""
    window = f"start={T + 8000}&end={T + 9000}"
    [j] = query(t, "truncate=true&times=epoch&user=ann&job=60", window)
    assert (j["start"], j["end"], j["elapsed_s"]) == (T + 8000, T + 9000, 1000)
    [j] = query(t, "times=epoch&user=ann&job=60", window)
    assert (j["start"], j["end"], j["elapsed_s"]) == (T + 7300, T + 10000, 2700)


def test_a_window_of_submission(t):
    assert ids(t, "submitted=true", f"start={T + 7000}&end={T + 8000}") == c1(60)


# ---- forms ---------------------------------------------------------------------------------------

def test_only_the_fields_asked_for(t):
    """FC-155"""
    assert query(t, "job=2&fields=job_id,state") == [{"job_id": 2, "state": "FAILED"}]
    assert query(t, "job=2&fields=state,job_id,elapsed_s,failed") == [
        {"job_id": 2, "state": "FAILED", "elapsed_s": 60, "failed": True}]


def test_steps(t):
    [j] = query(t, "job=60&steps=true")
    assert [s["step_id"] for s in j["steps"]] == ["batch", 0] or \
           [s["step_id"] for s in j["steps"]] == [0, "batch"]
    assert all(s["user"] == "ann" for s in j["steps"])
    [j] = query(t, "job=60&steps=true&fields=job_id&step_fields=step_id,max_rss_bytes")
    assert {"step_id": "batch", "max_rss_bytes": 1000000} in j["steps"]
    assert "steps" not in query(t, "job=60")[0]
    [j] = query(t, "job=60.0&steps=true")
    assert [s["step_id"] for s in j["steps"]] == [0]


def test_ndjson(t):
    for kw in ({"headers": {"Accept": "application/x-ndjson"}}, {}):
        more = "" if kw else "&format=ndjson"
        reply = t.get(f"/v1/jobs?{EVERYTHING}&job=3,2{more}", **kw)
        assert reply.headers["Content-Type"] == "application/x-ndjson"
        assert reply.body.count(b"\n") == 2
        assert [j["job_id"] for j in reply.lines()] == [2, 3]
        assert reply.lines()[1]["name"] == "a|b,\"c\"\n"


def test_csv(t):
    """FC-001, FC-004"""
    reply = t.get(f"/v1/jobs?{EVERYTHING}&job=2,3&format=csv&fields=job_id,name,exit_code,tres_alloc,"
                  "eligible")
    assert reply.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(reply.text, newline="")))
    assert rows[0] == ["job_id", "name", "exit_code", "exit_signal", "tres_alloc", "eligible"]
    assert rows[1][:5] == ["2", "job2", "1", "0", "cpu=8,gres/gpu=2,mem=16000"]
    assert rows[2][1] == "a|b,\"c\"\n"
    assert len(rows) == 3
    assert t.get("/v1/jobs?format=csv&steps=true").json()["field"] == "steps"


def test_csv_has_every_key(t):
    reply = t.get(f"/v1/jobs?{EVERYTHING}&format=csv")
    rows = list(csv.DictReader(io.StringIO(reply.text, newline="")))
    keys = query(t, "job=2")[0].keys()
    assert len(rows) == len(JOBS) - 1
    assert set(rows[0]) == set(keys)


def test_an_empty_answer(t):
    for form in ("json", "ndjson", "csv"):
        reply = t.get(f"/v1/jobs?user=nobody&format={form}&fields=job_id")
        assert reply.status == 200
        assert reply.body == {"json": reply.body, "ndjson": b"", "csv": b"job_id\r\n"}[form]


def test_times_as_epoch(t):
    [j] = query(t, "job=60&times=epoch")
    assert j["submit"] == T + 7200
    [j] = query(t, "job=60")
    assert j["submit"] == "2023-11-15T00:13:20Z"  # FC-074: always with an offset


# ---- order and cursors ---------------------------------------------------------------------------

def test_key_order(t):
    rows = ids(t, "duplicates=true")
    assert [r[1] for r in rows] == sorted(r[1] for r in rows)


@pytest.mark.parametrize("sort", ["submit", "start", "end", "user", "name", "job_id", "tres_alloc"])
def test_sort(t, sort):
    up = [j[sort] for j in query(t, f"sort={sort}&state=CD,F,TO&fields={sort}")]
    down = [j[sort] for j in query(t, f"sort=-{sort}&state=CD,F,TO&fields={sort}")]
    key = (lambda v: v.encode()) if up and isinstance(up[0], str) else str
    if sort not in ("tres_alloc",):
        assert up == (sorted(up, key=key) if isinstance(up[0], str) else sorted(up))
        assert down == list(reversed(up))
    assert len(up) == len(down) > 5


@pytest.mark.parametrize("sort", ["", "&sort=-submit", "&sort=name"])
def test_pages_are_the_whole(t, sort):
    whole = ids(t, "duplicates=true" + sort)
    pages, after = [], None
    for _ in range(100):
        more = f"&after={urllib.parse.quote(after)}" if after else ""
        reply = t.get(f"/v1/jobs?{EVERYTHING}&duplicates=true&limit=4{sort}{more}")
        assert reply.status == 200, reply
        answer = reply.json()
        assert len(answer["jobs"]) <= 4
        pages += [(j["cluster"], j["job_id"]) for j in answer["jobs"]]
        after = answer["next"]
        if after is None:
            break
    assert pages == whole


def test_a_cursor_that_is_none(t):
    reply = t.get("/v1/jobs?after=nonsense")
    assert reply.status == 400 and reply.json()["field"] == "after"


def test_limit_zero(t):
    assert query(t, "limit=0") == []


# ---- tags ----------------------------------------------------------------------------------------

def test_tags(fresh_tallyd):
    """FC-158: 200, 304, 200; and a running job's clock changes nothing."""
    t = ready(fresh_tallyd())
    now = t.get("/v1/ping").json()["time"]
    t.send(job(1, kind="job_start", submit=now - 60, eligible=now - 60, start=now - 50,
               state="RUNNING"))
    target = "/v1/jobs?user=ann&start=now-1day"
    first = t.get(target)
    assert first.status == 200 and len(first.json()["jobs"]) == 1
    tag = {"If-None-Match": first.headers["ETag"]}
    second = t.get(target, headers=tag)
    assert second.status == 304 and second.body == b"" and second.headers["ETag"] == tag["If-None-Match"]
    t.send(job(1, submit=now - 60, start=now - 50, end=now - 1))
    third = t.get(target, headers=tag)
    assert third.status == 200 and third.headers["ETag"] != tag["If-None-Match"]
    one = t.get("/v1/jobs/1")
    assert t.get("/v1/jobs/1", headers={"If-None-Match": one.headers["ETag"]}).status == 304
    assert t.get("/v1/jobs/1", headers={"If-None-Match": '"other", ' + one.headers["ETag"]}).status == 304


# ---- one job -------------------------------------------------------------------------------------

def test_one_job(t):
    [j] = t.get("/v1/jobs/60").json()["jobs"]
    assert (j["run"], j["runs"], j["earlier"]) == (1, 1, [])
    assert j["job_id"] == 60 and len(j["steps"]) == 2
    [j] = t.get("/v1/jobs/60?steps=false&fields=job_id").json()["jobs"]
    assert j == {"run": 1, "runs": 1, "job_id": 60, "earlier": []}


def test_earlier_runs_are_numbered(t):
    """FC-046's kind"""
    [j] = t.get("/v1/jobs/40").json()["jobs"]
    assert (j["run"], j["runs"], j["state"]) == (2, 2, "COMPLETED")
    assert [(e["run"], e["state"]) for e in j["earlier"]] == [(1, "REQUEUED")]


@pytest.mark.parametrize("path,want", [
    ("20", [20, 21, 25]), ("20_3", [25]), ("25", [25]), ("30", [30, 31]), ("30+1", [31]),
    ("30%2B1", [31]), ("1", [1, 1]), ("1?cluster=c2", [1]), ("20_%5B1-2%5D", [20, 21]),
])
def test_forms_of_an_id(t, path, want):
    assert [j["job_id"] for j in t.get(f"/v1/jobs/{path}").json()["jobs"]] == want


def test_a_job_that_does_not_exist(t):
    """FC-151, ours"""
    reply = t.get("/v1/jobs/99999999")
    assert reply.status == 404
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert t.get("/v1/jobs/60?cluster=c2").status == 404


@pytest.mark.parametrize("path", ["abc", "12x", "12_", "_3", "12+", "-5", "%20", "12.3.4.5",
                                  "99999999999999999999"])
def test_no_id_at_all(t, path):
    reply = t.get(f"/v1/jobs/{path}")
    assert reply.status == 400 and reply.json()["field"] == "id", reply


# ---- why -----------------------------------------------------------------------------------------

def findings(t, job_id):
    [j] = t.get(f"/v1/jobs/{job_id}/why").json()["jobs"]
    return j, {f["code"]: f for f in j["findings"]}


def test_why(t):
    j, found = findings(t, 4)
    assert j["findings"][0]["code"] == "timeout" and j["findings"][0]["kind"] == "cause"
    assert j["findings"][0]["evidence"] and j["state"] == "TIMEOUT"
    j, found = findings(t, 2)
    assert "failed" in found and "exit_code" in found
    assert all(f["kind"] in ("cause", "fact", "hint") for f in found.values())
    j, found = findings(t, 70)
    assert "pending" in found


def test_why_is_about_the_newest_run(t):
    j, found = findings(t, 40)
    assert j["state"] == "COMPLETED" and "requeued" not in found


def test_why_of_several(t):
    assert len(t.get("/v1/jobs/1/why").json()["jobs"]) == 2
    assert len(t.get("/v1/jobs/1/why?cluster=c1").json()["jobs"]) == 1
    assert t.get("/v1/jobs/99999999/why").status == 404
    assert t.get("/v1/jobs/x/why").status == 400


# ---- who sees what -------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def private(module_tallyd):
    daemon = module_tallyd(conf="PrivateData=jobs\nMaxQueryTimeRange=1-0\n")
    daemon.send(*JOBS)
    return daemon


@pytest.mark.skipif(not AS_ROOT, reason="acts as other users")
def test_private_jobs(private):
    assert len(ids(private, "")) == len(JOBS) - 1
    own = ids(private, "", f"start={T}&end={T + 80000}", uid=5002)
    assert own == c1(2)
    assert private.get("/v1/jobs/2", uid=5002).status == 200
    assert private.get("/v1/jobs/1", uid=5002).status == 404
    assert ids(private, "user=ann", f"start={T}&end={T + 80000}", uid=5002) == []


@pytest.mark.skipif(not AS_ROOT, reason="acts as other users")
def test_the_longest_window(private):
    reply = private.get(f"/v1/jobs?start={T}&end={T + 86401}", uid=5002)
    assert reply.status == 403 and "MaxQueryTimeRange" in reply.json()["detail"]
    assert private.get(f"/v1/jobs?start={T}&end={T + 86400}", uid=5002).status == 200
    assert private.get("/v1/jobs?job=2", uid=5002).status == 200
    assert private.get(f"/v1/jobs?start={T}&end={T + 86401}").status == 200


@pytest.mark.skipif(not AS_ROOT, reason="acts as other users")
def test_everybody_with_an_identity_reads_by_default(t):
    assert len(ids(t, "", uid=5002)) == len(JOBS) - 1


# ---- notes ---------------------------------------------------------------------------------------

def note(t, job_id, body, **kw):
    return t.request("PATCH", f"/v1/jobs/{job_id}", body=json.dumps(body), **kw)


def test_notes_win_over_the_record_and_survive_it(fresh_tallyd):
    t = ready(fresh_tallyd())
    record = job(7, comment="by the controller", derived_exit_code=2)
    t.send(record)
    assert note(t, 7, {"comment": "ran well", "derived_exit": "9:0", "admin_comment": "x"}).status == 200
    t.send(record, dict(record, as_of=T + 500, comment="again"))
    [j] = t.get("/v1/jobs/7").json()["jobs"]
    assert (j["comment"], j["derived_exit_code"], j["admin_comment"]) == ("ran well", 9, "x")
    assert note(t, 7, {"comment": None}).status == 200
    [j] = t.get("/v1/jobs/7").json()["jobs"]
    assert (j["comment"], j["derived_exit_code"]) == ("again", 9)


def test_notes_that_are_wrong(t):
    assert note(t, 1, {"comment": "x"}).status == 409      # on two clusters
    assert note(t, "1?cluster=c1", {"comment": "x"}).status == 200
    assert note(t, 99999, {"comment": "x"}).status == 404
    assert note(t, 2, {"state": "COMPLETED"}).json()["field"] == "state"
    assert note(t, 2, {"nope": 1}).json()["field"] == "nope"
    assert note(t, 2, {}).status == 400
    assert note(t, 2, {"derived_exit_code": 300}).status == 400
    assert note(t, 2, [1]).status == 400


@pytest.mark.skipif(not AS_ROOT, reason="acts as other users")
def test_whose_notes(t):
    assert note(t, 2, {"comment": "mine"}, uid=5002).status == 200
    assert note(t, 2, {"admin_comment": "mine"}, uid=5002).status == 403
    assert note(t, 2, {"comment": "not mine"}, uid=5001).status == 403
    assert note(t, 2, {"comment": "x"}, signed=False).status == 401


# ---- clusters, quarantine, health ----------------------------------------------------------------

def test_clusters(t):
    clusters = {c["name"]: c for c in t.get("/v1/clusters").json()["clusters"]}
    assert set(clusters) == {"c1", "c2"}
    assert clusters["c1"]["open_jobs"] == 1
    assert (clusters["c1"]["least_job_id"], clusters["c1"]["greatest_job_id"]) == (1, 70)


def test_refused_records_are_kept_and_replayed(fresh_tallyd):
    t = ready(fresh_tallyd())
    bad = dict(job(8), state="NO_SUCH_STATE")
    answer = t.post("/v1/records", [job(7), bad, job(9)]).json()
    assert [v["verdict"] for v in answer["verdicts"]] == ["accepted", "refused", "accepted"]
    refused = answer["verdicts"][1]
    assert refused["index"] == 1 and refused["field"] == "state" and refused["reason"]
    [q] = t.get("/v1/quarantine").json()["records"]
    assert q["id"] == refused["quarantine_id"] and q["field"] == "state"
    assert json.loads(q["raw"])["job_id"] == 8
    again = t.post(f"/v1/quarantine/{q['id']}/replay", b"").json()
    assert again["verdict"] == "refused"
    assert t.get("/v1/jobs/8").status == 404
    mended = t.post(f"/v1/quarantine/{q['id']}/replay", dict(bad, state="FAILED")).json()
    assert mended["verdict"] == "accepted"
    assert t.get("/v1/jobs/8").json()["jobs"][0]["state"] == "FAILED"
    assert t.get("/v1/quarantine").json()["records"] == []
    assert len(t.get("/v1/quarantine?all=true").json()["records"]) == 1
    assert t.post(f"/v1/quarantine/{q['id']}/replay", b"").status == 409
    assert t.post("/v1/quarantine/12345/replay", b"").status == 404
    assert t.post("/v1/quarantine/x/replay", b"").status == 400


@pytest.mark.skipif(not AS_ROOT, reason="acts as other users")
def test_the_quarantine_is_for_administrators(t):
    assert t.get("/v1/quarantine", uid=5002).status == 403


def test_health(t):
    assert t.get("/healthz", signed=False).json() == {"status": "ok"}
    r = t.get("/readyz", signed=False)
    assert r.status == 200 and r.json()["writer"] == "active"


def test_metrics(t):
    lines = t.get("/metrics", signed=False).text.splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert all(line.startswith(("tally_", "# HELP tally_", "# TYPE tally_")) for line in lines)
    assert int(values['tally_ingest_records_total{verdict="accepted"}']) == len(JOBS)
    assert values["tally_database_up"] == "1"
    assert values["tally_ingest_active"] == "1"
    assert int(values['tally_http_requests_total{route="records_post",code="2xx"}']) >= 1
    assert int(values['tally_http_request_seconds_count{route="jobs_list"}']) > 1
    assert int(values["tally_ingest_commit_seconds_count"]) >= 1


# ---- long answers --------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def big(module_tallyd):
    daemon = module_tallyd(conf="SlowGrace=3\nMinRate=64K\n")
    for at in range(0, 20000, 4000):
        daemon.send(*[job(i, submit=T + i, name=f"job {i} " + "x" * 200)
                      for i in range(at + 1, at + 4001)], timeout=120)
    return daemon


@pytest.mark.parametrize("form", ["json", "ndjson", "csv"])
def test_a_long_answer(big, form):
    reply = big.get(f"/v1/jobs?start={T}&end={T + 100000}&format={form}", timeout=120)
    assert reply.status == 200
    assert reply.headers["Transfer-Encoding"] == "chunked" and reply.headers["ETag"] is None
    rows = {"json": lambda: reply.json()["jobs"], "ndjson": reply.lines,
            "csv": lambda: list(csv.DictReader(io.StringIO(reply.text, newline="")))}[form]()
    assert [int(r["job_id"]) for r in rows] == list(range(1, 20001))


def test_a_long_answer_needs_chunks(big):
    """HTTP/1.0 ends an answer with the connection: a cut one would look whole."""
    target = f"/v1/jobs?start={T}&end={T + 100000}"
    credential = big.credential("GET", target)
    with socket.create_connection((big.host, big.port), timeout=60) as s:
        s.sendall(f"GET {target} HTTP/1.0\r\nAuthorization: Munge {credential}\r\n\r\n".encode())
        got = b""
        while piece := s.recv(65536):
            got += piece
    assert b" 400 " in got[:20] and b"HTTP/1.1" in got


def cut_readers(t):
    line = 'tally_http_connections_cut_total{reason="slow_reader"} '
    return int([x for x in t.get("/metrics").text.splitlines() if x.startswith(line)][0][len(line):])


def asking(t, over, target):
    """A connection with a small window that has asked for target."""
    s = socket.socket(socket.AF_UNIX if over == "unix" else socket.AF_INET)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(30)
    s.connect(t.unix if over == "unix" else (t.host, t.port))
    signed = f"Authorization: Munge {t.credential('GET', target)}\r\n" if over == "tcp" else ""
    s.sendall(f"GET {target} HTTP/1.1\r\nHost: t\r\n{signed}\r\n".encode())
    return s


@pytest.mark.parametrize("over", ["tcp", "unix"])
@pytest.mark.parametrize("pace", ["stopped", "slow"])
def test_a_reader_that_is_too_slow_is_cut_and_hurts_nobody(big, over, pace):
    """Its connection ends, the answer is seen to be cut, records go in meanwhile."""
    before = cut_readers(big)
    readers = [asking(big, over, f"/v1/jobs?start={T}&end={T + 100000}") for _ in range(3)]
    began = time.monotonic()
    n = 500000
    while cut_readers(big) < before + 3 and time.monotonic() - began < 30:
        n += 1
        sent = time.monotonic()
        big.send(job(n))
        assert time.monotonic() - sent < 2
        if pace == "slow":
            for s in readers:
                s.recv(100)
        time.sleep(0.2)
    assert cut_readers(big) == before + 3
    for s in readers:
        got = b""
        try:
            while piece := s.recv(65536):
                got += piece
        except ConnectionError:
            pass
        assert not got.endswith(b"0\r\n\r\n")
        s.close()


@pytest.mark.skipif(BUILD.name != "build", reason="a sanitizer keeps what was freed")
def test_memory_does_not_grow_with_an_answer(big):
    """32 MB of rows while the daemon stays where it was."""
    def rss_kib():
        with open(f"/proc/{big.pid}/status", encoding="ascii") as f:
            return int([x for x in f if x.startswith("VmRSS")][0].split()[1])

    c = big.connect("unix", 60)
    c.request("GET", f"/v1/jobs?start={T}&end={T + 100000}&format=ndjson")
    reply, idle, most, total = c.getresponse(), rss_kib(), 0, 0
    while piece := reply.read(1 << 20):
        total += len(piece)
        most = max(most, rss_kib())
    c.close()
    assert total > 20 << 20
    assert most - idle < 16 << 10


def test_an_answer_that_fails_halfway_looks_cut(big):
    """The database ends while the answer is read: no last chunk."""
    c = http.client.HTTPConnection(big.host, big.port, timeout=60)
    target = f"/v1/jobs?start={T}&end={T + 100000}&format=ndjson"
    c.request("GET", target, headers={"Authorization": "Munge " + big.credential("GET", target)})
    reply = c.getresponse()
    assert reply.status == 200
    reply.read(1000)
    os.kill(big.postgres_pid(), 3)
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        reply.read()
    c.close()


def test_a_stop_lets_answers_end_or_cuts_them_visibly(fresh_tallyd):
    """SIGTERM while answers go out: who reads gets all of it, who stopped is seen to be cut, a new
    request is told to go elsewhere, and the daemon ends in time."""
    t = ready(fresh_tallyd())
    for at in range(0, 12000, 4000):
        t.send(*[job(i, submit=T + i, name=f"job {i} " + "x" * 200)
                 for i in range(at + 1, at + 4001)], timeout=120)
    target = f"/v1/jobs?start={T}&end={T + 100000}&format=ndjson"
    reading, stopped = t.connect("unix", 30), asking(t, "unix", target)
    kept = t.connect("unix", 30)
    kept.request("GET", "/healthz")
    kept.getresponse().read()
    reading.request("GET", target)
    reply = reading.getresponse()
    got = reply.read(1000)
    t.send_signal(signal.SIGTERM)
    wait_until(lambda: not os.path.exists(t.unix), 5, "the door to close")
    got += reply.read()
    assert got.count(b"\n") == 12000
    with pytest.raises((http.client.HTTPException, OSError)):
        kept.request("GET", "/healthz")
        kept.getresponse()
    assert t.wait(10) == 0
    rest = b""
    try:
        while piece := stopped.recv(65536):
            rest += piece
    except ConnectionError:
        pass
    assert not rest.endswith(b"0\r\n\r\n")
    stopped.close()
