"""A real broker and giftcombo processes, for checks that need them; all on loopback.

Everything that is started is stopped when the `Cluster` block ends, however it ends.
"""

import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
KAFKA = pathlib.Path(os.environ.get("GIFTCOMBO_KAFKA") or ROOT.parent / "shared" / "kafka")
CONFORMANCE = ROOT.parent / "shared" / "conformance"
SKIPPED = 77  # exit code of a check that could not run here


def program():
    """The built executable: $GIFTCOMBO, or the debug build."""
    return os.environ.get("GIFTCOMBO", str(ROOT / ".build/debug/giftcombo"))


def skip_without(*paths):
    for path in paths:
        if not path.exists():
            print(f"skipped: there is no {path}")
            sys.exit(SKIPPED)


STARTED = time.monotonic()


def say(text):
    """Prints a line; what doesn't belong to another one stands behind the seconds so far."""
    stamp = "" if text.startswith(" ") else f"{time.monotonic() - STARTED:5.1f} s  "
    print(stamp + text, flush=True)


def free_port():
    """A port of the loopback interface that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Failure(Exception):
    """A check that did not hold."""


def check(holds, text):
    if not holds:
        raise Failure(text)
    say(f"   holds: {text}")


def wait_until(what, holds, seconds=60, pause=0.1):
    """Waits until `holds()` is true; its value."""
    end = time.monotonic() + seconds
    while True:
        value = holds()
        if value:
            return value
        if time.monotonic() > end:
            raise Failure(f"waited {seconds} s in vain: {what}")
        time.sleep(pause)


def free_ports(count):
    """The first of so many consecutive ports that are free now."""
    while True:
        with contextlib.ExitStack() as stack:
            base = random.randrange(15_000, 30_000)
            try:
                for port in range(base, base + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return base


class Cluster:
    """A broker of its own in a temporary folder, and the processes that a check starts.

    The folder is removed at the end, unless `keeps_folder` says otherwise; after a failure the ends
    of the logs are printed before.
    """

    def __init__(self, nodes=1, has_controller=False, **properties):
        """`has_controller` gives the nodes a controller apart, which outlives them."""
        skip_without(KAFKA / "start")
        self.nodes = nodes
        self.has_controller = has_controller
        self.keeps_folder = False
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="giftcombo-check-"))
        self.properties = properties
        self.processes = []
        self.brokers = None

    def __enter__(self):
        try:
            if self.has_controller:
                self._start_controller()
            self.start_broker()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, value, trace):
        for process in self.processes:
            process.kill()
        self.stop_broker()
        if self.has_controller:
            self._stop_nodes("controller")
        if kind is not None and not self.keeps_folder:
            for process in self.processes:
                say(f"--- the end of {process.name}'s log")
                say("".join(process.log().splitlines(keepends=True)[-15:]))
            if kept := os.environ.get("CHECK_LOGS"):
                shutil.copytree(self.folder, kept, dirs_exist_ok=True)
        if not self.keeps_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def start_broker(self):
        """Starts the nodes that do not run; the log of an earlier start is kept beside the new."""
        for log in self.folder.glob("kafka/*/log"):
            if not (log.parent / "pid").exists():
                log.rename(log.with_name(f"log-{time.monotonic_ns()}"))
        self._start_nodes("kafka", "--nodes", self.nodes, **self.properties)
        self.brokers = (self.folder / "kafka/bootstrap").read_text().strip()

    def stop_broker(self, kill=False, node=None):
        """Stops all nodes, or the one of a number from 1."""
        self._stop_nodes("kafka", *(["--kill"] if kill else []),
                         *(["--node", str(node)] if node else []))

    def _start_controller(self):
        base = free_ports(4)
        voters = {"controller_quorum_voters": f"100@127.0.0.1:{base + 1}"}
        place = f"CONTROLLER://127.0.0.1:{base + 1}"
        self._start_nodes("controller", "--port", base, process_roles="controller", node_id=100,
                          listeners=place, advertised_listeners=place, **voters)
        self.properties |= {"process_roles": "broker", **voters,
                            "listeners": f"PLAINTEXT://127.0.0.1:{base + 2}",
                            "advertised_listeners": f"PLAINTEXT://127.0.0.1:{base + 2}"}
        (self.folder / "kafka").mkdir()
        (self.folder / "kafka/ports").write_text(f"{base + 2} {base + 3}\n")

    def _start_nodes(self, folder, *arguments, **properties):
        command = [KAFKA / "start", self.folder / folder, *map(str, arguments)]
        for name, value in properties.items():
            command += ["--set", f"{name.replace('_', '.')}={value}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def _stop_nodes(self, folder, *arguments):
        subprocess.run([KAFKA / "stop", self.folder / folder, *arguments], check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def broker_processes(self):
        """The process id of each node that runs."""
        return [int(path.read_text()) for path in sorted(self.folder.glob("kafka/*/pid"))]

    def broker_log(self):
        """What all nodes have logged since their first starts."""
        logs = sorted(self.folder.glob("kafka/*/log*"))
        return "".join(log.read_text(errors="replace") for log in logs)

    def environment(self, settings):
        """The environment that gives `settings` to a giftcombo process."""
        given = {"kafka.bootstrap.servers": self.brokers, **settings}
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GIFTCOMBO_")}
        return kept | {
            "GIFTCOMBO_" + key.replace("_", "__").replace(".", "_").upper(): str(value)
            for key, value in given.items()
        }

    def run(self, *arguments, status=0, **settings):
        """Runs a giftcombo command to its end; its standard output."""
        done = subprocess.run(
            [program(), *map(str, arguments)],
            env=self.environment({k.replace("_", "."): v for k, v in settings.items()}),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
        )
        if done.returncode != status:
            raise Failure(f"{' '.join(map(str, arguments))}: exit {done.returncode}: {done.stderr}")
        return done.stdout + (done.stderr if status else "")

    def worker(self, name, **settings):
        """Starts `giftcombo run` with instance.id `name` and a free admin port."""
        settings = {k.replace("_", "."): v for k, v in settings.items()}
        process = Process(self, name, {"admin.listen": "127.0.0.1:0", **settings})
        self.processes.append(process)
        return process

    def gifts(self, topic, *gifts, partition=0):
        """Writes gift events to one partition, each keyed by its user, with the present time."""
        text = "".join(f"{g['user_id']}\t{json.dumps(g)}\n" for g in gifts)
        subprocess.run(
            ["kcat", "-P", "-b", self.brokers, "-t", topic, "-p", str(partition), "-K", "\t",
             "-X", "acks=all", "-X", "message.max.bytes=2000000"],
            input=text, text=True, check=True,
        )

    def follow(self, topic):
        """Reads a topic from its beginning on while the check runs; a `Tail`."""
        tail = Tail(self, topic)
        self.processes.append(tail)
        return tail

    def cli(self, tool, *arguments):
        """Runs one of Kafka's own tools; its output."""
        done = subprocess.run(
            [KAFKA / "cli", tool, "--bootstrap-server", self.brokers, *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )
        if done.returncode != 0:
            raise Failure(f"{tool}: {done.stdout}")
        return done.stdout

    def read(self, topic):
        """The committed records of a topic: kcat's JSON envelopes, in each partition's order."""
        done = subprocess.run(
            ["kcat", "-C", "-b", self.brokers, "-t", topic, "-o", "beginning", "-e", "-q", "-J",
             "-X", "isolation.level=read_committed"],
            stdout=subprocess.PIPE, check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def committed(self, group):
        """The committed offset of each partition of a group."""
        offsets = {}
        shown = self.cli("consumer-groups", "--describe", "--group", group, "--offsets")
        for line in shown.splitlines():
            words = line.split()
            if len(words) > 4 and words[0] == group and words[3].isdigit():
                offsets[int(words[2])] = int(words[3])
        return offsets


class Tail:
    """The committed records of a topic as they come, each with the moment at which it was seen."""

    def __init__(self, cluster, topic):
        self.name = topic
        self.seen = []  # (epoch milliseconds, the command)
        self.child = subprocess.Popen(
            ["kcat", "-C", "-b", cluster.brokers, "-t", topic, "-o", "beginning", "-q", "-u",
             "-X", "isolation.level=read_committed", "-X", "fetch.wait.max.ms=10"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        threading.Thread(target=self._collect, daemon=True).start()

    def _collect(self):
        for line in self.child.stdout:
            self.seen.append((time.time() * 1000, json.loads(line)))

    def commands(self, **fields):
        """Those seen so far whose fields are as given."""
        return [c for _, c in list(self.seen) if fields.items() <= c.items()]

    def await_commands(self, number, seconds=30, **fields):
        return wait_until(
            f"{number} commands with {fields} in {self.name}",
            lambda: len(self.commands(**fields)) >= number and self.commands(**fields),
            seconds, 0.01,
        )

    def log(self):
        return "".join(f"{when:.0f} {command}\n" for when, command in self.seen)

    def kill(self):
        self.child.kill()
        self.child.wait()


class Process:
    """A running `giftcombo run`, or another command that serves an admin's endpoints."""

    def __init__(self, cluster, name, settings, command="run"):
        self.name = name
        self.log_path = cluster.folder / f"{name}-{time.monotonic_ns()}.log"
        with open(self.log_path, "wb") as log:
            self.child = subprocess.Popen(
                [program(), command], stdout=log, stderr=log,
                env=cluster.environment({"instance.id": name, **settings}),
            )

    def log(self):
        return self.log_path.read_text(errors="replace")

    def address(self):
        found = re.search(r" (?:admin|overlay)=(\S+:\d+)", self.log())
        return found and found[1]

    def get(self, path):
        """(status, body) of an admin endpoint; (None, reason) where nobody answers."""
        address = wait_until(f"{self.name} says its admin address", self.address)
        try:
            with urllib.request.urlopen(f"http://{address}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return None, str(error)

    def await_ready(self, seconds=60):
        wait_until(f"{self.name} is ready", lambda: self.get("/readyz")[0] == 200, seconds)

    def metric(self, name):
        """The sum of a metric's samples."""
        samples = re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", self.get("/metrics")[1], re.M)
        return sum(map(float, samples))

    def signal(self, number):
        self.child.send_signal(number)

    def stop(self, seconds=10):
        """SIGTERM; the seconds it took. The exit must be 0 within `seconds`."""
        start = time.monotonic()
        self.signal(signal.SIGTERM)
        status = self.wait(seconds)
        if status != 0:
            raise Failure(f"{self.name} exited {status} after SIGTERM")
        return time.monotonic() - start

    def wait(self, seconds=30):
        """The exit code."""
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} still runs after {seconds} s") from None

    def kill(self):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()


def main(scenario):
    """Runs a check's scenario as a program: exit 0, or 1 and what did not hold."""
    try:
        scenario()
    except Failure as failure:
        say(f"FAILED: {failure}")
        sys.exit(1)
