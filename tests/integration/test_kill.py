"""kill -9 of tallyd and of PostgreSQL at random moments, under a load of records: whatever was
acknowledged is there, once.  KILLS=n for more of them."""
import http.client
import os
import random
import signal
import threading
import time

import pytest

from daemon import BUILD, alive, wait_until

SENDERS = 3
BATCH = 20
KILLS = int(os.environ.get("KILLS", "24" if BUILD.name == "build" else "8"))


class Sender(threading.Thread):
    """Sends batches of records of its own, each until it is acknowledged; remembers those."""

    def __init__(self, t, first, stop):
        super().__init__()
        self.t, self.next, self.stop = t, first, stop
        self.acknowledged = []
        self.strange = []

    def batch(self):
        return [{"kind": "job_end", "job_id": n, "user": "ann", "account": "a", "state": "COMPLETED",
                 "submit": 1700000000 + n, "start": 1700000001 + n, "end": 1700000100 + n,
                 "steps": [{"step_id": "batch", "state": "COMPLETED", "start": 1700000001 + n,
                            "end": 1700000100 + n}]}
                for n in range(self.next, self.next + BATCH)]

    def run(self):
        while not self.stop.is_set():
            try:
                reply = self.t.post("/v1/records", self.batch(), over="unix", timeout=20)
            except (OSError, http.client.HTTPException):  # it is being killed
                time.sleep(0.02)
                continue
            if reply.status == 200 and reply.json()["refused"] == 0:
                self.acknowledged += range(self.next, self.next + BATCH)
                self.next += BATCH
            elif reply.status == 503:
                time.sleep(0.02)
            else:
                self.strange.append(repr(reply))
                return


def kill_tallyd(t):
    t.kill9()
    t.start()


def kill_postgres(t):
    pid = t.postgres_pid()
    if pid and alive(pid):
        os.kill(pid, signal.SIGKILL)


def kill_backend(t):
    """Any process of the server; PostgreSQL then restarts all of them."""
    pid = t.postgres_pid()
    try:
        children = open(f"/proc/{pid}/task/{pid}/children").read().split()
        os.kill(int(random.choice(children)), signal.SIGKILL)
    except (FileNotFoundError, IndexError, ProcessLookupError):
        pass


def kill_both(t):
    kill_postgres(t)
    kill_tallyd(t)


def test_what_was_acknowledged_is_there_once(fresh_tallyd):
    seed = int(os.environ.get("TALLY_TEST_SEED", time.time()))
    print(f"TALLY_TEST_SEED={seed}")
    random.seed(seed)
    t = fresh_tallyd()
    stop = threading.Event()
    senders = [Sender(t, 1 + 10_000_000 * n, stop) for n in range(SENDERS)]
    for sender in senders:
        sender.start()
    try:
        for n in range(KILLS):
            time.sleep(random.uniform(0.05, 0.8))
            kill = (kill_tallyd, kill_postgres, kill_backend, kill_both)[n % 4]
            before = sum(len(s.acknowledged) for s in senders)
            kill(t)
            if n % 4 == 3:
                # It gets going again by itself.
                wait_until(lambda: sum(len(s.acknowledged) for s in senders) > before, 60,
                           "records to be taken again")
    finally:
        stop.set()
        for sender in senders:
            sender.join(60)
    assert not any(s.is_alive() for s in senders)
    assert [s.strange for s in senders] == [[]] * SENDERS
    wait_until(lambda: t.get("/readyz", over="unix").status == 200, 60, "readiness")
    stored = [int(row[0]) for row in t.psql("SELECT job_id FROM job")]
    steps = [int(row[0]) for row in t.psql("SELECT job_id FROM step")]
    acknowledged = {n for s in senders for n in s.acknowledged}
    print(f"{len(acknowledged)} records acknowledged in {KILLS} kills, {len(stored)} stored")
    assert len(acknowledged) > KILLS
    assert len(stored) == len(set(stored)) and len(steps) == len(set(steps))
    assert acknowledged <= set(stored) and acknowledged <= set(steps)
    assert t.stop() == 0
