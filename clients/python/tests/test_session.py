"""A session from Python: found, used, refused, ended."""

import os
import signal
import socket
import threading
import unittest
from pathlib import Path

import coop
from coop.channel import parse

from .support import PATIENCE, Case

SECRET = "client-secret"


class Sessions(Case):
    def test_a_session_is_used_over_tcp_with_a_token_and_over_its_socket(self):
        socket = self.home / "s"
        flags = ["--port", "0", "--socket", str(socket)]
        first = self.shell(flags=flags, token=SECRET)
        first.type("echo url=$COOP_URL=")
        first.wait_text("url=http", PATIENCE)
        url = "http" + first.screen().split("url=http")[1].split("=")[0]
        for name, place in (("tcp", {"url": url}), ("socket", {"socket": socket})):
            with coop.connect(**place, token=SECRET) as session:
                session.type(f"echo over-{name}-$((40+2))")
                session.wait_text(f"over-{name}-42", PATIENCE)
                self.assertIn(f"\nover-{name}-42\n", session.screen())
            for token in (None, "wrong"):
                with self.assertRaises(coop.Unauthorized):
                    coop.connect(**place, token=token)

    def test_the_only_session_needs_no_name_and_several_are_listed(self):
        with self.assertRaisesRegex(coop.NoSession, "no session runs"):
            coop.connect()
        first = self.start("cat")
        with coop.connect() as session:
            self.assertEqual(session.address, first.address)
        second = self.start("cat", labels={"role": "mayor"})
        self.assertEqual(second.status().labels, {"role": "mayor"})
        self.assertEqual([f"unix:{path}" for path in coop.sessions()], sorted([first.address, second.address]))
        with self.assertRaisesRegex(coop.NoSession, "several"):
            coop.connect()
        os.environ["COOP_SOCKET"] = second.address.removeprefix("unix:")
        with coop.connect() as session:
            self.assertEqual(session.address, second.address)

    def test_sessions_are_asked_at_once(self):
        directory = coop.runtime_dir()
        directory.mkdir(mode=0o700)
        listeners = []
        for number in range(4):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(str(directory / f"coop-{number}.sock"))
            listener.listen()
            listeners.append(listener)

        def hangs_up():
            # Nobody is told anything before all of them are asked: who asked one after the other would take the first for one that hangs.
            asked = [listener.accept()[0] for listener in listeners]
            for one in (*listeners, *asked):
                one.close()

        hanging = threading.Thread(target=hangs_up)
        hanging.start()
        self.assertEqual(coop.sessions(), [])
        hanging.join(PATIENCE)

    def test_a_session_that_wants_a_token_or_hangs_is_listed(self):
        guarded, hanging = self.start("cat", token=SECRET), self.start("cat")
        pid = int(Path(hanging.address).stem.removeprefix("coop-"))
        os.kill(pid, signal.SIGSTOP)
        try:
            self.assertEqual([f"unix:{path}" for path in coop.sessions()], sorted([guarded.address, hanging.address]))
        finally:
            os.kill(pid, signal.SIGCONT)

    def test_refusals_are_told_apart(self):
        session = self.shell()
        with self.assertRaises(coop.BadRequest):
            session.keys("hyper-x")
        with self.assertRaises(coop.NoDriver):
            session.nudge("hello")
        with self.assertRaisesRegex(coop.Timeout, "still unknown"):
            session.wait_text("never", 0.1)
        with self.assertRaisesRegex(ValueError, "use one of starting, working, idle"):
            session.wait_state("bored")
        session.type("exit 3")
        self.assertEqual(session.wait_state("exited", timeout=PATIENCE), "exited")
        with self.assertRaises(coop.Exited) as raised:
            session.type("too late")
        self.assertEqual(raised.exception.reason, "EXITED")
        with self.assertRaises(coop.Exited):
            session.wait_idle(PATIENCE)
        with self.assertRaises(coop.Unreachable):
            coop.connect(socket=self.home / "none")
        with self.assertRaises(coop.Unreachable):
            coop.connect("http://127.0.0.1:1")

    def test_a_program_that_is_started_again_has_not_exited_for_good(self):
        session = self.start("sh", "-c", "echo up; read line", flags=["--restart", "always"])
        session.wait_text("up", PATIENCE)
        states = session.states(after_seq=session.status().seq)
        session.keys("enter")
        while next(states).state != "exited":
            pass
        states.close()
        # In the pause before the next start, which is a second.
        with self.assertRaises(coop.Timeout):
            session.wait_text("never", 0.3)
        session.wait_state("unknown", timeout=PATIENCE)

    def test_kill_returns_when_every_process_is_gone(self):
        file = self.home / "pid"
        session = self.start("bash", "-c", f"sleep 1000 & echo $! >{file}; echo started; wait")
        session.wait_text("started", PATIENCE)
        pids = [session.status().pid, int(file.read_text())]
        # By somebody who did not start it.
        with coop.connect(socket=session.address.removeprefix("unix:")) as other:
            other.kill(PATIENCE)
        session.kill(PATIENCE)
        for pid in pids:
            stat = Path(f"/proc/{pid}/stat")
            self.assertTrue(not stat.exists() or ") Z" in stat.read_text(), pid)

    def test_a_coop_that_does_not_start_says_why(self):
        with self.assertRaisesRegex(coop.NotStarted, "between 1 and 1000"):
            coop.start(["cat"], flags=["--cols", "0"], binary=self.binary)
        silent = self.home / "silent"
        silent.write_text("#!/bin/sh\nexec sleep 1000\n")
        silent.chmod(0o755)
        with self.assertRaisesRegex(coop.NotStarted, "says nothing"):
            coop.start(["cat"], binary=str(silent), timeout=0.1)

    def test_a_coop_that_cannot_be_reached_is_not_left_behind(self):
        liar, pid = self.home / "liar", self.home / "pid"
        line = '{"url":null,"socket":"/no/such/socket"}'
        liar.write_text(f"#!/bin/sh\necho $$ >{pid}\necho '{line}'\nexec sleep 1000\n")
        liar.chmod(0o755)
        with self.assertRaises(coop.Unreachable):
            coop.start(["cat"], binary=str(liar))
        self.assertFalse(Path(f"/proc/{int(pid.read_text())}").exists())

    def test_secrets_reach_the_child_and_are_not_seen(self):
        script = 'echo "colour $COLOUR secret $HIDDEN token [$COOP_AUTH_TOKEN]"; exec cat'
        session = self.start("bash", "-c", script, env={"COLOUR": "red"}, secrets={"HIDDEN": "hush"}, token=SECRET)
        session.wait_text("colour red secret hush token []", PATIENCE)
        pid = Path(session.address).stem.removeprefix("coop-")
        words = Path(f"/proc/{pid}/cmdline").read_text()
        self.assertIn("red", words)
        self.assertNotIn("hush", words)
        self.assertNotIn(SECRET, words)

    def test_a_directory_that_others_can_reach_is_not_searched(self):
        (self.home / "coop").mkdir(mode=0o755)
        with self.assertRaisesRegex(coop.NoSession, "mode 700"):
            coop.sessions()


class Addresses(unittest.TestCase):
    def test_addresses_are_read_as_people_write_them(self):
        for address, target in {
            "http://127.0.0.1:80/": ("127.0.0.1:80", False),
            "localhost:8080": ("localhost:8080", False),
            "http://[::1]:9": ("[::1]:9", False),
            "https://coop.example": ("coop.example:443", True),
            "unix:///tmp/a": ("unix:/tmp/a", False),
        }.items():
            self.assertEqual(parse(address), target)
        for address in ("", "unix:", "ftp://host", "http://host/api", "http://u:p@host:1", "http://host:1?token=a"):
            with self.assertRaises(ValueError, msg=address):
                parse(address)
