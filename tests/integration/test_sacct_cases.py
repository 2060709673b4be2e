"""The field cases of sacct with a real daemon behind it: records in, `tally sacct` out."""
import csv
import io
import json
import time

import pytest

from daemon import AS_ROOT

T = 1772359200  # 2026-03-01T10:00:00Z
WINDOW = ("-S", "2026-03-01", "-E", "2026-03-02")


def end(job_id, submit=T, **more):
    start = more.pop("start", submit)
    return {"kind": "job_end", "job_id": job_id, "submit": submit,
            "eligible": submit, "start": start, "end": start + 600, "state": "COMPLETED",
            "exit_code": 0, "user": "ann", "uid": 5001, "account": "bio", "partition": "main",
            "name": f"job{job_id}", "nodes": "n001", "alloc_nodes": 1, "req_cpus": 1,
            "tres_alloc": {"cpu": 1, "mem": 1000, "node": 1}, **more}


def pending(job_id, submit=T, **more):
    return {"kind": "job_start", "job_id": job_id, "submit": submit,
            "eligible": submit, "state": "PENDING", "user": "ann", "uid": 5001, "req_cpus": 8,
            "name": f"job{job_id}", **more}


class Site:
    """A cluster of its own in the daemon that the tests of this file share."""

    def __init__(self, daemon, name):
        self.daemon, self.name = daemon, name

    def send(self, *records):
        verdicts = self.daemon.send(*({"cluster": self.name, **r} for r in records))
        assert verdicts["accepted"] == len(records), verdicts

    def tally(self, *args, env=None, **kw):
        return self.daemon.tally(*args, env={"TALLY_CLUSTER": self.name, **(env or {})}, **kw)


@pytest.fixture(scope="module")
def daemon(module_tallyd):
    return module_tallyd()


@pytest.fixture
def records(request, daemon):
    """Sends records to a cluster with nothing else in it; gives the site."""
    def send(*which):
        site = Site(daemon, request.node.name.replace("test_", ""))
        site.send(*which)
        return site
    return send


def rows(t, *args, fields="jobid", **kw):
    result = t.tally("sacct", "-a", "-n", "-P", "-o", fields, *args, **kw)
    assert result.returncode == 0, result.stderr
    return result.stdout.split("\n")[:-1]


def test_het_jobs_and_arrays(records):
    """FC-029, FC-032"""
    het = [end(900 + i, het_job_id=900, het_offset=i) for i in range(3)]
    het[1]["steps"] = [{"step_id": 0, "start": T, "end": T + 9, "state": "COMPLETED"}]
    array = [end(25 if i == 3 else 20 + i, array_job_id=20, array_task_id=i) for i in (1, 2, 3)]
    t = records(*het, *array)
    assert rows(t, "-X", "-j", "900") == ["900+0", "900+1", "900+2"]
    assert rows(t, "-X", "-j", "901") == rows(t, "-X", "-j", "900+1") == ["900+1"]
    assert rows(t, "-X", "--whole-hetjob=yes", "-j", "901") == ["900+0", "900+1", "900+2"]
    assert rows(t, "-X", "--whole-hetjob=no", "-j", "900") == ["900+0"]
    assert rows(t, "-j", "901", fields="jobid,jobidraw") == ["900+1|901", "900+1.0|901.0"]
    assert rows(t, "-j", "901.0", fields="jobid,jobidraw") == ["900+1.0|901.0"]
    both = ["20_3|25"]
    assert rows(t, "-j", "20_3", fields="jobid,jobidraw") == both
    assert rows(t, "-j", "25", fields="jobid,jobidraw") == both
    assert rows(t, "-j", "20") == ["20_1", "20_2", "20_3"]


def test_an_id_that_came_back(records):
    """FC-033: the newest is meant, unless all are asked for."""
    old, new = 1506988800, 1787270400
    t = records(end(5000, submit=old, user="u1"))
    assert rows(t, "-j", "5000", fields="user,submit") == ["u1|2017-10-03T00:00:00"]
    t.send(end(5000, submit=new, user="u2", kind="job_start", state="RUNNING", end=None))
    assert rows(t, "-j", "5000", fields="user,submit") == ["u2|2026-08-21T00:00:00"]
    assert rows(t, "-D", "-j", "5000", fields="user,submit") == [
        "u1|2017-10-03T00:00:00", "u2|2026-08-21T00:00:00"]


def test_runs_before_a_requeue(records):
    """FC-046"""
    runs, at = [], T
    for seconds, state in ((3889, "REQUEUED"), (4473, "REQUEUED"), (6122, "REQUEUED"),
                           (2153, "COMPLETED")):
        runs.append(end(235, submit=at, state=state) | {"end": at + seconds})
        at += seconds + 60
    t = records(*runs)
    assert rows(t, "-j", "235", fields="state,elapsedraw") == ["COMPLETED|2153"]
    assert rows(t, "-D", "-j", "235", fields="state,elapsedraw") == [
        "REQUEUED|3889", "REQUEUED|4473", "REQUEUED|6122", "COMPLETED|2153"]
    # FC-044: a state filter works before repeats are dropped.
    assert rows(t, "-j", "235", "-s", "RQ", "-S", "2026-03-01", "-E", "2026-03-02",
                fields="state") == ["REQUEUED"]


def test_preempted_and_run_again(records):
    """FC-047"""
    t = records(end(7, state="PREEMPTED") | {"end": T + 1800},
                end(7, submit=T + 3600) | {"end": T + 7200})
    assert rows(t, "-j", "7", fields="state") == ["COMPLETED"]
    assert rows(t, "-s", "PR", "-S", "2026-03-01T10:00", "-E", "2026-03-01T11:00",
                fields="state") == ["PREEMPTED"]


def test_a_requeued_job_that_waits_has_nothing(records):
    """FC-056"""
    t = records(end(8, state="REQUEUED", nodes="n[1-2]", alloc_nodes=2,
                    tres_alloc={"cpu": 8, "node": 2}), pending(8, submit=T + 700))
    assert rows(t, "-j", "8", fields="state,allocnodes,alloccpus,nodelist,alloctres") == [
        "PENDING|0|0|None assigned|"]


def test_cancelled_before_it_started(records):
    """FC-057"""
    t = records(pending(9), {"kind": "job_end", "job_id": 9, "submit": T, "start": T + 330,
                             "end": T + 330, "state": "CANCELLED", "killed_by_uid": 5001})
    fields = "start,end,elapsed,planned,alloccpus,alloctres,nodelist,cputimeraw,state"
    assert rows(t, "-j", "9", fields=fields) == [
        "None|2026-03-01T10:05:30|00:00:00|00:05:30|0||None assigned|0|CANCELLED by 5001"]


STATES = {"BF": "BOOT_FAIL", "CA": "CANCELLED", "CD": "COMPLETED", "DL": "DEADLINE", "F": "FAILED",
          "NF": "NODE_FAIL", "OOM": "OUT_OF_MEMORY", "PR": "PREEMPTED", "RQ": "REQUEUED",
          "RS": "RESIZING", "RV": "REVOKED", "TO": "TIMEOUT"}


def test_every_state(records):
    """FC-044"""
    ended = [end(100 + i, state=name) for i, name in enumerate(STATES.values())]
    suspended = end(200, suspensions=[{"at": T + 60, "what": "suspend"},
                                      {"at": T + 120, "what": "resume"}])
    t = records(*ended, suspended, pending(300), end(301, start=T + 60),
                end(302, kind="job_start", state="RUNNING", end=None, exit_code=None))
    every = [str(100 + i) for i in range(len(STATES))]
    for i, (short, name) in enumerate(STATES.items()):
        want = [every[i]] + (["200", "301"] if short == "CD" else [])
        for spelling in (short, short.lower(), name, name.capitalize()):
            assert rows(t, "-s", spelling, *WINDOW) == want, spelling
    assert rows(t, "-s", "R", *WINDOW) == [*every, "200", "301", "302"]
    # Waiting ends with the start, so what started in the window waited in it, be it no time.
    assert rows(t, "-s", "PD", *WINDOW) == [*every, "200", "300", "301", "302"]
    assert rows(t, "-s", "PD", "-S", "2026-03-01T10:00:30", "-E", "2026-03-02") == ["300", "301"]
    assert rows(t, "-s", "suspended", *WINDOW) == ["200"]
    unknown = t.tally("sacct", "-s", "XX")
    assert unknown.returncode == 1 and "OUT_OF_MEMORY" in unknown.stderr


def test_over_a_month_end(records):
    """FC-066: listed in both months; -T cuts it in two."""
    start = 1769900400  # 2026-01-31T23:00:00Z
    t = records(end(66, submit=start) | {"end": start + 7200})
    january, february = ("-S", "2026-01-01", "-E", "2026-02-01"), ("-S", "2026-02-01", "-E",
                                                                   "2026-03-01")
    fields = "elapsed,start,end"
    for month in (january, february):
        assert rows(t, *month, fields=fields) == [
            "02:00:00|2026-01-31T23:00:00|2026-02-01T01:00:00"]
    assert rows(t, "-T", *january, fields=fields) == [
        "01:00:00|2026-01-31T23:00:00|2026-02-01T00:00:00"]
    assert rows(t, "-T", *february, fields=fields) == [
        "01:00:00|2026-02-01T00:00:00|2026-02-01T01:00:00"]


def test_over_midnight_and_failures_now(records):
    """FC-065, FC-068: by the clock of this machine."""
    at = int(time.time())
    midnight = at - at % 86400
    t = records(end(1, submit=midnight - 600) | {"end": midnight + 1},
                end(2, submit=at - 400, state="FAILED", exit_code=1) | {"end": at - 300})
    assert "1" in rows(t) and rows(t, "-j", "1") == ["1"]
    assert rows(t, "-j", "1", "-S", "today") == ["1"]
    assert rows(t, "-s", "F") == []
    assert rows(t, "-s", "F", "-S", "now-1hour") == []
    assert rows(t, "-s", "F", "-S", "now-1hour", "-E", "now") == ["2"]


def test_names_that_are_hard_to_keep(records):
    """FC-001, FC-009, FC-010, FC-137"""
    names = {101: "a|b", 103: "f20\n", 105: "x'); drop table jobs;--", 107: "dédé job",
             110: "\x1b[31mred\x1b[0m\t\x07\x7f", 111: "50%_\\", 112: "n" * 1024, 113: "50%x\\"}
    t = records(*(end(i, name=name) for i, name in names.items()))
    out = t.tally("sacct", "-a", "--csv", "-X", "-o", "jobidraw,jobname", *WINDOW, text=False)
    table = list(csv.reader(io.StringIO(out.stdout.decode(), newline="")))
    assert {int(i): name for i, name in table[1:]} == names
    answer = json.loads(t.tally("sacct", "-a", "--json", *WINDOW).stdout)
    assert {j["job_id"]: j["name"] for j in answer["jobs"]} == names
    assert rows(t, "--name", "50%_\\", *WINDOW) == ["111"]
    assert rows(t, "--name", names[105], *WINDOW) == ["105"]
    wide = t.tally("sacct", "-a", "-n", "-o", "jobid,jobname%-60", *WINDOW).stdout
    assert "\x1b" not in wide and len(wide.splitlines()) == len(names)


def test_two_clusters_with_one_id(records):
    """FC-191"""
    two = end(191, cluster="c2", user="u2", uid=5002, tres_alloc={"cpu": 4})
    t = records(end(191, user="u1", tres_alloc={"cpu": 8}) | {"end": T + 3600}, two)
    fields = "cluster%40,user,ncpus"
    one, other = f"{t.name}|u1|8", "c2|u2|4"
    assert rows(t, "-j", "191", fields=fields) == [one]
    assert rows(t, "-j", "191", "-M", "c2", fields=fields) == [other]
    for everywhere in (("-M", "all"), ("-L",)):
        assert rows(t, "-j", "191", *everywhere, fields=fields) == sorted([one, other])


def test_many_ids(records):
    """FC-182: every one that exists, once."""
    t = records(*(end(i) for i in range(10, 20010, 100)))
    asked = ",".join(map(str, range(1, 20001)))
    assert rows(t, "-X", "-j", asked) == [str(i) for i in range(10, 20010, 100)]


def test_json_of_what_was_asked(records):
    """FC-155"""
    t = records(*(end(i) for i in range(1, 50)),
                end(99, kind="job_start", state="RUNNING", end=None, exit_code=None))
    answer = json.loads(t.tally("sacct", "-a", "--json", "-s", "R", "-S", "2026-03-01T10:30",
                                "-E", "2026-03-01T11:00").stdout)
    assert [j["job_id"] for j in answer["jobs"]] == [99]
    assert answer["jobs"][0]["exit_code"] is None


def test_nothing_is_not_an_error(daemon):
    result = daemon.tally("sacct", "-j", "4000000")
    assert result.returncode == 0 and len(result.stdout.splitlines()) == 2


@pytest.mark.skipif(not AS_ROOT, reason="only root can ask as another user")
def test_own_jobs_by_default(records):
    t = records(end(1), end(2, user="bob", uid=5002))
    result = t.tally("sacct", "-n", "-P", "-o", "jobid", *WINDOW, uid=5001)
    assert result.stdout == "1\n", result
    assert t.tally("sacct", "-n", "-P", "-o", "jobid", "-a", *WINDOW,
                   uid=5001).stdout == "1\n2\n"
    assert t.tally("sacct", "-n", "-P", "-o", "jobid", "-j", "2", uid=5001).stdout == "2\n"


def test_over_tcp_signed_by_munge(records):
    t = records(end(1))
    result = t.tally("sacct", "-n", "-P", "-a", "-o", "jobid", *WINDOW, over="tcp")
    assert result.stdout == "1\n", result


def test_the_default_listing(records):
    t = records(end(38, account="hep", exit_code=3, state="FAILED", name="a name that is long"))
    assert t.tally("sacct", "-j", "38").stdout == (
        "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n"
        "------------ ---------- ---------- ---------- ---------- ---------- -------- \n"
        "38           a name th+       main        hep          1     FAILED      3:0 \n")


