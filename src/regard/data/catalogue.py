"""What there is: the built-in corpora, and those that `regard data get` fetches, with their checksums."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from regard.data.builtin import BUILTIN
from regard.data.files import cache_folder


@dataclass(frozen=True)
class RemoteFile:
    """One file to fetch: its name, its size in bytes and the SHA-256 of its content."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Download:
    """A corpus to fetch. Each address is tried in turn; the checksums pin the content."""

    name: str
    about: str
    languages: tuple[str, ...]
    pairs: int  # of the training split
    addresses: tuple[str, ...]
    files: tuple[RemoteFile, ...]
    terms: str  # what its authors ask for

    @property
    def size(self) -> int:
        """Bytes to fetch."""
        return sum(file.size for file in self.files)

    def folder(self, cache: Path | None = None) -> Path:
        """Where the corpus lies once it was fetched."""
        return (cache or cache_folder()) / "data" / self.name

    def is_here(self, folder: Path) -> bool:
        """Whether every file is there; names and sizes are looked at, not the content."""
        paths = [(folder / file.name, file.size) for file in self.files]
        return all(path.is_file() and path.stat().st_size == size for path, size in paths)


@dataclass(frozen=True)
class Entry:
    """One line of `regard data list`."""

    name: str
    about: str
    languages: str
    size: str
    where: str


_MULTI30K = (
    RemoteFile("train.cs.gz", 593_827, "a65adb8b32e3bc664f21ecba7a6e7f6950fd1f405e135f7c312faabdb6255077"),
    RemoteFile("train.de.gz", 637_044, "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6"),
    RemoteFile("train.en.gz", 568_929, "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f"),
    RemoteFile("train.fr.gz", 604_242, "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c"),
    RemoteFile("val.cs.gz", 22_096, "b63226e05c4bd5dd6a42897d74b86a1b9d2c31498252c572b1ea7f7996927fcc"),
    RemoteFile("val.de.gz", 24_681, "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a"),
    RemoteFile("val.en.gz", 21_650, "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28"),
    RemoteFile("val.fr.gz", 23_001, "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9"),
    RemoteFile("test_2016_flickr.cs.gz", 22_572, "200a4a74cc9560f051924abb9803be008d1908d77f747e9141aeb86dfd2797f1"),
    RemoteFile("test_2016_flickr.de.gz", 22_890, "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"),
    RemoteFile("test_2016_flickr.en.gz", 21_077, "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"),
    RemoteFile("test_2016_flickr.fr.gz", 22_310, "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90"),
)

DOWNLOADS: dict[str, Download] = {
    corpus.name: corpus
    for corpus in (
        Download(
            "multi30k",
            "image descriptions, about 12 words each",
            ("cs", "de", "en", "fr"),
            29_000,
            (
                "https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d/data/task1/raw",
                "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw",
            ),
            _MULTI30K,
            "for research and education, not for trade; cite Elliott et al. 2016",
        ),
    )
}


def entries(cache: Path | None = None) -> list[Entry]:
    """Every corpus that has a name."""
    return [*_built_in(), *_downloads(cache)]


def _built_in() -> list[Entry]:
    found = []
    for corpus in BUILTIN.values():
        languages = ", ".join(f"{source}-{target}" for source, target in corpus.languages)
        about = corpus.about if not corpus.has_gold or "gold" in corpus.about else f"{corpus.about}, with gold links"
        found.append(Entry(corpus.name, about, languages, f"{corpus.sizes['train']:,} or as asked", "built in"))
    return found


def _downloads(cache: Path | None) -> list[Entry]:
    found = []
    for corpus in DOWNLOADS.values():
        folder = corpus.folder(cache)
        where = str(folder) if corpus.is_here(folder) else f"regard data get {corpus.name}"
        size = f"{corpus.pairs:,} ({corpus.size / 1e6:.1f} MB)"
        found.append(Entry(corpus.name, corpus.about, ", ".join(corpus.languages), size, where))
    return found
