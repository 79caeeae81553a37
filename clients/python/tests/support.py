"""What the tests share: a coop of one's own, an agent that is played, a line that can be cut."""

import os
import shutil
import socket
import tempfile
import threading
import unittest
import unittest.mock
from pathlib import Path

import coop

#: The longest that one promise may take, in seconds.
PATIENCE = 60.0
#: What an HTTP/2 client says first of all. Whoever hears it answers with its settings, and the client is connected.
GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
AGENT = Path(__file__).resolve().parents[2] / "testdata" / "agent"


def binary() -> str:
    """The coop that is tested."""
    path = os.environ.get("COOP_BIN") or shutil.which("coop")
    if not path:
        raise RuntimeError("set COOP_BIN to the coop to test, or put it on the PATH")
    return os.path.abspath(path)


class Case(unittest.TestCase):
    """With a runtime directory of its own, and no coop to take for meant."""

    def setUp(self):
        self.binary = binary()
        self.home = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="coop-py")))
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("COOP_", "CLAUDE_", "XDG_"))}
        clean = kept | {"XDG_RUNTIME_DIR": str(self.home), "HOME": str(self.home)}
        self.enterContext(unittest.mock.patch.dict(os.environ, clean, clear=True))

    def start(self, *command, **options) -> coop.Session:
        session = coop.start(command, binary=self.binary, **options)
        self.addCleanup(session.close)
        self.addCleanup(session.kill, PATIENCE)
        return session

    def shell(self, **options) -> coop.Session:
        session = self.start("bash", "--norc", env={"PS1": "ready> "}, **options)
        session.wait_text("ready>", PATIENCE)
        return session

    def agent(self, *manner: str) -> coop.Session:
        flags = "--agent claude --groom manual --cols 100 --rows 30".split()
        session = self.start("bash", str(AGENT), self.binary, *manner, flags=flags)
        session.wait_idle(PATIENCE)
        return session


class Line:
    """A proxy to a Unix socket whose line can be cut; while it is down, nobody gets through. While it is held, callers are
    connected and get no answer."""

    def __init__(self, target: str):
        self.target, self.down, self._open = target, False, []
        self._lock = threading.Lock()
        self._through = threading.Event()
        self._through.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                called = socket.socket(socket.AF_UNIX)
                if self.down or called.connect_ex(self.target.removeprefix("unix:")):
                    caller.close()
                    called.close()
                    continue
                self._open += [caller, called]
            threading.Thread(target=self._copy, args=(caller, called, len(GREETING)), daemon=True).start()
            threading.Thread(target=self._copy, args=(called, caller), daemon=True).start()

    def _copy(self, source, sink, at_once=0):
        """From one to the other; while the line is held, only so many bytes."""
        try:
            if at_once:
                sink.sendall(source.recv(at_once, socket.MSG_WAITALL))
                self._through.wait()
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, down: bool):
        with self._lock:
            self.down = down
            for end in self._open:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()
            self._open = []

    def hold(self):
        """Cuts every line, and holds those that are made anew until `let_through`."""
        self._through.clear()
        self.cut(False)

    def let_through(self):
        self._through.set()

    def close(self):
        self.let_through()
        self._listener.close()
        self.cut(True)
