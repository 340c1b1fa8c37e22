# SPDX-License-Identifier: MIT
"""pytest plugin: a time limit a test, MUST_RUN=1, which makes a skipped test a failed one, --account, and what a
failed one leaves: the command that repeats it, and the folder of the run.

The limit is patience.LIMIT_S, another with @pytest.mark.limit(seconds); a build with
sanitizers gets three times as long.
"""
import os
import shlex
import signal
import subprocess
import tempfile

import pytest
import skips
from patience import LIMIT_S, TEARDOWN_S

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
SLOW_BUILDS = ("asan",)
SKIPPED_EXIT = 77


def pytest_addoption(parser):
    parser.addoption("--account", action="store_true", help="of a file in which tests are marked `account`, those alone")


def pytest_collection_modifyitems(config, items):
    if config.option.account:
        having = {item.path for item in items if item.get_closest_marker("account")}
        others = [item for item in items if item.path in having and not item.get_closest_marker("account")]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    if not config.option.basetemp:  # pytest's own goes with the third run after it
        config.option.basetemp = tempfile.mkdtemp(prefix="cells-test-")
    # Who starts tests in the background may have it ignored, and so would every program in them.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "limit(seconds): how long this test may take")
    config.addinivalue_line("markers", "account: what this test holds may differ with the account that the server has")


def _limit(item):
    marker = item.get_closest_marker("limit")
    seconds = marker.args[0] if marker else LIMIT_S
    slow = os.path.basename(os.environ.get("PTYCELL_BUILD", "")) in SLOW_BUILDS
    return seconds * 3 if slow else seconds


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item):
    seconds = _limit(item)

    def late(_signal, _frame):
        signal.setitimer(signal.ITIMER_REAL, TEARDOWN_S)
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


def _again(item):
    """The command that runs this test alone, in the folder of the source. $PTYCELL_AGAIN is how to run
    tests where that takes more than this plugin knows."""
    build = os.path.relpath(os.environ.get("PTYCELL_BUILD", os.path.join(ROOT, "build/dev")), ROOT)
    name = os.path.relpath(item.path, ROOT) + "::" + item.nodeid.partition("::")[2]
    runner = os.environ.get("PTYCELL_AGAIN", f"PTYCELL_BUILD={shlex.quote(build)} test/support/pytest")
    return f"{runner} {shlex.quote(name)}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    report = outcome.get_result()
    _refuse_skip(report, item)
    if report.failed:
        folder = getattr(item, "funcargs", {}).get("tmp_path", item.config.option.basetemp)
        report.sections.append(("to see it again", f"again: {_again(item)}\nleft:  {folder}"))


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    _refuse_skip(outcome.get_result(), collector)


def pytest_sessionfinish(session, exitstatus):
    if exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        # shutil.rmtree calls itself for each level, and tests make thousands of levels.
        subprocess.run(["rm", "-rf", session.config.option.basetemp], stderr=subprocess.DEVNULL, check=False)
    reporter = session.config.pluginmanager.getplugin("terminalreporter")
    ran = [k for k in ("passed", "failed", "error", "xfailed") if reporter.stats.get(k)]
    if reporter.stats.get("skipped") and not ran:
        session.exitstatus = SKIPPED_EXIT
