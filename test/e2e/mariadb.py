# SPDX-License-Identifier: MIT
"""A MariaDB server of the tests' own: as an ordinary user, on a socket in a folder, no port."""
import glob
import os
import pathlib
import pwd
import shutil
import subprocess
import tempfile

from client import WAIT_S
from patience import until

DRIVERS = glob.glob("/usr/lib/*/odbc/libmaodbc.so")
PASSWORD = "pa;ss}wo{rd=1"
SERVER = "/usr/sbin/mariadbd"


def check():
    if not os.path.exists(SERVER) or not DRIVERS:
        import pytest
        pytest.skip("no MariaDB or no driver for it (apt install mariadb-server odbc-mariadb)")


class MariaDB:
    """Running; `folder` holds everything. It refuses to run as root: then nobody runs it."""

    def __init__(self):
        check()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="my-", dir="/tmp"))
        self.socket = str(self.folder / "socket")
        self.user = pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else None
        if self.user is not None:
            os.chown(self.folder, self.user, -1)
        (self.folder / "first.sql").write_text(
            f"FLUSH PRIVILEGES;\nCREATE DATABASE shop CHARACTER SET utf8mb4;\nCREATE USER boss@localhost IDENTIFIED BY '{PASSWORD}';\n"
            "GRANT ALL ON *.* TO boss@localhost WITH GRANT OPTION;\n", encoding="utf-8")
        (self.folder / "first.sql").chmod(0o644)
        (self.folder / "login").write_text(f"[client]\nuser=boss\npassword=\"{PASSWORD}\"\nsocket={self.socket}\n",
                                           encoding="utf-8")
        (self.folder / "login").chmod(0o644)
        self.run(["mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data", "--auth-root-authentication-method=normal",
                  "--skip-test-db", f"--extra-file={self.folder}/first.sql"])
        self.process = None
        self.start()

    def who(self):
        return {"user": self.user, "group": os.getgid(), "extra_groups": []} if self.user is not None else {}

    def run(self, command, **options):
        done = subprocess.run(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                              timeout=WAIT_S, check=False, **{"stdin": subprocess.DEVNULL, **self.who(), **options})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [SERVER, "--no-defaults", f"--datadir={self.folder}/data", f"--socket={self.socket}", "--skip-networking",
                 f"--pid-file={self.folder}/pid", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M",
                 "--character-set-server=utf8mb4", "--secure-file-priv="],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self.who())
        until(self.answers)

    def answers(self):
        assert self.process.poll() is None, (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        return subprocess.run(self.client("-e", "SELECT 1"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0

    def client(self, *arguments):
        return ["mariadb", f"--defaults-file={self.folder}/login", "--default-character-set=utf8mb4", "-D", "shop", *arguments]

    def ask(self, script):
        """As batches of mariadb have it: a line a row, tabs between values, without names."""
        return self.run(self.client("-N", "-B", "-e", script)).strip()

    def environment(self):
        return {"AZURE_DATABASE_CONNECTION_STRING":
                f"Driver={{{DRIVERS[0]}}};Socket={self.socket};Database=shop;Uid=boss;Pwd={{your_password_here}}",
                "AZURE_DATABASE_PASSWORD": PASSWORD}

    def stop(self):
        self.process.terminate()
        self.process.wait(WAIT_S)

    def close(self):
        self.process.kill()
        self.process.wait(WAIT_S)
        shutil.rmtree(self.folder)
