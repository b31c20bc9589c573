"""The environment of a peer: a folder with its own Python packages, made once, from the package index.

PyTorch is always the version that constraints.txt names, so that a ratio compares toolkits and no two PyTorches.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"


@dataclass(frozen=True)
class Peer:
    """How a peer is called, installed, and what it can be measured at."""

    name: str
    module: str
    packages: tuple[str, ...]  # with all they need
    alone: tuple[
        str, ...
    ] = ()  # without what they ask for, because they ask for an older PyTorch or for what is unused
    stubs: tuple[str, ...] = ()  # modules that are imported and not used: empty ones are put in their place
    works: tuple[tuple[str, str], ...] = ()  # pairs of a work and a shape

    def python(self, home: Path) -> Path:
        """The Python of its environment below `home`, which is made where it is not there."""
        folder = home / self.module.rpartition(".")[2]
        python, done = folder / "bin" / "python", folder / "installed"
        wanted = "\n".join((*self.packages, *self.alone, *self.stubs))
        if done.is_file() and done.read_text(encoding="utf-8") == wanted:
            return python
        print(f"installing {self.name} into an environment of its own ...", file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        self._install(python, *self.packages)
        if self.alone:
            self._install(python, "--no-deps", *self.alone)
        stubs = next((folder / "lib").glob("python*")) / "site-packages"
        for name in self.stubs:
            (stubs / f"{name}.py").write_text("", encoding="utf-8")
        done.write_text(wanted, encoding="utf-8")
        return python

    def _install(self, python: Path, *asked: str) -> None:
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, "--constraint", str(CONSTRAINTS), *asked], check=True)
