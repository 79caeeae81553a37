"""Finds sessions: by address, by the environment, on this machine; or starts one."""

import json
import os
import stat
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from coop.v1 import lifecycle_pb2

from .errors import NoSession, NotStarted, Unreachable, typed
from .session import Session

#: How much of the complaint of a coop that does not start is kept.
COMPLAINT_BYTES_MAX = 4096
#: How many sockets are asked at once whether somebody answers, and how long each may take, in seconds.
ASKED_AT_ONCE, ANSWERS_WITHIN = 16, 2.0


def connect(url: str | None = None, *, socket: str | os.PathLike | None = None, token: str | None = None) -> Session:
    """Connects to the session at http://HOST:PORT or on a Unix socket; with neither to that of COOP_URL or COOP_SOCKET, else
    to the only one that runs on this machine. The token is COOP_AUTH_TOKEN's, or in the file COOP_AUTH_TOKEN_FILE, when
    none is given."""
    if url is None and socket is None:
        url, socket = os.environ.get("COOP_URL") or None, os.environ.get("COOP_SOCKET") or None
    if url is None and socket is None:
        live = sessions()
        if len(live) != 1:
            found = f"several sessions run: {', '.join(map(str, live))}" if live else f"no session runs in {runtime_dir()}"
            raise NoSession(f"{found}; choose one with url= or socket=")
        socket = live[0]
    session = Session(url if url is not None else f"unix:{socket}", token or _token())
    try:
        # So that a session that is not there, or wants another token, is told at once.
        session.status()
    except Exception:
        session.close()
        raise
    return session


def _token() -> str | None:
    if token := os.environ.get("COOP_AUTH_TOKEN"):
        return token
    file = os.environ.get("COOP_AUTH_TOKEN_FILE")
    return Path(file).read_text().strip() if file else None


def runtime_dir() -> Path:
    """Where coops listen that were told no other place: $XDG_RUNTIME_DIR/coop, or /tmp/coop-UID where there is no such directory
    of this user's own."""
    xdg = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if xdg.is_absolute() and xdg.is_dir() and xdg.stat().st_uid == os.geteuid():
        return xdg / "coop"
    return Path(f"/tmp/coop-{os.geteuid()}")


def sessions() -> list[Path]:
    """The sockets of the sessions that run in the runtime directory, sorted."""
    directory = runtime_dir()
    try:
        # Not through a link: in /tmp anybody may have put one there.
        found = directory.lstat()
    except FileNotFoundError:
        return []
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise NoSession(f"no session is looked for in {directory}: it must be a directory of this user alone (mode 700)")
    paths = sorted(directory.glob("coop-*.sock"))
    # At once, so that those that hang are not waited for one after the other.
    with ThreadPoolExecutor(ASKED_AT_ONCE) as asked:
        return [path for path, answers in zip(paths, asked.map(_answers, paths)) if answers]


def _answers(path: Path) -> bool:
    with Session(f"unix:{path}") as session:
        try:
            session.calls.GetStatus(lifecycle_pb2.GetStatusRequest(), timeout=ANSWERS_WITHIN)
        except grpc.RpcError as error:
            # One that refuses or hangs lives.
            return not isinstance(typed(error), Unreachable)
        return True


def start(
    command: Sequence[str],
    *,
    cwd: str | os.PathLike | None = None,
    env: Mapping[str, str] | None = None,
    secrets: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    flags: Sequence[str] = (),
    token: str | None = None,
    binary: str = "coop",
    timeout: float = 30.0,
) -> Session:
    """Runs a program in a coop of its own, which goes on when this process ends, and connects to it. `env` stands on coop's
    command line, where others on the machine can read it; `secrets` do not, nor does the `token` that coop will ask for."""
    words = [binary]
    words += ["--cwd", os.fspath(cwd)] if cwd is not None else []
    for flag, pairs in (("--env", env), ("--label", labels)):
        words += [word for name, value in (pairs or {}).items() for word in (flag, f"{name}={value}")]
    words += [*flags, "--", *command]
    # No variable of ours shall choose for it.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("COOP_")}
    inherited |= secrets or {}
    inherited |= {"COOP_AUTH_TOKEN": token} if token else {}
    process = subprocess.Popen(
        words,
        env=inherited,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        # coop goes on when its log is not read any more, and keeps its last lines itself.
        stderr=subprocess.PIPE,
        # Neither a Ctrl-C at our terminal nor our own end shall end it.
        start_new_session=True,
    )
    late = threading.Timer(timeout, process.kill)
    late.start()
    with process.stdout as output, process.stderr as complaint:
        line = output.readline()
        late.cancel()
        if not line:
            said = complaint.read(COMPLAINT_BYTES_MAX).decode(errors="replace").strip()
            process.wait()
            raise NotStarted(f"coop does not start: {said or f'it says nothing for {timeout} s'}")
    told = json.loads(line)
    try:
        session = connect(told["url"], token=token) if told["socket"] is None else connect(socket=told["socket"], token=token)
    except Exception:
        # Nobody would know of it.
        process.terminate()
        process.wait()
        raise
    session._process = process
    return session
