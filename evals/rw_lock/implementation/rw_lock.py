#!/usr/bin/env python3
"""A lock manager for reading and writing, and clients that use it, each a process, over TCP on this machine.

    rw_lock.py FOLDER [--seed N] [--rounds N] [--bug NAME]

The manager writes FOLDER/manager.log, a line of text for each step. A client's connection is its session: it expires when the
client has crashed. With --bug, the program has one of the BUGS.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import socket
import subprocess
import sys
import threading
import time

BUGS = {
    "reader_overtakes": "a reader is granted the lock although a writer came first",
    "writer_with_readers": "a writer is granted the lock while readers hold it",
    "withdrawn_stays": "the entry of a client that withdraws stays in the queue",
    "expired_holder_stays": "a client whose session expires stays among the holders",
    "last_reader_clears": "the release of one reader takes all readers out of the holders",
    "slow_client_expires": "the session of a client that is only slow expires",
}
CLIENTS = ["r1", "r2", "w1", "w2"]


def is_reader(client):
    return client.startswith("r")


class Manager:
    def __init__(self, folder, bug):
        self.bug, self.queue, self.holders, self.wires = bug, [], [], {}
        self.lock = threading.Lock()
        self.file = (folder / "manager.log").open("w")
        self.sessions = 0

    def log(self, event, client):
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="microseconds")
        queue, holders = json.dumps(self.queue), json.dumps(self.holders)
        self.file.write(f"{now} INFO  {event} {client} queue={queue} holders={holders}\n")
        self.file.flush()

    def can_grant(self, client):
        others = [holder for holder in self.holders if not is_reader(holder)]
        if self.bug == "writer_with_readers":
            return not others
        return not others if is_reader(client) else not self.holders

    def grant(self):
        """Grants as many requests as the holders allow."""
        while self.queue:
            candidates = self.queue[:1]
            if self.bug == "reader_overtakes":
                candidates = [client for client in self.queue if is_reader(client)] + candidates
            client = next((client for client in candidates if self.can_grant(client)), None)
            if client is None:
                return
            self.queue.remove(client)
            self.holders.append(client)
            self.log("granted", client)
            self.tell(client, "granted")

    def tell(self, client, word):
        try:
            self.wires[client].sendall((word + "\n").encode())
        except (OSError, KeyError):
            pass  # It has crashed; its session expires.

    def request(self, client):
        self.queue.append(client)
        self.log("requested", client)

    def withdraw(self, client):
        if client not in self.queue:
            return  # The grant came first.
        if self.bug != "withdrawn_stays":
            self.queue.remove(client)
        self.log("withdrawn", client)
        self.tell(client, "withdrawn")

    def release(self, client):
        if self.bug == "last_reader_clears" and is_reader(client):
            self.holders = []
        self.holders = [holder for holder in self.holders if holder != client]
        self.log("released", client)
        self.tell(client, "released")

    def expire(self, client):
        if client not in self.queue and client not in self.holders:
            return  # The crash of an idle client changes nothing.
        self.queue = [other for other in self.queue if other != client]
        if self.bug != "expired_holder_stays":
            self.holders = [holder for holder in self.holders if holder != client]
        self.log("expired", client)

    def serve(self, wire):
        client = None
        with wire, wire.makefile() as lines:
            try:
                for line in lines:
                    word, client = line.split()
                    with self.lock:
                        if word == "hello":
                            self.wires[client] = wire
                            continue
                        getattr(self, word)(client)
                        self.grant()
                    if self.bug == "slow_client_expires" and word == "request":
                        threading.Timer(0.12, self.give_up, [client]).start()
            except OSError:
                pass
        with self.lock:
            if client and self.wires.get(client) is wire:
                del self.wires[client]
                self.expire(client)
                self.grant()

    def give_up(self, client):
        with self.lock:
            if client in self.holders:
                self.expire(client)
                self.grant()

    def listen(self, listener):
        while True:
            wire, _ = listener.accept()
            threading.Thread(target=self.serve, args=[wire], daemon=True).start()


def use(arguments):
    """A client: asks for the lock, uses it, gives it back; sometimes it gives up, or crashes."""
    client = arguments.client
    rng = random.Random(f"{arguments.seed} {client} {arguments.life}")
    wire = socket.create_connection(("127.0.0.1", arguments.port))
    lines = wire.makefile()
    wire.sendall(f"hello {client}\n".encode())
    for _ in range(arguments.rounds):
        time.sleep(rng.random() * 0.03)
        wire.sendall(f"request {client}\n".encode())
        if rng.random() < 0.08:
            os._exit(9)
        # To give up while others hold the lock is more likely to come before the grant.
        if rng.random() < 0.4:
            time.sleep(rng.random() * 0.004)
            wire.sendall(f"withdraw {client}\n".encode())
        if lines.readline().strip() == "withdrawn":
            continue
        slow = arguments.bug == "slow_client_expires" and rng.random() < 0.5
        time.sleep(0.3 if slow else rng.random() * 0.03)
        if rng.random() < 0.15:
            os._exit(9)
        wire.sendall(f"release {client}\n".encode())
        while lines.readline().strip() not in ("released", ""):
            pass


def supervise(arguments):
    """Runs the manager and the clients, and starts each client again that crashes."""
    arguments.folder.mkdir(parents=True, exist_ok=True)
    manager = Manager(arguments.folder, arguments.bug)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=manager.listen, args=[listener], daemon=True).start()
    lives, running = dict.fromkeys(CLIENTS, 0), {}

    def start(client):
        lives[client] += 1
        command = [sys.executable, __file__, str(arguments.folder), "--client", client, "--life", str(lives[client]),
                   "--port", str(listener.getsockname()[1]), "--seed", str(arguments.seed), "--rounds",
                   str(arguments.rounds)]
        running[client] = subprocess.Popen(command + (["--bug", arguments.bug] if arguments.bug else []))

    for client in CLIENTS:
        start(client)
    # With some bugs nobody is granted the lock any more.
    deadline = time.time() + (4 if arguments.bug else 300)
    while running and time.time() < deadline:
        time.sleep(0.02)
        for client, process in list(running.items()):
            if process.poll() == 9 and client not in manager.wires and lives[client] < 4:
                start(client)
            elif process.poll() is not None:
                del running[client]
    for process in running.values():
        process.kill()
    if running and not arguments.bug:
        sys.exit("the clients did not end within 300 s")
    # Nothing more is logged: the clients have ended.
    manager.lock.acquire()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--bug", choices=sorted(BUGS))
    parser.add_argument("--client", help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--life", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    use(arguments) if arguments.client else supervise(arguments)


if __name__ == "__main__":
    main()
