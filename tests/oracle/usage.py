"""What was used, once more: plainly, from raw job rows (GET /v1/jobs as NDJSON with times=epoch), and
with nothing of the daemon's own way of keeping sums.

A row that ran is a list of pieces of time.  In each piece a TRES is held or it is not; the use of a
window is the length of the pieces inside it, times the count.  Energy is a total, put evenly over
the run: what falls before a moment is rounded down."""
import collections

NOT_RUN = {"PENDING"}


def run_of(job, now):
    """(start, end, has ended) or None."""
    start, end, state = job["start"], job["end"], job["state"]
    if start is None or state in NOT_RUN:
        return None
    if end is None:
        return start, max(start, now), False
    return (start, end, True) if end > start else None


def suspensions(job, start, end):
    """Pieces of [start, end) in which it was suspended: from each suspension to the next resumption."""
    pieces, since = [], None
    for moment in sorted(job["suspensions"] or [], key=lambda m: (m["at"], m["what"] == "resume")):
        if moment["what"] == "suspend" and since is None:
            since = moment["at"]
        elif moment["what"] == "resume" and since is not None:
            pieces.append((since, moment["at"]))
            since = None
    if since is not None:
        pieces.append((since, end))
    return [(max(a, start), min(b, end)) for a, b in pieces if max(a, start) < min(b, end)]


def overlap(a, b, lo, hi):
    return max(0, min(b, hi) - max(a, lo))


def counts(job):
    tres = {k: v for k, v in (job["tres_alloc"] or {}).items() if v > 0}
    typed = [v for k, v in tres.items() if k.startswith("gres/gpu:")]
    if "gres/gpu" not in (job["tres_alloc"] or {}) and typed:
        tres["gres/gpu"] = sum(typed)
    return tres


def used(job, lo, hi, now):
    """TRES to amount, of one row in [lo, hi)."""
    run = run_of(job, now)
    if run is None:
        return {}
    start, end, ended = run
    held = overlap(start, end, lo, hi)
    off = sum(overlap(a, b, lo, hi) for a, b in suspensions(job, start, end))
    result = {}
    for name, count in counts(job).items():
        if name == "energy":
            if ended:
                before = [count * overlap(start, end, start, at) // (end - start)
                          for at in (lo, hi)]
                result[name] = before[1] - before[0]
        else:
            result[name] = count * (held - off if name == "cpu" else held)
    return result


def totals(jobs, lo, hi, now, by):
    """{names: {TRES: amount}} without what is 0; names in the order of `by`."""
    sums = collections.defaultdict(collections.Counter)
    for job in jobs:
        names = tuple((job[k] or None) if k != "wckey" else (job[k] or "").lstrip("*") or None
                      for k in by)
        sums[names].update(used(job, lo, hi, now))
    return {names: kept for names, sum_ in sums.items()
            if (kept := {k: v for k, v in sum_.items() if v})}
