"""Every operation on the account tree as every role, as a table; what PrivateData leaves to see; and
that a level given in the tree counts everywhere."""
import json

import pytest

from daemon import AS_ROOT

pytestmark = pytest.mark.skipif(not AS_ROOT, reason="acts as other users")

T = 1700000000
# Numbers that the system knows no names for: the tree does.
ADMIN, OPERATOR, COORDINATOR, USER, STRANGER = 5101, 5102, 5103, 5104, 5105
ROLES = {"administrator": ADMIN, "operator": OPERATOR, "coordinator": COORDINATOR, "user": USER, "stranger": STRANGER,
         "nobody": None}

# method, address, body, who may (A administrator, O operator, C coordinator of physics, U the user
# usr of astro).  Everything is asked with dry_run, so that each is judged on the same tree.
ALL = "AOCU"
OPERATIONS = [
    ("POST", "clusters", {"name": "new"}, "A"),
    ("PATCH", "clusters", {"where": {"name": "c1"}, "set": {"classification": "Capacity"}}, "A"),
    ("DELETE", "clusters", {"where": {"name": "c1"}}, "A"),
    ("POST", "qos", {"name": "new"}, "A"),
    ("PATCH", "qos", {"where": {"name": "high"}, "set": {"priority": 5}}, "A"),
    ("DELETE", "qos", {"where": {"name": "high"}}, "A"),

    ("POST", "accounts", {"name": "new"}, "AO"),
    ("POST", "accounts", {"name": "new", "parent": "physics"}, "AOC"),
    ("POST", "accounts", {"name": "new", "parent": "astro"}, "AOC"),
    ("POST", "accounts", {"name": "new", "parent": "bio"}, "AO"),
    ("POST", "accounts", {"name": "new", "parent": "astro", "association": {"qos": ["high"]}}, "AO"),
    ("POST", "accounts", {"name": "new", "parent": "astro", "association": {"qos": ["normal"]}}, "AOC"),
    ("PATCH", "accounts", {"where": {"name": "astro"}, "set": {"description": "x"}}, "AO"),
    ("DELETE", "accounts", {"where": {"name": "astro"}}, "AO"),

    ("POST", "users", {"name": "new"}, "AO"),
    ("POST", "users", {"name": "new", "accounts": ["astro"]}, "AOC"),
    ("POST", "users", {"name": "new", "accounts": ["bio"]}, "AO"),
    ("POST", "users", {"name": "new", "accounts": ["astro", "bio"]}, "AO"),
    ("POST", "users", {"name": "new", "accounts": ["astro"], "admin_level": "Operator"}, "AO"),
    ("POST", "users", {"name": "new", "accounts": ["astro"], "admin_level": "Administrator"}, "A"),
    ("POST", "users", {"name": "new", "accounts": ["astro"], "wckeys": ["w"]}, "AO"),
    ("PATCH", "users", {"where": {"name": "usr"}, "set": {"admin_level": "Operator"}}, "A"),
    ("PATCH", "users", {"where": {"name": "usr"}, "set": {"uid": 7}}, "AO"),
    ("PATCH", "users", {"where": {"name": "usr"}, "set": {"default_account": "bio"}}, "AOU"),
    ("PATCH", "users", {"where": {"name": "usr"}, "set": {"default_wckey": "w"}}, "AOU"),
    ("PATCH", "users", {"where": {"name": "usr"}, "set": {"default_account": "bio", "uid": 7}}, "AO"),
    ("PATCH", "users", {"where": {"name": "crd"}, "set": {"default_account": "physics"}}, "AOC"),
    ("PATCH", "users", {"where": {"account": "bio"}, "set": {"default_account": "bio"}}, "AO"),
    ("DELETE", "users", {"where": {"name": "usr"}}, "AO"),

    ("POST", "associations", {"account": "physics", "user": "usr"}, "AOC"),
    ("POST", "associations", {"account": "astro", "user": "usr", "partition": "gpu"}, "AOC"),
    ("POST", "associations", {"account": "bio", "user": "crd"}, "AO"),
    ("PATCH", "associations", {"where": {"account": "astro", "user": "usr"}, "set": {"shares": 5, "max_jobs": 3}}, "AOC"),
    ("PATCH", "associations", {"where": {"account": "astro", "only_accounts": True}, "set": {"grp_jobs": 3}}, "AOC"),
    ("PATCH", "associations", {"where": {"account": "bio", "user": "usr"}, "set": {"shares": 5}}, "AO"),
    ("PATCH", "associations", {"where": {"user": "usr"}, "set": {"shares": 5}}, "AO"),
    ("PATCH", "associations", {"where": {"account": "bio", "user": "usr"}, "set": {"is_default": True}}, "AOU"),
    ("PATCH", "associations", {"where": {"account": "astro", "user": "usr"}, "set": {"qos": ["high"]}}, "AO"),
    ("PATCH", "associations", {"where": {"account": "astro", "user": "usr"}, "set": {"qos": ["-normal"]}}, "AOC"),
    ("PATCH", "associations", {"where": {"account": "astro", "user": "usr"}, "set": {"default_qos": "high"}}, "AO"),
    ("PATCH", "associations", {"where": {"account": "astro", "only_accounts": True}, "set": {"parent": "bio"}}, "AO"),
    ("PATCH", "associations", {"where": {"account": "astro", "only_accounts": True}, "set": {"parent": "physics"}}, "AOC"),
    ("PATCH", "associations", {"where": {"account": "astro", "only_accounts": True}, "set": {"parent": None}}, "AO"),
    ("DELETE", "associations", {"where": {"account": "astro", "user": "usr"}}, "AOC"),
    ("DELETE", "associations", {"where": {"account": "bio", "user": "usr"}}, "AO"),
    ("DELETE", "associations", {"where": {"user": "usr"}}, "AO"),

    ("POST", "wckeys", {"name": "w", "user": "usr"}, "AO"),
    ("PATCH", "wckeys", {"where": {"name": "key"}, "set": {"is_default": True}}, "AO"),
    ("DELETE", "wckeys", {"where": {"name": "key"}}, "AO"),

    ("POST", "coordinators", {"account": "astro", "user": "usr"}, "AOC"),
    ("POST", "coordinators", {"account": "bio", "user": "usr"}, "AO"),
    ("DELETE", "coordinators", {"where": {"account": "physics"}}, "AOC"),
    ("DELETE", "coordinators", {"where": {"account": "bio"}}, "AO"),

    ("PUT", "tree", {"accounts": [{"name": "bio", "description": "x"}]}, "AO"),
    ("PUT", "tree", {"qos": [{"name": "high", "priority": 1}]}, "A"),
    ("PUT", "tree", {"users": [{"name": "usr", "accounts": ["astro"], "association": {"max_jobs": 9}}]}, "AOC"),
    ("PUT", "tree", {"complete": ["users"]}, "AO"),
]
MAY = {"administrator": "A", "operator": "O", "coordinator": "C", "user": "U", "stranger": "S", "nobody": "N"}


def send(t, method, path, body, uid=None, **kw):
    return t.request(method, f"/v1/{path}", body=json.dumps(body), uid=uid, **kw)


def populate(t):
    for method, path, body in (
            ("POST", "clusters", [{"name": "c1"}, {"name": "c2"}]),
            ("POST", "qos", {"name": "high"}),
            ("POST", "accounts", [{"name": "physics"}, {"name": "astro", "parent": "physics"}, {"name": "bio"}]),
            ("POST", "users", [{"name": "adm", "uid": ADMIN, "admin_level": "Administrator"},
                               {"name": "opr", "uid": OPERATOR, "admin_level": "Operator"},
                               {"name": "crd", "uid": COORDINATOR, "accounts": ["physics"]},
                               {"name": "usr", "uid": USER, "accounts": ["astro", "bio"]},
                               {"name": "other", "accounts": ["bio"]}]),
            ("POST", "coordinators", [{"account": "physics", "user": "crd"}, {"account": "bio", "user": "other"}]),
            ("POST", "wckeys", {"name": "key", "user": "usr"})):
        reply = send(t, method, path, body)
        assert reply.status == 200, reply
    return t


@pytest.fixture(scope="module")
def t(module_tallyd):
    return populate(module_tallyd())


@pytest.mark.parametrize("role", ROLES)
def test_every_operation(t, role):
    wrong = []
    for method, path, body, may in OPERATIONS:
        reply = send(t, method, path + "?dry_run=true", body, uid=ROLES[role], signed=role != "nobody")
        want = 200 if MAY[role] in may else 401 if role == "nobody" else 403
        if reply.status != want:
            wrong.append((method, path, body, reply.status, want, reply.text[:200]))
    assert not wrong, "\n".join(map(str, wrong))


def test_nothing_was_changed_by_asking(t):
    assert len(t.get("/v1/users").json()["users"]) == 6 and len(t.get("/v1/accounts").json()["accounts"]) == 4


@pytest.mark.parametrize("role", ROLES)
def test_everybody_may_look_and_controllers_alone_reserve(t, role):
    for what in ("clusters", "accounts", "users", "associations", "qos", "wckeys", "coordinators", "tres", "reservations",
                 "events", "transactions"):
        assert t.get(f"/v1/{what}", uid=ROLES[role], signed=role != "nobody").status == (401 if role == "nobody" else 200)
    reservation = {"cluster": "c1", "id": 1, "start": T, "end": T + 9, "name": "r"}
    want = {"administrator": 200, "operator": 200, "nobody": 401}.get(role, 403)
    assert send(t, "POST", "reservations", reservation, uid=ROLES[role], signed=role != "nobody").status == want


def test_a_level_counts_everywhere(t):
    for uid, who in ((ADMIN, 200), (OPERATOR, 403), (USER, 403)):
        assert t.get("/v1/quarantine", uid=uid).status == who
    assert t.get("/v1/ping", uid=OPERATOR).json()["role"] == "operator"
    assert t.get("/v1/ping", uid=ADMIN).json()["role"] == "admin"
    assert send(t, "PATCH", "users", {"where": {"name": "opr"}, "set": {"admin_level": "None"}}, uid=ADMIN).status == 200
    assert send(t, "POST", "accounts?dry_run=true", {"name": "x"}, uid=OPERATOR).status == 403
    assert send(t, "PATCH", "users", {"where": {"name": "opr"}, "set": {"admin_level": "Operator"}}).status == 200
    log = t.get("/v1/transactions?user=opr&action=Modify%20Users").json()["transactions"]
    assert [(x["actor"], x["uid"], x["after"]) for x in log] == [("adm", ADMIN, {"admin_level": "None"}),
                                                               ("root", 0, {"admin_level": "Operator"})]


def names(t, what, key, uid):
    reply = t.get(f"/v1/{what}", uid=uid)
    assert reply.status == 200, reply
    return sorted({row[key] for row in reply.json()[what]})


@pytest.fixture(scope="module")
def private(module_tallyd):
    t = populate(module_tallyd(conf="PrivateData=accounts,events,jobs,reservations,users\n"))
    jobs = [{"kind": "job_end", "cluster": "c1", "job_id": i, "submit": T, "start": T, "end": T + 60, "state": "COMPLETED",
             "user": user, "account": account} for i, (user, account) in
            enumerate([("usr", "astro"), ("crd", "physics"), ("other", "bio"), ("usr", "bio")], 1)]
    t.send(*jobs)
    return t


def test_private_data(private):
    t = private
    assert names(t, "users", "name", OPERATOR) == ["adm", "crd", "opr", "other", "root", "usr"]
    assert names(t, "users", "name", USER) == ["usr"]
    assert names(t, "users", "name", COORDINATOR) == ["crd", "usr"]
    assert names(t, "users", "name", STRANGER) == []
    assert names(t, "accounts", "name", USER) == ["astro", "bio"]
    assert names(t, "accounts", "name", COORDINATOR) == ["astro", "physics"]
    assert names(t, "associations", "user", USER) == ["", "usr"]
    assert names(t, "associations", "user", COORDINATOR) == ["", "crd", "usr"]
    assert {a["account"] for a in t.get("/v1/associations?user=usr", uid=COORDINATOR).json()["associations"]} == {"astro"}
    assert names(t, "wckeys", "name", STRANGER) == [] and names(t, "wckeys", "name", USER) == ["key"]
    for what in ("events", "reservations", "transactions"):
        assert t.get(f"/v1/{what}", uid=USER).status == 403
        assert t.get(f"/v1/{what}", uid=OPERATOR).status == 200


def test_coordinators_see_the_jobs_of_their_accounts(private):
    def seen(uid, more=""):
        reply = private.get(f"/v1/jobs?start={T - 9}&end={T + 99}{more}", uid=uid)
        assert reply.status == 200, reply
        return [j["job_id"] for j in reply.json()["jobs"]]
    assert seen(OPERATOR) == [1, 2, 3, 4]
    assert seen(COORDINATOR) == [1, 2]
    assert seen(STRANGER) == []
    assert seen(OPERATOR, "&account=physics&subtree=true") == [1, 2]
    assert seen(OPERATOR, "&account=physics") == [2]
