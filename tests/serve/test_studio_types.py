"""The studio's modules and those of the figures, checked by TypeScript against the types that their comments name."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import regard

TYPESCRIPT = "5.9.3"
HOME = Path(regard.__file__).parent
# Null is not told apart, nor must each parameter have a type: the comments say what matters.
OPTIONS = {
    "allowJs": True,
    "checkJs": True,
    "noEmit": True,
    "strict": True,
    "strictNullChecks": False,
    "noImplicitAny": False,
    "preserveSymlinks": True,
    "target": "es2022",
    "module": "es2022",
    "moduleResolution": "bundler",
    "lib": ["es2023", "dom", "dom.iterable"],
    "types": [],
}


def compiler():
    """TypeScript's compiler, fetched once into a cache outside of the tree; where it cannot be had, why."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not here; on Debian: apt-get install npm")
    usual = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "regard-tests"
    folder = Path(os.environ.get("REGARD_TEST_CACHE", usual)) / f"typescript-{TYPESCRIPT}"
    found = folder / "node_modules" / "typescript" / "lib" / "tsc.js"
    if not found.is_file():
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), f"typescript@{TYPESCRIPT}"]
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            pytest.skip(f"npm cannot fetch TypeScript: {done.stderr.strip()[-200:]}")
    return [node, str(found)]


def complaints(folder, studio, figures, include=("figures/*.js", "studio/**/*.js")):
    """What the compiler says of two folders of modules, laid out as a server has them."""
    (folder / "studio").symlink_to(studio)
    (folder / "figures").symlink_to(figures)
    told = {"compilerOptions": OPTIONS, "include": list(include)}
    (folder / "tsconfig.json").write_text(json.dumps(told))
    done = subprocess.run([*compiler(), "-p", str(folder)], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def test_the_modules_keep_to_their_types(tmp_path):
    found = complaints(tmp_path, HOME / "serve" / "studio", HOME / "show" / "static")
    assert found == []


def test_a_wrong_call_is_found(tmp_path):
    studio = tmp_path / "wrong"
    studio.mkdir()
    (studio / "page.js").write_text('import { html } from "../figures/dom.js";\nhtml("paragraph").focus(1, 2, 3);\n')
    (tmp_path / "site").mkdir()
    found = complaints(tmp_path / "site", studio, HOME / "show" / "static", ["studio/*.js"])
    assert any("page.js" in line and "paragraph" in line for line in found)
