# SPDX-License-Identifier: MIT
"""ptycell-fetch alone: what it says and leaves when it downloads."""
from fetching import Site, body, download


def test_a_file_comes_whole_with_its_name_type_and_source(tmp_path):
    data = bytes(range(256)) * 4000
    with Site({"/a/data.csv": body(data, "Content-Type: text/csv; charset=utf-8")}) as site:
        progress, last, got = download(tmp_path, site.url("/a/data.csv?sig=SECRET#x"))
    assert got == data
    assert progress[0] == {"head": {"name": "data.csv", "type": "text/csv", "total": len(data)}}
    assert last == {"result": {"size": len(data), "from": site.url("/a/data.csv")}}
