# SPDX-License-Identifier: MIT
"""A PostgreSQL server of the tests' own: as an ordinary user, on a socket in a folder, no port."""
import glob
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

from client import WAIT_S

DRIVERS = glob.glob("/usr/lib/*/odbc/psqlodbcw.so")
PASSWORD = "pa;ss}wo{rd=1"


def programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not found or not DRIVERS:
        import pytest  # the benchmark goes without it
        pytest.skip("no PostgreSQL or no driver for it (apt install postgresql odbc-postgresql)")
    return pathlib.Path(found[-1]).parent


class Postgres:
    """Running; `folder` holds everything. PostgreSQL refuses to run as root: then nobody runs it."""

    def __init__(self):
        self.bin = programs()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self.user = pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else None
        if self.user is not None:
            os.chown(self.folder, self.user, -1)
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
        done = subprocess.run([self.bin / program, *arguments], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, timeout=WAIT_S, check=False,
                              env={"PATH": "/usr/bin:/bin", "PGPASSWORD": PASSWORD, "PGCTLTIMEOUT": str(WAIT_S)}, **user)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def psql(self, script):
        return self.run("psql", "-h", str(self.folder), "-U", "boss", "-d", "postgres", "-X", "-A", "-t", "-c",
                        script).strip()

    def environment(self):
        return {"AZURE_DATABASE_CONNECTION_STRING":
                f"Driver={{{DRIVERS[0]}}};Server={self.folder};Database=postgres;Uid=boss;Pwd={{your_password_here}}",
                "AZURE_DATABASE_PASSWORD": PASSWORD}

    def close(self):
        self.run("pg_ctl", "-D", "data", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)
