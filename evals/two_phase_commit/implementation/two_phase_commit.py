#!/usr/bin/env python3
"""Atomic commitment by a coordinator and participants, each a process, over TCP on this machine.

    two_phase_commit.py FOLDER [--seed N] [--participants N] [--crashes N] [--bug NAME]

Each process writes what it does to FOLDER/NAME.log, a line of JSON for each step, with a vector clock. The file is also its
log in the sense of the protocol: a process reads it when it starts again. With --bug, the program has one of the BUGS.
"""

import argparse
import json
import os
import pathlib
import queue
import random
import socket
import subprocess
import sys
import threading
import time

BUGS = {
    "commit_without_all_votes": "the coordinator commits after the first vote \"yes\"",
    "announce_before_record": "the coordinator tells the decision before it records it",
    "recovery_ignores_log": "a coordinator that comes back records \"abort\", whatever it had decided",
    "vote_before_record": "a participant sends its vote before it records it",
    "abort_after_yes": "a participant that voted \"yes\" gives up waiting and aborts",
    "vote_again": "a participant that comes back votes \"no\", although it had voted \"yes\"",
}
COORDINATOR = "coordinator"
RETRY = 0.05


class Node:
    """A process with a log, a vector clock and a port for messages."""

    def __init__(self, folder, name, ports, rng):
        self.path = folder / f"{name}.log"
        self.name, self.ports, self.rng = name, ports, rng
        self.clock, self.records, self.inbox = {}, [], queue.Queue()
        if self.path.exists():
            # A crash may have cut off the last line.
            lines = self.path.read_text().split("\n")
            whole = lines[:-1]
            self.path.write_text("".join(line + "\n" for line in whole))
            self.records = [json.loads(line) for line in whole]
        if self.records:
            self.clock = dict(self.records[-1]["clock"])
        self.lock = threading.Lock()
        listener = socket.create_server(("127.0.0.1", ports[name]))
        threading.Thread(target=self.listen, args=(listener,), daemon=True).start()

    def listen(self, listener):
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile() as lines:
                for line in lines:
                    self.inbox.put(json.loads(line))

    def log(self, event, **fields):
        """Writes a step to the log. The disk has it when this returns."""
        with self.lock:
            self.clock[self.name] = self.clock.get(self.name, 0) + 1
            record = {"time": time.time(), "node": self.name, "event": event, **fields, "clock": dict(self.clock)}
            with self.path.open("a") as file:
                file.write(json.dumps(record) + "\n")
                file.flush()
                os.fsync(file.fileno())
            self.records.append(record)

    def send(self, to, **message):
        """Sends a message; it is lost if the receiver is down."""
        text = json.dumps({"from": self.name, "clock": self.clock, **message})
        try:
            with socket.create_connection(("127.0.0.1", self.ports[to]), timeout=1) as connection:
                connection.sendall((text + "\n").encode())
        except OSError:
            pass

    def receive(self, timeout):
        """The next message, or None. What the sender knew is known from here on."""
        try:
            message = self.inbox.get(timeout=timeout)
        except queue.Empty:
            return None
        with self.lock:
            for node, count in message["clock"].items():
                self.clock[node] = max(self.clock.get(node, 0), count)
        return message

    def recorded(self, *events):
        return [record for record in self.records if record["event"] in events]

    def may_crash(self, crashes):
        if crashes > 0 and self.rng.random() < 0.15:
            os._exit(9)


def coordinator(node, participants, bug, crashes):
    if node.records:
        known = [record["decision"] for record in node.recorded("decided", "recovered")]
        decision = known[-1] if known else "abort"
        if bug == "recovery_ignores_log":
            decision = "abort"
        node.log("recovered", decision=decision)
    else:
        node.log("asked")
        decision = decide(node, participants, bug, crashes)
    node.may_crash(crashes)
    node.log("announced", decision=decision)
    if bug == "announce_before_record" and not node.recorded("decided", "recovered"):
        node.log("decided", decision=decision)
    if bug == "recovery_ignores_log" and not node.recorded("recovered"):
        os._exit(9)
    done = set()
    while done != set(participants):
        for participant in participants:
            node.send(participant, decision=decision)
        message = node.receive(RETRY)
        node.may_crash(crashes)
        if message and message.get("done"):
            done.add(message["from"])


def decide(node, participants, bug, crashes):
    votes, limit = {}, time.time() + (0.4 if node.rng.random() < 0.2 else 5)
    while True:
        for participant in participants:
            if participant not in votes:
                node.send(participant, prepare=True)
        node.may_crash(crashes)
        message = node.receive(RETRY)
        if message and "vote" in message and message["from"] not in votes:
            votes[message["from"]] = message["vote"]
            node.log("vote_received", of=message["from"], vote=message["vote"])
        enough = len(votes) == len(participants)
        if bug == "commit_without_all_votes" and "yes" in votes.values():
            decision = "commit"
        elif enough and set(votes.values()) == {"yes"}:
            decision = "commit"
        elif "no" in votes.values() or time.time() > limit:
            decision = "abort"
        else:
            continue
        if bug != "announce_before_record":
            node.log("decided", decision=decision)
        return decision


def participant(node, bug, crashes, unwilling):
    vote = ([record["vote"] for record in node.recorded("voted", "restarted")] or ["none"])[-1]
    outcome = ([record["outcome"] for record in node.recorded("outcome")] or ["none"])[-1]
    if vote == "no":
        outcome = "abort"
    if node.records:
        if vote == "none" or (bug == "vote_again" and vote == "yes"):
            vote, outcome = "no", "abort"
        node.log("restarted", vote=vote)
    asked, waits = False, 0
    while True:
        node.may_crash(crashes)
        message = node.receive(RETRY)
        asked = asked or bool(message and message.get("prepare"))
        told = bool(message and message.get("decision"))
        if vote == "none" and (asked or told):
            # A participant that hears a decision first need not wait for the question.
            vote = "no" if unwilling or told else "yes"
            if bug == "commit_without_all_votes" and unwilling:
                # The others answer first.
                time.sleep(0.5)
            if bug == "vote_before_record":
                node.log("vote_sent", vote=vote)
            node.log("voted", vote=vote)
            outcome = "abort" if vote == "no" else "none"
            if bug == "vote_again" and vote == "yes":
                os._exit(9)
        elif vote == "yes" and outcome == "none":
            waits += 1
            decision = message and message.get("decision")
            if bug == "abort_after_yes" and waits > 2 and not decision:
                decision = "abort"
            if decision:
                outcome = decision
                node.log("outcome", outcome=outcome)
        if vote != "none" and not node.recorded("vote_sent"):
            node.log("vote_sent", vote=vote)
        if vote != "none" and (bug != "abort_after_yes" or outcome != "none"):
            node.send(COORDINATOR, vote=vote)
        if vote != "none" and outcome != "none":
            # Until the coordinator has announced, which it does again after a crash.
            if message and message.get("decision"):
                node.send(COORDINATOR, done=True)
                return


def serve(arguments):
    name, ports = arguments.node, json.loads(arguments.ports)
    rng = random.Random(f"{arguments.seed} {name} {arguments.life}")
    node = Node(arguments.folder, name, ports, rng)
    others = sorted(set(ports) - {COORDINATOR})
    if name == COORDINATOR:
        coordinator(node, others, arguments.bug, arguments.crashes)
    else:
        unwilling = random.Random(f"{arguments.seed} {name}").random() < 0.2
        if arguments.bug:
            # So that each of the bugs shows.
            unwilling = arguments.bug == "commit_without_all_votes" and name == others[-1]
        participant(node, arguments.bug, arguments.crashes, unwilling)


def free_ports(count):
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


def supervise(arguments):
    """Starts the processes, and starts each again that crashes."""
    names = [COORDINATOR] + [f"p{number + 1}" for number in range(arguments.participants)]
    ports = json.dumps(dict(zip(names, free_ports(len(names)))))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    left, lives, running = arguments.crashes, dict.fromkeys(names, 0), {}

    def start(name):
        lives[name] += 1
        command = [sys.executable, __file__, str(arguments.folder), "--node", name, "--ports", ports, "--seed",
                   str(arguments.seed), "--life", str(lives[name]), "--crashes", str(left)]
        running[name] = subprocess.Popen(command + (["--bug", arguments.bug] if arguments.bug else []))

    for name in names:
        start(name)
    deadline = time.time() + 300
    while running:
        time.sleep(0.02)
        if time.time() > deadline:
            for process in running.values():
                process.kill()
            sys.exit("the processes did not end within 300 s")
        for name, process in list(running.items()):
            status = process.poll()
            if status == 9:
                left = max(left - 1, 0)
                start(name)
            elif name == COORDINATOR and status is None and len(running) == 1:
                process.kill()
                del running[name]
            elif status is not None:
                del running[name]
                if status not in (0, -9):
                    sys.exit(f"{name} ended with status {status}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--participants", type=int, default=3)
    parser.add_argument("--crashes", type=int, default=0)
    parser.add_argument("--bug", choices=sorted(BUGS))
    parser.add_argument("--node", help=argparse.SUPPRESS)
    parser.add_argument("--ports", help=argparse.SUPPRESS)
    parser.add_argument("--life", type=int, default=0, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    serve(arguments) if arguments.node else supervise(arguments)


if __name__ == "__main__":
    main()
