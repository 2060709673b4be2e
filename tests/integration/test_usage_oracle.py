"""GET /v1/usage against the oracle, on random histories; and the field cases on usage.

TALLY_USAGE_SEED=n has a failure again; TALLY_USAGE_ROUNDS=n makes it longer (each round is 40 job
ids of new random history on top of what is there, and 25 windows)."""
import datetime
import os
import random
import sys
import time
import urllib.parse
import zoneinfo

import pytest

from daemon import ROOT

sys.path.insert(0, str(ROOT / "tests/oracle"))
import usage as oracle  # noqa: E402

ROUNDS = int(os.environ.get("TALLY_USAGE_ROUNDS", 12))
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]
KEYS = ["cluster", "account", "user", "qos", "wckey"]
FIELDS = ",".join(KEYS + ["job_id", "submit", "start", "end", "state", "suspensions", "tres_alloc"])
# Around: changes of the clocks in each zone, month ends, a leap day, a year's end.
CENTRES = [1743296400, 1761440400, 1741503600, 1762063200, 1743865200, 1728142200, 1709164800,
           1735689600, 1740787200, 1746057600]


@pytest.fixture(scope="module")
def tallyd(module_tallyd):
    return module_tallyd()


def jobs_of(tallyd, **where):
    query = urllib.parse.urlencode({"start": 1, "end": 4102444800, "duplicates": "true",
                                    "times": "epoch", "format": "ndjson", "fields": FIELDS, **where})
    reply = tallyd.get(f"/v1/jobs?{query}", over="unix")
    assert reply.status == 200, reply
    return reply.lines()


def usage(tallyd, start, end, by=("cluster", "account"), **where):
    query = urllib.parse.urlencode({"start": start, "end": end, "group": ",".join(by) or "total",
                                    "times": "epoch", **where})
    reply = tallyd.get(f"/v1/usage?{query}", over="unix")
    assert reply.status == 200, reply
    answer = reply.json()
    assert answer["includes_running_jobs"] is True
    return {tuple(row[k] for k in by): row["used"] for row in answer["usage"]}, answer


def amount(tallyd, start, end, tres="cpu", **where):
    got, _ = usage(tallyd, start, end, (), **where)
    return got.get((), {}).get(tres, 0)


# ---- random histories

class History:
    def __init__(self, rng, first_id, now):
        self.rng, self.now, self.records = rng, now, []
        for job_id in range(first_id, first_id + 40):
            self.job(job_id)

    def who(self):
        rng = self.rng
        return {"cluster": rng.choice(["c1", "c2"]), "user": rng.choice(["ann", "bob", "cy"]),
                "account": rng.choice(["bio", "chem", "bio-gpu"]), "qos": rng.choice(["normal", "long"]),
                "wckey": rng.choice(["", "*proj", "proj", "x"]) or None}

    def tres(self):
        rng = self.rng
        tres = {"cpu": rng.randint(1, 64), "mem": rng.randint(1, 10**7), "node": rng.randint(1, 3)}
        tres.update(rng.choice([{}, {}, {"gres/gpu": 2}, {"gres/gpu:a100": 1, "gres/gpu:v100": 2},
                                {"gres/gpu": 3, "gres/gpu:a100": 3}, {"gres/shard": 4}]))
        return tres

    def moment(self):
        """Often on the edge of a period."""
        rng = self.rng
        at = rng.choice(CENTRES) + rng.randint(-40, 40) * 3600
        if rng.random() < 0.6:
            at += rng.choice([-1, 1]) * rng.randint(0, 5000)
        return at + rng.choice([-1, 0, 0, 1])

    def job(self, job_id):
        rng = self.rng
        base = {"job_id": job_id, **self.who()}
        at = self.moment() if rng.random() < 0.85 else self.now - rng.randint(1, 300000)
        for run in range(rng.choice([1, 1, 1, 2, 3])):
            length = rng.choice([0, 1, rng.randint(2, 4000), rng.randint(4000, 90000),
                                 rng.randint(90000, 3000000)])
            state = rng.choice(["COMPLETED", "FAILED", "TIMEOUT"])
            if run == 0 and rng.random() < 0.1:
                length = -rng.randint(1, 100)  # the clock stepped back
            at = self.run(base, at, at + length, state, rng.random() < 0.12)
            at += rng.randint(1, 900)

    def run(self, base, start, end, state, running):
        rng = self.rng
        who = {**base, "submit": start - rng.randint(0, 50)}
        begin = {**who, "kind": "job_start", "start": start, "tres_alloc": self.tres(),
                 "as_of": start}
        self.records.append(begin)
        end = min(end, self.now - 5)
        for _ in range(rng.choice([0, 0, 0, 1, 3])):
            a = start + rng.randint(-5, max(1, end - start))
            for kind, when in (("job_suspend", a), ("job_resume", a + rng.randint(0, 5000))):
                if when < self.now and rng.random() < 0.9:
                    self.records.append({"kind": kind, "cluster": who["cluster"], "at": when,
                                         "job_id": who["job_id"], "submit": who["submit"]})
        if rng.random() < 0.2 and end > start + 10:  # resized: ends this row, opens the next
            self.records.append({**who, "kind": "job_end", "start": start, "end": end,
                                 "state": "RESIZING", "tres_alloc": self.tres()})
            who, start = {**who, "submit": end}, end
            end = min(end + rng.randint(1, 9000), self.now - 5)
            self.records.append({**who, "kind": "job_start", "start": start,
                                 "tres_alloc": self.tres(), "as_of": start})
        if running:
            return end + 10
        ends = [{**who, "kind": "job_end", "start": start, "end": end, "state": state,
                 "tres_alloc": {**self.tres(), **rng.choice([{}, {"energy": rng.randint(1, 10**6)}])},
                 "as_of": end}]
        if rng.random() < 0.2:  # corrected later
            ends.append({**ends[0], "end": end + rng.randint(0, 3000), "account": "corrected",
                         "as_of": end + 100000})
        self.records += ends
        return end

    def deliver(self, tallyd):
        rng, records = self.rng, list(self.records)
        records += rng.sample(records, len(records) // 4)
        if rng.random() < 0.7:
            rng.shuffle(records)
        while records:
            n = rng.randint(1, 60)
            tallyd.send(*records[:n], over="unix")
            del records[:n]


def window(rng, now):
    zone = zoneinfo.ZoneInfo(rng.choice(ZONES))
    shape = rng.randrange(5)
    if shape == 0:  # seconds anywhere
        start = rng.choice(CENTRES) + rng.randint(-200000, 200000)
        return start, start + rng.randint(0, 200000)
    if shape == 1:  # until now
        return now - rng.randint(0, 400000), now + rng.choice([0, 0, 100])
    if shape == 2:  # all
        return rng.randint(1, 1700000000), 1900000000
    day = datetime.datetime.fromtimestamp(rng.choice(CENTRES), zone).replace(
        hour=0, minute=0, second=0, microsecond=0)
    if shape == 3:  # a day of a zone
        after = (day + datetime.timedelta(days=1)).replace(tzinfo=zone)
        return int(day.timestamp()), int(after.timestamp())
    month = day.replace(day=1)  # some months of it
    after = month
    for _ in range(rng.randint(1, 14)):
        after = (after + datetime.timedelta(days=32)).replace(day=1)
    return int(month.timestamp()), int(after.timestamp())


def compare(tallyd, rng, jobs, where):
    lo, hi = window(rng, int(time.time()))
    by = tuple(k for k in KEYS if rng.random() < 0.5)
    before = int(time.time())
    got, answer = usage(tallyd, lo, hi, by)
    # Running jobs are counted to the moment of the answer, which it tells.  time(2) reads a coarser
    # clock than Python's and may still be in the second before.
    until = answer["running_until"]
    assert min(before - 1, hi) <= until <= min(int(time.time()), hi)
    want = oracle.totals(jobs, lo, hi, until, by)
    assert got == want, f"{where} window {lo} {hi} by {by}"


def test_random_histories(tallyd):
    seed = int(os.environ.get("TALLY_USAGE_SEED", time.time_ns() % 10**9))
    print(f"TALLY_USAGE_SEED={seed}")
    rng = random.Random(seed)
    for n in range(ROUNDS):
        History(rng, n * 40 + 1, int(time.time())).deliver(tallyd)
        jobs = jobs_of(tallyd)
        for k in range(25):
            compare(tallyd, rng, jobs, f"TALLY_USAGE_SEED={seed} round {n} question {k}:")


# ---- field cases

def job(job_id, start, end, tres, state="COMPLETED", **more):
    return {"kind": "job_end", "cluster": "fc", "job_id": job_id, "submit": start, "start": start,
            "end": end, "state": state, "tres_alloc": tres, "user": "u", "account": f"a{job_id}",
            **more}


def utc(*words):
    return int(datetime.datetime(*words, tzinfo=datetime.timezone.utc).timestamp())


def test_fc046_fc055_every_run_of_a_requeued_job(tallyd):
    at = utc(2026, 5, 1, 3)
    for length, state in ((3889, "REQUEUED"), (4473, "REQUEUED"), (6122, "REQUEUED"),
                          (2153, "COMPLETED")):
        record = job(46, at, at + length, {"cpu": 1}, state)
        tallyd.send(record, over="unix")
        tallyd.send(record, over="unix")  # taken back at most once
        at += length + 60
    assert amount(tallyd, utc(2026, 5, 1), utc(2026, 5, 2), account="a46") == 16637


def test_fc061_fc063_fc100_no_length_no_use(tallyd):
    tallyd.send(job(61, 1700000100, 1700000040, {"cpu": 16}),
                job(63, 1700000000, 1700000000, {"cpu": 16}),
                job(100, 1700000000, 1700000000, {"cpu": 12, "mem": 48000, "node": 1}),
                over="unix")
    for n in (61, 63, 100):
        assert usage(tallyd, 1699999000, 1700001000, account=f"a{n}")[0] == {}


def test_fc066_over_a_month_end(tallyd):
    tallyd.send(job(66, utc(2026, 1, 31, 23), utc(2026, 2, 1, 1), {"cpu": 1}), over="unix")
    for lo, hi in (("2026-01-01", "2026-02-01"), ("2026-02-01", "2026-03-01")):
        assert amount(tallyd, lo, hi, account="a66") == 3600


def test_fc077_days_of_23_and_25_hours(tallyd):
    tallyd.send(job(77, utc(2025, 3, 29), utc(2025, 4, 1), {"cpu": 10}),
                job(78, utc(2025, 10, 25), utc(2025, 10, 28), {"cpu": 10}), over="unix")
    for n, lo, hi, want in ((77, "2025-03-30", "2025-03-31", 828000),
                            (78, "2025-10-26", "2025-10-27", 900000)):
        assert amount(tallyd, lo, hi, account=f"a{n}", zone="Europe/Berlin") == want


def test_fc079_leap_days(tallyd):
    tallyd.send(job(79, utc(2023, 1, 20), utc(2023, 12, 31), {"cpu": 1}),
                job(80, utc(2023, 12, 31), utc(2025, 1, 1, 5), {"cpu": 1}), over="unix")
    assert amount(tallyd, "2024-02-01", "2024-03-01", account="a80") == 2505600
    assert amount(tallyd, "2023-02-01", "2023-03-01", account="a79") == 2419200
    assert amount(tallyd, "2024-01-01", "2025-01-01", account="a80") == 31622400


def test_fc087_fc088_large_numbers(tallyd):
    tallyd.send(job(87, utc(2026, 3, 1), utc(2026, 3, 5), {"cpu": 1280000, "node": 10000}),
                over="unix")
    assert amount(tallyd, "2026-01-01", "2027-01-01", account="a87") == 442368000000
    mem = [job(8800 + n, utc(2025, 1, 1) + n, utc(2025, 1, 31) + n, {"mem": 4194304}, account="a88")
           for n in range(1000)]
    tallyd.send(*mem, job(9999, utc(2025, 3, 1), utc(2025, 3, 1) + 1, {"mem": 1}, account="a88"),
                over="unix")
    assert amount(tallyd, "2025-01-01", "2026-01-01", "mem", account="a88") == 10871635968000001


def test_fc091_fc092_fc094_fc098_gpus(tallyd):
    rows = [({"gres/gpu": 2, "gres/gpu:a100": 2}, 2), ({"gres/gpu:volta": 2}, 2),
            ({"gres/gpu": 3, "gres/gpu:a100": 1, "gres/gpu:v100": 2}, 3),
            ({"gres/gpu:a100": 1, "gres/gpu:v100": 1}, 2), ({"gres/gpu": 4}, 4),
            ({"cpu": 96, "node": 2, "gres/gpu": 8}, 8), ({"gres/gpu": 1, "gres/gpu:1g.5gb": 1}, 1),
            ({"gres/shard": 4}, 0)]
    for n, (tres, gpus) in enumerate(rows):
        at = utc(2026, 6, 1, n)
        tallyd.send(job(9100 + n, at, at + 3600, tres, account="a91"), over="unix")
        assert amount(tallyd, at, at + 3600, "gres/gpu", account="a91") == gpus * 3600
    used, _ = usage(tallyd, utc(2026, 6, 1), utc(2026, 6, 2), (), account="a91")
    assert used[()]["gres/gpu:a100"] == (2 + 1 + 1) * 3600
    assert used[()]["gres/shard"] == 4 * 3600 and used[()]["cpu"] == 96 * 3600


def test_fc101_suspension_is_off_the_cpu_alone(tallyd):
    ten = utc(2026, 7, 1, 10)
    key = {"cluster": "fc", "job_id": 101, "submit": ten}
    tallyd.send(job(101, ten, ten + 4 * 3600, {"cpu": 4, "gres/gpu": 2}),
                {**key, "kind": "job_suspend", "at": ten + 3600},
                {**key, "kind": "job_resume", "at": ten + 7200}, over="unix")
    where = {"account": "a101"}
    assert amount(tallyd, ten, ten + 14400, **where) == 43200
    assert amount(tallyd, ten, ten + 14400, "gres/gpu", **where) == 28800
    assert amount(tallyd, ten + 3600, ten + 7200, **where) == 0
    assert amount(tallyd, ten + 3600, ten + 7200, "gres/gpu", **where) == 7200


def test_fc112_what_runs_counts_now(tallyd):
    start = int(time.time()) - 600
    record = {**job(112, start, 0, {"cpu": 4}), "kind": "job_start", "state": "RUNNING"}
    del record["end"]
    tallyd.send(record, over="unix")
    assert amount(tallyd, start - 100, start + 600, account="a112") == 2400


def test_fc189_a_resized_job(tallyd):
    ten = utc(2026, 8, 1, 10)
    tallyd.send({**job(189, ten, 0, {"cpu": 32, "node": 4}), "kind": "job_start", "end": None,
                 "state": "RUNNING"}, over="unix")
    tallyd.send({"kind": "job_resize", "cluster": "fc", "job_id": 189, "submit": ten,
                 "at": ten + 1200, "tres_alloc": {"cpu": 16, "node": 2}}, over="unix")
    tallyd.send({**job(189, ten + 1200, ten + 3600, {"cpu": 16, "node": 2})}, over="unix")
    assert amount(tallyd, ten, ten + 3600, account="a189") == 76800


def test_fc191_clusters_with_the_same_ids(tallyd):
    at = utc(2026, 9, 1)
    tallyd.send(job(191, at, at + 3600, {"cpu": 8}, cluster="fc1", user="u1"),
                job(191, at, at + 1800, {"cpu": 4}, cluster="fc2", user="u2"), over="unix")
    got, _ = usage(tallyd, at, at + 86400, ("cluster", "user"), account="a191")
    assert {k: v["cpu"] for k, v in got.items()} == {("fc1", "u1"): 28800, ("fc2", "u2"): 7200}


def test_fc053_a_backlog_sent_three_times(tallyd):
    at = utc(2026, 10, 1)
    records = [job(n, at + n * 7, at + n * 7 + 900, {"cpu": 2}, account="a53")
               for n in range(5300, 5800)]
    for part in (records[:300], records, random.Random(53).sample(records, len(records))):
        tallyd.send(*part, over="unix")
    assert amount(tallyd, at, at + 10 * 86400, account="a53") == 500 * 900 * 2


def test_questions_that_make_no_sense(tallyd):
    for query, where in (("start=200&end=100", "end"), ("group=colour", "group"),
                         ("start=yesterdayish", "start"), ("zone=Mars/North", "zone")):
        reply = tallyd.get(f"/v1/usage?{query}", over="unix")
        assert reply.status == 400, query
        assert where in reply.text
