# SPDX-License-Identifier: MIT
"""ptycell-fetch alone: uploads to storages that really run, and what their links give."""
import hashlib
import os
import threading

import pytest
from client import WAIT_S
from fetching import Fetch, Site, failure, head
from patience import until
from proxies import openssl
from storages import CREATED, FULL, S3, Azurite, Stored, Trouble, azure_error, get

KINDS = {"azure": Azurite, "s3": S3}


@pytest.fixture(scope="module", params=list(KINDS))
def storage(request, tmp_path_factory):
    with KINDS[request.param](tmp_path_factory.mktemp(request.param)) as running:
        yield running


def write(folder, name, content=b"a,b\n1,2\n"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return name


@pytest.mark.account
def test_cb_27_a_file_comes_back_by_its_link_with_name_and_type(storage, tmp_path):
    name = write(tmp_path, "output/données 1.csv")
    stored = Stored(tmp_path, storage.order(), [name])
    status, headers, content = get(stored.url(name))
    assert (status, content) == (200, b"a,b\n1,2\n"), stored.text
    assert headers["Content-Type"] == "text/csv; charset=utf-8"
    assert headers["Content-Disposition"] == (
        "attachment; filename=\"donn__es 1.csv\"; filename*=UTF-8''donn%C3%A9es%201.csv")
    assert stored.last == {"result": {"stored": 1}}
    assert stored.files[name]["size"] == 8


def test_cb_24_cb_25_each_path_is_a_name_of_its_own(storage, tmp_path):
    names = [write(tmp_path, name, name.encode()) for name in
             ("a/p.png", "b/p.png", "with #hash?.txt", "100%.txt", "plus+and&.txt", "ünïcode/日本.txt",
              "semi;colon='x'.txt", "empty/../empty.txt")[:7]]
    stored = Stored(tmp_path, storage.order(), names)
    for name in names:
        assert get(stored.url(name))[2] == name.encode(), (name, stored.text)


@pytest.mark.account
def test_an_empty_file_is_a_file(storage, tmp_path):
    name = write(tmp_path, "empty.txt", b"")
    stored = Stored(tmp_path, storage.order(), [name])
    assert get(stored.url(name))[::2] == (200, b""), stored.text


def test_a_second_upload_replaces_the_first(storage, tmp_path):
    name = write(tmp_path, "x.txt", b"first")
    first = Stored(tmp_path, storage.order(), [name])
    write(tmp_path, name, b"second")
    Stored(tmp_path, storage.order(), [name])
    assert get(first.url(name))[2] == b"second"


@pytest.mark.account
def test_a_large_file_goes_in_parts_and_comes_back_identical(storage, tmp_path):
    size = (200 if FULL else 40) * 1000 * 1000 + 12345
    with open(tmp_path / "big.bin", "wb") as file:
        for _ in range(size // 1000000):
            file.write(os.urandom(1000000))
        file.write(os.urandom(size % 1000000))
    stored = Stored(tmp_path, storage.order(), ["big.bin"], deadline_ms=250_000, stall_ms=60_000)
    content = get(stored.url("big.bin"))[2]
    assert len(content) == size
    assert hashlib.sha256(content).digest() == hashlib.sha256((tmp_path / "big.bin").read_bytes()).digest()


def test_blocks_of_a_file_go_at_the_same_time(tmp_path):
    together = threading.Barrier(5)

    def take(s, path):
        if "comp=block&" in path:
            together.wait(WAIT_S)  # no word to go on before all five have asked
            s.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            left = 8 << 20
            while left and (got := s.recv(min(left, 1 << 20))):
                left -= len(got)
        s.sendall(CREATED)

    write(tmp_path, "big.bin", bytes(5 * (8 << 20)))
    with Site({"*": take}) as site:
        target = {"azure": {"connection": f"AccountName=acct;AccountKey=c2VjcmV0;BlobEndpoint={site.url('')}",
                            "container": "box"}}
        stored = Stored(tmp_path, target, ["big.bin"])
    assert stored.last == {"result": {"stored": 1}}, stored.text
    assert len(site.paths) == 6 and "comp=blocklist" in site.paths[-1]


def test_blocks_of_two_uploads_of_one_name_are_never_put_together(tmp_path):
    write(tmp_path, "big.bin", bytes(20 << 20))
    trouble = Trouble(CREATED)
    with trouble.site:
        for _ in range(2):
            assert Stored(tmp_path, trouble.order(), ["big.bin"]).last == {"result": {"stored": 1}}
    ids = [path.partition("blockid=")[2] for path in trouble.site.paths if "comp=block&" in path]
    assert len(ids) == len(set(ids)) == 6 and len({len(name) for name in ids}) == 1


@pytest.mark.account
def test_many_files_go_together(storage, tmp_path):
    names = [write(tmp_path, f"many/{i}.txt", str(i).encode()) for i in range(60)]
    stored = Stored(tmp_path, storage.order(), names)
    assert stored.last == {"result": {"stored": 60}}
    for name in names[::20]:
        assert get(stored.url(name))[2] == (tmp_path / name).read_bytes()


def test_one_failed_file_does_not_fail_the_others(storage, tmp_path):
    good = write(tmp_path, "good.txt", b"good")
    large = write(tmp_path, "large.txt", b"x" * 100)
    os.symlink("/etc/passwd", tmp_path / "link.txt")
    os.mkfifo(tmp_path / "fifo.txt")
    stored = Stored(tmp_path, storage.order(), [good, "missing.txt", "link.txt", "fifo.txt", large],
                    size_max=50)
    assert get(stored.url(good))[2] == b"good"
    assert stored.last == {"result": {"stored": 1}}
    for name in ("missing.txt", "link.txt", "fifo.txt"):
        assert "url" not in stored.files[name] and stored.files[name]["problem"]
    assert stored.files[large]["problem"] == "limit"


# ---- links ----

def test_an_expired_link_gives_nothing(storage, tmp_path):
    name = write(tmp_path, "x.txt", b"content")
    stored = Stored(tmp_path, storage.order(), [name], link_seconds=0)
    status, _, content = get(stored.url(name))
    assert status == 403 and b"content" != content


def test_a_link_that_expired_is_signed_anew_without_the_file(storage, tmp_path):
    name = write(tmp_path, "x.txt", b"content")
    stored = Stored(tmp_path, storage.order(), [name], link_seconds=1)
    until(lambda: get(stored.url(name))[0] == 403)
    order = {"do": "link", "link_seconds": 600, "files": [{"name": "s1/x.txt"}], **storage.order()}
    with open(os.devnull, "rb") as nothing:
        (said,), last = Fetch(order, nothing).end()
    assert last == {"result": {}} and said["url"] != stored.url(name)
    assert get(said["url"])[::2] == (200, b"content")
    assert said["expires"] > stored.files[name]["expires"]


@pytest.mark.parametrize("part", ["signature", "time", "name"])
def test_a_tampered_link_gives_nothing(storage, tmp_path, part):
    name = write(tmp_path, "x.txt", b"content")
    other = write(tmp_path, "y.txt", b"content")
    url = Stored(tmp_path, storage.order(), [name, other]).url(name)
    if part == "signature":
        last = url.rstrip("%3D")[-1]
        stem = url[:url.rindex(last)]
        changed = stem + ("A" if last != "A" else "B") + url[len(stem) + 1:]
    elif part == "time":
        changed = url.replace("se=20", "se=21").replace("X-Amz-Expires=600", "X-Amz-Expires=6000")
    else:
        changed = url.replace("/x.txt", "/y.txt")
    assert changed != url and get(url)[0] == 200
    assert get(changed)[0] == 403


@pytest.fixture(scope="module")
def safe(tmp_path_factory):
    """(Azurite with TLS, the certificate that vouches for it)"""
    folder = tmp_path_factory.mktemp("safe")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
            "-subj", "/CN=storage", "-addext", "subjectAltName=IP:127.0.0.1")
    with Azurite(folder, (certificate, key)) as running:
        yield running, certificate


@pytest.mark.account
def test_a_link_to_a_safe_storage_is_good_over_tls_only(safe, tmp_path):
    storage, certificate = safe
    name = write(tmp_path, "x.txt", b"content")
    url = Stored(tmp_path, storage.order(), [name], ca_file=str(certificate)).url(name)
    assert url.startswith("https://") and "&spr=https&" in url
    assert get(url, certificate)[2] == b"content"


@pytest.mark.account
def test_a_storage_that_nobody_vouches_for_gets_nothing(safe, tmp_path):
    name = write(tmp_path, "x.txt", b"content")
    stored = Stored(tmp_path, safe[0].order(), [name])
    assert "no safe connection (TLS)" in stored.files[name]["problem"]


# ---- refusals ----

def test_a_wrong_key_is_told_without_the_key(storage, tmp_path):
    names = [write(tmp_path, f"{i}.txt") for i in range(20)]
    wrong = {"key": "c2VjcmV0"} if isinstance(storage, Azurite) else {"secret": "c2VjcmV0"}
    stored = Stored(tmp_path, storage.order(**wrong), names)
    assert stored.last == {"result": {"stored": 0}}
    for name in names:
        assert "the storage refuses it (403 " in stored.files[name]["problem"]
        assert "clock" in stored.files[name]["problem"]
    assert "c2VjcmV0" not in stored.text


def test_a_container_is_made_and_a_bucket_is_not(storage, tmp_path):
    name = write(tmp_path, "x.txt", b"content")
    stored = Stored(tmp_path, storage.order("not-there-yet"), [name])
    if isinstance(storage, Azurite):
        assert get(stored.url(name))[2] == b"content"
    else:
        assert "the bucket of PTYCELL_S3_BUCKET does not exist" in stored.files[name]["problem"]


def test_an_order_that_is_none_is_refused(storage, tmp_path):
    assert failure(Stored(tmp_path, {"azure": {"connection": "AccountKey=c2VjcmV0", "container": "box"}},
                          []).last) == (
        "invalid", "AZURE_BLOB_CONNECTION_STRING: it has neither AccountName nor BlobEndpoint")
    assert failure(Stored(tmp_path, {}, []).last) == ("invalid", "the request has no storage")


# ---- trouble ----

@pytest.mark.parametrize("first", [
    azure_error(503, "ServerBusy"), azure_error(500, "InternalError"), azure_error(429, "Slow", "Retry-After: 1"),
    head(408, "Content-Length: 0"), None], ids=["503", "500", "429", "408", "closed"])
def test_what_may_pass_is_tried_again(tmp_path, first):
    name = write(tmp_path, "x.txt")
    trouble = Trouble(first, first, CREATED)
    with trouble.site:
        stored = Stored(tmp_path, trouble.order(), [name])
    assert stored.last == {"result": {"stored": 1}}, stored.text
    assert len(trouble.site.paths) == 3


def test_who_is_asked_to_wait_longer_than_there_is_time_does_not_ask_before(tmp_path):
    names = [write(tmp_path, f"{i}.txt") for i in range(2)]
    trouble = Trouble(azure_error(503, "ServerBusy", "Retry-After: 3600"))
    with trouble.site:
        stored = Stored(tmp_path, trouble.order(), names)
    assert [stored.files[name]["problem"] for name in names] == ["the storage answered 503 ServerBusy"] * 2
    assert len(trouble.site.paths) <= 2


def test_a_refusal_of_one_file_is_not_one_of_the_others(tmp_path):
    names = [write(tmp_path, f"{i}.txt") for i in range(20)]
    refused = lambda s, _: s.sendall(azure_error(403, "BlobOverwriteNotAllowed"))  # noqa: E731
    with Site({"/box/s1/3.txt": refused, "*": CREATED}) as site:
        target = {"azure": {"connection": f"AccountName=acct;AccountKey=c2VjcmV0;BlobEndpoint={site.url('')}",
                            "container": "box"}}
        stored = Stored(tmp_path, target, names)
    assert stored.last == {"result": {"stored": 19}}, stored.text
    assert "(403 BlobOverwriteNotAllowed)" in stored.files["3.txt"]["problem"]


def test_what_was_under_way_when_the_key_was_refused_counts_as_it_ends(tmp_path):
    names = [write(tmp_path, f"{i}.txt") for i in range(2)]
    refused = threading.Event()

    def answer(s, path):
        if path.endswith("/1.txt"):
            s.sendall(azure_error(403, "AuthenticationFailed"))
            refused.set()
        else:
            assert refused.wait(WAIT_S)
            s.sendall(CREATED)

    with Site({"*": answer}) as site:
        target = {"azure": {"connection": f"AccountName=acct;AccountKey=c2VjcmV0;BlobEndpoint={site.url('')}",
                            "container": "box"}}
        stored = Stored(tmp_path, target, names)
    assert "url" in stored.files["0.txt"] and "403" in stored.files["1.txt"]["problem"]


def s3_error(status, code, *fields, more=""):
    content = f"<Error><Code>{code}</Code>{more}</Error>".encode()
    return head(status, *fields, f"Content-Length: {len(content)}") + content


@pytest.mark.parametrize("answer, said", [
    (s3_error(301, "PermanentRedirect", "x-amz-bucket-region: eu-west-1"), "in the region 'eu-west-1'"),
    (s3_error(400, "AuthorizationHeaderMalformed", more="<Region>eu-west-1</Region>"), "in the region 'eu-west-1'"),
    (s3_error(301, "PermanentRedirect"), "look at PTYCELL_S3_REGION"),
    (s3_error(403, "ExpiredToken"), "the key of PTYCELL_S3_SESSION_TOKEN is no longer good"),
    (s3_error(400, "ExpiredToken"), "the key of PTYCELL_S3_SESSION_TOKEN is no longer good"),
], ids=["301", "400", "no region", "403 token", "400 token"])
def test_the_setting_that_is_wrong_is_named(tmp_path, answer, said):
    names = [write(tmp_path, f"{i}.txt") for i in range(20)]
    trouble = Trouble(answer)
    with trouble.site:
        target = {"s3": {"bucket": "box", "endpoint": trouble.site.url(""), "key_id": "K", "secret": "c2VjcmV0"}}
        stored = Stored(tmp_path, target, names)
    assert all(said in told["problem"] for told in stored.files.values()), stored.text
    assert len(trouble.site.paths) < 20


def test_what_will_not_pass_is_not_tried_again(tmp_path):
    name = write(tmp_path, "x.txt")
    trouble = Trouble(azure_error(409, "BlobImmutableDueToPolicy"), CREATED)
    with trouble.site:
        stored = Stored(tmp_path, trouble.order(), [name])
    assert stored.files[name]["problem"] == "the storage answered 409 BlobImmutableDueToPolicy"
    assert len(trouble.site.paths) == 1


def test_what_a_server_says_is_no_more_than_a_word(tmp_path):
    name = write(tmp_path, "x.txt")
    body = b"<Error><Code>Bad\x1b[31m</Code><StringToSign>c2VjcmV0</StringToSign></Error>"
    trouble = Trouble(head(400, f"Content-Length: {len(body)}") + body)
    with trouble.site:
        stored = Stored(tmp_path, trouble.order(), [name])
    assert stored.files[name]["problem"] == "the storage answered 400 Bad"
    assert "c2VjcmV0" not in stored.text


def test_a_redirect_is_not_followed(tmp_path):
    name = write(tmp_path, "x.txt")
    with Site({"*": CREATED}) as other:
        trouble = Trouble(head(307, f"Location: {other.url('/')}", "Content-Length: 0"))
        with trouble.site:
            stored = Stored(tmp_path, trouble.order(), [name])
        assert other.paths == []
    assert stored.files[name]["problem"] == "the storage answered 307"


@pytest.mark.account
def test_a_storage_that_is_not_there_is_told_for_all_at_once(tmp_path):
    names = [write(tmp_path, f"{i}.txt") for i in range(50)]
    trouble = Trouble(CREATED)
    with trouble.site:
        order = trouble.order()
    stored = Stored(tmp_path, order, names, deadline_ms=3000)
    assert stored.last == {"result": {"stored": 0}}
    assert len(stored.files) == 50
    assert all("no connection to '127.0.0.1'" in f["problem"] for f in stored.files.values()), stored.text


def test_the_container_is_made_once_for_many_files(tmp_path):
    names = [write(tmp_path, f"{i}.txt") for i in range(8)]
    absent = azure_error(404, "ContainerNotFound")
    trouble = Trouble(*[absent] * 6, CREATED, container=CREATED)
    with trouble.site:
        stored = Stored(tmp_path, trouble.order(), names)
    assert stored.last == {"result": {"stored": 8}}, stored.text
    assert [p for p in trouble.site.paths if "restype" in p] == ["/box?restype=container"]


def test_a_container_that_may_not_be_made_is_told(tmp_path):
    names = [write(tmp_path, f"{i}.txt") for i in range(8)]
    trouble = Trouble(azure_error(404, "ContainerNotFound"), azure_error(403, "AuthorizationFailure"))
    with trouble.site:
        stored = Stored(tmp_path, trouble.order(), names[:1])
    assert stored.files["0.txt"]["problem"].startswith("making the container: the storage refuses it (403 Au")


def test_only_a_sas_uploads_and_makes_no_link(tmp_path):
    name = write(tmp_path, "x.txt")
    trouble = Trouble(CREATED)
    order = {"azure": {"connection": f"BlobEndpoint={trouble.site.url('/acct')};SharedAccessSignature=sv=1&sig=c2Vj",
                       "container": "box"}}
    with trouble.site:
        stored = Stored(tmp_path, order, [name])
    assert trouble.site.paths == ["/acct/box/s1/x.txt?sv=1&sig=c2Vj"]
    assert "no AccountKey" in stored.files[name]["no_link"] and "url" not in stored.files[name]
    assert "c2Vj" not in stored.text
