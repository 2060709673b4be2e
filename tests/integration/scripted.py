"""A stand-in for tallyd that answers as it is told, to show how the client takes what a real one
does only on a bad day: answers that break off, errors of every kind, and what was asked for.

    with Scripted(rows=[...]) as s:
        run(s, "sacct", "-j", "7")
        s.asked[-1].query["job"] == ["7"]
"""
import json
import os

import socketserver
import subprocess
import threading
import urllib.parse

from daemon import SANITIZER_ENV, TALLY


class Asked:
    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.path, _, query = target.partition("?")
        self.query = urllib.parse.parse_qs(query, keep_blank_values=True)

    def json(self):
        return json.loads(self.body)


class Handler(socketserver.StreamRequestHandler):
    def read_request(self):
        line = self.rfile.readline().decode().split()
        if not line:
            return None
        headers = {}
        while True:
            name, _, value = self.rfile.readline().decode().strip().partition(":")
            if not name:
                break
            headers[name.lower()] = value.strip()
        body = self.rfile.read(int(headers.get("content-length", 0)))
        return Asked(line[0], line[1], headers, body)

    def handle(self):
        asked = self.read_request()
        if asked is None:
            return
        self.server.script.asked.append(asked)
        try:
            self.server.script.answer(self.wfile, asked)
        except (BrokenPipeError, ConnectionResetError):
            pass


class TcpServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


class UnixServer(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True


def job(job_id, **fields):
    """A row as the API gives it."""
    return {"cluster": "c1", "job_id": job_id, "submit": "2026-03-01T10:00:00Z",
            "state": "COMPLETED", **fields}


class Scripted:
    def __init__(self, rows=(), status=200, problem=None, end=b"0\r\n\r\n", raw=None, unix=None,
                 tail=b"", headers=()):
        self.rows, self.status, self.problem, self.end = rows, status, problem, end
        self.raw, self.tail, self.headers = raw, tail, headers
        self.unix = unix
        self.asked = []
        self.server = UnixServer(str(unix), Handler) if unix else TcpServer(("127.0.0.1", 0),
                                                                             Handler)
        self.server.script = self
        self.url = f"unix:{unix}" if unix else "http://127.0.0.1:%d" % self.server.server_address[1]

    def __enter__(self):
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        if self.unix:
            os.unlink(self.unix)

    def answer(self, out, asked):
        if self.problem is not None:
            body = json.dumps(self.problem).encode()
            kind = b"application/problem+json"
        elif self.raw is not None:
            body, kind = self.raw, b"application/json"
        else:
            body = b"".join(json.dumps(r).encode() + b"\n" for r in self.rows) + self.tail
            kind = b"application/x-ndjson"
        out.write(b"HTTP/1.1 %d X\r\nContent-Type: %s\r\nConnection: close\r\n" %
                  (self.status, kind))
        for line in self.headers:
            out.write(line.encode() + b"\r\n")
        out.write(b"Transfer-Encoding: chunked\r\n\r\n")
        if body:
            out.write(b"%x\r\n%s\r\n" % (len(body), body))
        out.write(self.end)


def run(url, *args, env=None, cwd=None, stdout=subprocess.PIPE):
    """Runs `tally ARGS` with nothing of tally's in its environment but what is given."""
    clean = {k: v for k, v in os.environ.items()
             if not k.startswith(("TALLY_", "SACCT_", "SLURM_"))}
    if url is not None:
        clean["TALLY_URL"] = getattr(url, "url", url)
    full = {**clean, **SANITIZER_ENV, "TZ": "UTC", **(env or {})}
    result = subprocess.run([str(TALLY), *map(str, args)], env=full, cwd=cwd, timeout=60,
                            stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE)
    # Not text=True, which would make one newline of CR LF.
    result.stdout = (result.stdout or b"").decode()
    result.stderr = result.stderr.decode()
    return result


def lines(result):
    assert result.returncode == 0, result
    return result.stdout.split("\n")[:-1]



