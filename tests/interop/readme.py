"""Runs the examples of a document as written: `readme.py FILE.md`.

Blocks marked `bash interop` run in order, in one shell with `set -eu`, in an empty directory. A block marked
`text output` right after one is what it prints: `…` in a line matches anything, a line of `…` alone any lines.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

# The longest that all examples of a document may take, in seconds.
WITHIN = 60

# The longest that their processes may take to end when they are told to, in seconds.
ENDED_WITHIN = 10

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def examples(document):
    """Pairs of what is run, and what it prints or None."""
    found, open_for_output = [], False
    for info, text in FENCE.findall(document):
        info = info.strip()
        if info == "bash interop":
            found.append([text, None])
        elif info == "text output" and open_for_output:
            found[-1][1] = text
        open_for_output = info == "bash interop"
    return found


def pattern(expected):
    """What is printed, as a regular expression; blanks at the end of lines do not count."""
    lines = []
    for line in expected.rstrip().split("\n"):
        if line.strip() == "…":
            lines.append(r"(?:[^\n]*\n)*")
        else:
            lines.append("[^\n]*".join(map(re.escape, line.rstrip().split("…"))) + "\n")
    return re.compile("".join(lines))


def tidy(text):
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().split("\n"))


def script(blocks):
    """One shell for all; what a block starts in the background keeps printing into that block's file."""
    # Only what the examples started, by its process id, is ended.
    parts = ["set -eu", "trap 'for pid in $(jobs -p); do kill \"$pid\" 2>/dev/null || true; done; wait' EXIT"]
    for number, (text, _) in enumerate(blocks):
        parts += [f"exec >'{{out}}/{number}.out' 2>'{{out}}/{number}.err'", text]
    return "\n".join(parts)


def run(blocks, out, directory):
    """The exit status, or None if it took too long."""
    source = script(blocks).replace("{out}", str(out))
    shell = subprocess.Popen(["bash", "-c", source], cwd=directory, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        return shell.wait(WITHIN)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end(shell)


def end(shell):
    """Ends what is left of the examples' processes, which form a group of their own."""
    for ending in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(shell.pid, ending)
            shell.wait(ENDED_WITHIN)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            pass


def read(path):
    return path.read_text(errors="replace") if path.exists() else ""


def main(name):
    blocks = examples(Path(name).read_text())
    name = Path(name).name
    if not blocks:
        print(f"not ok - {name} has examples: no block is marked `bash interop`")
        return 1
    broken = 0
    with tempfile.TemporaryDirectory() as out, tempfile.TemporaryDirectory() as directory:
        out = Path(out)
        status = run(blocks, out, directory)
        reached = max((number for number in range(len(blocks)) if (out / f"{number}.out").exists()), default=0)
        for number, (text, expected) in enumerate(blocks):
            promise = f"{name} example {number + 1} works: {text.strip().splitlines()[0]}"
            printed, said = read(out / f"{number}.out"), read(out / f"{number}.err")
            if number > reached:
                why = "it was not reached"
            elif number == reached and status != 0:
                why = f"it ended with {status}" if status is not None else f"it took longer than {WITHIN} s"
            elif expected is not None and not pattern(expected).fullmatch(tidy(printed)):
                why = f"it should print\n{expected}"
            else:
                print(f"ok - {promise}")
                continue
            broken += 1
            print(f"not ok - {promise}")
            details = f"{why}\nit printed\n{printed}\nand on stderr\n{said}"
            print("\n".join(f"#   {line}" for line in details.splitlines()))
    return 1 if broken else 0


# Told to end, it still ends what it started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
sys.exit(main(sys.argv[1]))
