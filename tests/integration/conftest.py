"""Fixtures: `tallyd` (one daemon for the session, for tests that do not mind each other's records),
`fresh_tallyd` (a factory of daemons of one's own)."""
import pytest

import contract
from daemon import Tallyd, wait_until


def pytest_configure(config):
    config.addinivalue_line("markers", "threads: also run under the thread sanitizer (make tsan)")


@pytest.fixture(scope="session", autouse=True)
def contract_is_kept():
    """Every reply that any test gets is held against openapi/tally.yaml."""
    plain = Tallyd.request

    def request(self, method, target, *args, **kw):
        reply = plain(self, method, target, *args, **kw)
        contract.check(method, target, reply)
        return reply

    Tallyd.request = request
    yield
    Tallyd.request = plain


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    setattr(item, "failed_" + report.when, report.failed)


def close_all(request, daemons):
    failed = getattr(request.node, "failed_call", False)
    for t in daemons:
        if failed:
            print(f"---- log of the tallyd in {t.dir} (kept)\n{t.log()[-8000:]}")
        t.close(keep=failed)


@pytest.fixture
def fresh_tallyd(request):
    """fresh_tallyd(conf="...", args=[...], start=True): a daemon with nothing in it."""
    daemons = []

    def make(start=True, **kw):
        t = Tallyd(**kw)
        daemons.append(t)
        return t.start() if start else t

    yield make
    close_all(request, daemons)


@pytest.fixture(scope="module")
def module_tallyd(request):
    """module_tallyd(conf="...", args=[...]): a daemon for the tests of one file."""
    daemons = []

    def make(**kw):
        t = Tallyd(**kw)
        daemons.append(t)
        t.start()
        wait_until(lambda: t.get("/readyz", signed=False).status == 200, 20, "readiness")
        return t

    yield make
    failed = request.session.testsfailed > 0
    ends = [t.stop() if t.process is not None else 0 for t in daemons]
    for t in daemons:
        t.close(keep=failed)
    # A sanitizer's last word is the exit status.
    assert not any(ends), ends


@pytest.fixture(scope="session")
def tallyd(request):
    """Shared by the session."""
    t = Tallyd()
    try:
        yield t.start()
        rc = t.stop() if t.process is not None else 0
        assert rc == 0, f"the shared tallyd ended with {rc}\n{t.log()[-8000:]}"
    finally:
        t.close(keep=request.session.testsfailed > 0)
