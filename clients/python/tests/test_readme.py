"""The programs of the README run as written."""

import os
import re
import subprocess
import sys
from pathlib import Path

from .support import PATIENCE, Case

README = Path(__file__).resolve().parents[1] / "README.md"


class Readme(Case):
    def setUp(self):
        super().setUp()
        blocks = re.findall(r"^```(python|text)\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
        self.programs = [text for kind, text in blocks if kind == "python"]
        self.printed = [text for kind, text in blocks if kind == "text"]
        self.assertEqual((len(self.programs), len(self.printed)), (2, 1), "each is to be run here")

    def run_program(self, program: str) -> str:
        """Runs it with coop on the PATH; what it prints."""
        (self.home / "coop-bin").mkdir()
        (self.home / "coop-bin" / "coop").symlink_to(self.binary)
        path = f"{self.home / 'coop-bin'}:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "PYTHONPATH": str(README.parent)}
        ran = subprocess.run(
            [sys.executable, "-c", program], env=environment, cwd=self.home, text=True, capture_output=True, timeout=PATIENCE
        )
        self.assertEqual((ran.stderr, ran.returncode), ("", 0), ran.stdout)
        return ran.stdout

    def test_the_first_prints_what_it_says(self):
        self.assertEqual(self.run_program(self.programs[0]), self.printed[0])

    def test_the_second_gives_its_message_and_denies_what_is_asked(self):
        agent = self.agent("asks")
        states = self.run_program(self.programs[1]).split()
        self.assertIn("prompt", states)
        self.assertEqual(states[-1], "idle")
        agent.wait_text("● denied", PATIENCE)
