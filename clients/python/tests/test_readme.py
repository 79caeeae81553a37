"""The program of the README runs as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

from .support import PATIENCE, Case

README = Path(__file__).resolve().parents[1] / "README.md"


class Readme(Case):
    def test_its_first_program_prints_what_it_says_and_the_others_are_python(self):
        blocks = re.findall(r"^```(python|text)\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
        (kind, program), (_, expected), *others = blocks
        self.assertEqual(kind, "python")
        (self.home / "coop-bin").mkdir()
        (self.home / "coop-bin" / "coop").symlink_to(self.binary)
        path = f"{self.home / 'coop-bin'}:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "PYTHONPATH": str(README.parent)}
        ran = subprocess.run(
            [sys.executable, "-c", program], env=environment, cwd=self.home, text=True, capture_output=True, timeout=PATIENCE
        )
        self.assertEqual((ran.stdout, ran.stderr, ran.returncode), (expected, "", 0))
        for kind, text in others:
            if kind == "python":
                compile(text, "README.md", "exec")
