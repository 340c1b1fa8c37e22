# SPDX-License-Identifier: MIT
"""An index of our own: the only one that pip asks, in front of the user's indexes.

It serves each name from the first index that has it, so that a package of a private index is never
taken from a public one of the same name. It alone knows passwords: a password goes to the scheme,
host and port of its index, and not on after a redirect. What an index answers instead of packages is
kept as a sentence (PROBLEMS), because pip takes every failure for "no such package".

pip only resolves here: it needs of a wheel what the wheel says of itself. Where the index has that
beside the wheel (PEP 658), pip gets a wheel with nothing else in it, and the file is downloaded later,
when all of them are judged. Other files come whole, and are kept for then (KEPT).
"""
import base64
import contextlib
import datetime
import hashlib
import html
import html.parser
import http.client
import http.server
import io
import json
import os
import re
import signal
import socket
import socketserver
import ssl
import threading
import urllib.parse
import zipfile

PROBLEMS = "problems.txt"
FRESH = "fresh.txt"  # a line for each page: for how many seconds it may be used again
JSON_TYPE = "application/vnd.pypi.simple.v1+json"
ACCEPTED = JSON_TYPE + ", application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
PAGES = "pages.txt"  # a line of JSON for each page: URL, digest_of(), ETag; "null" where more than pages counts
HELD_BACK = "held_back.txt"  # a line of JSON for each file that is younger than the policy wants
SERVED = "served.txt"  # a line of JSON for each name: the index that has it
KEPT = "kept"  # files that pip got whole, by their digest
UNTOLD_S = 0  # an answer without Cache-Control is asked for each time
FOLDER_S = 600  # a folder's content is part of the key by which a set is found
PAGE_MAX = 100 << 20
CHUNK = 1 << 18
REDIRECTS_MAX = 10
ANSWER_S = 60  # an index that fetches from another one first takes its time; the proxy bounds connecting
URL_CHARACTERS = "%!#$&'()*+,/:;=?@[]~"  # those that stay as they are, beside letters, digits and -._
LOCAL = ("localhost", "127.0.0.1", "::1")


class Problem(Exception):
    """A sentence that says what an index did."""


class EndedEarly(Problem):
    """The index ended its connection before all of an answer came."""

    def __init__(self, url):
        name = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])
        super().__init__("The index %s ended the connection twice before all of %s came. Try again later." % (place(url), name or "a page"))


def origin(url):
    parts = urllib.parse.urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def place(url):
    return "%s:%d" % origin(url)[1:]


def is_of_the_web(url):
    """Whether an index may lead there."""
    with contextlib.suppress(ValueError):  # its port or address is malformed
        return origin(url)[0] in ("http", "https") and bool(origin(url)[1])
    return False


def nearness(base, url):
    """How many characters of whole folders both paths begin with; of equal ones an index that has the page counts more."""
    paths = [urllib.parse.urlsplit(one).path for one in (base, url)]
    within = paths[1].startswith(paths[0])
    return os.path.commonprefix(paths).rfind("/"), within, len(base) if within else 0


def joined(url, target):
    """The address that a redirect of this URL leads to; "" if its target is no address."""
    with contextlib.suppress(ValueError):
        return urllib.parse.urljoin(url, target)
    return ""


def split_login(url):
    """The URL without user and password, and the header that says them, or None."""
    parts = urllib.parse.urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, None
    user, _, password = login.partition(":")
    text = "%s:%s" % (urllib.parse.unquote(user), urllib.parse.unquote(password))
    return (urllib.parse.urlunsplit((parts.scheme, host, *parts[2:])),
            "Basic " + base64.b64encode(text.encode()).decode())


def split_pattern(word):
    """"torch*@URL": the pattern for the names that this index is for, and the URL; "" for an index that is for all others."""
    found = re.match(r"([\w.-]+\*?)@(?=https?://)", word, re.I)
    return (found[1], word[found.end():]) if found else ("", word)


def reserves(pattern, name):
    """Whether the pattern means the name, which is in Python's normal form."""
    plain = re.sub(r"[-_.]+", "-", pattern.rstrip("*")).lower()
    return (name + "-").startswith(plain) if pattern.endswith("*") else name == plain


class Answer:
    """What an index answers, until the end of a block. Its connection is given back if all of it was read, or little is left."""

    def __init__(self, response, url, connection, give_back):
        self.response, self.url, self.connection, self.give_back = response, url, connection, give_back
        self.status, self.headers, self.reason, self.read = response.status, response.headers, response.reason, response.read

    @property
    def length(self):
        """The bytes that are still to come, or None."""
        return self.response.length

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError, http.client.HTTPException):
            if self.length is not None and self.length <= CHUNK:
                self.read()
        if self.response.isclosed() and not self.response.will_close:
            self.give_back(self.connection)
        else:
            self.connection.close()


class Upstreams:
    """The user's indexes, in their order. `trusted` are hosts whose certificate is not checked. `only`: of a name, the
    index that alone is asked for it. `kept`: a folder of files that came before, by their SHA-256."""

    def __init__(self, words, trusted, proxy, only=None, kept=None):
        patterns, urls = zip(*map(split_pattern, words)) if words else ((), ())
        split = [split_login(url) for url in urls]
        self.rows = [(pattern, url.rstrip("/") + "/") for pattern, (url, _) in zip(patterns, split)]
        self.logins = [(url.rstrip("/") + "/", login) for url, login in split if login is not None]
        self.kept, self.trusted, self.only, self.proxy = kept, trusted, only or {}, proxy and urllib.parse.urlsplit(proxy)
        self.contexts, self.idle, self.lock = {}, {}, threading.Lock()

    def of(self, name):
        """The indexes that are asked for this name: those that are for it, else those that are for all names."""
        reserved = [url for pattern, url in self.rows if pattern and reserves(pattern, name)]
        usual = [url for pattern, url in self.rows if not pattern]
        wanted = self.only.get(name)
        return reserved or ([wanted] if wanted in usual else usual)

    def is_first(self, base):
        return base in [url for pattern, url in self.rows if not pattern][:1]

    def trusts(self, url):
        _, host, port = origin(url)
        return host in self.trusted or "%s:%d" % (host, port) in self.trusted

    def login_of(self, url):
        """The login of the index that has the page, else of the nearest one there, as with pip: files may lie beside their index."""
        there = [(base, login) for base, login in self.logins if origin(base) == origin(url)]
        return max(there, key=lambda one: nearness(one[0], url))[1] if there else None

    def find_kept(self, row):
        """The path of a file that came before, or None."""
        algorithm, _, digest = row["hash"].partition("=")
        path = os.path.join(self.kept, digest.lower()) if self.kept and algorithm == "sha256" else ""
        return path if os.path.isfile(path) else None

    def open(self, url, accept="*/*", headers=None):
        """The answer, also one of a failure that the index reports; raises Problem."""
        for _ in range(REDIRECTS_MAX):
            answer = self.open_one(url, {"Accept": accept, **(headers or {})})
            if answer.status not in (301, 302, 303, 307, 308) or "Location" not in answer.headers:
                return answer
            with answer:
                url = joined(url, answer.headers["Location"])
            if not is_of_the_web(url):
                raise Problem("The index %s leads to an address that is not of the web." % place(answer.url))
        raise Problem("The index %s leads on more than %d times." % (place(url), REDIRECTS_MAX))

    def open_one(self, url, headers):
        """As open(), but of this address alone."""
        login = self.login_of(url)
        if origin(url)[0] == "http" and origin(url)[1] not in LOCAL and not self.trusts(url):
            raise Problem("The index %s is not https. The user can allow that: trusted-host in pip.conf, or "
                          "PIP_TRUSTED_HOST." % place(url))
        if login is not None and origin(url)[0] == "http" and origin(url)[1] not in LOCAL:
            raise Problem("The index %s is not https, and its password would be readable on the way. Use https, or no "
                          "password." % place(url))
        headers = {**headers, "User-Agent": "ptycell", **({"Authorization": login} if login is not None else {})}
        try:
            answer = self.send(url, headers)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Problem(unreached(url, error)) from None
        if answer.status >= 400 and "X-Ptycell-Verdict" in answer.headers:
            raise Problem(refused(answer.reason))
        return answer

    def send(self, url, headers):
        """Sends a request on a connection that is there, else on a new one."""
        with self.lock:
            connections = self.idle.get(origin(url))
            connection = connections.pop() if connections else None
        if connection is not None:
            try:
                return self.send_on(connection, url, headers)
            except (OSError, http.client.HTTPException):  # the index has ended it meanwhile
                connection.close()
        return self.send_on(self.connect(url), url, headers)

    def connect(self, url):
        scheme, host, port = origin(url)
        to = (self.proxy.hostname, self.proxy.port) if self.proxy else (host, port)
        if scheme == "http":
            return http.client.HTTPConnection(*to, timeout=ANSWER_S)
        connection = http.client.HTTPSConnection(*to, timeout=ANSWER_S, context=self.context(self.trusts(url)))
        if self.proxy:
            connection.set_tunnel(host, port)
        return connection

    def context(self, unchecked):
        """Made when it is needed: to read all authorities takes as long as a small package."""
        with self.lock:
            if unchecked not in self.contexts:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if unchecked else ssl.create_default_context(cafile=os.environ.get("REQUESTS_CA_BUNDLE"))
                if unchecked:
                    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                self.contexts[unchecked] = context
            return self.contexts[unchecked]

    def send_on(self, connection, url, headers):
        parts = urllib.parse.urlsplit(urllib.parse.quote(url.partition("#")[0], safe=URL_CHARACTERS))
        whole = self.proxy and parts.scheme == "http"
        target = parts.geturl() if whole else urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        connection.request("GET", target, headers={**headers, **({"Connection": "close"} if whole else {})})
        return Answer(connection.getresponse(), url, connection, lambda one: self.keep(url, one))

    def keep(self, url, connection):
        with self.lock:
            self.idle.setdefault(origin(url), []).append(connection)


def unreached(url, error):
    if isinstance(error, ssl.SSLCertVerificationError):
        return ("The certificate of the index %s is not trusted here (%s). The user can name its authority: cert in "
                "pip.conf, or PIP_CERT." % (place(url), error.verify_message))
    if isinstance(error, (TimeoutError, socket.timeout)):
        return "The index %s did not answer within %d s." % (place(url), ANSWER_S)
    if "ptycell: " in str(error):
        return refused(str(error))
    return "The index %s cannot be reached (%s)." % (place(url), error)


def refused(said):
    """What our proxy says: "403 Forbidden - ptycell: 'HOST:PORT' CLAUSE"."""
    found = re.search(r"ptycell: ('[^']*') ?([^;]*)", said)
    host, clause = found.groups() if found else ("it says", said)
    if "Forbidden" in said:
        return ("The index leads to %s, which the installer may not reach: hosts besides those of the indexes go into "
                "PTYCELL_INSTALL_HOSTS." % host)
    return "The index cannot be reached: %s %s" % (host, clause)


def failure(answer, known):
    """A sentence for a status that brings nothing; `known`: a password was sent."""
    status, where = answer.status, place(answer.url)
    if status == 401:
        return ("The index %s answers 401: it %s." % (where, (
            "does not take the user and password that are set for it" if known else
            "wants a user and a password. The user can set them: https://USER:PASSWORD@HOST/... in PTYCELL_PIP_INDEX")))
    if status == 403:
        return "The index %s answers 403: it does not let this user have that." % where
    if status == 404:
        return "The index %s answers 404: a file that it lists is not there." % where
    if status == 407:
        return "The proxy on the way to the index %s answers 407: it wants a user and a password (https_proxy)." % where
    if status == 429:
        wait = answer.headers.get("Retry-After", "")
        return ("The index %s answers 429: it was asked too often. Try again %s."
                % (where, "in %s s" % wait if wait.isdigit() else "later"))
    if status >= 500:
        return "The index %s answers %d: it has a problem of its own. Try again later." % (where, status)
    return "The index %s answers %d instead of packages." % (where, status)


# ---- pages ----


class Links(html.parser.HTMLParser):
    """The links of a page: attributes and text."""

    def __init__(self, url):
        super().__init__()
        self.base, self.links, self.inside = url, [], False

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag == "base" and attributes.get("href"):
            self.base = urllib.parse.urljoin(self.base, attributes["href"])
        elif tag == "a" and attributes.get("href"):
            self.links.append([attributes, ""])
            self.inside = True

    def handle_endtag(self, tag):
        self.inside = self.inside and tag != "a"

    def handle_data(self, data):
        if self.inside:
            self.links[-1][1] += data


def rows_of_html(text, url):
    """The files that a page lists: name, URL, attributes of PEP 503 and 658."""
    page = Links(url)
    page.feed(text)
    rows = []
    for attributes, name in page.links:
        whole, _, fragment = urllib.parse.urljoin(page.base, attributes["href"]).partition("#")
        rows.append({"file": name.strip() or urllib.parse.unquote(whole.rpartition("/")[2]), "url": whole, "hash": fragment,
                     "requires": attributes.get("data-requires-python"), "yanked": attributes["data-yanked"] or "" if "data-yanked" in attributes else None,
                     "metadata": attributes.get("data-core-metadata") or attributes.get("data-dist-info-metadata")})
    return rows


def rows_of_json(text, url):
    """The same of a page of PEP 691, with size and time of upload (PEP 700)."""
    rows = []
    for file in json.loads(text)["files"]:
        told = next((file[key] for key in ("core-metadata", "dist-info-metadata", "data-dist-info-metadata") if key in file), None)
        yanked = file.get("yanked", False)
        rows.append({"file": file["filename"], "url": urllib.parse.urljoin(url, file["url"]), "hash": hash_text(file["hashes"]),
                     "requires": file.get("requires-python"), "size": file.get("size"), "time": file.get("upload-time"),
                     "yanked": None if yanked is False else yanked if isinstance(yanked, str) else "",
                     "metadata": hash_text(told) or "true" if told else None})
    return rows


def hash_text(hashes):
    """"sha256=...", or what there is; "" for none."""
    if not isinstance(hashes, dict):
        return ""
    return next(("%s=%s" % (name, hashes[name]) for name in ("sha256", "sha512", "sha384", *hashes) if name in hashes), "")


def is_file_of_the_web(row):
    """Its name becomes that of a file here, and its URL is opened: no page may choose another place for either."""
    return re.fullmatch(r"[^\s/\\\0]+", row["file"]) is not None and is_of_the_web(row["url"])


def usable(row):
    """The row with what is known of its hashes, and of its size if that is a number."""
    metadata = row["metadata"] and (hash_in(row["metadata"]) or "true")
    size = row.get("size")
    return {**row, "hash": hash_in(row["hash"]), "metadata": metadata, "size": size if isinstance(size, int) else None}


def hash_in(text):
    """The first "ALGORITHM=DIGEST" of a fragment, or "": other parts are older than hashes, such as "egg=NAME"."""
    found = re.search(r"(?:^|&)((?:sha(?:224|256|384|512|1)|md5)=[0-9a-fA-F]+)(?:&|$)", text)
    return found[1] if found else ""


def page_of(rows, whole):
    """The page that pip reads. `whole`: it gets files as they are, so it may compare their hashes."""
    lines = []
    for row in rows:
        told = {"href": "../.." + local(row) + ("#" + row["hash"] if whole and row["hash"] else ""), "data-requires-python": row["requires"],
                "data-yanked": row["yanked"], "data-dist-info-metadata": row["metadata"] if whole else None}
        attributes = " ".join('%s="%s"' % (key, html.escape(value)) for key, value in told.items() if value is not None)
        lines.append("<a %s>%s</a><br>" % (attributes, html.escape(row["file"])))
    return "<!DOCTYPE html><html><body>%s</body></html>" % "\n".join(lines)


def local(row):
    """Where this server has a file, below its own path: what is known of it, and its name as the last part."""
    known = json.dumps({key: row[key] for key in ("url", "hash", "metadata", "size") if row.get(key)})
    return "/file/%s/%s" % (base64.urlsafe_b64encode(known.encode()).decode().rstrip("="), urllib.parse.quote(row["file"]))


def remote(path):
    """What local() wrote into a path, with "file"; pip appends ".metadata"."""
    key, name = urllib.parse.urlsplit(path).path.partition("/file/")[2].split("/", 1)
    row = json.loads(base64.urlsafe_b64decode(key + "=" * (-len(key) % 4)))
    return {"hash": "", "metadata": None, "size": None, **row, "file": urllib.parse.unquote(name)}


def age_s(row):
    """Seconds since its upload, or None: only PEP 700 tells."""
    try:
        then = datetime.datetime.fromisoformat(row["time"].replace("Z", "+00:00"))
        return (datetime.datetime.now(datetime.timezone.utc) - then).total_seconds()
    except (KeyError, AttributeError, TypeError, ValueError):
        return None


def seconds_fresh(headers):
    """What Cache-Control says; many indexes say nothing, which leaves it to us."""
    said = headers.get("Cache-Control", "").lower()
    if "no-store" in said or "no-cache" in said:
        return 0
    found = re.search(r"max-age=(\d+)", said)
    age = headers.get("Age", "0")
    return max(0, int(found[1]) - int(age if age.isdigit() else 0)) if found else UNTOLD_S


def note(path, line):
    with open(path, "a", encoding="utf-8") as f:
        f.write(line + "\n")


def notes(path):
    """The lines that were noted so far, each once, in order."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        return list(dict.fromkeys(f.read().splitlines()))


def digest_of(answer, body):
    """Returns a digest of what pip reads of a page. The body of a 404 does not count."""
    kept = [answer.status, answer.url, answer.headers.get_content_type()] if answer.status == 200 else [answer.status]
    return hashlib.sha256(json.dumps(kept).encode() + (body if answer.status == 200 else b"")).hexdigest()


def note_page(url, answer, body):
    note(PAGES, json.dumps([url, digest_of(answer, body), answer.headers.get("ETag", "") if answer.status == 200 else ""]))


def find_files(upstreams, name):
    """The rows of the first index that has this name, or None. An index that fails ends the search: another one may have a
    package of the same name that is none of the user's."""
    for base in upstreams.of(name):
        with upstreams.open("%s%s/" % (base, name), ACCEPTED) as answer:
            if answer.status in (404, 410):
                note_page("%s%s/" % (base, name), answer, read_whole(answer))
                continue
            if answer.status != 200:
                raise Problem(failure(answer, upstreams.login_of(answer.url) is not None))
            note(FRESH, str(seconds_fresh(answer.headers)))
            read = rows_of_json if answer.headers.get_content_type() == JSON_TYPE else rows_of_html
            body = read_whole(answer)
            note_page("%s%s/" % (base, name), answer, body)
            text = body.decode("utf-8", "replace")
            try:
                rows = [usable(row) for row in read(text, answer.url) if is_file_of_the_web(row)]
            except (ValueError, KeyError, TypeError):
                raise Problem("The index %s answers with something that is no list of files." % place(base)) from None
            if not rows:
                raise Problem("The index %s answers for %s with a page that lists no file. It may be a page for people, such "
                              "as a login." % (place(base), name))
            note(SERVED, json.dumps([name, upstreams.is_first(base), place(base)]))
            return rows
    return None


class Choice:
    """Which files of a page pip may choose from. `hashes`: of a name, those that were asked for. `age_s`: the policy's."""

    def __init__(self, hashes=None, minimum_age_s=0):
        self.hashes = hashes or {}
        self.minimum_age_s = minimum_age_s

    def of(self, name, rows):
        known = self.hashes.get(name)
        rows = [row for row in rows if known and row["hash"].replace("=", ":", 1).lower() in known] or rows  # pip's rule
        if not self.minimum_age_s:
            return rows
        young = [row for row in rows if (age_s(row) or 0) < self.minimum_age_s]
        for row in young:
            note(HELD_BACK, json.dumps([name, row["file"], age_s(row)]))
        return [row for row in rows if (age_s(row) or 0) >= self.minimum_age_s]


def thin_wheel(file, metadata):
    """A wheel that says of itself what the real one does, and has nothing else."""
    info = "-".join(file.split("-")[:2]) + ".dist-info/"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as wheel:
        wheel.writestr(info + "METADATA", metadata)
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        wheel.writestr(info + "RECORD", "")
    return out.getvalue()


def kept_path(row):
    return os.path.join(KEPT, hashlib.sha256(row["url"].encode()).hexdigest())


# ---- the server ----


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # pip asks on, on the same connection
    disable_nagle_algorithm = True  # a body would wait until pip has acknowledged its head

    def do_GET(self):
        """Answers pip only, which knows the word: other users of the machine may reach the port, and we know passwords."""
        _, word, kind = self.path.split("/")[:3] if self.path.count("/") > 1 else ("", "", "")
        if word != self.server.word:
            self.send_error(404)
            return
        try:
            if kind == "file":
                self.send_file(remote(self.path))
            else:
                self.send_page(urllib.parse.unquote(self.path.strip("/").rpartition("/")[2]))
        except Problem as problem:
            note(PROBLEMS, str(problem))
            self.send_error(403)  # pip repeats none of these

    def send_page(self, name):
        server = self.server
        rows = twice(lambda: find_files(server.upstreams, name))
        body = page_of(server.choice.of(name, rows), server.whole).encode() if rows else b""
        self.send_bytes(body, "text/html" if rows else "text/plain", 200 if rows else 404)

    def send_bytes(self, body, kind="application/octet-stream", status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_file(self, row):
        upstreams = self.server.upstreams
        if not row["hash"]:
            note(PAGES, "null")
        asks_metadata = row["file"].endswith(".metadata")
        is_thin = not self.server.whole and row["hash"]  # else pip finds the hash
        text = find_metadata(upstreams, row) if asks_metadata or is_thin else None
        if asks_metadata:
            self.send_bytes(text)
        elif text is not None:
            self.send_bytes(thin_wheel(row["file"], text))
        else:
            fetch_file(upstreams, row, kept_path(row), self.server.received)
            with open(kept_path(row), "rb") as f:
                self.send_bytes(f.read())

    def log_message(self, *_):
        pass


def find_metadata(upstreams, row):
    """What a wheel says of itself, or None: it is not kept, and the index has nothing beside it."""
    kept = kept_metadata(upstreams, row)
    return twice(lambda: fetch_metadata(upstreams, row)) if kept is None and row["metadata"] else kept


def fetch_metadata(upstreams, row):
    """What an index has beside the wheel; its hash is compared where it is known."""
    with upstreams.open(row["url"] + ".metadata") as answer:
        if answer.status != 200:
            raise Problem(failure(answer, upstreams.login_of(answer.url) is not None))
        text = read_whole(answer)
    if not has_hash(io.BytesIO(text), row["metadata"], True):
        raise Problem("The index %s has a description of %s with another hash than it says." % (place(row["url"]), row["file"]))
    return text


def kept_metadata(upstreams, row):
    """What a wheel that is kept says of itself, or None. The hash of that is compared, or that of the wheel: it may be damaged."""
    path = upstreams.find_kept(row)
    if path is None:
        return None
    try:
        with open(path, "rb") as f, zipfile.ZipFile(f) as wheel:
            [inside] = [name for name in wheel.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name)]
            text = wheel.read(inside)
            same = has_hash(io.BytesIO(text), row["metadata"], None)
            return text if same or (same is None and has_hash(f, row["hash"], False)) else None
    except Exception:  # each kind of compression has its own
        return None


def has_hash(file, known, otherwise):
    """Whether all of a file has the hash "ALGORITHM=DIGEST"; `otherwise` if none is known."""
    algorithm, _, digest = (known or "").partition("=")
    if not digest:
        return otherwise
    seen = hashlib.new(algorithm)
    file.seek(0)
    while chunk := file.read(CHUNK):
        seen.update(chunk)
    return seen.hexdigest() == digest.lower()


def copy_kept(upstreams, row, path):
    """Copies a file that is kept, and returns whether it is still the one with this hash."""
    kept = upstreams.find_kept(row)
    if kept is None:
        return False
    seen = hashlib.sha256()
    try:
        with open(kept, "rb") as f, open(path, "wb") as out:
            while chunk := f.read(CHUNK):
                out.write(chunk)
                seen.update(chunk)
    except OSError:  # such as one that was trimmed meanwhile
        return False
    return "sha256=" + seen.hexdigest() == row["hash"].lower()


def fetch_file(upstreams, row, path, received=None):
    """Takes a file that is kept, else downloads it and compares its hash. `received` is called with the row, the bytes of each part, and those of all if
    they are known."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not copy_kept(upstreams, row, path + ".part"):
        twice(lambda: fetch_part(upstreams, row, path + ".part", received))
    os.replace(path + ".part", path)


def fetch_part(upstreams, row, path, received):
    algorithm, _, digest = row["hash"].partition("=")
    seen = hashlib.new(algorithm) if digest else None
    with upstreams.open(row["url"]) as answer, open(path, "wb") as out:
        if answer.status != 200:
            raise Problem(failure(answer, upstreams.login_of(answer.url) is not None))
        total = answer.length
        try:
            for chunk in parts_of(answer):
                out.write(chunk)
                if seen:
                    seen.update(chunk)
                if received:
                    received(row, len(chunk), total)
            out.flush()
        except EndedEarly:
            if received:
                received(row, -out.tell(), total)
            raise
        except OSError as error:
            raise Problem("The file %s could not be written: %s." % (row["file"], error.strerror)) from None
    if seen and seen.hexdigest() != digest.lower():
        raise Problem("The index %s sent a file %s that has another hash than it says." % (place(row["url"]), row["file"]))


def parts_of(answer):
    """Yields the parts of a body; raises EndedEarly if a part of it does not come."""
    try:
        while chunk := answer.read(CHUNK):
            yield chunk
    except TimeoutError as error:
        raise Problem(unreached(answer.url, error)) from None
    except (OSError, http.client.HTTPException):
        raise EndedEarly(answer.url) from None
    if answer.length:  # else all of it came, or the index did not say how much it is
        raise EndedEarly(answer.url)


def read_whole(answer):
    """Returns the whole body of an answer."""
    text = bytearray()
    for chunk in parts_of(answer):
        text += chunk
        if len(text) > PAGE_MAX:
            raise Problem("The index %s answers with more than %d MB instead of a page." % (place(answer.url), PAGE_MAX >> 20))
    return bytes(text)


def twice(load):
    """Calls load() again if the index ended the connection early."""
    try:
        return load()
    except EndedEarly:
        return load()


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


class Index:
    """A process that serves at `url` until the end of the block. `whole`: files come as they are. `received`: as for
    fetch_file()."""

    def __init__(self, upstreams, choice, whole, received=None):
        self.upstreams, self.choice, self.whole, self.received = upstreams, choice, whole, received

    def __enter__(self):
        server = Server(("127.0.0.1", 0), Handler)
        server.upstreams, server.choice, server.whole, server.received = self.upstreams, self.choice, self.whole, self.received
        server.word = os.urandom(16).hex()
        self.url = "http://127.0.0.1:%d/%s/simple" % (server.server_address[1], server.word)
        self.child = os.fork()
        if self.child == 0:
            try:
                server.serve_forever()
            finally:
                os._exit(1)
        server.server_close()
        return self

    def __exit__(self, *_):
        os.kill(self.child, signal.SIGKILL)
        os.waitpid(self.child, 0)


def problems():
    return notes(PROBLEMS)


def fresh():
    """For how many seconds all pages together may be used again."""
    return min(map(int, notes(FRESH)), default=FOLDER_S)


def held_back():
    """Rows of name, file and age (None: not told) of what was too young."""
    return [json.loads(line) for line in notes(HELD_BACK)]


def served():
    """Of a name, whether the first index has it, and host and port of the one that has."""
    return {name: (first, where) for name, first, where in map(json.loads, notes(SERVED))}
