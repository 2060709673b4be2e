"""The account tree over HTTP: added, changed, moved, removed; defaults, jobs in the way, names,
strict numbers; the log; the tree as it is to be."""
import json
import time

import pytest

T = 1700000000


def ok(reply):
    assert reply.status == 200, reply
    return reply.json()


@pytest.fixture(scope="module")
def one_daemon(module_tallyd):
    return module_tallyd()


# As a new database has it, but for the version, by which the daemon sees that all is new.
EMPTY = """
    TRUNCATE association, association_history, account, tally_user, qos, wckey, coordinator, txn, outbox,
        reservation, cluster, job, step, job_month, node_event, cluster_tres_event;
    DELETE FROM tres WHERE id > 1000; ALTER SEQUENCE tres_id RESTART;
    INSERT INTO account (name) VALUES ('root');
    INSERT INTO tally_user (name, uid, admin_level) VALUES ('root', 0, 3);
    INSERT INTO qos (name, id) VALUES ('normal', 1);
    UPDATE tree_version SET version = version + 1;
"""


@pytest.fixture
def t(one_daemon):
    one_daemon.psql(EMPTY)
    ok(one_daemon.post("/v1/clusters", json.dumps([{"name": "c1"}, {"name": "c2"}])))
    return one_daemon


def send(t, method, path, body, **kw):
    return t.request(method, path, body=json.dumps(body), **kw)


def add(t, what, body, **kw):
    return send(t, "POST", f"/v1/{what}", body, **kw)


def change(t, what, where, to, **kw):
    return send(t, "PATCH", f"/v1/{what}", {"where": where, "set": to}, **kw)


def remove(t, what, where, **kw):
    return send(t, "DELETE", f"/v1/{what}", {"where": where}, **kw)


def rows(t, what, query="", **kw):
    return ok(t.get(f"/v1/{what}?{query}", **kw))[what]


def scalar(t, sql):
    return t.psql(sql)[0][0]


def assoc(t, cluster, account, user=""):
    found = [a for a in rows(t, "associations", f"cluster={cluster}&account={account}")
             if a["user"] == user]
    assert len(found) <= 1
    return found[0] if found else None


def default(t, user, cluster):
    return rows(t, "users", f"name={user}&cluster={cluster}")[0]["default_account"]


def people(t):
    ok(add(t, "accounts", [{"name": "physics", "description": "physics department", "organization": "science",
                            "association": {"shares": 60, "grp_tres": "cpu=64"}},
                           {"name": "astro", "parent": "physics"}, {"name": "bio"}]))
    ok(add(t, "users", [{"name": "alice", "accounts": ["astro", "bio"]}, {"name": "bob", "accounts": "bio"}]))


def test_a_cluster_is_planted(t):
    clusters = {c["name"]: c for c in rows(t, "clusters")}
    assert set(clusters) == {"c1", "c2"} and clusters["c1"]["open_jobs"] == 0
    assert [(a["id"], a["account"], a["user"], a["lineage"]) for a in rows(t, "associations", "cluster=c1")] == \
        [(1, "root", "", "/"), (2, "root", "root", "/0-root/")]
    assert [q["name"] for q in rows(t, "qos")] == ["normal"]
    assert rows(t, "associations", "cluster=c1&user=root")[0]["qos"] == ["normal"]


def test_accounts_and_users(t):
    people(t)
    a = assoc(t, "c2", "astro", "alice")
    assert a["lineage"] == "/physics/astro/0-alice/" and a["is_default"] and a["depth"] == 3
    assert a["parent_id"] == assoc(t, "c2", "astro")["id"] and assoc(t, "c2", "astro")["parent"] == "physics"
    assert assoc(t, "c1", "physics")["grp_tres"] == {"cpu": 64}
    accounts = {a["name"]: a for a in rows(t, "accounts")}
    assert accounts["physics"]["organization"] == "science" and accounts["astro"]["organization"] == "physics"
    assert default(t, "alice", "c1") == "astro"
    assert [u["name"] for u in rows(t, "users", "account=bio")] == ["alice", "bob"]
    assert [a["name"] for a in rows(t, "accounts", "account=physics&subtree=true")] == ["astro", "physics"]
    again = add(t, "users", {"name": "bob", "accounts": ["bio"]})
    assert again.status == 409 and "already" in again.text
    assert add(t, "users", {"name": "eve", "accounts": ["nosuchaccount"]}).status == 404
    assert add(t, "accounts", {"name": "x", "parent": "none"}).status == 404
    assert rows(t, "users", "name=eve") == []


def test_limits_come_from_above(t):
    people(t)
    ok(add(t, "qos", [{"name": "high", "priority": 100, "flags": ["DenyOnLimit"], "usage_factor": 0.5},
                      {"name": "low", "preempt": []}]))
    ok(change(t, "associations", {"account": "physics", "only_accounts": True},
              {"max_wall_per_job": "1-00:00:00", "max_tres_per_job": "cpu=8,mem=4G", "qos": "+high"}))
    a = assoc(t, "c1", "astro", "alice")
    assert (a["max_wall_per_job"], a["max_tres_per_job"], a["qos"]) == (1440, {"cpu": 8, "mem": 4096}, ["high", "normal"])
    own = rows(t, "associations", "cluster=c1&account=astro&user=alice&inherited=false")[0]
    assert (own["max_wall_per_job"], own["qos"]) == (None, None)
    ok(change(t, "associations", {"cluster": "c1", "account": "astro", "user": "alice"},
              {"max_tres_per_job": {"cpu": 4, "gres/gpu:rtx-6000": 2}, "qos": ["-normal"]}))
    a = assoc(t, "c1", "astro", "alice")
    assert a["max_tres_per_job"] == {"cpu": 4, "gres/gpu:rtx-6000": 2, "mem": 4096} and a["qos"] == ["high"]
    assert {"type": "gres", "name": "gpu:rtx-6000", "id": 1001} in rows(t, "tres")
    ok(change(t, "associations", {"account": "physics", "only_accounts": True}, {"max_wall_per_job": -1}))
    assert assoc(t, "c1", "astro", "alice")["max_wall_per_job"] is None
    assert change(t, "associations", {"account": "bio"}, {"qos": "none"}).status == 400
    q = rows(t, "qos", "name=high")[0]
    assert (q["flags"], q["usage_factor"], q["id"]) == (["DenyOnLimit"], 0.5, 2)
    ok(change(t, "qos", {"name": "high"}, {"flags": ["+NoDecay", "-DenyOnLimit"]}))
    assert rows(t, "qos", "name=high")[0]["flags"] == ["NoDecay"]


@pytest.mark.parametrize("to", [{"max_jobs": "10x"}, {"max_wall_per_job": "1-0:0:0:0"}, {"grp_tres": "cpu=4k"},
                                {"max_job": 1}, {"lft": 3}, {"max_jobs": -5}, {"shares": "many"}])
def test_fc018_a_value_that_is_none_is_refused(t, to):
    people(t)
    before = rows(t, "associations", "inherited=false")
    reply = change(t, "associations", {"account": "bio"}, {"priority": 5} | to)
    assert reply.status == 400 and next(iter(to)) in reply.text
    value = next(iter(to.values()))
    assert not isinstance(value, str) or value == "many" or value in reply.text
    assert rows(t, "associations", "inherited=false") == before


def test_fc123_a_default_that_goes_moves(t):
    people(t)
    done = ok(remove(t, "associations", {"cluster": "c1", "account": "astro", "user": "alice"}))
    assert "the default account of alice on c1 is now bio" in done["notes"]
    assert (default(t, "alice", "c1"), default(t, "alice", "c2")) == ("bio", "astro")
    assert "is now bio" in t.log()
    done = ok(remove(t, "associations", {"cluster": "c1", "account": "bio", "user": "alice"}))
    assert "alice has no account on c1 any more" in done["notes"]
    assert rows(t, "users", "name=alice&cluster=c1") == []
    assert rows(t, "users", "name=alice")[0]["default_account"] == "astro"


def job(job_id, kind="job_start", **more):
    return {"kind": kind, "cluster": "c1", "job_id": job_id, "submit": T, "eligible": T, "user": "bob",
            "account": "bio", "qos": "normal"} | more


def test_fc124_jobs_are_in_the_way(t):
    people(t)
    ok(add(t, "qos", {"name": "burst"}))
    t.send(job(9, start=T + 5, state="RUNNING"), job(10, state="PENDING"), job(11, user="alice", qos="burst"))
    before = rows(t, "associations")
    for what, where in (("users", {"name": "bob"}), ("accounts", {"name": "bio"}),
                        ("associations", {"account": "bio", "user": "bob"}), ("clusters", {"name": "c1"})):
        reply = remove(t, what, where)
        assert reply.status == 409 and "9 (c1, running)" in reply.text and "10 (c1, pending)" in reply.text, reply
    reply = remove(t, "qos", {"name": "burst"})
    assert reply.status == 409 and "11 (c1, pending)" in reply.text
    assert rows(t, "associations") == before
    ok(remove(t, "associations", {"account": "astro", "user": "alice"}))  # her job is in bio
    t.send(job(9, "job_end", start=T + 5, end=T + 9, state="COMPLETED"),
           job(10, "job_end", end=T + 9, state="CANCELLED"), job(11, "job_end", end=T + 9, state="CANCELLED"))
    ok(remove(t, "users", {"name": "bob"}))


def test_fc128_what_goes_is_kept_and_comes_back(t):
    people(t)
    t.send(job(1, "job_end", start=T, end=T + 60, state="COMPLETED"))
    number = assoc(t, "c1", "bio", "bob")["id"]
    ok(change(t, "associations", {"account": "bio", "user": "bob"}, {"max_jobs": 3}))
    ok(remove(t, "users", {"name": "bob"}))
    assert rows(t, "users", "name=bob") == [] and assoc(t, "c1", "bio", "bob") is None
    gone = rows(t, "users", "name=bob&deleted=true")
    assert [u["deleted"] for u in gone] == [True]
    assert ok(t.get(f"/v1/jobs?user=bob&start={T}&end={T + 99}"))["jobs"]
    ok(add(t, "users", {"name": "bob", "accounts": ["bio"]}))
    a = assoc(t, "c1", "bio", "bob")
    assert (a["id"], a["max_jobs"], a["is_default"]) == (number, None, True)


def test_fc130_fc133_names(t):
    people(t)
    ok(add(t, "accounts", {"name": " TEST "}))
    ok(add(t, "users", {"name": " Ann ", "accounts": ["Test"]}))
    assert [u["name"] for u in rows(t, "users", "name=ANN")] == ["ann"]
    assert [a["name"] for a in rows(t, "accounts", "name=TEST")] == ["test"]
    ok(change(t, "users", {"name": "aNN"}, {"uid": 77}))
    assert rows(t, "users", "uid=77")[0]["name"] == "ann"
    for name in ("ksa@bio.example", "DOM\\ann", "domänen-benutzer", "x" * 40):
        ok(add(t, "users", {"name": name, "accounts": ["test"]}))
        assert name in [u["name"] for u in rows(t, "users")]
    ok(change(t, "accounts", {"name": "test"}, {"description": "50%_\\"}))
    assert rows(t, "accounts", "name=test")[0]["description"] == "50%_\\"


def test_preserve_case_user(fresh_tallyd):
    t = fresh_tallyd(conf="Parameters=PreserveCaseUser\n")
    ok(add(t, "clusters", {"name": "c1"}))
    ok(add(t, "accounts", {"name": "TEST"}))
    ok(add(t, "users", {"name": "Alice", "accounts": ["test"]}))
    assert [u["name"] for u in rows(t, "users", "name=Alice")] == ["Alice"] and rows(t, "users", "name=alice") == []


def test_a_moved_account_keeps_its_history(t):
    people(t)
    number = assoc(t, "c1", "astro")["id"]
    ok(change(t, "associations", {"cluster": "c1", "account": "astro", "only_accounts": True}, {"parent": "bio"}))
    assert assoc(t, "c1", "astro", "alice")["lineage"] == "/bio/astro/0-alice/"
    assert assoc(t, "c2", "astro", "alice")["lineage"] == "/physics/astro/0-alice/"
    assert scalar(t, f"SELECT count(*) FROM association_history WHERE cluster = 'c1' AND id = {number}") in ("1", "2")
    assert change(t, "associations", {"cluster": "c1", "account": "bio", "only_accounts": True},
                  {"parent": "astro"}).status == 409
    time.sleep(1.1)
    ok(change(t, "associations", {"cluster": "c1", "account": "astro", "only_accounts": True}, {"shares": 7}))
    assert int(scalar(t, "SELECT count(*) FROM association_history WHERE valid_to IS NOT NULL")) >= 1


def test_accounts_take_along_what_is_below(t):
    people(t)
    done = ok(remove(t, "accounts", {"name": "physics"}))
    assert any("astro went" in n for n in done["notes"])
    assert default(t, "alice", "c1") == "bio" and assoc(t, "c1", "astro") is None
    assert remove(t, "accounts", {"name": "root"}).status == 400
    assert remove(t, "accounts", {}).status == 400          # which?
    assert remove(t, "accounts", {"name": "none"}).status == 404
    assert t.request("DELETE", "/v1/accounts?name=bio").status == 200


def test_wckeys_and_coordinators(t):
    people(t)
    ok(add(t, "wckeys", [{"name": "survey", "user": "alice", "is_default": True}, {"name": "calib", "user": "alice"}]))
    assert rows(t, "users", "name=alice")[0]["default_wckey"] == "survey"
    ok(change(t, "users", {"name": "alice"}, {"default_wckey": "calib"}))
    assert [w["name"] for w in rows(t, "wckeys", "only_defaults=true&cluster=c1")] == ["calib"]
    ok(remove(t, "wckeys", {"name": "survey"}))
    assert {w["name"] for w in rows(t, "wckeys")} == {"calib"}
    ok(add(t, "coordinators", {"account": "physics", "user": "bob"}))
    assert [(c["account"], c["direct"]) for c in rows(t, "coordinators", "inherited=true")] == \
        [("physics", True), ("astro", False)]
    assert rows(t, "users", "name=bob")[0]["coordinates"] == ["astro", "physics"]
    assert rows(t, "accounts", "name=astro")[0]["coordinators"] == ["bob"]
    ok(remove(t, "coordinators", {"user": "bob"}))
    assert rows(t, "coordinators") == []
    ok(change(t, "accounts", {"name": "bio"}, {"users_are_coordinators": True}))
    assert rows(t, "accounts", "name=bio")[0]["coordinators"] == ["alice", "bob"]


def test_the_log_and_the_outbox(t):
    people(t)
    ok(change(t, "associations", {"cluster": "c1", "account": "astro", "user": "alice"}, {"shares": 20, "grp_tres": "cpu=4"}))
    last = rows(t, "transactions")[-1]
    assert (last["action"], last["actor"], last["cluster"], last["account"], last["user"]) == \
        ("Modify Associations", "root", "c1", "astro", "alice")
    assert last["info"] == "shares=20, grp_tres='cpu=4'" and last["where"].startswith("(id_assoc=")
    assert last["before"] == {"shares": 1, "grp_tres": None} and last["after"] == {"shares": 20, "grp_tres": {"cpu": 4}}
    assert [r["action"] for r in rows(t, "transactions", "user=bob&cluster=c2")] == ["Add Associations"]
    assert rows(t, "transactions", f"after={last['id'] - 1}") == [last]
    assert scalar(t, "SELECT kind || ' ' || (body::json->>'shares') FROM outbox ORDER BY seq DESC LIMIT 1") == \
        "modify_association 20"
    assert int(scalar(t, "SELECT count(*) FROM outbox")) == len(rows(t, "transactions"))


def test_a_dry_run_changes_nothing(t):
    people(t)
    before = rows(t, "associations")
    said = ok(remove(t, "accounts?dry_run=true", {"name": "physics"}))
    assert said["dry_run"] and len(said["changed"]) >= 5
    assert {c["what"] for c in said["changed"] if c["kind"] == "account"} == {"remove"}
    assert rows(t, "associations") == before
    done = ok(remove(t, "accounts", {"name": "physics"}))
    assert [c["kind"] for c in done["changed"]] == [c["kind"] for c in said["changed"]]


def test_all_or_nothing(t):
    people(t)
    reply = add(t, "users", [{"name": "carl", "accounts": ["bio"]}, {"name": "dave", "accounts": ["none"]}])
    assert reply.status == 404 and "[1]" in reply.text
    assert rows(t, "users", "name=carl") == []
    assert add(t, "users", {"nme": "x"}).status == 400
    assert add(t, "users", [{"name": "x"}, 7]).status == 400


WANTED = {
    "qos": [{"name": "high", "priority": 100}, {"name": "normal"}],
    "accounts": [{"name": "optics", "parent": "light", "association": {"shares": 3}}, {"name": "light", "description": "l"}],
    "users": [{"name": "zoe", "accounts": ["optics"], "clusters": ["c1"], "association": {"max_jobs": 4}},
              {"name": "alice", "accounts": ["bio"], "default_account": "bio"}],
    "associations": [{"cluster": "c2", "account": "light", "qos": ["+high"]}],
    "coordinators": [{"account": "light", "user": "zoe"}],
    "wckeys": [{"name": "w", "user": "zoe", "cluster": "c1"}],
}


def test_the_tree_as_it_is_to_be(t):
    people(t)
    said = ok(send(t, "PUT", "/v1/tree?dry_run=true", WANTED))
    assert said["changed"] and rows(t, "accounts", "name=light") == []
    done = ok(send(t, "PUT", "/v1/tree", WANTED))
    assert [(c["what"], c["kind"]) for c in done["changed"]] == [(c["what"], c["kind"]) for c in said["changed"]]
    assert assoc(t, "c1", "optics", "zoe")["lineage"] == "/light/optics/0-zoe/"
    assert assoc(t, "c1", "optics", "zoe")["max_jobs"] == 4 and assoc(t, "c1", "optics")["shares"] == 3
    assert assoc(t, "c2", "light")["qos"] == ["high", "normal"] and default(t, "alice", "c1") == "bio"
    assert assoc(t, "c1", "astro", "alice") is not None      # what is not named stays
    again = ok(send(t, "PUT", "/v1/tree", WANTED))
    assert again["changed"] == [] and again["notes"] == []
    wanted = json.loads(json.dumps(WANTED))
    wanted["accounts"][0] = {"name": "optics", "association": {"shares": 5}}
    wanted["complete"] = ["users", "qos", "coordinators"]
    wanted["coordinators"] = []
    done = ok(send(t, "PUT", "/v1/tree", wanted))
    assert rows(t, "coordinators") == [] and {u["name"] for u in rows(t, "users")} == {"alice", "root", "zoe"}
    assert assoc(t, "c1", "optics")["shares"] == 5 and assoc(t, "c1", "optics")["parent"] == "light"


def test_a_tree_can_be_carried_to_another(t, fresh_tallyd):
    people(t)
    ok(change(t, "associations", {"account": "bio", "user": "bob"}, {"max_tres_mins_per_job": "gres/gpu:a100=4", "shares": "parent"}))
    ok(add(t, "coordinators", {"account": "physics", "user": "bob"}))
    other = fresh_tallyd()
    whole = {what: rows(t, what, "inherited=false" if what == "associations" else "") for what in
             ("clusters", "qos", "accounts", "users", "associations", "wckeys", "coordinators")}
    ok(send(other, "PUT", "/v1/tree", whole))

    def shape(d):
        return sorted((a["cluster"], a["lineage"], str(a["shares"]), str(a["max_tres_mins_per_job"]), a["is_default"])
                      for a in rows(d, "associations", "inherited=false"))
    assert shape(other) == shape(t)
    assert ok(send(other, "PUT", "/v1/tree", whole))["changed"] == []


def test_reservations_and_events(t):
    r = {"cluster": "c1", "id": 1, "name": "o'brien-maint", "start": T, "end": T + 3600, "nodes": "n[1-2]",
         "flags": ["MAINT"], "tres": "cpu=2", "associations": ["5", "7"]}
    assert add(t, "reservations", r).status == 200
    assert add(t, "reservations", r | {"comment": "x"}).status == 200
    found = rows(t, "reservations", f"name=o%27brien-maint&start={T}&end={T + 1}&times=epoch")
    assert len(found) == 1 and found[0]["comment"] == "x" and found[0]["end"] == T + 3600
    assert rows(t, "reservations", f"start={T + 3600}&end={T + 7200}") == []
    assert add(t, "reservations", r | {"end": T - 1}).status == 400
    assert send(t, "DELETE", "/v1/reservations", {"cluster": "c1", "id": 1, "start": T}).status == 200
    assert send(t, "DELETE", "/v1/reservations", {"cluster": "c1", "id": 1, "start": T}).status == 404
    t.send({"kind": "cluster_tres", "cluster": "c1", "at": T, "nodes": "n[1-2]", "tres": "cpu=8"},
           {"kind": "node_event", "cluster": "c1", "node": "n1", "at": T + 10, "up": False, "state": "DOWN", "reason": "x"})
    events = rows(t, "events", f"cluster=c1&start={T}&end={T + 100}")
    assert [(e["node"], e["up"]) for e in events] == [("", True), ("n1", False)]
    assert rows(t, "clusters", "name=c1")[0]["tres"] == {"cpu": 8}


def test_unchanged_answers_are_told_so(t):
    people(t)
    first = t.get("/v1/associations")
    assert t.get("/v1/associations", headers={"If-None-Match": first.headers["ETag"]}).status == 304
    ok(change(t, "associations", {"account": "bio"}, {"priority": 1}))
    assert t.get("/v1/associations", headers={"If-None-Match": first.headers["ETag"]}).status == 200


def test_fc131_records_find_their_user(t):
    people(t)
    t.send(job(1, user="bob", uid=5001))
    assert rows(t, "users", "name=bob")[0]["uid"] == 5001
    sent = t.send(job(2, user="newcomer", account="fresh", uid=6001, cluster="c3"))
    assert sent["accepted"] == 1
    a = assoc(t, "c3", "fresh", "newcomer")
    assert a["made_by_record"] and a["is_default"] and rows(t, "accounts", "name=fresh")[0]["made_by_record"]


def test_a_removed_cluster_registers_again(t):
    people(t)
    ok(remove(t, "clusters", {"name": "c2"}))
    assert [c["name"] for c in rows(t, "clusters")] == ["c1"] and assoc(t, "c2", "bio") is None
    time.sleep(2.5)                                            # the writer looks every two seconds
    assert t.send(job(7, cluster="c2"))["accepted"] == 1
    assert {c["name"] for c in rows(t, "clusters")} == {"c1", "c2"}


def test_a_large_tree(t):
    body = {"accounts": [{"name": f"a{i}"} for i in range(500)],
            "users": [{"name": f"u{i}", "accounts": [f"a{i % 500}"], "clusters": ["c1"]} for i in range(9000)]}
    begun = time.time()
    done = ok(send(t, "PUT", "/v1/tree", body, timeout=120))
    put = time.time() - begun
    assert len(done["changed"]) == 500 + 1000 + 9000 * 2
    begun = time.time()
    ok(change(t, "associations", {"cluster": "c1", "account": "a7", "user": "u7"}, {"max_jobs": 3}))
    one = time.time() - begun
    begun = time.time()
    assert len(rows(t, "associations")) == 10004
    listed = time.time() - begun
    print(f"10,000 associations: put {put:.2f} s, one changed {one:.3f} s, listed {listed:.2f} s")
    assert put < 60 and one < 5
