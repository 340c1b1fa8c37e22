# SPDX-License-Identifier: MIT
"""ptycell-fetch and storages that fail half-way: what is said agrees with what lies there (issue 23, T2 to T16)."""
import contextlib
import json
import os

import pytest
from between import WAYS, Between
from fetching import Fetch
from storages import S3, Azurite, Stored, get

KINDS = {"azure": Azurite, "s3": S3}
LARGE = 17 << 20  # bytes: in three parts
STEPS = {"azure": ["whole", "part", "finish"], "s3": ["whole", "begin", "part", "finish"]}
PASSING = ["reset", "half", "lost", "byte", "500"]  # after these another try must go well


@pytest.fixture(scope="module", params=list(KINDS))
def storage(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "first").touch()
    with KINDS[request.param](folder) as running:
        assert Stored(folder, running.order(), ["first"]).last == {"result": {"stored": 1}}  # the container is there
        yield running


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
         if (step, way) != ("begin", "byte")]


@pytest.mark.parametrize("storage, step, way", CASES, indirect=["storage"], ids=["-".join(case) for case in CASES])
def test_what_is_said_and_what_lies_there_agree(storage, content, tmp_path, step, way):
    name, whole = f"{step}-{way}.bin", content["small" if step == "whole" else "large"]
    (tmp_path / name).write_bytes(whole)
    with Between(storage.port, (step, way)) as between:
        stored = Stored(tmp_path, order_by(storage, between), [name])
    said = stored.files[name]
    assert lies_there(storage, name) == (whole if "url" in said else None), stored.text
    if way in PASSING and (step, way) != ("finish", "byte"):
        assert "url" in said, stored.text
    if way in ("login", "200"):
        assert "is a login page or a proxy in between?" in said["problem"]
