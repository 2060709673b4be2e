"""Replies against openapi/tally.yaml.  conftest.py has every reply that a test gets through
Tallyd.request pass through check()."""
import functools
import json
import re
import urllib.parse

import jsonschema
import yaml

from daemon import ROOT

# Rows of a long answer that are looked at: they are all made by the same code.
MOST_ROWS = 50
# Said by libmicrohttpd itself, before a request is one.
PLAIN_PAGES = {400, 413, 414, 431, 505}


@functools.cache
def document():
    return yaml.safe_load((ROOT / "openapi/tally.yaml").read_text())


@functools.cache
def operations():
    """(method, pattern of the path, operation), literal addresses first."""
    found = []
    for path, item in document()["paths"].items():
        pattern = re.compile(re.sub(r"{\w+}", "[^/]+", path) + "$")
        found += [(method.upper(), "{" in path, pattern, op) for method, op in item.items()]
    return sorted(found, key=lambda f: f[1])


def find(method, path):
    method = "GET" if method == "HEAD" else method
    for m, _, pattern, op in operations():
        if m == method and pattern.match(path):
            return op
    return None


def resolve(node):
    while "$ref" in node:
        at = document()
        for step in node["$ref"].removeprefix("#/").split("/"):
            at = at[step]
        node = at
    return node


BASE = "http://tally/"


def validator(schema):
    """References inside the contract resolve against the whole of it."""
    resolver = jsonschema.RefResolver(BASE, document())
    return jsonschema.Draft202012Validator(schema, resolver=resolver)


@functools.cache
def validator_of(name):
    return validator({"$ref": f"{BASE}#/components/schemas/{name}"})


def validate(schema, value):
    if list(schema) == ["$ref"]:
        v = validator_of(schema["$ref"].rpartition("/")[2])
    else:
        v = validator(schema)
    errors = sorted(v.iter_errors(value), key=lambda e: list(map(str, e.absolute_path)))
    assert not errors, "\n".join(
        f"{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}" for e in errors[:5])


def shortened(value):
    """Long lists cut: a month of jobs says no more about the form than a few."""
    if isinstance(value, dict):
        return {k: v[:MOST_ROWS] if isinstance(v, list) else v for k, v in value.items()}
    return value


def check_body(reply, content_type, media):
    if content_type == "application/x-ndjson":
        for line in reply.body.splitlines()[:MOST_ROWS]:
            validate(media["schema"], json.loads(line))
    elif content_type.endswith("json"):
        validate(media["schema"], shortened(reply.json()))


def check(method, target, reply):
    path = urllib.parse.urlsplit(target).path
    content_type = reply.headers.get("Content-Type", "").split(";")[0]
    op = find(method, path)
    if reply.status in PLAIN_PAGES and content_type == "":
        return
    if op is None:
        assert reply.status in (404, 405, 503), (method, path, reply)
        validate({"$ref": "#/components/schemas/Problem"}, reply.json())
        return
    answer = op["responses"].get(str(reply.status))
    assert answer is not None, f"{op['operationId']}: no {reply.status} in the contract: {reply}"
    answer = resolve(answer)
    if method == "HEAD" or not reply.body:
        return
    media = answer.get("content", {}).get(content_type)
    assert media is not None, f"{op['operationId']}: no {content_type} in the contract: {reply}"
    check_body(reply, content_type, media)
