# SPDX-License-Identifier: MIT
"""ClickHouse servers of a test's own: ports and directories that nobody else uses, as the user that runs the test."""
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

SERVER = shutil.which("clickhouse-server")
START_SECONDS = 60

CONFIG = """<yandex>
  <logger><level>warning</level><log>{dir}/log</log><errorlog>{dir}/errors</errorlog></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>{http}</http_port><tcp_port>{tcp}</tcp_port><interserver_http_port>{other}</interserver_http_port>
  <path>{dir}/data/</path><tmp_path>{dir}/tmp/</tmp_path><user_files_path>{dir}/files/</user_files_path>
  <users_config>users.xml</users_config><default_profile>default</default_profile>
  <default_database>default</default_database><mark_cache_size>10000000</mark_cache_size><timezone>UTC</timezone>
  <remote_servers>{clusters}</remote_servers>
</yandex>
"""
USERS = """<yandex>
  <profiles><default/></profiles><quotas><default/></quotas>
  <users>
    <default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
    <writer><password>secret</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></writer>
  </users>
</yandex>
"""


def free_ports(number):
    sockets = [socket.socket() for _ in range(number)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Failed(Exception):
    """What a server answered to a statement."""


class Server:
    def __init__(self, directory, ports, clusters=""):
        self.dir = os.path.abspath(directory)
        self.http, self.tcp, other = ports
        self.process = None
        os.makedirs(self.dir)
        with open(self.dir + "/config.xml", "w", encoding="ascii") as file:
            file.write(CONFIG.format(dir=self.dir, http=self.http, tcp=self.tcp, other=other, clusters=clusters))
        with open(self.dir + "/users.xml", "w", encoding="ascii") as file:
            file.write(USERS)
        self.start()

    def start(self):
        with open(self.dir + "/output", "ab") as output:
            self.process = subprocess.Popen([SERVER, f"--config-file={self.dir}/config.xml"], stdout=output,
                                            stderr=output, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self.ask("SELECT 1")
                return
            except (OSError, Failed):
                if self.process.poll() is not None or time.monotonic() > deadline:
                    with open(self.dir + "/output", encoding="utf-8", errors="replace") as output:
                        raise Failed("clickhouse-server does not start: " + output.read()[-500:]) from None
                time.sleep(0.1)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def url(self, database):
        return f"http://127.0.0.1:{self.http}/{database}"

    def ask(self, sql):
        """The rows of the answer, as lists of strings."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/", sql.encode(), timeout=START_SECONDS) as answer:
                return [line.split("\t") for line in answer.read().decode().splitlines()]
        except urllib.error.HTTPError as error:
            raise Failed(error.read().decode()) from None


def cluster(directory, number):
    """Servers that know each other as the cluster "fleet", a shard each."""
    ports = free_ports(3 * number)
    ports = [ports[i:i + 3] for i in range(0, len(ports), 3)]
    shards = "".join(f"<shard><replica><host>127.0.0.1</host><port>{tcp}</port></replica></shard>"
                     for _, tcp, _ in ports)
    return [Server(f"{directory}/shard{i}", of, f"<fleet>{shards}</fleet>") for i, of in enumerate(ports)]
