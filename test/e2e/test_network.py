# SPDX-License-Identifier: MIT
"""What code in a session reaches: tests 44 to 54 of the sandbox's list, with real programs."""
import os
import shutil
import socket
import subprocess
import tempfile

import pytest
from client import BUILD, Server
from machines import hostile, needs_bwrap, on, user_home
from outside import PROC
from patience import until
from proxies import Authority, Host, answer_once, own_names
from steps import alive, all_gone, family, kill

NAMES = "127.0.0.1 localhost ok.test other.test evil.test\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"), "ok.test", "other.test")


@pytest.fixture
def start(tmp_path, home):
    """Starts a server for which names mean what we say; its sessions may reach `hosts`."""
    names = tmp_path / "names"
    names.write_text(NAMES)
    servers = []

    def start_server(hosts, *flags, private=True, env=None):
        flags = [*(["--hosts", hosts] if hosts else []), *(["--allow-private-hosts"] if private else []), *flags]
        server = Server(home, *flags, env=env, command=own_names(names, [str((BUILD / "ptycell").resolve())]))
        servers.append(server)
        if "--unconfined" not in flags and network(server)["mode"] == ("none" if hosts else "proxy"):
            pytest.skip("no tier with a network of its own here")
        return server

    yield start_server
    for server in servers:
        server.close()
        print(server.stderr.decode(errors="replace"))


def network(server, session="s"):
    return server.call("session_info", session_id=session).object["confinement"]["network"]


def requests(server, session="s"):
    return {row["host"]: row for row in network(server, session)["requests"]}


def proxies(server):
    """Processes of this server's proxies and resolvers."""
    found = set()
    for process in family(server.process.pid):
        try:
            name = (PROC / f"{process[0]}/comm").read_text(encoding="utf-8").strip()
        except OSError:
            continue
        if name in ("ptycell-proxy", "ptycell-resolve"):
            found.add(process)
    return found


def put_authority(server, authority, session="s"):
    server.call("upload_file", session_id=session, filename="ca.pem", content=authority.ca.read_text())


FETCH = """
import ssl, urllib.request
def fetch(url):
    context = ssl.create_default_context(cafile="input/ca.pem") if url.startswith("https") else None
    try:
        return urllib.request.urlopen(url, context=context, timeout=200).read()
    except Exception as error:
        return repr(error)
"""


@pytest.mark.parametrize("hosts, says", [
    ("", "Code has no network. The user can name hosts in PTYCELL_HOSTS.\n"),
    ("b.test,*.a.test", "Code reaches these hosts by HTTP and HTTPS, through the proxy that its environment names (Node finds "
                        "it from 22.21 on): b.test,*.a.test. The user can name more in PTYCELL_HOSTS.\n")], ids=["none", "proxy"])
def test_a_cell_that_failed_for_want_of_network_is_told_what_there_is(start, hosts, says):
    """sandbox.md 1.6: a bare ENETUNREACH sends a model looking for the mistake in its code."""
    server = start(hosts)
    for code in ("import socket; socket.create_connection(('1.1.1.1', 53))",
                 "import socket; socket.getaddrinfo('a.test', 443)"):
        answer = server.cell(code)
        assert answer.is_error and says.strip() in answer.text, answer.text
        assert ("upload_file" in answer.text) == (not hosts) and "Blocked by" not in answer.text
    answer = server.cell("(: <>/dev/tcp/192.0.2.1/443)", language="bash")
    assert answer.cell["exit_code"] == 1 and says.strip() in answer.text, answer.text
    answer = server.cell("curl -sS https://c.test", language="bash")
    assert says.strip() in answer.text, answer.text
    assert says.strip() not in server.cell("echo Network is unreachable", language="bash").text
    assert "PTYCELL_HOSTS" not in server.cell("1/0").text
    guide = server.request("resources/read", {"uri": "ptycell://guide"})["contents"][0]["text"]
    assert says.strip() in guide


def test_python_reaches_allowed_hosts_and_no_other(start, authority):
    """49: by https and http; a refusal says why and what to do in the exception itself."""
    with authority.serve(answer_once) as tls, Host(answer_once) as plain:
        server = start(f"ok.test:{tls.port} ok.test:{plain.port}")
        put_authority(server, authority)
        answer = server.cell(FETCH + f"""
print(fetch("https://ok.test:{tls.port}/x"))
print(fetch("http://ok.test:{plain.port}/x"))
print(fetch("https://evil.test:{tls.port}/"))
print(fetch("https://ok.test/"))
""")
        lines = answer.text.splitlines()
        assert lines[:2] == ["b'hello'", "b'hello'"]
        assert f"'evil.test:{tls.port}' is not among the hosts that this session may reach" in lines[2]
        assert "'ok.test:443' may be reached, but not on this port" in lines[3]
        rows = until(lambda: len(requests(server)) == 4 and requests(server))
        assert rows[f"ok.test:{tls.port}"]["allowed"] == 1 < rows[f"ok.test:{tls.port}"]["bytes_received"]
        assert rows[f"evil.test:{tls.port}"]["refused"] == 1
        assert rows["ok.test:443"]["last"] == "port"


def test_curl_finds_the_proxy_by_itself(start, authority):
    with authority.serve(answer_once) as there:
        server = start(f"ok.test:{there.port}")
        put_authority(server, authority)
        answer = server.cell(f"""
import subprocess
def curl(host):
    done = subprocess.run(["curl", "-sS", "--cacert", "input/ca.pem", f"https://{{host}}:{there.port}/"],
                          capture_output=True, text=True)
    print(done.returncode, done.stdout, done.stderr.strip())
curl("ok.test")
curl("other.test")
""")
        assert answer.text.splitlines()[0] == "0 hello"
        assert "403" in answer.text.splitlines()[1]


def test_the_name_in_tls_is_the_name_that_was_asked_for(start, authority):
    """51, with a real TLS client."""
    with authority.serve(answer_once) as there:
        server = start(f"ok.test:{there.port}")
        answer = server.cell(f"""
import socket, ssl
s = socket.create_connection(("127.0.0.1", 3128))
s.sendall(b"CONNECT ok.test:{there.port} HTTP/1.0\\r\\n\\r\\n")
print(s.recv(1000))
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.wrap_socket(s, server_hostname="other.test")
""")
        assert "200 Connection established" in answer.text
        assert "UNRECOGNIZED_NAME" in answer.text.upper()


PROBES = """
import socket
def probe(family, kind, address):
    try:
        with socket.socket(family, kind) as s:
            s.settimeout(5)
            s.connect(address)
            s.send(b"x")
            return "reached"
    except OSError as error:
        return error.strerror or str(error)
"""


@pytest.mark.parametrize("hosts", ["", "ok.test"], ids=["none", "proxy"])
def test_the_world_and_its_name_servers_are_not_reached(start, hosts):
    server = start(hosts)
    answer = server.cell(PROBES + """
print(probe(socket.AF_INET, socket.SOCK_STREAM, ("1.1.1.1", 53)))
print(probe(socket.AF_INET, socket.SOCK_DGRAM, ("1.1.1.1", 53)))
print(probe(socket.AF_INET6, socket.SOCK_STREAM, ("2606:4700::1111", 443)))
try:
    print(socket.getaddrinfo("ok.test", 443))
except OSError as error:
    print(error.strerror)
""")
    lines = answer.text.splitlines()
    assert lines[:3] == ["Network is unreachable"] * 3
    assert "127.0.0.1" not in lines[3]


def own_address():
    """This machine's in its network, or loopback where it has none; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        try:
            way.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return way.getsockname()[0]


@pytest.mark.parametrize("hosts", ["", "ok.test"], ids=["none", "proxy"])
def test_this_machine_and_its_neighbours_are_not_reached(start, hosts):
    server = start(hosts)
    with socket.create_server(("", 0)) as listener:
        port = listener.getsockname()[1]
        answer = server.cell(PROBES + f"""
print(probe(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", {port})))
print(probe(socket.AF_INET6, socket.SOCK_STREAM, ("::1", {port})))
print(probe(socket.AF_INET, socket.SOCK_STREAM, ("169.254.169.254", 80)))
print(probe(socket.AF_INET, socket.SOCK_STREAM, ({own_address()!r}, {port})))
""")
        lines = answer.text.splitlines()
        assert lines[0] == "Connection refused" and lines[2] == "Network is unreachable"
        assert lines[1] in ("Connection refused", "Cannot assign requested address")
        assert lines[3] in ("Connection refused", "Network is unreachable")


@pytest.mark.parametrize("hosts", ["", "ok.test"], ids=["none", "proxy"])
def test_sockets_of_this_machine_are_not_reached(start, hosts):
    server = start(hosts)
    with socket.socket(socket.AF_UNIX) as abstract, socket.socket(socket.AF_UNIX) as file, \
            tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        abstract.bind(f"\0ptycell-test-{os.getpid()}")
        file.bind(f"{folder}/socket")
        os.chmod(f"{folder}/socket", 0o777)
        for listener in (abstract, file):
            listener.listen()
        answer = server.cell(PROBES + f"""
print(probe(socket.AF_UNIX, socket.SOCK_STREAM, "\\0ptycell-test-{os.getpid()}"))
print(probe(socket.AF_UNIX, socket.SOCK_STREAM, {folder + "/socket"!r}))
""")
        lines = answer.text.splitlines()
        assert lines[0] in ("Connection refused", "Operation not permitted")
        assert lines[1] == "No such file or directory"


def test_without_hosts_there_is_no_proxy(start):
    """53: nothing listens, nothing is in the environment, nothing is started."""
    server = start("", private=False)
    answer = server.cell(PROBES + """
import os
print([name for name in os.environ if "proxy" in name.lower()])
print(probe(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 3128)))
""")
    assert answer.text.splitlines() == ["[]", "Connection refused"]
    assert not proxies(server)
    assert network(server)["explanation"] == "Code has no network. The user can name hosts in PTYCELL_HOSTS."


def test_a_loopback_server_inside_is_reached_without_the_proxy(start):
    """48."""
    server = start("ok.test")
    answer = server.cell(FETCH + """
import http.server, threading
inside = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=inside.handle_request, daemon=True).start()
print(b"Directory listing" in fetch(f"http://127.0.0.1:{inside.server_port}/"))
""")
    assert answer.text.rstrip().endswith("True")
    assert not proxies(server)


def test_each_session_has_a_proxy_of_its_own(start):
    """54: no session reaches another's listener, and what one asks for is not counted for another."""
    server = start("ok.test")
    refused = FETCH + "print(fetch('http://evil.test/'))"
    server.cell(refused, "a")
    server.cell("import socket; inside = socket.create_server(('127.0.0.1', 5555))", "a")
    answer = server.cell(PROBES + "print(probe(socket.AF_INET, socket.SOCK_STREAM, ('127.0.0.1', 5555)))", "b")
    assert answer.text.splitlines()[-1] == "Connection refused"
    until(lambda: requests(server, "a"))
    assert not requests(server, "b")
    server.cell(refused, "b")
    assert len(proxies(server)) == 4


def test_a_proxy_lives_from_the_first_connection_to_the_sessions_end(start):
    server = start("ok.test")
    server.cell("x = 1")
    assert not proxies(server)
    server.cell(FETCH + "fetch('http://evil.test/')")
    running = proxies(server)
    assert len(running) == 2
    server.call("destroy_session", session_id="s")
    all_gone(running)


def test_a_killed_server_takes_its_proxies_along(start):
    """26."""
    server = start("ok.test")
    server.cell(FETCH + "fetch('http://evil.test/')")
    running = proxies(server)
    assert len(alive(running)) == 2
    kill(server.process.pid)
    all_gone(running)


def test_a_proxy_that_died_is_not_started_again(start):
    """Whoever could make it crash would else be rid of what it counted."""
    server = start("ok.test")
    server.cell(FETCH + "fetch('http://evil.test/')")
    until(lambda: requests(server))
    kill(min(pid for pid, _ in proxies(server)))
    until(lambda: "ptycell-proxy" in network(server).get("problem", ""))
    answer = server.cell("fetch('http://evil.test/')")
    assert "Connection refused" in answer.text or "Connection reset" in answer.text  # just before the listener closed
    assert requests(server)["evil.test:80"]["refused"] == 1
    until(lambda: not proxies(server))


def test_a_name_that_leads_here_is_refused_unless_the_person_allows_it(start):
    """50."""
    server = start("ok.test", private=False)
    answer = server.cell(FETCH + "print(fetch('http://ok.test/'))")
    assert "'ok.test:80' leads to this machine or its networks: a loopback address" in answer.text
    assert "PTYCELL_ALLOW_PRIVATE_HOSTS=1" in answer.text


def test_a_session_may_lower_its_bytes_before_its_first_cell(start):
    def talk(s, said):
        said += s.recv(65536)
        s.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(5_000_000))

    with Host(talk) as there:
        server = start(f"ok.test:{there.port}")
        server.call("session_info", session_id="s", config={"net_max": 1 << 20})
        answer = server.cell(FETCH + f"""
print(len(fetch("http://ok.test:{there.port}/")) < 2_000_000)
print(fetch("http://ok.test:{there.port}/"))
""")
        assert answer.text.splitlines()[0] == "True"
        assert "PTYCELL_NET_MAX is used up" in answer.text


def test_the_persons_secrets_are_not_in_the_session(start):
    """75: the user and password of the person's proxy."""
    server = start("ok.test", env={"https_proxy": "http://me:hunter2@127.0.0.1:9"})
    answer = server.cell("import os; print(os.environ['https_proxy'], 'hunter2' in str(os.environ))")
    assert answer.text.strip() == "http://127.0.0.1:3128 False"


def test_a_mistake_in_the_list_is_what_every_tool_answers(home):
    with Server(home, env={"PTYCELL_HOSTS": "ok.test, 10.0.0.1"}) as server:
        answer = server.cell("1")
        assert answer.is_error
        assert answer.texts[0] == ("The setting PTYCELL_HOSTS in the environment has a mistake: entry 2: an address is not "
                                   "a host's name: use the name. Correct it and start ptycell again.")


def test_unconfined_code_has_the_machines_network(start):
    server = start("ok.test", "--unconfined")
    server.cell("1")
    assert network(server)["mode"] == "host"
    assert "proxy" not in server.cell("import os; print(list(os.environ))").text


def test_the_helper_that_is_missing_is_told_before_code_runs(home, tmp_path):
    """A build that lacks it never runs code that believes in a network."""
    bare = tmp_path / "bin"
    bare.mkdir()
    for name in ("ptycell", "ptycell-launcher", "ptycell-files"):
        shutil.copy(BUILD / name, bare)
    with Server(home, "--hosts", "ok.test", command=[str(bare / "ptycell")]) as server:
        answer = server.cell("1")
        assert answer.is_error and "ptycell-proxy" in answer.texts[0]
    assert subprocess.run([bare / "ptycell", "--version"], check=False, stdout=subprocess.DEVNULL).returncode == 0


def test_below_a_network_of_its_own_the_list_has_no_effect_and_that_is_said(home):
    """63: no user namespaces are left for the server, so the tier is landlock, which has no sockets."""
    script = 'echo 1 > /proc/sys/user/max_user_namespaces && exec unshare -U --map-user=1000 --map-group=1000 "$0" "$@"'
    command = ["unshare", "-U", "-r", "sh", "-c", script, str((BUILD / "ptycell").resolve())]
    if subprocess.run([*command[:-1], "true"], stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("no user namespace here that could forbid others")
    # A sanitizer's shadow counts as memory of the process that becomes the interpreter.
    with Server(home, "--hosts", "ok.test", "--memory-max", "64T", command=command) as server:
        answer = server.cell("import os; print('https_proxy' in os.environ)")
        confinement = server.call("session_info", session_id="s").object["confinement"]
        assert confinement["tier"] == "landlock" and answer.text.strip() == "False"
        assert confinement["network"] == {
            "mode": "none",
            "explanation": "Code has no network: PTYCELL_HOSTS needs a confinement tier with a network of its own."}


@needs_bwrap
def test_a_session_that_bwrap_made_reaches_hosts_by_its_proxy():
    """63: the listener is made inside, whoever made the network."""
    with user_home() as place, on(place, *hostile("apparmor"), env={"PTYCELL_HOSTS": "ok.test"}) as server:
        answer = server.cell(FETCH + "print(fetch('http://evil.test/'))")
        confinement = server.call("session_info", session_id="s").object["confinement"]
        assert confinement["tier"] == "bwrap" and confinement["network"]["mode"] == "proxy"
        assert "'evil.test:80' is not among the hosts that this session may reach" in answer.text
