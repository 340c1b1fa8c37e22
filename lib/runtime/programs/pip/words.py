# SPDX-License-Identifier: MIT
"""The words of an installing command, the variables and the files that they name."""
import codecs
import io
import os
import re

from .common import ARCHIVES, NAMED, Refusal

FILES_DEEP = 8
BARE = {
    "-q", "-qq", "-qqq", "--quiet", "-v", "-vv", "-vvv", "--verbose", "--user", "--no-input", "-y", "--yes", "--no-color", "--system",
    "--break-system-packages", "--disable-pip-version-check", "--no-cache-dir", "--no-cache", "--no-warn-script-location",
    "--prefer-binary", "--isolated", "--require-virtualenv", "--require-hashes", "--no-compile", "--compile", "--no-clean",
    "--no-build-isolation", "--no-warn-conflicts",
}  # fmt: skip
VALUED = {"--progress-bar", "--timeout", "--default-timeout", "--retries", "--root-user-action", "--cache-dir", "--log",
          "--only-binary", "--exists-action", "--trusted-host", "--upgrade-strategy", "--use-feature", "--python", "--no-binary"}  # fmt: skip
WISHES = {"-U": "--upgrade", "--upgrade": "--upgrade", "--force-reinstall": "--upgrade", "-I": "--upgrade", "--ignore-installed": "--upgrade",
          "--reinstall": "--upgrade", "--pre": "--pre", "--prerelease=allow": "--pre", "--dry-run": "--dry-run"}  # fmt: skip
TARGETS = {"-t", "--target", "--prefix", "--root"}
PLACES = TARGETS | {"-f", "--find-links"}
EDITABLE = {"-e", "--editable"}
LISTS = {"-r", "--requirement", "--requirements", "-c", "--constraint", "--constraints"}
SOURCES = {"-i": "--index-url", "--index-url": "--index-url", "--default-index": "--index-url", "--extra-index-url": "--extra-index-url",
           "--index": "--extra-index-url"}  # fmt: skip
# pip's variables for what words say, too; the words count more.
VARIABLES = {"PIP_INDEX_URL": "--index-url", "PIP_EXTRA_INDEX_URL": "--extra-index-url", "PIP_CONSTRAINT": "-c", "PIP_REQUIREMENT": "-r",
             "PIP_FIND_LINKS": "--find-links", "PIP_NO_INDEX": "--no-index", "PIP_NO_DEPS": "--no-deps", "PIP_PRE": "--pre",
             "PIP_DRY_RUN": "--dry-run", "PIP_UPGRADE": "--upgrade", "PIP_UPGRADE_STRATEGY": "--upgrade-strategy", "PIP_NO_BINARY": "--no-binary"}  # fmt: skip
MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}  # as in files of Windows


class Wanted:
    """What the words of an installing command ask for."""

    def __init__(self):
        self.names, self.wishes, self.constraints, self.index, self.alone = [], [], [], None, False
        self.files = []  # paths, with `-e` before some
        self.ignored = []  # options that do not hold for what the server brings
        self.own = False  # pip alone is to do it, with what lies in the session


def is_file(word):
    plain = word.partition("[")[0]
    return (word.startswith((".", "/", "~", "file:")) or re.match(NAMED + "file:", word) is not None
            or (plain.lower().endswith((".whl", *ARCHIVES)) and "://" not in plain)
            or (os.sep in plain and os.path.isdir(plain)))


def words_of_variables():
    words = []
    for name, option in VARIABLES.items():
        values = os.environ.get(name, "").split()
        if option in WISHES or option in ("--no-deps", "--no-index"):
            words += [option] if " ".join(values).lower() in ("1", "true", "t", "yes", "y", "on") else []
        else:
            words += [word for value in values for word in (option, value)]
    return words


def read_words(words):
    wanted, words = Wanted(), list(words)
    while words:
        word, has_value, value = words.pop(0).partition("=") if words[0].startswith("--") else (words.pop(0), "", "")
        if word[:2] in ("-r", "-c", "-i", "-e") and len(word) > 2 and not word.startswith("--"):
            word, has_value, value = word[:2], "=", word[2:]
        if not has_value and words and word in VALUED | SOURCES.keys() | LISTS | PLACES | EDITABLE:
            value = words.pop(0)
        take_word(wanted, word, value)
    return wanted


def take_word(wanted, word, value):
    if word in WISHES or "%s=%s" % (word, value) in WISHES:
        wanted.wishes.append(WISHES.get(word, "--pre"))
    elif word in ("-r", "--requirement", "--requirements"):
        read_file(wanted, value, 0)
    elif word in ("-c", "--constraint", "--constraints"):
        constraints = Wanted()
        read_file(constraints, value, 0)
        wanted.constraints += constraints.names
    elif word in SOURCES:
        take_source(wanted, word, value)
    elif word in EDITABLE:
        wanted.files += ["-e", value]
    elif word in PLACES or word == "--no-index":
        wanted.own = True
    elif is_file(word):
        wanted.files.append(word)
    elif word == "--no-binary" or (word == "--upgrade-strategy" and value == "eager"):
        wanted.ignored.append("%s %s" % (word, value))
    elif word == "--no-deps":
        wanted.alone = True
    elif word not in BARE | VALUED:
        wanted.names.append(word if not value else "%s=%s" % (word, value))


def take_source(wanted, word, value):
    """The server uses an index if the user has set it; a login in its URL does not cross."""
    url = re.sub(r"^(https?://)[^/@]*@", r"\1", value)
    if not re.fullmatch(r"https?://\S+", url):
        raise Refusal("%s %s is no URL of an index; folders with wheels are the user's to set: PTYCELL_PIP_INDEX." % (word, value))
    if SOURCES[word] == "--index-url":
        wanted.index = url
    else:
        wanted.wishes.append("--extra-index-url=%s" % url)


def read_file(wanted, path, depth):
    """The lines of a requirements file, and of those that it names."""
    try:
        with open(os.path.expanduser(path), "rb") as file:
            data = file.read()
        marked = [encoding for mark, encoding in MARKS.items() if data.startswith(mark)]
        text = io.TextIOWrapper(io.BytesIO(data), encoding=(marked or ["utf-8"])[0]).read()  # also with ends of lines of Windows
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal("%s cannot be read: %s." % (path, getattr(error, "strerror", "it is no text in UTF-8"))) from None
    lines = text.replace("\\\n", " ").splitlines()
    for line in lines:
        line = re.sub(r"(^|\s)#.*$", "", line).strip()
        first, _, rest = line.partition(" ")
        option, _, value = first.partition("=") if first.startswith("--") else (first, "", "")
        if option in ("-r", "--requirement", "-c", "--constraint") and depth < FILES_DEEP:
            inner = wanted if "r" in option[:3] else Wanted()
            read_file(inner, os.path.join(os.path.dirname(path), (value or rest).strip()), depth + 1)
            if inner is not wanted:
                wanted.constraints += inner.names
        elif option in SOURCES:
            take_source(wanted, option, (value or rest).strip())
        elif option in WISHES:
            wanted.wishes.append(WISHES[option])
        elif option in EDITABLE:
            wanted.files += ["-e", (value or rest).strip()]
        elif line and is_file(line):
            wanted.files.append(line)
        elif option in PLACES or option == "--no-index":
            raise Refusal("%s has '%s': where packages come from is the user's to set (PTYCELL_PIP_INDEX)." % (path, line))
        elif line and option not in BARE | VALUED:
            wanted.names.append(line)
