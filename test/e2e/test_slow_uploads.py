# SPDX-License-Identifier: MIT
"""A large artifact goes to a storage in blocks and comes back. With PTYCELL_FULL=1 it has 200 MB."""
import hashlib
import re
import urllib.request

from client import WAIT_S, Server
from patience import until
from storages import FULL, Azurite, get

SIZE = (200 if FULL else 40) * 1000 * 1000 + 12345
BLOCK = 8 << 20
CODE = f"""
import hashlib, os
hashed, left = hashlib.sha256(), {SIZE}
with open('output/large.bin', 'wb') as f:
    while left:
        piece = os.urandom(min(left, 1 << 20))
        hashed.update(piece)
        left -= f.write(piece)
print(hashed.hexdigest())"""


def digest(url):
    hashed = hashlib.sha256()
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=WAIT_S) as answer:
        while piece := answer.read(1 << 20):
            hashed.update(piece)
    return hashed.hexdigest()


def test_a_large_artifact_goes_in_blocks_and_comes_back_identical(home):
    (home / "azurite").mkdir()
    with Azurite(home / "azurite") as azurite, Server(home, env=azurite.environment()) as server:
        told = server.cell(CODE).text.split()[0]

        def link():
            answer = server.call("list_artifacts", session_id="s", pattern="output/**")
            return answer.object["artifacts"][0].get("sas_url")

        url = until(link, every=0.1)
        assert digest(url) == told
        status, _, blocks = get(url + "&comp=blocklist&blocklisttype=committed")
        assert status == 200 and len(re.findall(b"<Block>", blocks)) == -(-SIZE // BLOCK)
