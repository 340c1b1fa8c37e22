# SPDX-License-Identifier: MIT
"""
A PostgreSQL server of the tests' own: as an ordinary user, on a socket in a folder, no port. It is the machine's, or one of
those that npm brings to test/postgres, whose packages hold no links and no client.
"""
import glob
import json
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

from client import WAIT_S

DRIVERS = glob.glob("/usr/lib/*/odbc/psqlodbcw.so")
PASSWORD = "pa;ss}wo{rd=1"


PACKAGES = {path.name[2:4]: path for path in
            sorted((pathlib.Path(__file__).parent.parent / "postgres" / "node_modules").glob("pg*-x64"))}


def programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not found or not DRIVERS:
        import pytest  # the benchmark goes without it
        pytest.skip("no PostgreSQL or no driver for it (apt install postgresql odbc-postgresql)")
    return pathlib.Path(found[-1]).parent


def unpack(package, folder):
    """Where its user can read it, with the links of its list."""
    shutil.copytree(package, folder)
    for link in json.loads((folder / "native" / "pg-symlinks.json").read_text(encoding="utf-8")):
        target = folder / link["target"]
        if not target.exists():
            target.symlink_to(os.path.relpath(folder / link["source"], target.parent))
    return folder / "native"


class Postgres:
    """Running; `folder` holds everything. PostgreSQL refuses to run as root: then nobody runs it."""

    def __init__(self, version=None):
        """`version`: one of PACKAGES in place of the machine's own."""
        version = version or os.environ.get("PTYCELL_TEST_POSTGRES")
        self.client = programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self.user = pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else None
        if self.user is not None:
            os.chown(self.folder, self.user, -1)
        self.native = unpack(PACKAGES[version], self.folder / "server") if version else None
        self.bin = self.native / "bin" if version else self.client
        (self.folder / "pw").write_text(PASSWORD, encoding="utf-8")
        (self.folder / "pw").chmod(0o644)
        self.run("initdb", "-D", "data", "-U", "boss", "-A", "scram-sha-256", "--pwfile=pw", "-E", "UTF8",
                 "--no-locale", "-N")
        self.start()

    def start(self):
        self.run("pg_ctl", "-D", "data", "-w", "-l", "log", "-o",
                 f"-k {self.folder} -c listen_addresses='' -c fsync=off", "start")

    def run(self, program, *arguments):
        user = {"user": self.user, "group": os.getgid(), "extra_groups": []} if self.user is not None else {}
        path = (self.client if program == "psql" else self.bin) / program
        done = subprocess.run([path, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=WAIT_S, check=False,
                              env={"PATH": "/usr/bin:/bin", "PGPASSWORD": PASSWORD, "PGCTLTIMEOUT": str(WAIT_S)}, **user)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def psql(self, script):
        return self.run("psql", "-h", str(self.folder), "-U", "boss", "-d", "postgres", "-X", "-A", "-t", "-c",
                        script).strip()

    def extensions(self):
        """The names of all that could be made."""
        share = self.native / "share" / "postgresql" if self.native else pathlib.Path("/usr/share/postgresql") / self.bin.parent.name
        return sorted(path.stem for path in share.glob("extension/*.control"))

    def environment(self):
        return {"AZURE_DATABASE_CONNECTION_STRING":
                f"Driver={{{DRIVERS[0]}}};Server={self.folder};Database=postgres;Uid=boss;Pwd={{your_password_here}}",
                "AZURE_DATABASE_PASSWORD": PASSWORD}

    def close(self):
        self.run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)
