#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packages.py [--python PYTHON] [WORD...]: asks pip and our installer for the same packages of the same index.

packages/index.txt has what the index has, packages/requests.txt the requests and the rule of each known
difference. Both resolve without installing. With words, only the requests that contain one of them.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
import indexes  # noqa: E402
import installer  # noqa: E402

AT_ONCE = 4
SKIPPED = 77
RULES = {
    "the-first-index-that-has-a-name": "a name comes from the first index that has it; pip takes the highest version of all",
}


class Requirements(indexes.Index):
    """An index whose links carry what a file's name does not: yanked, Requires-Python."""

    def __init__(self):
        super().__init__(told=True)
        self.more = {}

    def page_in_json(self, wanted):
        page = json.loads(super().page_in_json(wanted) or "{}")
        for row in page.get("files", []):
            row.update(self.more.get(row["filename"], {}))
        return json.dumps(page).encode() if page else None


def lines(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def fill(first, second):
    for line in lines(HERE / "packages/index.txt"):
        name, version, *words = line.split()
        needs, more = [], {}
        tag = "py3-none-any"
        for word in words:
            key, _, value = word.partition("=")
            if word == "yanked":
                more["yanked"] = True
            elif key == "python":
                more["requires-python"] = value
            elif key == "tag":
                tag = value
            elif key == "extra" and word.count("=") == 1:
                needs.append("\nProvides-Extra: " + value)
            elif word not in ("source", "second", "only-second"):
                needs.append("\nRequires-Dist: " + word.replace("~>", " >").replace(";", " ; "))
        file = made(name, version, needs, tag, "source" in words)
        for index in (*([] if "only-second" in words else [first]), *([second] if {"second", "only-second"} & {*words} else [])):
            index.add(*file)
            index.more[file[0]] = more


def made(name, version, needs, tag, source):
    plain = name.replace("-", "_").replace(".", "_")
    if source:
        return indexes.sdist(name, version, f"from setuptools import setup\nsetup(name={name!r}, version={version!r})\n")
    told = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}" + "".join(needs) + "\n"
    info = f"{plain}-{version}.dist-info"
    _, data = indexes.wheel(plain, version, extra=[(f"{info}/METADATA", told)])
    return f"{plain}-{version}-{tag}.whl", data


def hashed(word, index):
    """A requirement with its hash, right or wrong."""
    requirement, _, mark = word.partition("#")
    if not mark:
        return word
    name, _, version = requirement.partition("==")
    data = index.files[f"{name}-{version}-py3-none-any.whl"] if mark == "ok" else b""
    return f"{requirement} --hash=sha256:{hashlib.sha256(data).hexdigest()}"


def of_pip(python, words, urls):
    with tempfile.TemporaryDirectory() as folder:
        wanted = pathlib.Path(folder, "wanted.txt")
        limits = pathlib.Path(folder, "limits.txt")
        wanted.write_text("".join(word + "\n" for word in words if not word.startswith("--")))
        limits.write_text("".join(word.partition("=")[2] + "\n" for word in words if word.startswith("--constraint=")))
        more = [option for url in urls[1:] for option in ("--extra-index-url", url)]
        run = subprocess.run(
            [python, "-m", "pip", "--isolated", "install", "--quiet", "--no-cache-dir", "--dry-run", "--report", f"{folder}/report",
             "--only-binary", ":all:", "--break-system-packages", "--index-url", urls[0], *more, "-r", wanted, "-c", limits,
             *(word for word in words if word == "--pre")], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return None
        found = json.loads(pathlib.Path(folder, "report").read_text())["install"]
        return sorted("%s %s" % (row["metadata"]["name"], row["metadata"]["version"]) for row in found)


def of_ours(python, program, words, urls):
    with tempfile.TemporaryDirectory() as folder:
        reply = installer.step(program, folder, "resolve", words, python=python, indexes=urls)
        if not reply["ok"]:
            return None, reply["text"]
        return sorted("%s %s" % (row["name"], row["version"]) for row in reply["packages"]), ""


def compare(line, python, program, first, second):
    """(line, rule, what pip takes, what ours does, what ours says)"""
    text, _, rule = line.partition(" | ")
    words = text.split()
    urls = [first.url]
    if words[0] == "@second":
        words, urls = words[1:], [first.url, second.url]
    words = [hashed(word, first) for word in words]
    ours, said = of_ours(python, program, words, urls)
    return text, rule, of_pip(python, words, urls), ours, said


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--python", default="/usr/bin/python3")
    options.add_argument("words", nargs="*")
    given = options.parse_args()
    if subprocess.run([given.python, "-m", "pip", "--version"], capture_output=True, check=False).returncode != 0:
        print(f"no pip for {given.python} here")
        return SKIPPED
    first, second = Requirements(), Requirements()
    fill(first, second)
    rows = [line for line in lines(HERE / "packages/requests.txt") if not given.words or any(word in line for word in given.words)]
    count = collections.Counter()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        program = installer.pack(folder)
        for text, rule, pip, ours, said in pool.map(lambda line: compare(line, given.python, program, first, second), rows):
            kind = "same" if pip == ours and not rule else rule if rule in RULES and pip != ours else "differs"
            count[kind] += 1
            if kind == "differs":
                print(f"{text}\n  pip:  {pip or 'refuses'}\n  ours: {ours or 'refuses: ' + said}" + (f"\n  rule: {rule}" if rule else ""))
    for kind, number in count.items():
        print(f"{number:4} {kind}" + (f": {RULES[kind]}" if kind in RULES else ""))
    return 1 if count["differs"] or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
