"""The contract: current, complete, and what the daemon serves."""
import subprocess
import sys

import jsonschema
import pytest

import contract
from daemon import ROOT, wait_until


def test_current_and_every_route_in_it():
    run = subprocess.run([sys.executable, ROOT / "tools/gen-openapi", "--check"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert run.returncode == 0, run.stdout


def test_every_schema_is_one():
    for name, schema in contract.document()["components"]["schemas"].items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert contract.validator_of(name) is not None


def test_a_wrong_reply_is_seen():
    class Reply:
        status = 200
        headers = {"Content-Type": "application/json"}
        body = b'{"status":"fine"}'

        def json(self):
            return {"status": "fine"}

    with pytest.raises(AssertionError):
        contract.check("GET", "/healthz", Reply())


def test_it_is_served(tallyd):
    assert tallyd.get("/openapi.yaml", signed=False).text == (ROOT / "openapi/tally.yaml").read_text()


def test_every_operation_answers(tallyd):
    """Whatever it says to an empty request, it says it as the contract has it."""
    wait_until(lambda: tallyd.get("/readyz").status == 200, 20, "readiness")
    for path, item in contract.document()["paths"].items():
        for method in item:
            body = b"{}" if method in ("post", "patch") else None
            reply = tallyd.request(method.upper(), path.replace("{id}", "999999999"), body=body)
            assert reply.status in (200, 400, 404), (method, path, reply)


@pytest.mark.parametrize("path", ["/healthz", "/v1/ping", "/v1/jobs", "/openapi.yaml"])
def test_head(tallyd, path):
    reply = tallyd.request("HEAD", path)
    assert reply.status == 200 and reply.body == b""


@pytest.mark.parametrize("method,path,status", [
    ("GET", "/", 404), ("GET", "/v1", 404), ("GET", "/v1/jobs/", 404), ("GET", "/v1/jobs/1/", 404),
    ("GET", "/v2/jobs", 404), ("GET", "/v1/jobs/1/why/not", 404), ("GET", "//v1/jobs", 404),
    ("DELETE", "/v1/jobs", 405), ("PUT", "/v1/jobs/1", 405), ("GET", "/v1/records", 405),
    ("POST", "/healthz", 405), ("OPTIONS", "/v1/jobs", 405), ("TRACE", "/v1/jobs", 405),
])
def test_addresses_that_are_none(tallyd, method, path, status):
    reply = tallyd.request(method, path)
    assert reply.status == status, reply


def test_a_typing_error_is_told_with_what_was_meant(tallyd):
    reply = tallyd.get("/v1/jobs?usr=ann")
    assert reply.status == 400
    p = reply.json()
    assert p["field"] == "usr" and '"user"' in p["detail"]


def test_requests_are_numbered(tallyd):
    reply = tallyd.get("/v1/jobs?usr=ann")
    assert reply.json()["request"] == reply.headers["X-Request-Id"]
    assert tallyd.get("/healthz").headers["X-Request-Id"] != reply.headers["X-Request-Id"]
