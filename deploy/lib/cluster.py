"""A real broker and giftcombo processes, for checks that need them; all on loopback.

Everything that is started is stopped when the `Cluster` block ends, however it ends.
"""

import json
import os
import pathlib
import re
import shutil
import signal
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


class Cluster:
    """A broker of its own in a temporary folder, and the processes that a check starts."""

    def __init__(self, **properties):
        skip_without(KAFKA / "start")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="giftcombo-check-"))
        self.properties = properties
        self.processes = []
        self.brokers = None

    def __enter__(self):
        try:
            self.start_broker()
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def __exit__(self, kind, value, trace):
        for process in self.processes:
            process.kill()
        self.stop_broker()
        if kind is not None:
            for process in self.processes:
                say(f"--- the end of {process.name}'s log")
                say("".join(process.log().splitlines(keepends=True)[-15:]))
            if kept := os.environ.get("CHECK_LOGS"):
                shutil.copytree(self.folder, kept, dirs_exist_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_broker(self):
        command = [KAFKA / "start", self.folder / "kafka"]
        for name, value in self.properties.items():
            command += ["--set", f"{name.replace('_', '.')}={value}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        self.brokers = (self.folder / "kafka/bootstrap").read_text().strip()

    def stop_broker(self, kill=False):
        command = [KAFKA / "stop", self.folder / "kafka"] + (["--kill"] if kill else [])
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

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
    """A running `giftcombo run`."""

    def __init__(self, cluster, name, settings):
        self.name = name
        self.log_path = cluster.folder / f"{name}-{time.monotonic_ns()}.log"
        with open(self.log_path, "wb") as log:
            self.child = subprocess.Popen(
                [program(), "run"], stdout=log, stderr=log,
                env=cluster.environment({"instance.id": name, **settings}),
            )

    def log(self):
        return self.log_path.read_text(errors="replace")

    def address(self):
        found = re.search(r" admin=(\S+:\d+)", self.log())
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
