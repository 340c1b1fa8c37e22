# SPDX-License-Identifier: MIT
"""ptycell-proxy alone, as a session's hostile code meets it: tests 49 to 53 of the sandbox's list."""
import http.client
import os
import pathlib
import random
import re
import socket
import ssl
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from outside import PROC
from patience import until
from proxies import Authority, Host, NameServer, Proxy, answer_once, read_all, read_head
from steps import all_gone, family

OK = "127.0.0.1 ok.test\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"), "ok.test", "other.test")


def status(answer):
    found = re.match(rb"HTTP/1\.1 (\d{3}) ", answer)
    assert found, answer
    return int(found[1])


def verdict(answer):
    return re.search(rb"X-Ptycell-Verdict: (\w+)\r\n", answer)[1].decode()


# ---- what is asked for ----

HOSTILE = [
    b"evil.test", b"127.0.0.1", b"127.1", b"2130706433", b"017700000001", b"0x7f000001", b"0x7f.1", b"[::1]",
    b"[::ffff:127.0.0.1]", b"127.0.0.1.", b"evil.test#.ok.test", b"evil.test?.ok.test", b"evil.test/.ok.test",
    b"evil.test\\.ok.test", b"ok.test.evil.test", b"evilok.test", b"ok.test@evil.test", b"ok.test:80@evil.test",
    b"evil.test\0.ok.test", b"evil.test%00.ok.test", b"ok.test\r\nHost: evil.test", b"ok.test\nX: y", b"ok%2etest",
    b"ok.test..", b".ok.test", b"ok..test", b"-ok.test", b"ok_.test", b"a" * 300 + b".ok.test",
    b"a." * 150 + b"ok.test", "\u00f6k.test".encode(), "ok\u3002test".encode(), b"localhost", b"*.ok.test", b"",
]


@pytest.mark.parametrize("host", HOSTILE, ids=lambda h: h[:24].decode("latin-1").encode("unicode_escape").decode())
def test_a_hostile_host_is_never_reached(tmp_path, host):
    """49: other hosts, addresses in every notation, and names that two readers could read differently."""
    names = OK + "127.0.0.1 evil.test localhost\n"
    with Host(answer_once) as there, \
            Proxy(tmp_path, f"ok.test:{there.port} *.sub.ok.test", names, allow_private=True) as proxy:
        port = str(there.port).encode()
        for request in (b"CONNECT " + host + b":" + port + b" HTTP/1.1\r\nHost: " + host + b":" + port + b"\r\n\r\n",
                        b"CONNECT " + host + b":" + port + b" HTTP/1.0\r\n\r\n",
                        b"GET http://" + host + b":" + port + b"/ HTTP/1.1\r\nHost: " + host + b":" + port +
                        b"\r\n\r\n",
                        b"GET http://" + host + b":" + port + b"/ HTTP/1.0\r\n\r\n"):
            assert status(proxy.ask(request)) in (400, 403), request
        assert not there.said


@pytest.mark.parametrize("host", [b"OK.Test", b"ok.test.", b"oK.tEST."])
def test_another_way_to_write_an_allowed_name_is_that_name(tmp_path, host):
    """49: upper case and a trailing dot: one form is matched, resolved, sent on and logged."""
    with Host(answer_once) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        answer = proxy.ask(b"GET http://%b:%d/ HTTP/1.0\r\n\r\n" % (host, there.port))
        assert status(answer) == 200
        assert f"Host: ok.test:{there.port}\r\n".encode() in there.said[0]
        assert list(proxy.end()) == [("ok.test", there.port)]


def test_only_named_ports_are_reached(tmp_path):
    """49: 443 and 80 unless an entry says otherwise; what is forbidden wins."""
    with Proxy(tmp_path, "ok.test *.ok.test:8443 !no.ok.test", OK, allow_private=True) as proxy:
        for target, expected in (("ok.test:22", "port"), ("ok.test:443", "unreachable"),
                                 ("a.ok.test:443", "port"), ("no.ok.test:8443", "forbidden"),
                                 ("else.test:443", "not_listed")):
            answer = proxy.ask(f"CONNECT {target} HTTP/1.0\r\n\r\n".encode())
            assert verdict(answer) == expected, answer


def test_a_refusal_is_one_plain_sentence_where_programs_show_it(tmp_path):
    with Proxy(tmp_path, "ok.test", OK) as proxy:
        connection = http.client.HTTPSConnection(*proxy.listener.getsockname())
        connection.set_tunnel("else.test", 443)
        with pytest.raises(OSError) as caught:
            connection.connect()
        assert str(caught.value) == (
            "Tunnel connection failed: 403 Forbidden - ptycell: 'else.test:443' is not among the hosts that this "
            "session may reach; the user can add it to PTYCELL_HOSTS for new sessions.")


def test_an_empty_list_allows_nothing(tmp_path):
    """53."""
    with Proxy(tmp_path, "", OK, allow_private=True) as proxy:
        for request in (b"CONNECT ok.test:443 HTTP/1.0\r\n\r\n", b"GET http://ok.test/ HTTP/1.0\r\n\r\n"):
            assert verdict(proxy.ask(request)) == "not_listed"


# ---- where names lead ----

@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "10.1.2.3", "192.168.1.1", "172.16.0.1", "100.64.0.1",
                                     "169.254.169.254", "0.0.0.0", "::1", "fd00::1", "fe80::1", "::ffff:127.0.0.1",
                                     "64:ff9b::7f00:1", "2002:7f00:1::", "224.0.0.1", "255.255.255.255"])
def test_a_name_that_leads_inside_is_refused(tmp_path, address):
    """50."""
    with Proxy(tmp_path, "ok.test", f"{address} ok.test\n") as proxy:
        answer = proxy.ask(b"CONNECT ok.test:443 HTTP/1.0\r\n\r\n")
        assert status(answer) == 403 and verdict(answer) in ("private", "reserved"), answer
        assert (b"PTYCELL_ALLOW_PRIVATE_HOSTS=1" in answer) == (verdict(answer) == "private")


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "fe80::1", "fd00:ec2::254", "100.100.100.200"])
def test_metadata_services_are_refused_even_where_private_hosts_are_allowed(tmp_path, address):
    with Proxy(tmp_path, "ok.test", f"{address} ok.test\n", allow_private=True) as proxy:
        assert verdict(proxy.ask(b"CONNECT ok.test:443 HTTP/1.0\r\n\r\n")) == "reserved"


def test_every_lookup_is_judged_anew(tmp_path):
    """50: a name that changes between lookups."""
    with Host(answer_once) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        request = b"GET http://ok.test:%d/ HTTP/1.0\r\n\r\n" % there.port
        assert status(proxy.ask(request)) == 200
        proxy.name("169.254.169.254 ok.test\n")
        assert verdict(proxy.ask(request)) == "reserved"
        proxy.name(OK)
        assert status(proxy.ask(request)) == 200


def test_a_name_server_cannot_change_its_mind_between_look_and_connection(tmp_path):
    """50: one lookup a connection, and what was looked at is what is connected to."""
    with Host(answer_once) as there, NameServer(tmp_path, "127.0.0.1", "169.254.169.254", "127.0.0.1") as dns, \
            Proxy(tmp_path, f"ok.test:{there.port}", resolv=dns.resolv, allow_private=True) as proxy:
        request = b"GET http://ok.test:%d/ HTTP/1.0\r\n\r\n" % there.port
        assert status(proxy.ask(request)) == 200
        assert verdict(proxy.ask(request)) == "reserved"
        assert status(proxy.ask(request)) == 200
        assert not dns.answers


def test_a_name_server_is_not_asked_in_search_domains(tmp_path):
    """49: the name that was judged is the name that is looked up."""
    with NameServer(tmp_path) as dns:
        dns.resolv.write_text(dns.resolv.read_text() + "search evil.test\n")
        with Proxy(tmp_path, "intranet other.test", resolv=dns.resolv) as proxy:
            for host in ("intranet", "other.test"):
                with proxy.connect() as s:
                    s.sendall(f"CONNECT {host}:443 HTTP/1.0\r\n\r\n".encode())
                    wanted = b"".join(bytes([len(part)]) + part.encode() for part in host.split("."))
                    until(lambda w=wanted: w in dns.asked)
            assert not [name for name in dns.asked if b"evil" in name]


def test_a_name_server_that_is_slow_holds_nobody_up(tmp_path):
    with NameServer(tmp_path) as dns, \
            Proxy(tmp_path, "slow.test ok.test", "127.0.0.1 ok.test\n", resolv=dns.resolv) as proxy:
        with proxy.connect() as slow:
            slow.sendall(b"CONNECT slow.test:443 HTTP/1.0\r\n\r\n")
            until(lambda: dns.asked)
            for _ in range(3):
                assert verdict(proxy.ask(b"CONNECT ok.test:443 HTTP/1.0\r\n\r\n")) == "private"
            assert verdict(read_all(slow)) == "unresolved"


def test_of_several_addresses_only_the_allowed_ones_are_tried(tmp_path):
    with Host(answer_once) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", "169.254.169.254 ok.test\n" + OK, allow_private=True) as proxy:
        assert status(proxy.ask(b"GET http://ok.test:%d/ HTTP/1.0\r\n\r\n" % there.port)) == 200


def test_a_name_that_is_unknown_is_said_so(tmp_path):
    with Proxy(tmp_path, "nowhere.invalid", OK) as proxy:
        answer = proxy.ask(b"CONNECT nowhere.invalid:443 HTTP/1.0\r\n\r\n")
        assert status(answer) == 502 and verdict(answer) == "unresolved"
        assert b"'nowhere.invalid:443' is not known to the name service" in answer


# ---- tunnels ----

def test_tls_to_an_allowed_host_goes_through_unchanged(tmp_path, authority):
    blob = os.urandom(3_000_000)

    def talk(s, said):
        while len(said) < len(blob):
            said += s.recv(65536)
        s.sendall(blob)

    with authority.serve(talk) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        s, head = proxy.tunnel("ok.test", there.port)
        assert status(head) == 200
        with authority.client().wrap_socket(s, server_hostname="ok.test") as tls:
            tls.sendall(blob)
            received = bytearray()
            while len(received) < len(blob):
                received += tls.recv(65536)
        assert received == blob and there.said[0] == blob
        row = proxy.end()["ok.test", there.port]
        assert row["allowed"] == 1 and row["sent"] > len(blob) < row["received"]


def hello(name):
    """A ClientHello, and what it belongs to."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    return outgoing.read()


def say_anything(s, said):
    while piece := s.recv(65536):
        said += piece


ALERT = b"\x15\x03\x03\x00\x02\x02\x70"


@pytest.mark.parametrize("first, answer", [
    (hello("evil.test"), ALERT),
    (hello("sub.ok.test"), ALERT),
    (hello(None), ALERT),
    (hello("ok.test")[:60] + bytes(2000), ALERT),
    (b"GET / HTTP/1.1\r\nHost: ok.test\r\n\r\n", b"HTTP/1.1 403 "),  # without its port
    (b"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n", b"HTTP/1.1 403 "),
    (b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 403 "),
], ids=["other", "below", "none", "garbled", "http", "connect", "ssh"])
def test_a_tunnel_without_tls_for_its_host_is_closed(tmp_path, first, answer):
    """51, and 52 for a second CONNECT: nothing of it reaches the host."""
    with Host(say_anything) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        s, _ = proxy.tunnel("ok.test", there.port)
        with s:
            s.sendall(first)
            assert read_all(s).startswith(answer)
        until(lambda: there.said)
        assert not there.said[0]
        row = proxy.end()["ok.test", there.port]
        assert (row["allowed"], row["refused"], row["last"]) == (0, 1, "tls")


def test_a_plain_request_in_a_tunnel_is_judged_like_one_without(tmp_path):
    """52: Node fetches http:// like this. What follows it, and another Host, does not get through."""
    with Host(answer_once) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        for host, good in (("ok.test", True), ("evil.test", False)):
            s, _ = proxy.tunnel("ok.test", there.port)
            with s:
                s.sendall(f"GET /x HTTP/1.1\r\nHost: {host}:{there.port}\r\nConnection: keep-alive\r\n\r\n"
                          f"GET /second HTTP/1.1\r\nHost: evil.test\r\n\r\n".encode())
                answer = read_all(s)
            assert answer.endswith(b"\r\n\r\nhello") if good else verdict(answer) == "tls"
        until(lambda: len(there.said) == 2)
        assert there.said[0] == f"GET /x HTTP/1.1\r\nHost: ok.test:{there.port}\r\nConnection: close\r\n\r\n".encode()
        assert not there.said[1]


def test_the_https_port_carries_tls_only(tmp_path):
    """51: no plain request in a tunnel to 443, whoever answers there."""
    def talk(s, said):
        read_head(s, said)
        s.sendall(b"HTTP/1.1 200 fine\r\n\r\n")
        say_anything(s, said)

    with Host(talk) as there, Proxy(tmp_path, "ok.test", "", https_proxy=f"127.0.0.1:{there.port}") as proxy:
        s, _ = proxy.tunnel("ok.test", 443)
        with s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: ok.test:443\r\n\r\n")
            assert verdict(read_all(s)) == "tls"
        assert b"GET" not in there.said[0]


def test_a_hello_in_small_pieces_is_waited_for(tmp_path):
    first = hello("OK.test")
    with Host(say_anything) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        s, _ = proxy.tunnel("ok.test", there.port)
        with s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for i in range(0, len(first), 7):
                s.sendall(first[i:i + 7])
            until(lambda: there.said and len(there.said[0]) == len(first))
        assert there.said[0] == first


def test_connect_by_way_of_a_forwarder_gets_the_same_verdict(tmp_path):
    """52: a program in the session that forwards changes nothing."""
    with Proxy(tmp_path, "ok.test", OK) as proxy:
        def forward(s, said):
            read_head(s, said)
            s.sendall(proxy.ask(bytes(said)))

        with Host(forward) as forwarder:
            direct = proxy.ask(b"CONNECT evil.test:443 HTTP/1.0\r\n\r\n")
            with socket.create_connection(("127.0.0.1", forwarder.port)) as s:
                s.sendall(b"CONNECT evil.test:443 HTTP/1.0\r\n\r\n")
                s.shutdown(socket.SHUT_WR)
                assert read_all(s) == direct
            assert verdict(direct) == "not_listed"


# ---- plain requests ----

def test_a_second_request_does_not_pass_under_the_first_ones_verdict(tmp_path):
    """52: pipelined behind no body, a counted one and a chunked one; the host sees one request."""
    with Host(answer_once) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        at = f"ok.test:{there.port}"
        second = b"GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"
        for count, body in enumerate((b"\r\n", b"Content-Length: 3\r\n\r\nabc",
                                      b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"), 1):
            request = f"POST http://{at}/x HTTP/1.1\r\nHost: {at}\r\n".encode() + body
            answer = proxy.ask(request + second)
            assert answer.endswith(b"\r\n\r\nhello") and answer.count(b"HTTP/1.1") == 1
            until(lambda n=count: len(there.said) == n)
            assert b"evil" not in there.said[-1]
            assert there.said[-1].endswith(body.partition(b"\r\n\r\n")[2])


def test_what_concerns_one_hop_is_left_out_both_ways(tmp_path):
    with Host(answer_once) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        at = f"ok.test:{there.port}"
        answer = proxy.ask(f"GET http://{at}/?q HTTP/1.1\r\nHost: {at}\r\nProxy-Authorization: Basic eA==\r\n"
                           "Proxy-Connection: keep-alive\r\nConnection: x-hop\r\nX-Hop: 1\r\nX-End: 2\r\n\r\n".encode())
        assert answer == b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"
        assert there.said[0].decode() == (f"GET /?q HTTP/1.1\r\nHost: {at}\r\nX-End: 2\r\nConnection: close\r\n\r\n")


@pytest.mark.parametrize("fields", ["Content-Length: 5\r\nTransfer-Encoding: chunked", "Content-Length: 1\r\n"
                                    "Content-Length: 2", "Transfer-Encoding: gzip", "Host: evil.test",
                                    "X: y\r\n folded", "X : y", "X: \0"])
def test_a_head_that_two_readers_could_read_differently_is_refused(tmp_path, fields):
    with Host(answer_once) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        at = f"ok.test:{there.port}"
        assert status(proxy.ask(f"POST http://{at}/ HTTP/1.1\r\nHost: {at}\r\n{fields}\r\n\r\n".encode())) == 400
        assert not there.said


def test_a_head_without_end_is_refused_at_its_cap(tmp_path):
    with Proxy(tmp_path, "ok.test", OK) as proxy:
        assert b"head is too long" in proxy.ask(b"GET http://ok.test/ HTTP/1.1\r\nX: " + b"y" * 70_000)


def test_an_interim_answer_comes_before_the_answer(tmp_path):
    def talk(s, said):
        read_head(s, said)
        s.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while not said.endswith(b"abc"):
            said += s.recv(100)
        s.sendall(b"HTTP/1.0 204 No\r\n\r\n")

    with Host(talk) as there, Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        at = f"ok.test:{there.port}"
        with proxy.connect() as s:
            s.sendall(f"PUT http://{at}/ HTTP/1.1\r\nHost: {at}\r\nExpect: 100-continue\r\n"
                      "Content-Length: 3\r\n\r\n".encode())
            assert s.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
            s.sendall(b"abc")
            assert read_all(s).startswith(b"HTTP/1.0 204 No\r\n")


# ---- caps ----

def test_bytes_are_capped_over_all_connections(tmp_path):
    def talk(s, said):
        read_head(s, said)
        s.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + bytes(1_000_000))

    with Host(talk) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True, bytes_max=300_000) as proxy:
        request = b"GET http://ok.test:%d/ HTTP/1.0\r\n\r\n" % there.port
        assert 200_000 < len(proxy.ask(request)) < 400_000
        answer = proxy.ask(request)
        assert verdict(answer) == "bytes" and b"PTYCELL_NET_MAX is used up" in answer


def test_connections_above_the_cap_wait_for_their_turn(tmp_path):
    with Proxy(tmp_path, "ok.test", OK) as proxy:
        held = [proxy.connect() for _ in range(32)]
        with proxy.connect() as waiting:
            waiting.sendall(b"CONNECT evil.test:443 HTTP/1.0\r\n\r\n")
            waiting.settimeout(0.3)
            with pytest.raises(TimeoutError):
                waiting.recv(1)
            waiting.settimeout(10)
            held.pop().close()
            assert verdict(read_all(waiting)) == "not_listed"
        for s in held:
            s.close()


def test_who_reads_later_gets_everything(tmp_path):
    """More than all buffers on the way hold: the proxy stops reading, and drops nothing."""
    blob = os.urandom(1_000_000) * 16
    sent = threading.Event()

    def talk(s, said):
        read_head(s, said)
        s.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + blob)
        sent.set()

    with Host(talk) as there, Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        with proxy.connect() as s:
            s.sendall(b"GET http://ok.test:%d/ HTTP/1.0\r\n\r\n" % there.port)
            assert not sent.wait(1)
            assert read_all(s).endswith(blob)


def test_many_who_read_in_sips_get_everything(tmp_path):
    """What could not be written becomes writable while more is read: that goes on, too."""
    blob = os.urandom(1_000_000) * 4

    def talk(s, said):
        read_head(s, said)
        s.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + blob)

    def fetch(proxy, port, chance):
        with proxy.connect() as s:
            s.sendall(b"GET http://ok.test:%d/ HTTP/1.0\r\n\r\n" % port)
            got = bytearray()
            while part := s.recv(chance.randrange(1, 200_000)):
                got += part
            return got.endswith(blob)

    with Host(talk) as there, Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True) as proxy:
        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(lambda seed: fetch(proxy, there.port, random.Random(seed)), range(96)))


# ---- the person's own proxy ----

def test_the_persons_proxy_carries_what_the_list_allows(tmp_path):
    """Names are judged here, addresses there; its user and password never come from the session."""
    def talk(s, said):
        read_head(s, said)
        s.sendall(b"HTTP/1.1 200 fine\r\n\r\n")
        say_anything(s, said)

    with Host(talk) as there, \
            Proxy(tmp_path, "ok.test", "", https_proxy=f"http://me:s%40crt@127.0.0.1:{there.port}") as proxy:
        first = hello("ok.test")
        s, _ = proxy.tunnel("ok.test", 443)
        with s:
            s.sendall(first)
            until(lambda: there.said and there.said[0].endswith(first))
        assert there.said[0][:-len(first)] == (b"CONNECT ok.test:443 HTTP/1.1\r\nHost: ok.test:443\r\n"
                                               b"Proxy-Authorization: Basic bWU6c0BjcnQ=\r\n\r\n")
        assert verdict(proxy.ask(b"CONNECT evil.test:443 HTTP/1.0\r\n\r\n")) == "not_listed"
        assert len(there.said) == 1


def test_a_refusal_of_the_persons_proxy_is_said_so(tmp_path):
    def talk(s, said):
        read_head(s, said)
        s.sendall(b"HTTP/1.1 407 Who are you?\r\n\r\n")

    with Host(talk) as there, Proxy(tmp_path, "ok.test", "", https_proxy=f"127.0.0.1:{there.port}") as proxy:
        answer = proxy.ask(b"CONNECT ok.test:443 HTTP/1.0\r\n\r\n")
        assert status(answer) == 502 and b"the proxy of this machine refuses it" in answer


@pytest.mark.parametrize("url", ["socks5://127.0.0.1:9", "https://127.0.0.1:9", "http://127.0.0.1"])
def test_a_proxy_that_cannot_be_used_is_not_passed_by(tmp_path, url):
    """Whoever set it wants no direct connections."""
    with Host(say_anything) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True, https_proxy=url) as proxy:
        answer = proxy.ask(f"CONNECT ok.test:{there.port} HTTP/1.0\r\n\r\n".encode())
        assert status(answer) == 502 and b"cannot be used: it must be http://HOST:PORT" in answer
        assert not there.said


def test_no_proxy_goes_directly(tmp_path):
    with Host(answer_once) as there, \
            Proxy(tmp_path, f"ok.test:{there.port}", OK, allow_private=True, http_proxy="http://127.0.0.1:9",
                  no_proxy=".test") as proxy:
        assert status(proxy.ask(b"GET http://ok.test:%d/ HTTP/1.0\r\n\r\n" % there.port)) == 200


def test_a_plain_request_goes_whole_to_the_persons_proxy(tmp_path):
    with Host(answer_once) as there, \
            Proxy(tmp_path, "ok.test", "", http_proxy=f"http://127.0.0.1:{there.port}") as proxy:
        assert status(proxy.ask(b"GET http://ok.test/x HTTP/1.0\r\n\r\n")) == 200
        assert there.said[0].startswith(b"GET http://ok.test:80/x HTTP/1.0\r\nHost: ok.test\r\n")


# ---- the process ----

def processes(proxy):
    """The proxy and its resolver."""
    return {proxy.process.pid} | {pid for pid, _ in family(proxy.process.pid)}


def test_proxy_and_resolver_hold_and_may_do_little(tmp_path):
    """75: not dumpable, no core, no new rights, a filter; no descriptor but what they need."""
    with Proxy(tmp_path, "ok.test", OK) as proxy:
        proxy.ask(b"CONNECT evil.test:443 HTTP/1.0\r\n\r\n")
        pids = until(lambda: len(processes(proxy)) == 2 and processes(proxy))
        for pid in pids:  # one that has just begun takes no request before its filter holds
            until(lambda status=pathlib.Path(f"{PROC}/{pid}/status"): all(
                word in status.read_text(encoding="utf-8") for word in ("NoNewPrivs:\t1", "Seccomp:\t2")))
            assert re.search(r"Max core file size +0 +0 ", open(f"{PROC}/{pid}/limits", encoding="utf-8").read())
            if os.geteuid() == 0:
                assert len(os.listdir(f"{PROC}/{pid}/fd")) <= 8


def test_both_end_with_the_server(tmp_path):
    with Proxy(tmp_path, "ok.test", OK) as proxy:
        proxy.ask(b"CONNECT evil.test:443 HTTP/1.0\r\n\r\n")
        below = family(proxy.process.pid)
        assert len(below) == 1
        held = proxy.connect()
        proxy.end()
        all_gone(below)
        held.close()
