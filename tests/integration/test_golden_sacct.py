"""What the real sacct printed, byte for byte: its dump of every field is loaded into a tallyd with
`tally import`, and every recorded command about jobs is asked again.

Where ours must differ, the cells are named below, each rule with its reason. Every difference must
be explained by a rule and every rule must explain a difference: one that is no longer needed fails.
"""
import datetime
import pathlib
import re
import shutil
import subprocess

import pytest

import golden
from daemon import AS_ROOT, TALLY

UIDS = {"alice": 1002}

# Commands whose answer is not compared, and why.  They must still answer otherwise than recorded.
NOT_REPLAYED = {
    "sacct-version": "names the program",
    "sacct-helpformat": "the fields of 26.05, not of 22.05",
    "sacct-array-flag": "an option that came after 22.05",
    "sacct-batch-script": "scripts are not kept",
    "sacct-env-vars": "environments are not kept",
    "sacct-as-alice-script-of-bob": "scripts are not kept",
    "sacct-no-such-user": "users are those of the records, not of this machine",
    "sacct-state-SUSPENDED": "the dump says how long a job was suspended, not when",
}

# Standard error in other words than recorded; the exit status is the same.
OTHER_WORDS = {
    "sacct-bad-state": "the valid names are listed (FC-044)",
    "sacct-bad-time": "begins like every other message",
    "sacct-completion": "begins like every other message",
}


class Rule:
    """Cells that must differ: `columns` of the lines (JobID) that match; ours(golden cell, our
    cell) says whether ours is the right one."""

    def __init__(self, columns, lines, ours, why, commands=r".*"):
        self.columns = columns.split()
        self.lines = re.compile(lines)
        self.ours = ours
        self.why = why
        self.commands = re.compile(commands)
        self.used = set()

    def explains(self, command, job, column, theirs, ours):
        if (column not in self.columns or not self.lines.fullmatch(job) or
                not self.commands.fullmatch(command) or not self.ours(theirs, ours)):
            return False
        self.used.add((job, column))
        return True


def becomes(text):
    return lambda theirs, ours: ours == text


def milliseconds(text):
    if "." not in text:
        assert text == "00:00:00"
        return 0
    return int(text.split(":")[1].replace(".", ""))


def rounded(theirs, ours):
    """The dump has milliseconds: each of a handful of parts lost less than one."""
    return 0 < milliseconds(theirs) - milliseconds(ours) <= 3


RULES = [
    Rule("DBIndex", r".*", lambda theirs, ours: ours.isdigit(),
         "row numbers are the store's own"),
    Rule("Flags", r"[^.]+", lambda theirs, ours: ours == theirs.replace("Recieved", "Received"),
         "the spelling of newer versions"),
    Rule("AllocCPUS NCPUS", r"2|8|9|47", becomes("0"),
         "what never started was given no CPUs (FC-056, FC-057)"),
    Rule("Reserved", r"2", becomes("00:00:10"), "waiting lasted until it was given up (FC-057)"),
    Rule("ResvCPU", r"2", becomes("00:01:20"), "waiting lasted until it was given up (FC-057)"),
    Rule("ResvCPURAW", r"2", becomes("80"), "waiting lasted until it was given up (FC-057)"),
    Rule("ResvCPURAW", r"8|9", becomes(""), "no number for what cannot be, not 32 bits wrapped"),
    Rule("TotalCPU", r".*", rounded, "a sum of what the dump holds in milliseconds"),
    Rule("UserCPU SystemCPU", r"[^.]+", rounded, "a sum of what the dump holds in milliseconds"),
    Rule("ConsumedEnergy ConsumedEnergyRaw", r"[^.]+", becomes(""),
         "the importer takes the energy of steps, not the job's 0"),
    Rule("ReqCPUFreqGov", r".*\.batch", becomes("Unknown"),
         "the importer does not take governors"),
    Rule("TRESUsageInMaxNode TRESUsageInMinNode TRESUsageOutMaxNode TRESUsageOutMinNode",
         r"20\+1\.0", becomes(""), "(null) is the name of no node"),
    Rule("Start End", r"47", becomes("Unknown"), "-T makes up no start of what still waits",
         r"sacct-window-truncate"),
    Rule("Comment", r"36", becomes('a|b,"c" é\\nse+'),
         "in columns a newline is shown, not obeyed (FC-004)", r"sacct-all-fields-wide"),
]


@pytest.fixture(scope="module")
def peer(request):
    """A daemon with the recorded cluster's jobs."""
    from daemon import Tallyd
    t = Tallyd()
    try:
        t.start()
        dump = t.dir / "dump"
        dump.write_text(golden.dump())
        dump.chmod(0o644)
        result = t.tally("import", "--cluster=peer", dump)
        assert result.returncode == 0, result
        result = t.tally("records", golden.DATA / "held-jobs.ndjson")
        assert result.returncode == 0, result
        yield t
    finally:
        t.close(keep=request.session.testsfailed > 0)


@pytest.fixture(scope="module")
def clock(peer):
    """Environment under which the client believes that it is the moment of the capture."""
    source = pathlib.Path(__file__).parent / "clockshift.c"
    shim = peer.dir / "clock.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], check=True)
    libs = subprocess.run(["ldd", TALLY], text=True, stdout=subprocess.PIPE, check=True).stdout
    sanitizer = re.findall(r"=> (/\S*lib[at]san\S*)", libs)
    return {"LD_PRELOAD": ":".join([*sanitizer, str(shim)])}


def seconds(text):
    return int(datetime.datetime.fromisoformat(text + "+00:00").timestamp())


NOW = seconds(re.search(r"NOW=(\S+)", (golden.DATA / "windows.env").read_text())[1])
# The capture went on for some seconds: when what waits had waited longer.
ASKED_LATER = {"sacct-X-p": 1, "sacct-window-future": 14}


# "Now" is the daemon's, whose clock goes on: where the answer depends on it, it is said.
SAID = {"sacct-default": ["-E", "2026-12-01T06:01:13"]}


def replay(peer, clock, command):
    env = {**clock, "CLOCK_AT_S": str(NOW + ASKED_LATER.get(command.name, 0)),
           "LC_ALL": "C.UTF-8"}
    return peer.tally("sacct", *command.args, *SAID.get(command.name, []), env=env,
                      uid=UIDS.get(command.user))


COMMANDS = golden.commands()


def of(command):
    if command.user and not AS_ROOT:
        pytest.skip("only root can ask as another user")
    if NOW > datetime.datetime.now().timestamp():
        pytest.skip("the clock of this machine is before the capture")


def default_columns(command):
    return (command.option("-o", "--format") or
            "JobID,JobName,Partition,Account,AllocCPUS,State,ExitCode").split(",")


def differences(command, theirs, ours):
    """[(job, column, their cell, our cell)]; the rows and columns must be the same."""
    if theirs == ours:
        return []
    columns = default_columns(command)
    a = golden.Listing.of(command, theirs, columns, narrow=True)
    b = golden.Listing.of(command, ours, columns)
    assert a.text() == theirs and b.text() == ours
    assert a.names == b.names
    if not command.delimited:
        check_alignment(a, b)
    a, b = a.cells(), b.cells()
    assert list(a) == list(b)
    return [(job, column, a[job, n, column].strip(), b[job, n, column].strip())
            for job, n, column in a if a[job, n, column].strip() != b[job, n, column].strip()]


def check_alignment(theirs, ours):
    """Cells of equal text stand at the same place."""
    for theirs_row, ours_row in zip(theirs.rows, ours.rows):
        for a, b in zip(theirs_row, ours_row):
            if a.isascii() and a.strip() == b.strip() and len(a) == len(b):
                assert a == b


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
def test_replay(peer, clock, command):
    of(command)
    result = replay(peer, clock, command)
    if command.name in NOT_REPLAYED:
        assert (result.returncode, result.stdout, result.stderr) != (
            command.status, command.stdout, command.stderr), "no longer an exception"
        return
    assert result.returncode == command.status, result.stderr
    if command.name in OTHER_WORDS:
        assert result.stderr != command.stderr, "no longer an exception"
    else:
        assert result.stderr == command.stderr
    unexplained = [d for d in differences(command, command.stdout, result.stdout)
                   if not any([r.explains(command.name, *d) for r in RULES])]
    assert not unexplained, "\n".join(map(str, unexplained[:40]))


def test_every_rule_is_needed(peer):
    """Runs last: a rule that explained nothing has to go."""
    if not AS_ROOT:
        pytest.skip("some commands were not replayed")
    unused = [f"{column} of {r.lines.pattern}: {r.why}" for r in RULES for column in r.columns
              if column not in {c for _, c in r.used}]
    assert not unused


def test_every_command_that_is_named_exists():
    names = {c.name for c in COMMANDS}
    assert set(NOT_REPLAYED) | set(OTHER_WORDS) | set(ASKED_LATER) | set(SAID) <= names
    assert len(COMMANDS) > 100


def test_json_has_the_same_jobs(peer, clock):
    """The shape is ours; what is in it is not."""
    import json
    window = ["-S", "2026-12-01T03:00:00", "-E", "2026-12-01T07:00:00"]
    listed = peer.tally("sacct", "-a", "-X", "-n", "-P", "-o", "jobidraw,state%30", *window)
    answer = json.loads(peer.tally("sacct", "-a", "--json", *window).stdout)
    got = sorted((j["job_id"], j["state"]) for j in answer["jobs"])
    assert got == sorted((int(line.split("|")[0]), line.split("|")[1].split()[0])
                         for line in listed.stdout.splitlines())
    steps = peer.tally("sacct", "-a", "-n", "-P", "-o", "jobidraw", *window).stdout.split()
    assert sum(len(j["steps"]) for j in answer["jobs"]) == sum("." in s for s in steps)


def test_tools_are_here():
    assert shutil.which("gcc")
