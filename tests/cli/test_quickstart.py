"""`regard quickstart`, with hardly any training: everything is shown, whatever was learned."""

import subprocess
import sys


def test_it_trains_both_and_shows_what_they_look_at(tmp_path):
    command = [sys.executable, "-m", "regard", "quickstart", "--minutes", "0.02", "--out", str(tmp_path / "qs")]
    for _ in range(2):  # a second one replaces the first
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert "of 500 dates it has never seen are read exactly" in done.stdout
    assert "alignment error" in done.stdout
    assert "friday october 20 1995  ->  " in done.stdout
    assert (tmp_path / "qs" / "alignment.png").read_bytes().startswith(b"\x89PNG")
