"""share/completions/tally, as bash would call it."""
import pathlib
import subprocess

import pytest

from daemon import TALLY

SCRIPT = pathlib.Path(__file__).parents[2] / "share/completions/tally"


def complete(*words):
    """COMPREPLY for a line of these words with the cursor at the end of the last."""
    quoted = " ".join(f"'{w}'" for w in (str(TALLY), *words))
    body = f"""
        compopt() {{ :; }}
        source {SCRIPT}
        COMP_WORDS=({quoted}) COMP_CWORD={len(words)}
        _tally
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    out = subprocess.run(["bash", "-c", body], text=True, stdout=subprocess.PIPE, check=True)
    return [line for line in out.stdout.split("\n") if line]


@pytest.mark.parametrize("words, want", [
    (["sac"], ["sacct"]),
    (["sacct", "--star"], ["--starttime="]),
    (["sacct", "-s", "O"], ["OOM"]),
    (["sacct", "--state", "=", "F,TI"], []),
    (["sacct", "--state", "=", "F,T"], ["F,TO"]),
    (["sacct", "--units", "="], ["K", "M", "G", "T", "P"]),
    (["sacct", "-o", "JobID,MaxRSSN"], ["JobID,MaxRSSNode"]),
    (["--ur"], ["--url="]),
    (["nosuch", "-"], []),
])
def test_words(words, want):
    assert complete(*words) == want


def test_every_command_and_option():
    assert "sacct" in complete("")
    assert {"-X", "--json=", "--allusers"} <= set(complete("sacct", "-"))
