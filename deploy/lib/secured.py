"""A broker with TLS, logins and an authorizer, beside the open listener that checks use.

Certificates are made by openssl for the run. Every listener is on loopback, and the authorizer is
on: the open listener's user (ANONYMOUS) is a superuser, all others have what `allow` gives them.
"""

import os
import socket
import struct
import subprocess

from cluster import Cluster, Failure, free_ports

PASSWORDS = {user: f"{user}-s3cret" for user in ("admin", "worker", "auditor", "operator")}
KEY_PASSWORD = "key-s3cret"
NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
# As the protocol numbers them.
RESOURCES = {"Topic": 2, "Group": 3, "TransactionalId": 5}
OPERATIONS = {"Read": 3, "Write": 4, "Create": 5, "Delete": 6, "Alter": 7, "Describe": 8,
              "DescribeConfigs": 10}


def openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise Failure(f"openssl {arguments[0]}: {done.stdout}")


class Authority:
    """A certificate authority in a folder, and what it signs; a day's validity is plenty."""

    def __init__(self, folder, name):
        self.folder = folder
        self.name = name
        self.certificate = folder / f"{name}.pem"
        self.key = folder / f"{name}.key"
        openssl("req", "-x509", *NEW_KEY, "-days", 2, "-subj", f"/CN={name}",
                "-keyout", self.key, "-out", self.certificate)

    def sign(self, name, days=1, password=None):
        """Paths of a key (PKCS 8), its certificate for 127.0.0.1, and both in one file."""
        key, request, certificate, both = (
            self.folder / f"{name}.{kind}" for kind in ("key", "csr", "crt", "both"))
        openssl("req", *NEW_KEY, "-subj", f"/CN={name}", "-keyout", key, "-out", request,
                "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key,
                "-CAcreateserial", "-days", days, "-copy_extensions", "copyall",
                "-out", certificate)
        both.write_text(key.read_text() + certificate.read_text())
        if password:
            openssl("pkcs8", "-topk8", "-in", key, "-out", f"{key}.locked", "-passout",
                    f"pass:{password}")
            key = f"{key}.locked"
        return key, certificate, both


class SecuredCluster(Cluster):
    """Listeners: PLAINTEXT for the check itself, PASSWORD (TLS, PLAIN and SCRAM), MUTUAL (TLS with
    client certificates), EXPIRED (TLS whose certificate has expired)."""

    def __init__(self, **properties):
        super().__init__(**properties)
        self.authority = Authority(self.folder, "authority")
        self.stranger = Authority(self.folder, "stranger")
        _, _, server = self.authority.sign("broker")
        _, _, expired = self.authority.sign("expired-broker", days=-1)
        base = free_ports(5)
        names = {"PLAINTEXT": "PLAINTEXT", "PASSWORD": "SASL_SSL", "MUTUAL": "SSL",
                 "EXPIRED": "SSL"}
        self.places = {name: f"127.0.0.1:{base + n}" for n, name in enumerate(names)}
        advertised = ",".join(f"{name}://{place}" for name, place in self.places.items())
        plain = "org.apache.kafka.common.security.plain.PlainLoginModule required"
        plain += ' username="admin" password="%s"' % PASSWORDS["admin"]
        plain += "".join(f' user_{user}="{word}"' for user, word in PASSWORDS.items())
        (self.folder / "kafka").mkdir()
        (self.folder / "kafka/ports").write_text(f"{base} {base + 4}\n")
        self.properties |= {
            "listeners": f"{advertised},CONTROLLER://127.0.0.1:{base + 4}",
            "advertised.listeners": advertised,
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT," + ",".join(
                f"{name}:{kind}" for name, kind in names.items()),
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
            "listener.name.password.plain.sasl.jaas.config": plain + ";",
            "listener.name.password.scram-sha-512.sasl.jaas.config":
                "org.apache.kafka.common.security.scram.ScramLoginModule required;",
            "ssl.keystore.type": "PEM", "ssl.keystore.location": server,
            "ssl.truststore.type": "PEM", "ssl.truststore.location": self.authority.certificate,
            "listener.name.mutual.ssl.client.auth": "required",
            "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/,DEFAULT",
            "listener.name.expired.ssl.keystore.location": expired,
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
        }

    def start_broker(self):
        word = PASSWORDS["worker"]
        os.environ["KAFKA_FORMAT_ARGS"] = f"--add-scram SCRAM-SHA-512=[name=worker,password={word}]"
        try:
            super().start_broker()
        finally:
            del os.environ["KAFKA_FORMAT_ARGS"]
        self.brokers = self.places["PLAINTEXT"]

    def login(self, user, mechanism="PLAIN", **others):
        """Settings of a client that logs in over TLS."""
        return {
            "kafka.bootstrap.servers": self.places["PASSWORD"],
            "kafka.security.protocol": "SASL_SSL",
            "kafka.ssl.ca.location": str(self.authority.certificate),
            "kafka.sasl.mechanism": mechanism, "kafka.sasl.username": user,
            "kafka.sasl.password": PASSWORDS[user], **others,
        }

    def certificate(self, key, certificate, **others):
        """Settings of a client that shows a certificate."""
        return {
            "kafka.bootstrap.servers": self.places["MUTUAL"], "kafka.security.protocol": "SSL",
            "kafka.ssl.ca.location": str(self.authority.certificate),
            "kafka.ssl.key.location": str(key),
            "kafka.ssl.certificate.location": str(certificate), **others,
        }

    def allow(self, user, operations, *resources, prefix=False):
        """Gives a user operations on resources, each as ("Topic", NAME).

        By the protocol itself (CreateAcls, version 1): Kafka's tool takes seconds for each.
        """
        def text(value):
            return struct.pack(">h", len(value)) + value.encode()

        entries = [
            struct.pack(">b", RESOURCES[kind]) + text(name) + struct.pack(">b", 4 if prefix else 3)
            + text(f"User:{user}") + text("*") + struct.pack(">bb", OPERATIONS[operation], 3)
            for kind, name in resources for operation in operations
        ]
        request = struct.pack(">hhi", 30, 1, 1) + text("check") + struct.pack(">i", len(entries))
        request += b"".join(entries)
        host, port = self.brokers.split(":")
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            stream = connection.makefile("rb")
            answer = stream.read(struct.unpack(">i", stream.read(4))[0])
        # A correlation id, a throttle time, a count; then a code and a sentence for each entry.
        at, count = 12, struct.unpack(">i", answer[8:12])[0]
        for _ in range(count):
            code, length = struct.unpack(">hh", answer[at:at + 4])
            if code != 0:
                raise Failure(f"CreateAcls: error {code} {answer[at + 4:at + 4 + length]}")
            at += 4 + max(length, 0)
        if count != len(entries):
            raise Failure(f"CreateAcls: {count} answers to {len(entries)} entries")
