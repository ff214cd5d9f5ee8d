# SPDX-License-Identifier: MIT
"""programs.py - servers with a thread for each connection: how each is started, and how its clients speak to it"""
import collections
import os
import pathlib
import shutil
import ssl
import subprocess

import clients

SPARE = 100  # descriptors and threads beside those of connections
SEARCHED = os.environ.get("PATH", "") + ":/usr/sbin"

# What a server needs to know to start: a folder of its own, a free port, the port of the echo server, and how many clients will come.
Start = collections.namedtuple("Start", "folder port origin many")


def tinyproxy(start):
    conf = start.folder / "conf"
    conf.write_text("Port %d\nListen 127.0.0.1\nTimeout 600\nMaxClients %d\nLogLevel Critical\n" % (start.port, start.many + SPARE))
    return ["-d", "-c", conf]


def stunnel(start):
    key, cert, conf = (start.folder / name for name in ("key", "cert", "conf"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "2",
                    "-keyout", key, "-out", cert], check=True, capture_output=True)
    conf.write_text("foreground = yes\npid =\nsyslog = no\ndebug = 3\ncert = %s\nkey = %s\n"
                    "[echo]\naccept = 127.0.0.1:%d\nconnect = 127.0.0.1:%d\n" % (cert, key, start.port, start.origin))
    return [conf]


APACHE = """\
ServerRoot {folder}
DefaultRuntimeDir {folder}
LoadModule mpm_worker_module /usr/lib/apache2/modules/mod_mpm_worker.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
ServerName localhost
Listen 127.0.0.1:{port}
PidFile pid
ErrorLog error
DocumentRoot files
<Directory />
	AllowOverride None
</Directory>
User #65534
Group #65534
StartServers 1
ServerLimit 1
ThreadsPerChild {threads}
ThreadLimit {threads}
MaxRequestWorkers {threads}
MaxKeepAliveRequests 0
KeepAliveTimeout 600
"""


def apache(start):
    (start.folder / "files").mkdir()
    start.folder.chmod(0o755)  # if this is root, apache2 serves as another user
    (start.folder / "files/file").write_bytes(clients.MESSAGE)
    conf = start.folder / "conf"
    conf.write_text(APACHE.format(folder=start.folder, port=start.port, threads=start.many + SPARE))
    return ["-X", "-f", conf]


def mariadb(start):
    (start.folder / "data").mkdir(mode=0o700)
    words = ["--no-defaults", "--datadir=%s" % (start.folder / "data"), "--socket=%s" % (start.folder / "socket"),
             "--pid-file=%s" % (start.folder / "pid"), "--skip-networking", "--skip-grant-tables", "--innodb-buffer-pool-size=16M",
             "--innodb-log-file-size=4M", "--max-connections=%d" % (start.many + SPARE), "--back-log=%d" % start.many]
    return [*words, "--user=root"] if os.geteuid() == 0 else words


def nbdkit(start):
    return ["--foreground", "--threads", "1", "--unix", start.folder / "socket", "pattern", "1M"]


def unverified():
    """TLS for clients of a server that has made its own certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class Program:
    """A server. A client takes this number of its descriptors, and it has some to spare."""

    def __init__(self, name, package, title, client, descriptors, words, tls=False, socket=None, spare=SPARE):
        self.name, self.package, self.title, self.client = name, package, title, client
        self.descriptors, self.words, self.tls, self.socket, self.spare = descriptors, words, tls, socket, spare

    def path(self):
        return shutil.which(self.name, path=SEARCHED)

    def missing(self):
        """The package that is missing, if any."""
        if not self.path():
            return self.package
        return "openssl" if self.tls and not shutil.which("openssl") else None

    def command(self, start):
        return [self.path(), *(str(word) for word in self.words(start))]

    def address(self, start):
        """Of its socket: a path or a pair."""
        return str(start.folder / self.socket) if self.socket else ("127.0.0.1", start.port)

    def connector(self, start, loop):
        """A function that makes a connection and returns its transport and client."""
        def make():
            return self.client(start.origin)

        if self.socket:
            return lambda: loop.create_unix_connection(make, self.address(start))
        context = unverified() if self.tls else None
        return lambda: loop.create_connection(make, *self.address(start), ssl=context)


PROGRAMS = [
    Program("tinyproxy", "tinyproxy-bin", "tunnels through tinyproxy", clients.Tunnel, 2, tinyproxy),
    Program("stunnel4", "stunnel4", "connections of TLS through stunnel4", clients.Messages, 2, stunnel, tls=True),
    Program("apache2", "apache2-bin", "connections to apache2 -X with mpm_worker", clients.File, 1, apache),
    Program("mariadbd", "mariadb-server-core", "connections to mariadbd", clients.Query, 1, mariadb, socket="socket",
            spare=1000),  # it keeps 810 from its clients for tables
    Program("nbdkit", "nbdkit", "connections to nbdkit", clients.Blocks, 1, nbdkit, socket="socket"),
]
