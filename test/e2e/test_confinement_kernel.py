# SPDX-License-Identifier: MIT
"""The terminal and the kernel's surface as a session reaches them, in every tier (sandbox.md tests
31, 32, 36 to 42, 56 and 61; 43 is test/unit/sandbox/test_seccomp.c). Attempts are functions of
inside.py."""
import pytest
from machines import TIERS, confined_in
from outside import HIDES


@pytest.fixture(scope="module", params=TIERS)
def confined(request):
    with confined_in(request.param) as one:
        yield one


@pytest.fixture(scope="module")
def attempts(confined):
    return {**confined.attempts("kernel"), **confined.attempts("terminal")}


def of(attempts, number):
    found = {name: answer for name, answer in attempts.items() if name.split()[0] == str(number)}
    assert found
    return found


def assert_all(attempts, number, allowed):
    wrong = {name: answer for name, answer in of(attempts, number).items()
             if not (isinstance(answer, str) and answer in allowed)}
    assert not wrong


def test_nothing_is_typed_into_the_terminal(attempts):
    assert_all(attempts, 31, {"EPERM"})


def test_the_terminal_is_one(attempts, confined):
    assert attempts["32 ttyname"].startswith("/dev/pts/")
    assert attempts["32 isatty"] == [True, True, True]
    assert attempts["32 stty"] is True and attempts["32 /dev/tty"] is True and attempts["32 tty"] == "exit 0"
    # Without namespaces new ones would be the host's.
    own = ["EACCES", "EPERM"] if confined.tier == "landlock" else [["echo\n", True, True]]
    assert attempts["32 openpty"] in own


def test_no_other_terminal_is_opened(attempts):
    assert attempts["32 other terminals"] in ([], "EACCES")


def test_large_interfaces_of_the_kernel_are_refused(attempts):
    assert_all(attempts, 36, {"EPERM"})


def test_no_keyring_is_reached(attempts):
    """/proc/keys names keys of the same user; what they hold comes from these calls alone."""
    assert_all(attempts, 37, {"EPERM"})


def test_sockets_have_no_odd_family_and_none_is_raw(attempts):
    assert_all(attempts, 38, {"EAFNOSUPPORT", "EPERM", "EACCES"})


def test_calls_of_another_architecture_do_not_exist(attempts):
    if "39 x32" not in attempts:
        pytest.skip("this processor has one way to call the kernel")
    assert attempts["39 x32"] == attempts["39 x32 execve"] == "ENOSYS"
    assert attempts["39 int 0x80"] in ("killed 31", "killed 11")


def test_numbers_that_nobody_knew_do_not_exist(attempts):
    assert_all(attempts, 40, {"ENOSYS"})


def test_the_personality_stays(attempts):
    answers = of(attempts, 41)
    assert answers.pop("41 query") == 0
    assert set(answers.values()) == {"EPERM"}


def test_a_crash_leaves_no_memory_behind(attempts):
    assert attempts["42 crash"] == {"dumped": False, "files": []}


def test_no_handler_of_the_host_gets_a_dump(attempts):
    """A core_pattern with a pipe is served by root at any limit but 1."""
    assert attempts["42 limit as it is"] == attempts["42 limit set to 0"] == attempts["42 limit raised"] == [1, 1]


def test_memory_that_no_limit_counts_is_not_made(attempts):
    refused = {name for name in of(attempts, 56) if "inotify" not in name and "TCP" not in name}
    assert len(refused) == 4 and {attempts[name] for name in refused} == {"EPERM"}


def test_what_the_kernel_counts_by_user_is_shared(attempts, confined):
    """The rest is for the user's programs. The other tiers have no namespace whose numbers are ours to set."""
    if confined.tier != "namespaces":
        return
    assert 0 < attempts["56 instances of inotify"] <= 32
    assert attempts["56 buffers of TCP"] == [262144, 262144]


def test_limits_and_priority_are_not_raised(attempts, confined):
    hidden = {"ENOENT"} if HIDES and confined.tier == "landlock" else set()
    assert_all(attempts, 61, {"EPERM", "EACCES", "EROFS", "not allowed"} | hidden)
