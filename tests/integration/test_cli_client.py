"""The client of the HTTP API: where it finds the daemon, what it makes of errors and of answers
that break off."""
import pathlib
import socket
import subprocess

import pytest

from scripted import Scripted, job, lines, run

ARGS = ("sacct", "-n", "-P", "-o", "jobid")


@pytest.fixture
def unix(tmp_path):
    with Scripted([job(1)], unix=tmp_path / "s") as s:
        yield s


def test_the_daemon_is_found_by_environment_and_option(unix):
    assert lines(run(unix, *ARGS)) == ["1"]
    assert lines(run(None, *ARGS, "--url", unix.url)) == ["1"]
    assert lines(run("http://127.0.0.1:1", "--url=" + unix.url, *ARGS)) == ["1"]


def answers(family, address):
    with socket.socket(family) as probe:
        return probe.connect_ex(address) == 0


def someone_is_there(tcp=True):
    """A daemon of this machine's own at the usual places."""
    return answers(socket.AF_UNIX, "/run/tally/tally.sock") or (
        tcp and answers(socket.AF_INET, ("127.0.0.1", 6820)))


def test_the_state_directory_of_make_run(unix, tmp_path):
    if someone_is_there(tcp=False):
        pytest.skip("the system's own tallyd comes first")
    (tmp_path / "var").mkdir()
    (tmp_path / "var/socket").write_text(unix.url.removeprefix("unix:") + "\n")
    assert lines(run(None, *ARGS, cwd=tmp_path)) == ["1"]


def test_a_socket_without_a_daemon_is_passed_over(tmp_path):
    if someone_is_there():
        pytest.skip("a tallyd stands at the last of the usual places")
    (tmp_path / "var").mkdir()
    (tmp_path / "var/socket").write_text(f"{tmp_path}/gone\n")
    result = run(None, *ARGS, cwd=tmp_path)
    assert result.returncode == 1
    assert "http://127.0.0.1:6820" in result.stderr and "--url" in result.stderr


@pytest.mark.parametrize("url", ["127.0.0.1:6820", "https://x", "unix:", "http://"])
def test_an_address_that_is_none(url):
    result = run(url, *ARGS)
    assert result.returncode == 1
    assert "sacct: error: --url:" in result.stderr and "unix:PATH" in result.stderr


def test_nobody_there():
    result = run("http://127.0.0.1:1", *ARGS)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr.startswith("sacct: error: http://127.0.0.1:1: no tallyd answers")


def test_a_problem_is_told_with_its_field(tmp_path):
    problem = {"type": "urn:tally:problem:invalid", "title": "invalid input", "status": 400,
               "detail": "\"x\": accepted: true or false", "field": "steps"}
    with Scripted(status=400, problem=problem, unix=tmp_path / "s") as s:
        result = run(s, *ARGS)
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr == "sacct: error: steps: \"x\": accepted: true or false\n"


def test_a_problem_without_a_text(tmp_path):
    with Scripted(status=502, raw=b"<html>bad gateway</html>", unix=tmp_path / "s") as s:
        result = run(s, *ARGS)
    assert result.returncode == 1
    assert "HTTP status 502" in result.stderr


@pytest.mark.parametrize("end", [b"", b"5\r\nab"])
def test_an_answer_that_breaks_off_fails(tmp_path, end):
    """However much came before: it must never look whole."""
    with Scripted([job(1), job(2)], end=end, unix=tmp_path / "s") as s:
        result = run(s, *ARGS)
        as_json = run(s, "sacct", "--json")
    assert result.returncode == 1
    assert "broke off" in result.stderr
    assert as_json.returncode == 1


def test_half_a_line_fails(tmp_path):
    with Scripted([job(1)], tail=b'{"job_id":2', unix=tmp_path / "s") as s:
        result = run(s, *ARGS)
    assert result.returncode == 1
    assert "middle of a line" in result.stderr


def test_a_line_that_is_no_row_fails(tmp_path):
    with Scripted(tail=b'{"job_id":tru}\n', unix=tmp_path / "s") as s:
        result = run(s, *ARGS)
    assert result.returncode == 1
    assert "not understood" in result.stderr


def test_output_that_cannot_be_written_fails(unix):
    with open("/dev/full", "wb") as full:
        result = run(unix, *ARGS, stdout=full)
    assert result.returncode == 1
    assert "writing" in result.stderr


def test_over_tcp_a_named_munged_must_sign(tmp_path):
    with Scripted([job(1)]) as s:
        result = run(s, *ARGS, env={"TALLY_MUNGE_SOCKET": f"{tmp_path}/none"})
        assert result.returncode == 1 and s.asked == []
        assert f"{tmp_path}/none" in result.stderr and "munge" in result.stderr


def test_over_tcp_without_a_munged_it_asks_as_nobody():
    with Scripted([job(1)]) as s:
        result = run(s, *ARGS)
        assert lines(result) == ["1"]


def test_the_unix_socket_needs_no_credential(unix):
    run(unix, *ARGS, env={"TALLY_MUNGE_SOCKET": "/nowhere"})
    assert "authorization" not in unix.asked[-1].headers


def test_the_command_names_itself_and_its_parts():
    result = run(None, "--help")
    assert result.returncode == 0 and "sacct" in result.stdout
    assert run(None, "--version").stdout.startswith("tally ")
    assert run(None, "nosuch").returncode == 1
    assert run(None).returncode == 1
    assert run(None, "--nosuch").returncode == 1


def test_a_large_answer_is_streamed(tmp_path):
    """Rows are printed while they come: memory does not grow with the answer."""
    rows = [job(i, submit=f"2026-03-01T10:{i // 60 % 60:02}:{i % 60:02}Z") for i in range(3600)]
    with Scripted(rows, unix=tmp_path / "s") as s:
        assert len(lines(run(s, *ARGS))) == 3600


def test_a_reader_that_goes_away_ends_it(unix, tmp_path):
    script = tmp_path / "go"
    script.write_text(f"{run.__globals__['TALLY']} --url={unix.url} sacct | true\n")
    assert subprocess.run(["sh", script], timeout=30).returncode == 0


def test_completions_name_every_option_of_the_help():
    """The shell's words come from the same table as the help."""
    words = run(None, "--completions", "sacct").stdout.split("\n")
    spelled = {w.split(" ")[0].rstrip("=") for w in words if w}
    helped = set()
    for line in run(None, "sacct", "--help").stdout.split("options:")[1].splitlines():
        for word in line[:34].replace(",", " ").split():
            if word.startswith("-") and word != "-":
                helped.add(word.split("=")[0].split("[")[0])
    assert helped and helped == spelled
    state = next(w for w in words if w.startswith("--state"))
    assert state.split()[1:] == "BF CA CD DL F NF OOM PD PR R RQ RS RV S TO".split()
    assert pathlib.Path(__file__).parents[2].joinpath("share/completions/tally").exists()
