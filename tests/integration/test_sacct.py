"""`tally sacct` before any daemon is asked what is true: which question it sends for which options,
and how it lists what comes back.  (The cells are in tests/unit/test_cli_sacct_cells.c, the outputs
of the real tool in test_golden_sacct.py.)"""
import os

import pytest

from scripted import Scripted, job, lines, run


@pytest.fixture
def s(tmp_path):
    with Scripted([job(1)], unix=tmp_path / "s") as scripted:
        yield scripted


def asked(s, *args, **kw):
    result = run(s, "sacct", *args, **kw)
    assert result.returncode == 0, result
    query = {k: v if len(v) > 1 else v[0] for k, v in s.asked[-1].query.items()}
    for common in ("fields", "step_fields", "sort", "steps", "start"):
        query.pop(common, None)
    return query


@pytest.mark.parametrize("args, want", [
    (["-A", "hep,tiny"], {"account": "hep,tiny"}),
    (["--accounts=hep", "-A", "tiny"], {"account": ["hep", "tiny"]}),
    (["-x", "12"], {"assoc": "12"}),
    (["-C", "fast,x86"], {"constraints": "fast,x86"}),
    (["-F", "SchedMain"], {"flags": "SchedMain"}),
    (["-g", "users,1003"], {"group": "users", "gid": "1003"}),
    (["--gid", "1", "--group", "2"], {"gid": ["1", "2"]}),
    (["-j", "17_[1-3,5],20+1"], {"job": "17_[1-3,5],20+1"}),
    (["-j", "20", "--whole-hetjob=no"], {"job": "20", "whole_het": "false"}),
    (["-j", "20", "--whole-hetjob"], {"job": "20", "whole_het": "true"}),
    (["--name", "a b"], {"name": "a b"}),
    (["--name", "50%_\\&#é"], {"name": "50%_\\&#é"}),
    (["-i", "2-9", "-i", "4"], {"nnodes": "4"}),
    (["-I", "1"], {"ncpus": "1"}),
    (["-N", "n[1-3,5]"], {"nodes": "n[1-3,5]"}),
    (["-r", "gpu", "-q", "high", "-W", "calib", "-R", "Priority"],
     {"partition": "gpu", "qos": "high", "wckey": "calib", "reason": "Priority"}),
    (["-k", "1", "-K", "1-00:00:00"], {"timelimit_min": "1", "timelimit_max": "1-00:00:00"}),
    (["-M", "c1,c2"], {"cluster": "c1,c2"}),
    (["-M", "all"], {}),
    (["-D", "-T"], {"duplicates": "true", "truncate": "true"}),
    (["-u", "alice,1003"], {"user": "alice", "uid": "1003"}),
    (["-E", "now"], {"end": None}),
])
def test_conditions(s, args, want):
    got = asked(s, "-a", *args)
    if want.get("end", "") is None:
        assert got.pop("end").isdigit()
        want = {}
    assert got == want


def test_states_in_any_spelling_are_passed_on(s):
    """FC-044"""
    names = "bf,CA,completed,Deadline,F,NF,OOM,PD,PR,R,RQ,RS,RV,S,TIMEOUT"
    assert asked(s, "-a", "-s", names) == {"state": names}


def test_an_unknown_state_lists_the_known(s):
    result = run(s, "sacct", "-s", "F,NOSUCH")
    assert result.returncode == 1 and s.asked == []
    assert "NOSUCH" in result.stderr
    for name in "CD COMPLETED OOM OUT_OF_MEMORY RQ".split():
        assert name in result.stderr


def test_whose_jobs(s):
    """One's own by default, everybody's for root, with -a, and of a job that is named."""
    own = {} if os.geteuid() == 0 else {"uid": str(os.geteuid())}
    assert asked(s) == own
    assert asked(s, "-a") == {}
    assert asked(s, "-j", "5") == {"job": "5"}
    assert asked(s, "-u", "bob") == {"user": "bob"}


def test_which_cluster(s):
    """FC-191: a client of one cluster asks about it, unless told otherwise."""
    env = {"TALLY_CLUSTER": "c1"}
    assert asked(s, "-a", env=env) == {"cluster": "c1"}
    assert asked(s, "-a", "-M", "c2", env=env) == {"cluster": "c2"}
    assert asked(s, "-a", "-L", env=env) == {}
    assert asked(s, "-a", "-M", "all", env=env) == {}


MIDNIGHT = {"TZ": "America/New_York"}


def window(s, *args, **kw):
    run(s, "sacct", *args, **kw)
    query = s.asked[-1].query
    return query.get("start", [None])[0], query.get("end", [None])[0]


def test_the_window(s):
    """What is not given is the daemon's to default, but for midnight, which is the user's."""
    start, end = window(s)
    assert int(start) % 86400 == 0 and end is None
    start, _ = window(s, env=MIDNIGHT)
    assert int(start) % 86400 in (4 * 3600, 5 * 3600)
    assert window(s, "-j", "5") == (None, None)
    assert window(s, "-s", "F") == (None, None)
    # FC-071: a time without offset is the clock of the one who types it.
    assert window(s, "-S", "2026-08-21T15:38", "-E", "2026-08-21T15:39:01", env=MIDNIGHT) == (
        "1787341080", "1787341141")
    assert window(s, "-S", "2026-08-21T15:38:00") == ("1787326680", None)


def test_start_after_end(s):
    """FC-069"""
    result = run(s, "sacct", "-S", "2026-03-09T23:50", "-E", "2026-03-09T22:59")
    assert result.returncode == 1 and result.stdout == "" and s.asked == []
    assert result.stderr == ("sacct: error: Start time (2026-03-09T23:50:00) requested is after "
                             "end time (2026-03-09T22:59:00).\n")
    assert run(s, "sacct", "-S", "2099-01-01").returncode == 1


def test_the_window_is_told(s):
    """FC-068: -s alone asks about this very moment."""
    result = run(s, "sacct", "-v", "-S", "2026-03-01", "-E", "2026-03-02")
    assert "2026-03-01T00:00:00 to 2026-03-02T00:00:00" in result.stderr
    told = run(s, "sacct", "-v", "-s", "F").stderr.split()
    assert told[-1] == told[-3]
    told = run(s, "sacct", "-v", "-j", "1").stderr.split()
    assert told[-3] == "1970-01-01T00:00:00"


@pytest.mark.parametrize("args, part", [
    (["-S", "notatime"], "notatime"),
    (["-o", "nosuchfield"], 'Invalid field requested: "nosuchfield"'),
    (["-o", "jobid,reqgres"], "ReqTRES"),
    (["-o", "state%x"], "%x"),
    (["--units=X"], "X"),
    (["--json=v0"], "v0"),
    (["-c"], "completion is disabled"),
    (["--whole-hetjob=maybe"], "yes or no"),
    (["-B", "-j", "1"], "scripts are not kept"),
    (["--env-vars", "-j", "1"], "environments are not kept"),
    (["word"], "word"),
    (["-j", "x"], "x"),
])
def test_mistakes_are_named(s, args, part):
    result = run(s, "sacct", *args)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.startswith("sacct: error: ") and part in result.stderr
    assert s.asked == []


def test_an_unknown_option(s):
    result = run(s, "sacct", "--nosuch")
    assert result.returncode == 1
    assert result.stderr == "sacct: unrecognized option '--nosuch'\n"


def test_only_what_is_printed_is_asked_for(s):
    run(s, "sacct", "-o", "jobid,comment,maxrss")
    query = s.asked[-1].query
    assert "comment" in query["fields"][0].split(",")
    assert "submit_line" not in query["fields"][0].split(",")
    assert "usage_in_max" in query["step_fields"][0].split(",")
    assert "usage_in_tot" not in query["step_fields"][0].split(",")
    assert query["steps"] == ["true"] and query["sort"] == ["submit"]
    run(s, "sacct", "-X", "-o", "jobid,totalcpu")
    assert s.asked[-1].query["steps"] == ["false"]
    run(s, "sacct", "-X", "-o", "jobid,usercpu")
    assert s.asked[-1].query["steps"] == ["true"]


def test_long_lists_of_jobs_are_posted(s):
    """FC-182"""
    ids = ",".join(str(i) for i in range(1, 20001))
    result = run(s, "sacct", "-a", "-j", ids, "-j", "17_[1,2]", "-n", "-P", "-o", "jobid")
    assert lines(result) == ["1"]
    sent = s.asked[-1]
    assert (sent.method, sent.path) == ("POST", "/v1/jobs/query")
    assert sent.headers["content-type"] == "application/json"
    body = sent.json()
    assert body["job"] == ids + ",17_[1,2]"
    assert body["steps"] == "true" and body["sort"] == "submit"


# ---- the listing ------------------------------------------------------------------------

def listing(tmp_path, rows, *args, **kw):
    with Scripted(rows, unix=tmp_path / "s") as s:
        return lines(run(s, "sacct", *args, **kw))


def test_nothing_matched(tmp_path):
    assert listing(tmp_path, [], "-o", "jobid,state%5") == ["JobID        State ",
                                                            "------------ ----- "]
    assert listing(tmp_path, [], "-P", "-o", "jobid,state") == ["JobID|State"]
    assert listing(tmp_path, [], "-n") == []


def test_forms(tmp_path):
    rows = [job(102, name="mail_test")]
    of = ("-o", "jobid,jobname")
    assert listing(tmp_path, rows, *of, "-p", "-n") == ["102|mail_test|"]
    assert listing(tmp_path, rows, *of, "-P", "-n") == ["102|mail_test"]
    assert listing(tmp_path, rows, *of, "-P", "-n", "--delimiter=^|^") == ["102^|^mail_test"]
    assert listing(tmp_path, rows, *of, "--csv") == ["JobID,JobName\r", "102,mail_test\r"]


def test_text_that_is_hard_to_print(tmp_path):
    """FC-001, FC-004, FC-006, FC-007, FC-010, in any locale."""
    rows = [job(101, name="a|b"), job(103, name="f20\n"), job(107, name="dédé job"),
            job(110, name="\x1b[31mred\x07")]
    for locale in ("C", "C.UTF-8"):
        env = {"LC_ALL": locale}
        wide = listing(tmp_path, rows, "-n", "-o", "jobid,jobname%12", env=env)
        assert wide == ["101                   a|b ", "103                 f20\\n ",
                        "107              dédé job ", "110          \\x1b[31mred+ "]
        assert listing(tmp_path, rows[2:3], "-n", "-o", "jobname%5", env=env) == ["dédé+ "]
        assert listing(tmp_path, rows[1:2], "-n", "-P", "-o", "jobid,jobname") == ["103|f20", ""]
        assert listing(tmp_path, rows[1:2], "-n", "--csv", "-o", "jobid,jobname") == [
            '103,"f20', '"\r']


def test_order(tmp_path):
    """By submission; within a second by job, tasks in their order, those that wait last."""
    later = {"submit": "2026-03-01T10:00:01Z"}
    rows = [job(30, array_job_id=17, array_task_id=3), job(18),
            job(17, array_job_id=17, array_task_id=5),
            job(26, array_job_id=17, array_task_id=0),
            job(40, array_job_id=17, array_tasks="7-9"), job(5), job(3, **later), job(2, **later)]
    assert listing(tmp_path, rows, "-n", "-P", "-o", "jobid,jobidraw") == [
        "5|5", "17_0|26", "17_3|30", "17_5|17", "17_[7-9]|40", "18|18", "2|2", "3|3"]


def test_runs_of_a_job(tmp_path):
    """FC-033, FC-046: the daemon sends what -D asks for; told apart by submission."""
    rows = [job(5000, submit="2017-10-03T00:00:00Z"), job(5000, submit="2026-08-21T00:00:00Z")]
    assert listing(tmp_path, rows, "-n", "-P", "-D", "-o", "jobid,submit") == [
        "5000|2017-10-03T00:00:00", "5000|2026-08-21T00:00:00"]


STEPS = [{"step_id": "batch"}, {"step_id": "extern"}, {"step_id": "interactive"}, {"step_id": 0}]


def test_steps(tmp_path):
    """FC-030"""
    rows = [job(778, user="ann", steps=STEPS)]
    of = ("-n", "-P", "-o", "jobid,user")
    assert listing(tmp_path, rows, *of) == ["778|ann", "778.batch|", "778.extern|",
                                            "778.interactive|", "778.0|"]
    assert listing(tmp_path, rows, *of, "-X") == ["778|ann"]


@pytest.mark.parametrize("selection, want", [
    ("778.0", ["778.0"]), ("778.batch,778.extern", ["778.batch", "778.extern"]),
    ("778", ["778", "778.batch", "778.extern", "778.interactive", "778.0"]),
    ("778.0,778", ["778", "778.batch", "778.extern", "778.interactive", "778.0"]),
])
def test_steps_that_are_named(tmp_path, selection, want):
    rows = [job(778, steps=STEPS)]
    assert listing(tmp_path, rows, "-n", "-P", "-o", "jobid", "-j", selection) == want


def test_array_tasks_one_by_one(tmp_path):
    rows = [job(18, array_job_id=18, array_tasks="1-3,7%2", state="PENDING")]
    of = ("-n", "-P", "-o", "jobid,state")
    assert listing(tmp_path, rows, *of) == ["18_[1-3,7%2]|PENDING"]
    assert listing(tmp_path, rows, *of, "--array") == [
        f"18_{i}|PENDING" for i in (1, 2, 3, 7)]


def test_long_array_lists(tmp_path):
    """FC-035"""
    squares = ",".join(str(i * i) for i in range(1, 201))
    rows = [job(77, array_job_id=77, array_tasks=squares, state="PENDING")]
    of = ("-n", "-P", "-o", "jobid")
    cut = "1,4,9,16,25,36,49,64,81,100,121,144,169,196,225,256,289,324,..."
    assert len(cut) == 63
    assert listing(tmp_path, rows, *of) == [f"77_[{cut}]"]
    whole = {"SLURM_BITSTR_LEN": "0"}
    assert listing(tmp_path, rows, *of, env=whole) == [f"77_[{squares}]"]


def test_environment(tmp_path):
    rows = [job(1, start="2026-03-01T10:00:00Z")]
    env = {"SACCT_FORMAT": "jobid,start%24"}
    assert listing(tmp_path, rows, "-P", env=env) == ["JobID|Start", "1|2026-03-01T10:00:00"]
    assert listing(tmp_path, rows, "-P", "-b", env=env) == ["JobID|State|ExitCode",
                                                            "1|COMPLETED|0:0"]
    # FC-074
    env.update(SLURM_TIME_FORMAT="%FT%T%z", TZ="Europe/Berlin")
    assert listing(tmp_path, rows, "-n", env=env) == [
        "1            2026-03-01T11:00:00+0100 "]


def test_states_are_cut_in_columns_only(tmp_path):
    """FC-037"""
    rows = [job(1, state="OUT_OF_MEMORY")]
    assert listing(tmp_path, rows, "-n", "-o", "state") == ["OUT_OF_ME+ "]
    assert listing(tmp_path, rows, "-n", "-o", "state%20") == ["       OUT_OF_MEMORY "]
    assert listing(tmp_path, rows, "-n", "-P", "-o", "state") == ["OUT_OF_MEMORY"]


def test_long_names_are_whole(tmp_path):
    """FC-137"""
    names = dict(user="u" * 40, account="a" * 60, name="n" * 1024, work_dir="/" * 4000)
    of = ("-n", "-o", "user,account,jobname,workdir")
    assert listing(tmp_path, [job(1, **names)], *of, "-P") == ["|".join(names.values())]
    assert listing(tmp_path, [job(1, **names)], *of, "--csv") == [
        ",".join(names.values()) + "\r"]


def test_large_numbers(tmp_path):
    """FC-085"""
    rows = [job(4000000000, priority=4294967293, row_id="9223372036854775813")]
    assert listing(tmp_path, rows, "-n", "-P", "-o", "jobid,priority,dbindex") == [
        "4000000000|4294967293|9223372036854775813"]


def test_rows_may_tell_more_than_was_asked_for(tmp_path):
    """A newer daemon's keys, and what is computed: the batch step, killed for memory, is -5."""
    assert listing(tmp_path, [job(1, oom_step=-5, oom=True, key_of_the_future=[1])], "-n", "-P",
                   "-o", "jobid") == ["1"]


def test_json_is_the_daemons_own_answer(tmp_path):
    """FC-155: the filter applies to it, and nothing is added or lost on the way."""
    answer = b'{"jobs":[{"job_id":1,"name":"a|b"}],"next":null}\n'
    with Scripted(raw=answer, unix=tmp_path / "s") as s:
        for option in ("--json", "--yaml", "--json=v1"):
            result = run(s, "sacct", option, "-a", "-s", "R", "-S", "now-1hour")
            assert result.stdout.encode() == answer and result.returncode == 0
            assert s.asked[-1].headers["accept"] == "application/json"
            assert s.asked[-1].query["state"] == ["R"]
            assert "fields" not in s.asked[-1].query


def test_fields_are_listed(tmp_path):
    result = run(None, "sacct", "--helpformat")
    rows = result.stdout.split("\n")
    assert rows[0] == "Account             AdminComment        AllocCPUS           AllocNodes         "
    assert len(result.stdout.split()) == 123
    with Scripted([job(1)], unix=tmp_path / "s") as s:
        header = lines(run(s, "sacct", "-P", "-o", "ALL"))[0]
    assert header.split("|") == result.stdout.split()


def test_help():
    for option in ("-h", "--help", "--usage"):
        result = run(None, "sacct", option)
        assert result.returncode == 0 and "--starttime=TIME" in result.stdout
    for option in ("-V", "--version"):
        assert run(None, "sacct", option).stdout.startswith("tally ")
