# SPDX-License-Identifier: MIT
"""ptycell-fetch alone, as hostile servers meet it: what it says, and what it leaves."""
import gzip
import hashlib
import os
import socket
import subprocess
import threading
import zlib

import pytest
from client import BUILD, WAIT_S
from fetching import Fetch, Site, body, download, failure, head
from outside import PROC
from proxies import Authority, Host, NameServer, answer_once, read_head

MIB = 1 << 20
HERE = "127.0.0.1 localhost ok.test other.test\n::1 six.test\n"
METADATA = ("169.254.169.254", "[fd00:ec2::254]", "100.100.100.200", "168.63.129.16")
# Loopback and unspecified addresses as resolvers and URL parsers have read them.
ODD = ("127.0.0.1", "127.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.1", "127.0.0.1.",
       "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::]", "0.0.0.0", "0", "[64:ff9b::7f00:1]", "[fe80::1%25lo]",
       "10.0.0.1", "192.168.1.1", "localhost", "LOCALHOST.", "a.localhost", "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021")


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("ca"), "ok.test")


def refused(folder, url, **order):
    """(code, sentence) of a download that must fail."""
    progress, last, _ = download(folder, url, **order)
    assert "error" in last, (last, progress)
    return failure(last)


# ---- what comes ----

def test_a_file_comes_whole_with_its_name_type_and_source(tmp_path):
    data = bytes(range(256)) * 4000
    with Site({"/a/data.csv": body(data, "Content-Type: text/csv; charset=utf-8")}) as site:
        progress, last, got = download(tmp_path, site.url("/a/data.csv?sig=SECRET#x"))
    assert got == data
    assert progress[0] == {"head": {"name": "data.csv", "type": "text/csv", "total": len(data)}}
    assert last == {"result": {"size": len(data), "from": site.url("/a/data.csv"), "sha256": hashlib.sha256(data).hexdigest()}}


def test_an_empty_file_is_a_file(tmp_path):
    with Site({"/e": body(b"")}) as site:
        _, last, got = download(tmp_path, site.url("/e"))
    assert last["result"]["size"] == 0 and got == b""


def test_zeros_become_holes_and_stay_zeros(tmp_path):
    data = b"a" * 5000 + bytes(8 * MIB) + b"b" + bytes(MIB)
    with Site({"/z": body(data)}) as site:
        _, last, got = download(tmp_path, site.url("/z"))
    assert got == data and last["result"]["size"] == len(data)
    assert (tmp_path / "part").stat().st_blocks * 512 < 2 * MIB


@pytest.mark.parametrize("fields, path, name", [
    (['Content-Disposition: attachment; filename="a.csv"'], "/x", "a.csv"),
    (["Content-Disposition: attachment; filename*=UTF-8''%e2%82%ac.csv; filename=b.csv"], "/x", "\u20ac.csv"),
    (["Content-Disposition: attachment; filename*=Shift_JIS''%94%84%8F%E3.csv"], "/x", "\u58f2\u4e0a.csv"),
    (['content-disposition: attachment; filename="../../etc/passwd"'], "/x", "passwd"),
    (['Content-Disposition: attachment; filename="..\\\\..\\\\x.csv"'], "/x", "x.csv"),
    (['Content-Disposition: attachment; filename=".."'], "/y.csv", "y.csv"),
    (["Content-Disposition: inline"], "/a%20b.csv?x=/etc/passwd", "a b.csv"),
    ([], "/", None), ([], "/..", None), ([], "/%2e%2e", None), ([], "/.", None), ([], "/%00", None),
    ([], "/x%00.csv", None), ([], "/..%2f..%2fx", "x"), ([], "/%1b%5b2J%E2%80%AE.csv", "_[2J_.csv"),
    ([], "/" + "n" * 400 + ".csv", "n" * 196 + ".csv")])
def test_a_name_is_one_safe_part_or_none(tmp_path, fields, path, name):
    """CB-04, CB-05"""
    with Site({"*": body(b"x", *fields)}) as site:
        progress, last, _ = download(tmp_path, site.url(path))
    assert "result" in last and progress[0]["head"].get("name") == name


def test_redirects_are_followed_and_the_last_name_counts(tmp_path):
    with Site({"/1": head(302, "Location: /d/2?x=1", "Content-Length: 0"), "/d/2": head(307, "Location: 3.csv"),
               "/d/3.csv": body(b"x")}) as site:
        progress, last, got = download(tmp_path, site.url("/1"))
    assert got == b"x" and progress[0]["head"]["name"] == "3.csv" and last["result"]["from"] == site.url("/d/3.csv")


def test_a_host_and_a_path_in_unicode_are_found(tmp_path):
    with Site({"/%c3%bc%20b.csv": body(b"x")}) as site:
        for host in ("b\u00fccher.test", "xn--bcher-kva.test"):
            order = {"names": "127.0.0.1 xn--bcher-kva.test\n", "hosts": f"xn--bcher-kva.test:{site.port}"}
            progress, _, got = download(tmp_path, f"http://{host}:{site.port}/\u00fc b.csv", **order)
            assert got == b"x" and progress[0]["head"]["name"] == "\u00fc b.csv"


def test_a_login_in_the_link_is_used_and_goes_to_no_other_host(tmp_path):
    with Site({"/b": body(b"x")}) as second:
        with Site({"/a": head(302, f"Location: {second.url('/b')}")}) as first:
            _, last, got = download(tmp_path, first.url("/a").replace("//", "//me:secret@"))
        assert got == b"x" and "secret" not in str(last)
        assert b"Authorization: Basic" in first.said[0] and b"Authorization" not in second.said[0]


def test_a_cookie_that_a_redirect_sets_is_kept_for_its_host(tmp_path):
    with Site({"/a": head(302, "Location: /b", "Set-Cookie: k=v"), "/b": body(b"x")}) as site:
        _, _, got = download(tmp_path, site.url("/a"))
    assert got == b"x" and b"Cookie: k=v" in site.said[-1]


# ---- compression ----

def encoded(data, coding="gzip", *fields):
    return head(200, f"Content-Encoding: {coding}", f"Content-Length: {len(data)}", *fields) + data


def test_what_was_compressed_for_the_way_comes_as_it_was(tmp_path):
    with Site({"/a.csv": encoded(gzip.compress(b"x,y\n" * 1000)), "/d": encoded(zlib.compress(b"x"), "deflate")}) as site:
        progress, last, got = download(tmp_path, site.url("/a.csv"))
        assert got == b"x,y\n" * 1000 and last["result"]["size"] == 4000 and "total" not in progress[0]["head"]
        assert b"Accept-Encoding: gzip\r\n" in site.said[0]
        assert download(tmp_path, site.url("/d"))[2] == b"x"


@pytest.mark.parametrize("level", [0, 1, 9])
def test_deflate_may_come_without_the_header_of_zlib(tmp_path, level):
    packer = zlib.compressobj(level, zlib.DEFLATED, -15)
    bare = packer.compress(WORDS) + packer.flush()
    with Site({"/a": encoded(bare, "deflate"), "/cut": encoded(bare[:-9], "deflate"),
               "/gzip": encoded(PACKED, "deflate")}) as site:
        assert download(tmp_path, site.url("/a"))[2] == WORDS
        assert download(tmp_path, site.url("/gzip"))[2] == WORDS
        assert "breaks off" in refused(tmp_path, site.url("/cut"))[1]


def test_a_file_that_is_compressed_by_its_name_stays_so(tmp_path):
    data = gzip.compress(b"x,y\n")
    with Site({"/a.csv.gz": encoded(data)}) as site:
        _, _, got = download(tmp_path, site.url("/a.csv.gz"))
    assert got == data and b"Accept-Encoding" not in site.said[0]


def test_a_bomb_is_counted_after_decompression(tmp_path):
    bomb = gzip.compress(bytes(64 * MIB))
    assert len(bomb) < 100_000
    with Site({"/a": encoded(bomb)}) as site:
        code, said = refused(tmp_path, site.url("/a"), size_max=MIB)
        assert code == "limit" and said == f"it is larger than {MIB} bytes (MAX_DOWNLOAD_SIZE)"
        assert (tmp_path / "part").stat().st_size <= MIB


WORDS = b"".join(b"%d,word\n" % i for i in range(100_000))
PACKED = gzip.compress(WORDS)
DAMAGED = "what '127.0.0.1' sent: it is not compressed as it says, or damaged"
CUT = "what '127.0.0.1' sent: its compressed data breaks off: a part is missing"


@pytest.mark.parametrize("data, words", [
    (b"not compressed at all", DAMAGED),
    (PACKED[:10] + b"garbage" * 100, DAMAGED),
    (PACKED[:-8] + bytes(8), DAMAGED),
    (PACKED + b"garbage", DAMAGED),
    (PACKED[:len(PACKED) // 2], CUT),
    (PACKED[:10], CUT),
    (PACKED[:-8], CUT),
], ids=["text", "garbage", "checksum", "behind", "half", "head", "no checksum"])
def test_compressed_data_that_is_not_whole_is_an_error(tmp_path, data, words):
    """libcurl takes a stream without an end for a whole one."""
    with Site({"/a": encoded(data)}) as site:
        assert refused(tmp_path, site.url("/a")) == ("invalid", words)


@pytest.mark.parametrize("data, text", [
    (gzip.compress(WORDS) + gzip.compress(b"more"), WORDS + b"more"),
    (gzip.compress(b""), b""),
    (b"", b""),
], ids=["two members", "nothing", "no bytes"])
def test_a_compressed_file_may_have_parts_or_be_empty(tmp_path, data, text):
    with Site({"/a": encoded(data, "x-gzip")}) as site:
        assert download(tmp_path, site.url("/a"))[2] == text


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip"])
def test_a_coding_that_nobody_asked_for_is_refused_by_its_name(tmp_path, coding):
    with Site({"/a": encoded(b"x", coding)}) as site:
        code, said = refused(tmp_path, site.url("/a"))
    assert code == "invalid" and said == (f"what '127.0.0.1' sent: it is encoded as '{coding}', "
                                          "and only gzip and deflate are undone here")


# ---- sizes ----

def test_a_length_over_the_limit_is_refused_by_the_head(tmp_path):
    def page(s, _):
        s.sendall(head(200, f"Content-Length: {MIB + 1}"))
        s.recv(1)  # until it goes away

    with Site({"/a": page}) as site:
        assert refused(tmp_path, site.url("/a"), size_max=MIB)[0] == "limit"
    assert (tmp_path / "part").stat().st_size == 0


@pytest.mark.parametrize("fields", [[], ["Transfer-Encoding: chunked"]])
def test_an_endless_body_without_a_length_ends_at_the_limit(tmp_path, fields):
    """CB-08"""
    def page(s, _):
        s.sendall(head(200, *fields))
        piece = b"10000\r\n" + b"x" * 65536 + b"\r\n" if fields else b"x" * 65536
        while True:
            s.sendall(piece)

    with Site({"/a": page}) as site:
        assert refused(tmp_path, site.url("/a"), size_max=3 * MIB)[0] == "limit"
    assert (tmp_path / "part").stat().st_size <= 3 * MIB


@pytest.mark.parametrize("answer, said", [
    (head(200, "Content-Length: 100") + b"short", "broke off"),
    (head(200, "Transfer-Encoding: chunked") + b"5\r\nhel", "broke off"),
    (head(200, "Transfer-Encoding: chunked") + b"zz\r\nhello\r\n0\r\n\r\n", "broke off"),
    (head(200, "Content-Length: 99999999999999999999"), None),
    (b"", "broke off"), (b"\x00\x01\x02garbage\r\n\r\n", "broke off"), (b"SSH-2.0-OpenSSH_9.2\r\n", "broke off"),
    (b"HTTP/9.9 200 OK\r\n\r\nx", "broke off"), (b"HTTP/1.1 OK\r\n\r\nx", "broke off")])
def test_a_lying_or_broken_answer_is_an_error(tmp_path, answer, said):
    with Site({"/a": answer}) as site:
        code, sentence = refused(tmp_path, site.url("/a"))
    assert code in ("system", "limit", "invalid") and (said is None or said in sentence), sentence


def test_more_than_the_length_says_is_not_taken(tmp_path):
    with Site({"/a": head(200, "Content-Length: 5") + b"hello and more"}) as site:
        assert download(tmp_path, site.url("/a"))[2] == b"hello"


def test_a_disk_that_is_too_small_is_told_by_the_head(tmp_path):
    with Site({"/a": head(200, f"Content-Length: {1 << 60}")}) as site:
        code, said = refused(tmp_path, site.url("/a"), size_max=1 << 61)
    assert code == "limit" and "the disk has no room" in said


# ---- heads ----

def endless(line):
    def page(s, _):
        s.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            s.sendall(line * 100)
    return page


@pytest.mark.parametrize("page", [
    endless(b"X-Field: " + b"v" * 50 + b"\r\n"), endless(b"v" * 100), endless(b"HTTP/1.1 100 Continue\r\n\r\n"),
    endless(b"Set-Cookie: " + b"c" * 60 + b"=1\r\n")])
def test_a_head_without_end_is_given_up(tmp_path, page):
    with Site({"/a": page}) as site:
        assert refused(tmp_path, site.url("/a"))[0] in ("limit", "system")


def test_hostile_fields_are_cleaned_or_passed_over(tmp_path):
    fields = ["Content-Type: text/\x1b[31mcsv\u202e\x07", "Content-Length : 1", "X\x00Y: 1", ": none", "Content-Length: 2"]
    with Site({"/a": head(200, *fields) + b"hi"}) as site:
        progress, last, got = download(tmp_path, site.url("/a"))
    if "result" in last:
        assert got == b"hi"
        assert not set("\x1b\u202e\x07") & set(progress[0]["head"].get("type", ""))
    else:
        assert failure(last)[0] == "system"


@pytest.mark.parametrize("status, code, said", [
    (401, "denied", "wants a login"), (403, "denied", "may have expired"), (404, "not found", "check the link"),
    (410, "not found", "gone"), (429, "busy", "later"), (500, "system", "later"), (503, "busy", "later"),
    (418, "denied", "refuses"), (599, "system", "failed"), (204, "not found", "no content"), (206, "invalid", "part"),
    (304, "invalid", "not modified"), (300, "invalid", "leads nowhere"), (302, "invalid", "leads nowhere")])
def test_every_refusal_is_a_sentence(tmp_path, status, code, said):
    with Site({"/a": head(status, "Content-Length: 4") + b"page"}) as site:
        got_code, sentence = refused(tmp_path, site.url("/a?sig=SECRET"))
    assert got_code.replace("_", " ") == code and sentence.startswith(f"HTTP {status}: ") and said in sentence
    assert "SECRET" not in sentence and (tmp_path / "part").stat().st_size == 0


# ---- time ----

NEVER = threading.Event()


def drip(s, _):
    """A byte now and then, for ever."""
    s.sendall(head(200))
    while not NEVER.wait(0.05):
        s.sendall(b"x")


def test_a_slow_drip_ends_at_the_total_deadline(tmp_path):
    """CB-07"""
    with Site({"/a": drip}) as site:
        code, said = refused(tmp_path, site.url("/a"), deadline_ms=4000, stall_ms=60_000)
    assert code == "timeout" and "DOWNLOAD_TIMEOUT" in said and "bytes had come" in said


def test_a_drip_ends_before_that_when_it_is_too_slow(tmp_path):
    with Site({"/a": drip}) as site:
        code, said = refused(tmp_path, site.url("/a"), deadline_ms=60_000, stall_ms=1000)
    assert code == "timeout" and "sent nearly nothing for 1 s" in said


@pytest.mark.parametrize("hang", [lambda s, _: s.recv(1), lambda s, _: (s.sendall(b"HTTP/1.1 200"), s.recv(1))])
def test_a_server_that_does_not_answer_ends_at_the_deadline(tmp_path, hang):
    with Site({"/a": hang}) as site:
        assert refused(tmp_path, site.url("/a"), deadline_ms=500)[0] == "timeout"


def test_the_deadline_is_for_all_hops_together(tmp_path):
    def page(s, path):
        NEVER.wait(1)
        s.sendall(head(302, f"Location: /{int(path[1:]) + 1}"))

    with Site({"*": page}) as site:
        assert refused(tmp_path, site.url("/0"), deadline_ms=4000)[0] == "timeout"
    assert 1 < len(site.paths) <= 5


# ---- redirects ----

def test_a_redirect_loop_is_given_up(tmp_path):
    with Site({"*": lambda s, path: s.sendall(head(302, f"Location: {path}x"))}) as site:
        code, said = refused(tmp_path, site.url("/"))
    assert code == "limit" and said == "the server redirects more than 10 times" and len(site.paths) == 11


def test_an_endless_body_of_a_redirect_is_not_read(tmp_path):
    def page(s, _):
        s.sendall(head(302, "Location: /b"))
        while True:
            s.sendall(b"x" * 65536)

    with Site({"/a": page, "/b": body(b"b")}) as site:
        assert download(tmp_path, site.url("/a"))[2] == b"b"


@pytest.mark.parametrize("location", [
    "file:///etc/passwd", "ftp://ok.test/x", "gopher://ok.test/x", "dict://ok.test:11111/", "javascript:alert(1)",
    "data:text/plain,x", "scp://ok.test/x", "http://", "https://", "http://[", "http://a b/", "//", "x" * 9000])
def test_a_redirect_to_another_kind_of_place_is_refused(tmp_path, location):
    with Site({"/a": head(302, f"Location: {location}")}) as site:
        code, _ = refused(tmp_path, site.url("/a"))
    assert code in ("invalid", "not_found", "denied", "system") and "/etc/passwd" not in site.paths


def test_a_redirect_from_outside_to_this_machine_is_refused(tmp_path):
    """CB-06. A proxy of ours plays the world outside."""
    with Site({"/secret": body(b"TOP SECRET")}) as inside:
        targets = [inside.url("/secret", host) for host in ("127.0.0.1", "localhost", "0x7f.1", "[::ffff:127.0.0.1]")]
        targets += [f"http://{host}/latest/meta-data/" for host in METADATA]
        for target in targets:
            with Host(forwarder(head(302, f"Location: {target}"))) as proxy:
                code, said = refused(tmp_path, "http://public.example/a", allow_private=False,
                                     http_proxy=f"http://127.0.0.1:{proxy.port}")
            assert code == "denied" and "is not reached" in said and len(proxy.said) == 1
        assert not inside.said


def forwarder(answer):
    """An HTTP proxy that answers every request with this."""
    def talk(s, said):
        read_head(s, said)
        s.sendall(answer)
    return talk


# ---- addresses ----

@pytest.mark.parametrize("host", ODD)
def test_no_notation_of_this_machine_gets_through(tmp_path, host):
    """CB-06"""
    with Site({"*": body(b"TOP SECRET")}) as site:
        code, said = refused(tmp_path, f"http://{host}:{site.port}/", allow_private=False)
    assert code in ("denied", "invalid", "not_found") and not site.said, said


@pytest.mark.parametrize("host", METADATA)
def test_metadata_services_are_refused_even_where_private_hosts_are_allowed(tmp_path, host):
    code, said = refused(tmp_path, f"http://{host}/latest/meta-data/", allow_private=True)
    assert code == "denied" and "ALLOW_PRIVATE" not in said


@pytest.mark.parametrize("names", ["127.0.0.1 evil.test", "::1 evil.test", "10.1.2.3 evil.test", "169.254.169.254 evil.test",
                                   "0.0.0.0 evil.test", "::ffff:127.0.0.1 evil.test"])
def test_a_name_that_leads_inside_is_refused(tmp_path, names):
    """CB-06"""
    with Site({"*": body(b"TOP SECRET")}) as site:
        code, said = refused(tmp_path, f"http://evil.test:{site.port}/", names=names + "\n", allow_private=False)
    assert code == "denied" and said.startswith("the host 'evil.test' leads to a") and not site.said


def test_of_several_addresses_only_the_allowed_ones_are_tried(tmp_path):
    with Site({"*": body(b"x")}) as site:
        names = "169.254.1.1 two.test\n127.0.0.1 two.test\n"
        assert download(tmp_path, f"http://two.test:{site.port}/", names=names)[2] == b"x"


def test_a_name_server_cannot_change_its_mind_between_look_and_connection(tmp_path):
    """Whatever it says first, the address that is connected to is the one that is judged."""
    with NameServer(tmp_path, "127.0.0.1", "127.0.0.1") as dns, Site({"*": body(b"TOP SECRET")}) as site:
        code, said = refused(tmp_path, f"http://rebind.test:{site.port}/", names="", resolv=dns.resolv,
                             allow_private=False)
        assert code == "denied" and "leads to a loopback address" in said and not site.said
    # Behind a redirect, too, it is the address of this hop's own look-up that is judged.
    with NameServer(tmp_path, "127.0.0.1", "169.254.169.254") as dns, Site({"*": body(b"TOP SECRET")}) as other, \
            Site({"/a": head(302, f"Location: http://second.test:{other.port}/b")}) as site:
        code, said = refused(tmp_path, f"http://rebind.test:{site.port}/a", names="", resolv=dns.resolv)
        assert code == "denied" and "'second.test' leads to a link-local address" in said
        assert site.paths == ["/a"] and not other.said


def test_ipv6_is_spoken(tmp_path):
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("no IPv6 here")

    def serve():
        s, _ = listener.accept()
        with s:
            s.recv(65536)
            s.sendall(body(b"six"))

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with listener:
        assert download(tmp_path, f"http://[::1]:{listener.getsockname()[1]}/")[2] == b"six"
        thread.join()


# ---- lists of hosts ----

@pytest.mark.parametrize("host, code", [
    ("ok.test", None), ("OK.TEST", None), ("other.test", "denied"), ("ok.test.evil.test", "denied"),
    ("127.0.0.1", "denied"), ("2130706433", "denied"), ("[::1]", "denied"), ("localhost", "denied")])
def test_a_list_of_hosts_is_held_in_every_notation(tmp_path, host, code):
    with Site({"*": body(b"x")}) as site:
        order = {"hosts": f"ok.test:{site.port}", "names": HERE}
        if code is None:
            assert download(tmp_path, f"http://{host}:{site.port}/", **order)[2] == b"x"
        else:
            assert refused(tmp_path, f"http://{host}:{site.port}/", **order)[0] == code
            assert not site.said


def test_a_list_of_hosts_is_held_at_every_hop(tmp_path):
    with Site({"/a": lambda s, _: s.sendall(head(302, f"Location: http://other.test:{site.port}/b"))}) as site:
        code, said = refused(tmp_path, f"http://ok.test:{site.port}/a", names=HERE, hosts=f"ok.test:{site.port}")
    assert code == "denied" and "PTYCELL_FETCH_HOSTS does not allow the host 'other.test'" in said
    assert site.paths == ["/a"]


# ---- TLS and proxies ----

def test_a_certificate_of_a_known_authority_is_needed(tmp_path, authority):
    with authority.serve(answer_once) as host:
        url = f"https://ok.test:{host.port}/a"
        assert download(tmp_path, url, names=HERE, ca_file=str(authority.ca))[2] == b"hello"
        code, said = refused(tmp_path, url, names=HERE)
        assert code == "denied" and "no safe connection (TLS) to 'ok.test'" in said and "certificate" in said
        code, _ = refused(tmp_path, f"https://other.test:{host.port}/a", names=HERE, ca_file=str(authority.ca))
        assert code == "denied"


def test_https_that_is_none_is_an_error(tmp_path):
    with Host(lambda s, said: s.sendall(body(b"x"))) as host:
        assert "no safe connection (TLS)" in refused(tmp_path, f"https://127.0.0.1:{host.port}/")[1]


def test_the_persons_proxy_carries_what_is_not_excepted(tmp_path):
    with Site({"*": body(b"direct")}) as site, Host(forwarder(body(b"by proxy"))) as proxy:
        order = {"http_proxy": f"http://u:p@127.0.0.1:{proxy.port}", "names": HERE}
        url = f"http://ok.test:{site.port}/a"
        assert download(tmp_path, url, allow_private=False, **order)[2] == b"by proxy"
        assert proxy.said[0].startswith(f"GET {url} HTTP/1.1".encode()) and b"Proxy-Authorization: Basic" in proxy.said[0]
        for excepted in ("ok.test", ".test", "*", "a.example, ok.test"):
            assert download(tmp_path, url, no_proxy=excepted, **order)[2] == b"direct"
        assert download(tmp_path, site.url("/"), no_proxy="127.0.0.1", **order)[2] == b"direct"
        assert refused(tmp_path, url, allow_private=False, no_proxy="ok.test", **order)[0] == "denied"


@pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1", "localhost", *METADATA])
def test_an_address_is_judged_before_a_proxy_gets_it(tmp_path, host):
    with Host(forwarder(body(b"TOP SECRET"))) as proxy:
        code, _ = refused(tmp_path, f"http://{host}/a", allow_private=False, http_proxy=f"http://127.0.0.1:{proxy.port}")
        assert code == "denied" and not proxy.said


def test_a_proxy_of_the_environment_is_nothing_that_is_read_by_the_way(tmp_path):
    with Site({"*": body(b"direct")}) as site, open(tmp_path / "part", "w+b") as file:
        order = {"do": "download", "url": site.url("/"), "allow_private": True, "size_max": 100, "size_name": "x"}
        env = {"PATH": os.environ["PATH"], "http_proxy": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1",
               "HOME": str(tmp_path)}
        (tmp_path / ".netrc").write_text("default login me password SECRET")
        assert "result" in Fetch(order, file, env=env).end()[1]
        assert b"Authorization" not in site.said[0]


@pytest.mark.parametrize("url, said", [
    ("", "not a URL"), ("x", "must begin"), ("file:///etc/passwd", "must begin"), ("ftp://a/x", "must begin"),
    ("http://:80/", "not a URL"), ("http://a:99999/", "not a URL"), ("//a/x", "not a URL"),
    ("http://nowhere.invalid/", "is not known"), ("http://127.0.0.1:1/", "no connection")])
def test_a_link_that_is_none_is_said_to_be_none(tmp_path, url, said):
    sentence = refused(tmp_path, url)[1]
    assert said in sentence or "must begin" in sentence, sentence


# ---- confinement ----

def test_it_holds_little_and_may_do_little(tmp_path):
    begun = threading.Event()

    def page(s, _):
        s.sendall(head(200))
        begun.set()
        s.recv(1)

    with Site({"/a": page}) as site, open(tmp_path / "part", "w+b") as file:
        fetch = Fetch({"do": "download", "url": site.url("/a"), "allow_private": True, "size_max": 1, "size_name": "x"}, file)
        assert begun.wait(WAIT_S)
        status = (PROC / f"{fetch.process.pid}/status").read_text()
        assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status
        fetch.process.terminate()
        assert fetch.process.wait(WAIT_S) == -15


def test_an_order_that_is_none_is_refused(tmp_path):
    with open(tmp_path / "part", "w+b") as file:
        for order in ({"do": "format"}, {"do": "download", "url": 5}, {"do": "download", "deadline_ms": -1}):
            assert Fetch(order, file).end()[1]["error"]["code"] == "invalid"
    done = subprocess.run([str(BUILD / "ptycell-fetch")], input=b"{", stdout=subprocess.PIPE, check=False)
    assert done.returncode == 1 and b'"error"' in done.stdout


def test_the_file_it_gets_must_be_one(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    for name in ("folder", "fifo"):
        with Opened(tmp_path / name) as file:
            last = Fetch({"do": "download", "url": "http://a/", "size_max": 1, "size_name": "x"}, file).end()[1]
        assert last["error"]["message"] == "descriptor 3 is no file"


class Opened:
    """A descriptor of what open() refuses."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    def fileno(self):
        return self.fd
