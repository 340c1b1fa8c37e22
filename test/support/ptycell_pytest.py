# SPDX-License-Identifier: MIT
"""pytest plugin: a time limit a test, and MUST_RUN=1, which makes a skipped test a failed one.

The limit is 60 s, another with @pytest.mark.limit(seconds); a build with sanitizers or coverage
gets three times as long.
"""
import os
import signal

import pytest
import skips

LIMIT_S = 60
SLOW_BUILDS = ("asan", "coverage")
SKIPPED_EXIT = 77


def pytest_configure(config):
    config.addinivalue_line("markers", "limit(seconds): how long this test may take")


def _limit(item):
    marker = item.get_closest_marker("limit")
    seconds = marker.args[0] if marker else LIMIT_S
    slow = os.path.basename(os.environ.get("PTYCELL_BUILD", "")) in SLOW_BUILDS
    return seconds * 3 if slow else seconds


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    seconds = _limit(item)

    def late(_signal, _frame):
        signal.setitimer(signal.ITIMER_REAL, 5)  # a fixture's teardown gets 5 s more
        pytest.fail(f"took longer than {seconds} s")

    old = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def _refuse_skip(report, item):
    if not report.skipped or hasattr(report, "wasxfail") or os.environ.get("MUST_RUN") != "1":
        return
    if skips.is_excused(item.name):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
    report.outcome = "failed"
    report.longrepr = f"MUST_RUN: {item.nodeid} did not run: {reason}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    _refuse_skip(outcome.get_result(), item)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    _refuse_skip(outcome.get_result(), collector)


def pytest_sessionfinish(session, exitstatus):
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    ran = [k for k in ("passed", "failed", "error", "xfailed") if reporter.stats.get(k)]
    if reporter.stats.get("skipped") and not ran:
        session.exitstatus = SKIPPED_EXIT
