"""`tally import` and `tally records` with a real daemon: every file of real records goes in, what
comes out agrees with the files, and sending again changes nothing."""
import json
import os
import pathlib
import re
import subprocess

import pytest

from daemon import ROOT, TALLY, wait_until

SHARED = pathlib.Path(os.environ.get("TALLY_TEST_SHARED", ROOT / "../shared/data"))
DATA = ROOT / "tests/data/import"

# file, options, records sent, of them the same as another one in the file, rows refused
FILES = [
    ("samples/hb-jobinfo.sacct", ["--cluster=hb", "--zone=Europe/Amsterdam"], 106, 0, 0),
    # Jobs stand in it twice and under two names, 20957017 and 20943166 among them.
    ("samples/slurm-jobinfo.sacct", ["--cluster=sj", "--zone=Europe/Amsterdam"], 59, None, 0),
    ("samples/eagle.csv", ["--cluster=eagle", "--zone=America/Denver"], 1000, 0, 0),
    (DATA / "slurm2sql/test-data1.sacct.psv", ["--cluster=s1"], 2, 0, 0),
    (DATA / "slurm2sql/test-data2.sacct.psv", ["--cluster=s2"], 2, 0, 0),
    *[(p, [], None, None, 0) for p in sorted((DATA / "sacct-json").glob("*.json"))],
    *[(p, ["--cluster=fc"] if p.name == "-" else [], None, None, 0)
      for p in sorted((DATA / "firecrest").glob("*.json"))],
    (DATA / "gpu-traces/openb_pod_list_default.csv", ["--cluster=openb"], 8152, 0, 0),
    (DATA / "gpu-traces/philly-chronus.csv", ["--cluster=philly"], 30940, 0, 0),
    (SHARED / "xdmod/phillips.sacct.psv", [], 4285, 0, 0),
    (SHARED / "xdmod/pozidriv.sacct.psv", [], 11704, 0, 0),
    # Made of test cases: rows of one job and one submission that are tasks of other arrays.
    (SHARED / "xdmod/odd-rows.sacct.psv", [], 13, None, 2),
]


@pytest.fixture(scope="module", name="t")
def fixture_t(module_tallyd):
    return module_tallyd()


def figures(run):
    m = re.search(r"^sent (\d+) of (\d+) records: (\d+) stored, (\d+) duplicate, (\d+) refused",
                  run.stdout, re.M)
    assert m, run.stdout + run.stderr
    return tuple(map(int, m.groups()))


def table_sums(t):
    return t.psql("SELECT count(*), sum(hashtextextended(j::text, 0)) FROM job j")[0] + \
        t.psql("SELECT count(*), sum(hashtextextended(s::text, 0)) FROM step s")[0]


@pytest.mark.parametrize("path,options,records,repeats,refused", FILES,
                         ids=[pathlib.Path(f[0]).name for f in FILES])
def test_every_file(t, path, options, records, repeats, refused):
    path = ROOT / path
    if not path.exists():
        pytest.skip(f"{path} is not here")
    first = t.tally("import", *options, path)
    assert first.returncode == 0, first.stdout + first.stderr
    sent, of, stored, duplicate, turned_down = figures(first)
    assert sent == of and turned_down == 0
    assert records in (None, sent)
    assert repeats in (None, duplicate)
    assert stored + duplicate == sent
    assert f" {refused} refused, 0 skipped" in first.stdout
    if refused:
        assert "unknown state" in first.stdout and "FOO" in first.stdout and "BAR" in first.stdout
    before = table_sums(t)
    again = t.tally("import", *options, path)
    assert again.returncode == 0
    assert figures(again)[2:] == (0, sent, 0), again.stdout
    assert table_sums(t) == before


def count(t, cluster, **conditions):
    where = " AND ".join([f"cluster = '{cluster}'"] + [f"{k} = {v}" for k, v in conditions.items()])
    return int(t.psql(f"SELECT count(*) FROM job WHERE {where}")[0][0])


def test_jobs_per_state_agree_with_the_files(t):
    """The known values of the data, from the database."""
    known = {
        "hb": {"all": 100, 3: 66, 5: 8, 4: 8, 6: 7, 7: 1, 1: 3, 0: 7},
        "eagle": {"all": 1000, 3: 985, 6: 15},
        "phillips": {"all": 4285, 3: 2324, 5: 1717, 4: 243, 6: 1},
        "pozidriv": {"all": 11704, 3: 10134, 5: 1007, 4: 468, 6: 9, 8: 86},
        "philly": {"all": 30940},
        "openb": {"all": 8152, 3: 192, 5: 1870, 4: 6090},
    }
    for cluster, states in known.items():
        here = count(t, cluster)
        if cluster in ("phillips", "pozidriv") and here == 0:
            continue
        # odd-rows has two jobs of phillips more.
        assert here - states["all"] in ((0, 1, 2) if cluster == "phillips" else (0,))
        for state, n in states.items():
            if state != "all":
                assert count(t, cluster, state=state) == n, (cluster, state)


def test_used_time_agrees_with_the_files(t):
    for cluster, cpu_s in (("phillips", 42364758), ("pozidriv", 259143395)):
        if count(t, cluster) == 0:
            continue
        run = t.tally("sacct", "-a", "-X", "-n", "-P", "-M", cluster, "-S", "2016-12-01", "-E",
                      "2017-02-01", "-o", "CPUTimeRAW", check=True)
        assert sum(map(int, run.stdout.split())) == cpu_s


def test_an_imported_job_is_shown_as_it_was(t):
    """Times in the zone of the cluster, steps, usage, who cancelled."""
    columns = "JobID,JobName,User,State,Start,End,Elapsed,ReqMem,MaxRSS,NTasks,TRESUsageInTot"
    run = t.tally("sacct", "-M", "sj", "-j", "20957017", "-P", "-o", columns,
                  env={"TZ": "Europe/Amsterdam"}, check=True)
    rows = [line.split("|") for line in run.stdout.splitlines()[1:]]
    given = {}
    for line in (ROOT / "samples/slurm-jobinfo.sacct").read_text().splitlines():
        cells = line.split("\N{SNOWMAN}")
        if cells[0] == "JobID":
            names = cells
        given.setdefault(cells[0], dict(zip(names, cells)))
    assert [r[0] for r in rows] == [k for k in given if k.split(".")[0] == "20957017"]
    for r in rows:
        g = given[r[0]]
        assert r[3] == g["State"] and r[8] == g["MaxRSS"]
        assert (r[4], r[5], r[6]) == (g["Start"], g["End"], g["Elapsed"])
        assert r[9] == g["NTasks"]


def test_seff_knows_the_step_memory(t):
    """FC-168: 12 tasks with a measured total, which is less than tasks times peak."""
    run = t.tally("seff", "-M", "sj", "20957017")
    assert run.returncode == 0, run.stderr
    assert "Memory Utilized: 0.56 GB\n" in run.stdout and "estimate" not in run.stdout
    run = t.tally("seff", "99999999")
    assert run.returncode == 1 and "99999999" in run.stderr


def test_why_says_what_happened(t):
    run = t.tally("why", "-M", "hb", "7336818")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("Job 7336818 ") and "NODE_FAIL" in run.stdout.split("\n")[0]
    found = [json.loads(line) for line in
             t.tally("why", "--json", "-M", "hb", "7336818", check=True).stdout.splitlines()]
    assert found[0]["job_id"] == 7336818 and found[0]["state"] == "NODE_FAIL"
    assert found[0]["why"][0]["code"] == "node_fail"
    assert t.tally("why", "99999999").returncode == 1
    assert t.tally("why").returncode == 1


def test_rows_of_another_cluster_are_said_to_be_skipped(t, tmp_path):
    """FC-162: nothing stored is a failure, with the reason."""
    dump = tmp_path / "x.psv"
    dump.write_text("JobID|Cluster|State|Submit|End\n"
                    "1|xcluster|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00\n")
    wrong = t.tally("import", "--cluster=ycluster", dump)
    assert wrong.returncode == 1
    assert "1 skipped" in wrong.stdout and "is of cluster xcluster, not of ycluster" in wrong.stdout
    assert "none of 1 rows was taken" in wrong.stderr
    right = t.tally("import", "--cluster=xcluster", dump)
    assert right.returncode == 0 and figures(right)[2] == 1


def test_names_come_out_as_they_went_in(t, tmp_path):
    """FC-001, FC-004: delimiters, line feeds and carriage returns in texts."""
    dump = tmp_path / "names.psv"
    dump.write_bytes(b"JobID|JobName|WorkDir|State|Submit|End\n"
                     b"101|a|b|/w/x|y|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00\n"
                     b"103|f20\n|/w|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00\n"
                     b"104|g\r|/w|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00\n"
                     b"108|bo\xff\xfe|/w|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00\n")
    assert t.tally("import", "--cluster=names", dump).returncode == 0
    jobs = {j["job_id"]: j for j in
            t.get("/v1/jobs?cluster=names&job=101,103,104,108").json()["jobs"]}
    assert jobs[101]["name"] == "a|b" and jobs[101]["work_dir"] == "/w/x|y"
    assert jobs[103]["name"] == "f20\n" and jobs[104]["name"] == "g\r"
    assert jobs[108]["name"].startswith("bo")


def test_dry_run_sends_nothing(t, tmp_path):
    dump = tmp_path / "dry.psv"
    dump.write_text("JobID|State|Submit\n1|PENDING|2026-01-01T00:00:00\n2|RUNNING|\n3|FOO|\n")
    run = t.tally("import", "--cluster=dry", "--dry-run", dump, env={"TALLY_URL": "unix:/nowhere"})
    assert run.returncode == 0, run.stderr
    assert "would send 2 of 2 records" in run.stdout
    assert "submit: is missing" in run.stdout and "State: unknown state" in run.stdout
    assert count(t, "dry") == 0
    assert t.tally("import", "--strict", "--dry-run", dump).returncode == 1


def test_what_cannot_be_read_is_an_error(t, tmp_path):
    other = tmp_path / "other"
    other.write_text("hello\n")
    run = t.tally("import", other)
    assert run.returncode == 1 and "in no format" in run.stderr
    run = t.tally("import", tmp_path / "missing")
    assert run.returncode == 1 and "No such file" in run.stderr
    assert t.tally("import").returncode == 1
    broken = tmp_path / "broken.json"
    broken.write_text('{"jobs": [{"job_id": 4711, "time": {"submission": 1700000000}}, {"job_id"')
    run = t.tally("import", "--cluster=broken", broken)
    assert run.returncode == 1 and "after 1 jobs" in run.stderr
    assert count(t, "broken") == 1  # what came before is kept, and the error is said
    run = t.tally("import", "--zone=Nowhere/Town", broken)
    assert run.returncode == 1 and "Nowhere" in run.stderr


def test_standard_input_and_several_files(t, tmp_path):
    a, b = tmp_path / "a.psv", tmp_path / "b.psv"
    a.write_text("JobID|State|Submit\n1|PENDING|2026-01-01T00:00:00\n")
    b.write_text("JobID|State|Submit\n2|PENDING|2026-01-01T00:00:00\n")
    assert figures(t.tally("import", "--cluster=two", a, b))[2] == 2
    run = t.tally("import", "--cluster=two", "-",
                  stdin="JobID|State|Submit\n3|PENDING|2026-01-01T00:00:00\n")
    assert figures(run)[2] == 1
    assert count(t, "two") == 3


def test_progress_is_for_terminals(t):
    quiet = t.tally("import", "--cluster=hb", "--zone=Europe/Amsterdam", ROOT / "samples/hb-jobinfo.sacct")
    assert quiet.stderr == ""
    shown = subprocess.run(
        ["script", "-qec", f"{TALLY} import --cluster=philly {DATA}/gpu-traces/philly-chronus.csv",
         "/dev/null"], env={**os.environ, "TALLY_URL": f"unix:{t.unix}", "TZ": "UTC"},
        stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True, timeout=60).stdout.decode()
    assert re.search(r"\r.*philly-chronus\.csv +\d+%.*records, \d+/s", shown)


# ---- tally records -----------------------------------------------------------------------------

GOOD = {"kind": "job_end", "cluster": "rec", "job_id": 1, "submit": 1700000000, "end": 1700000060,
        "state": "COMPLETED"}


def test_records_prints_what_is_not_plainly_accepted(t, tmp_path):
    f = tmp_path / "r.ndjson"
    bad = {**GOOD, "job_id": 2, "state": "NONSENSE"}
    f.write_text("\n".join(map(json.dumps, [GOOD, bad, {**GOOD, "job_id": 3}])) + "\n")
    run = t.tally("records", f)
    assert run.returncode == 1
    lines = run.stdout.splitlines()
    assert len(lines) == 1 and lines[0].startswith("record 1: refused: state: ")
    assert "quarantine" in lines[0]
    run = t.tally("records", f)
    assert [line.split(":")[1] for line in run.stdout.splitlines()] == [" duplicate", " refused", " duplicate"]


def test_records_takes_every_form(t):
    for text in (json.dumps({**GOOD, "job_id": 10}), json.dumps([{**GOOD, "job_id": 11}], indent=2),
                 json.dumps({**GOOD, "job_id": 12}) + "\n" + json.dumps({**GOOD, "job_id": 13})):
        run = t.tally("records", "-", stdin=text)
        assert (run.returncode, run.stdout) == (0, ""), run.stderr
    assert count(t, "rec", state=3) >= 6


def test_half_a_file_is_none(t):
    run = t.tally("records", "-", stdin=json.dumps([{**GOOD, "job_id": 20}])[:-1])
    assert run.returncode == 2 and "tally records: error" in run.stderr
    assert t.psql("SELECT 1 FROM job WHERE cluster = 'rec' AND job_id = 20") == []
    assert t.tally("records", "-", stdin="").returncode == 2
    assert t.tally("records").returncode == 2
    assert t.tally("records", "-", stdin=json.dumps(GOOD), env={"TALLY_URL": "unix:/nowhere"}).returncode == 2


def test_many_records_in_batches(t, tmp_path):
    f = tmp_path / "many.ndjson"
    with f.open("w") as out:
        for i in range(2500):
            print(json.dumps({**GOOD, "cluster": "many", "job_id": 1 + i}), file=out)
    run = t.tally("records", f)
    assert (run.returncode, run.stdout) == (0, "")
    assert count(t, "many") == 2500


def test_an_import_outlives_a_restart(fresh_tallyd, tmp_path):
    """The daemon is killed in the middle: the client waits for it, and nothing is lost or double."""
    t = fresh_tallyd()
    http = f"{t.host}:{t.port}"
    dump = tmp_path / "big.psv"
    with dump.open("w") as out:
        print("JobID|State|Submit|End", file=out)
        for i in range(60000):
            print(f"{1 + i}|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00", file=out)
    client = subprocess.Popen([TALLY, "import", "--cluster=k", dump], text=True,
                              env={**os.environ, "TALLY_URL": f"unix:{t.unix}", "TZ": "UTC"},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: int(t.psql("SELECT count(*) FROM job")[0][0]) > 0, 30, "the first jobs")
    t.kill9()
    t.http = http
    t.start()
    out, err = client.communicate(timeout=120)
    assert client.returncode == 0, out + err
    assert count(t, "k") == 60000
    assert "sent 60000 of 60000 records" in out


def export(t, cluster):
    """Every run of every job of a cluster with its steps, a line each."""
    reply = t.get(f"/v1/jobs?cluster={cluster}&steps=true&duplicates=true&submitted=true&start=0"
                  "&times=epoch&format=ndjson")
    assert reply.status == 200
    return reply.text.splitlines()


def lasting(lines):
    """How long something has run that still does depends on when it is asked."""
    return [re.sub(r'"elapsed_s":\d+', '"elapsed_s":0', line) if '"state":"RUNNING"' in line else line
            for line in lines]


def test_history_moves_to_another_database(t, fresh_tallyd, tmp_path):
    """FC-166: exported, imported into an empty database, exported again: the same bytes."""
    other = fresh_tallyd()
    for cluster in ("hb", "sj", "eagle", "s1"):
        first = export(t, cluster)
        assert len(first) > 1
        f = tmp_path / f"{cluster}.ndjson"
        f.write_text("\n".join(first) + "\n")
        run = other.tally("import", f)
        assert run.returncode == 0, run.stdout + run.stderr
        assert "tally's own jobs as JSON" in run.stdout
        assert figures(run)[4] == 0, run.stdout
        assert lasting(export(other, cluster)) == lasting(first)
    whole = tmp_path / "whole.json"
    whole.write_text(t.tally("sacct", "-a", "--json", "-M", "s1", "-S", "2019-01-01", check=True).stdout)
    assert figures(other.tally("import", whole))[2:] == (0, 2, 0)
