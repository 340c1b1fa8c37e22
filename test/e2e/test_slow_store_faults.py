# SPDX-License-Identifier: MIT
"""ptycell-fetch and storages that fail half-way: what is said agrees with what lies there (issue 23, T2 to T16)."""
import concurrent.futures
import contextlib
import json
import os

import pytest
from between import WAYS, Between
from fetching import Fetch
from storages import S3, Azurite, Stored, by_curl, get

KINDS = {"azure": Azurite, "s3": S3}
LARGE = 17 << 20  # bytes: in three parts
STEPS = {"azure": ["container", "whole", "part", "finish"], "s3": ["whole", "begin", "part", "finish", "look", "abort"]}
LARGE_STEPS = ["begin", "part", "finish", "look", "abort"]
BEFORE = {"look": [("finish", "lost")], "abort": [("part", "404")]}  # what leads to such a request
# What another try, or another upload where nobody knows whether it is there, makes good.
PASSING = ["reset", "half", "slow", "lost", "byte", "500"]
STALL_MS = 5000


@pytest.fixture(scope="module")
def storages(tmp_path_factory):
    """A function of a kind that returns such a storage, started when it is first asked for."""
    running = {}

    def start(kind):
        folder = tmp_path_factory.mktemp(kind)
        (folder / "first").touch()
        running[kind] = stack.enter_context(KINDS[kind](folder))
        assert Stored(folder, running[kind].order(), ["first"]).last == {"result": {"stored": 1}}  # the container is there
        return running[kind]

    with contextlib.ExitStack() as stack:
        yield lambda kind: running.get(kind) or start(kind)


@pytest.fixture(params=list(KINDS))
def storage(request, storages):
    return storages(request.param)


@pytest.fixture(scope="module")
def content():
    return {"small": os.urandom(5000), "large": os.urandom(LARGE)}


def order_by(storage, between):
    """What to order of `storage` where `between` stands in front of it."""
    order = json.dumps(storage.order())
    return json.loads(order.replace(f":{storage.port}", f":{between.port}"))


def lies_there(storage, name):
    """What is at the name: its bytes, or None."""
    order = {"do": "link", "link_seconds": 600, "files": [{"name": f"s1/{name}"}], **storage.order()}
    with open(os.devnull, "rb") as nothing:
        (said,), _ = Fetch(order, nothing).end()
    status, _, content = get(said["url"])
    return content if status == 200 else None


@pytest.mark.parametrize("step", ["whole", "part"])
def test_a_file_that_changes_while_it_is_uploaded_is_never_a_mixture(storage, content, tmp_path, step):
    path = tmp_path / f"changed-{step}.bin"
    path.write_bytes(content["small" if step == "whole" else "large"])
    new = [path.read_bytes()[::-1]]

    def change(kind):
        with contextlib.suppress(IndexError):
            if kind == step:
                path.write_bytes(new.pop())

    last = new[0]
    with Between(storage.port, before=change) as between:
        stored = Stored(tmp_path, order_by(storage, between), [path.name])
    assert "url" in stored.files[path.name] and lies_there(storage, path.name) == last, stored.text


@pytest.mark.parametrize("step", ["whole", "part"])
def test_a_file_that_is_written_to_all_the_time_is_stored_whole_or_not(storage, content, tmp_path, step):
    path = tmp_path / f"busy-{step}.bin"
    path.write_bytes(content["small" if step == "whole" else "large"])
    told = []

    def change(kind):
        if kind == step:
            with open(path, "ab") as file:
                told.append(file.tell())
                file.write(b"more")

    with Between(storage.port, before=change) as between:
        said = Stored(tmp_path, order_by(storage, between), [path.name]).files[path.name]
    if step == "whole":
        assert lies_there(storage, path.name) == path.read_bytes()[:said["size"]] and said["size"] in told
    else:
        assert said["problem"] == "it is written to all the time" and lies_there(storage, path.name) is None


CASES = [(kind, step, way) for kind, steps in STEPS.items() for step in steps for way in WAYS
         if way != "byte" or step in ("whole", "part", "finish")]


class Case:
    """Two files that are uploaded while the first request of a kind is spoiled: one that needs this request, and one after it."""

    def __init__(self, storage, folder, content, step, way):
        self.storage, self.container = storage, "box"
        self.names = [f"{step}-{way}.bin", f"{step}-{way}-then.bin"]
        self.content = dict(zip(self.names, (content["large" if step in LARGE_STEPS else "small"], way.encode())))
        for name, whole in self.content.items():
            (folder / name).write_bytes(whole)
        if step == "container":
            self.container = f"box-{way.replace('_', '-')}"
        self.spoil = [*BEFORE.get(step, []), (step, way)]
        self.folder = folder

    def run(self, **order):
        """Uploads; what is said, what the container lists and what the links lead to agree."""
        with Between(self.storage.port, *self.spoil) as between:
            target = json.loads(json.dumps(self.storage.order(self.container)).replace(f":{self.storage.port}", f":{between.port}"))
            self.stored = Stored(self.folder, target, self.names, **order)
            assert not between.spoil, (between.spoil, between.kinds)
            self.told = {name for name, said in self.stored.files.items() if "url" in said}
            for name in self.told:
                assert by_curl(self.stored.url(name)) == (200, self.content[name])
        assert {f"s1/{name}" for name in self.told} == self.storage.listed(self.container) & {f"s1/{name}" for name in self.names}, self.stored.text
        return self


@pytest.mark.parametrize("storage, step, way", CASES, indirect=["storage"], ids=["-".join(case) for case in CASES])
def test_what_is_said_what_is_listed_and_what_links_lead_to_agree(storage, content, tmp_path, step, way):
    case = Case(storage, tmp_path, content, step, way).run()
    name, then = case.names
    if (way in PASSING or step == "look") and step != "abort" and (step, way) != ("finish", "byte"):
        assert case.told == {name, then}, case.stored.text
    if step == "abort":
        assert case.stored.files[name]["problem"] == "the storage answered 404" and then in case.told
    elif way in ("login", "200") and name not in case.told:
        assert "is a login page or a proxy in between?" in case.stored.files[name]["problem"]
    if (step, way) == ("container", "lost"):
        assert {"made": True} in case.stored.said
    if step == "abort" and way in PASSING:
        assert not storage.parts_left(f"s1/{name}")


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_answer_that_does_not_come_is_given_up_and_asked_for_again(storages, content, tmp_path, kind):
    storage, cases = storages(kind), []
    for step in STEPS[kind]:
        (tmp_path / step).mkdir()
        cases.append(Case(storage, tmp_path / step, content, step, "stall"))
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        done = list(pool.map(lambda case: case.run(stall_ms=STALL_MS), cases))
    for case, step in zip(done, STEPS[kind], strict=True):
        assert case.told == set(case.names[step == "abort":]), case.stored.text
