"""Who may call, and how often. Keys are compared in constant time, and kept as digests alone."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from time import monotonic, time

from regard.errors import UsageError
from regard.serve.refused import Protocol, Refused

VARIABLE = "REGARD_API_KEYS"
MINUTE = 60.0
DAY = 86_400


class Gate:
    """The keys of a server and what each has left: `rate` requests a minute, `quota` characters a day; 0 is any."""

    def __init__(self, keys: Sequence[tuple[str, str]], rate: int, quota: int = 0) -> None:
        self.digests = [sha256(key.encode()).digest() for _, key in keys]
        self.rate, self.quota = rate, quota
        self._left: dict[int, tuple[float, float]] = {}  # by the place of the key: how many, and when that was so
        self._spent: dict[int, tuple[int, int]] = {}  # by the place of the key: the day, and characters of that day

    def admit(self, key: str | None, protocol: Protocol) -> int:
        """Which key it is; who has none, or asks too often, is refused."""
        place = self._place(key)
        if place is None:
            told = "A key is needed." if not key else "This key is not known."
            code = "invalid_api_key" if key else "missing_api_key"
            headers = {"WWW-Authenticate": "Bearer"} if protocol.keyless == 401 else {}
            raise Refused(protocol.keyless, told, code=code, headers=headers)
        if self.rate:
            self._spend(place)
        return place

    def spent(self, place: int) -> int:
        """How many characters were translated for a key on this day."""
        day, count = self._spent.get(place, (0, 0))
        return count if day == int(time()) // DAY else 0

    def charge(self, place: int, characters: int, protocol: Protocol) -> None:
        """Count what is translated for a key; refuse what goes beyond its quota of the day."""
        count = self.spent(place) + characters
        if self.quota and count > self.quota:
            told = f"Quota exceeded: {self.quota:,} characters a day."
            wait = {"Retry-After": str(DAY - int(time()) % DAY)}
            raise Refused(protocol.exhausted, told, code="quota_exceeded", headers=wait)
        self._spent[place] = (int(time()) // DAY, count)

    def _place(self, key: str | None) -> int | None:
        """Which key it is; all are compared, whichever it is. Without keys all are one."""
        if not self.digests:
            return 0
        asked = sha256((key or "").encode("utf-8", "replace")).digest()
        found = [hmac.compare_digest(asked, digest) for digest in self.digests]
        return found.index(True) if any(found) else None

    def _spend(self, place: int) -> None:
        """One request of the bucket of a key, which fills up evenly to a minute's worth."""
        now = monotonic()
        left, then = self._left.get(place, (float(self.rate), now))
        left = min(float(self.rate), left + (now - then) * self.rate / MINUTE)
        if left < 1:
            wait = max(1, round((1 - left) * MINUTE / self.rate))
            raise Refused(429, f"Too many requests: {self.rate} a minute.", headers={"Retry-After": str(wait)})
        self._left[place] = (left - 1, now)


def read_keys(path: Path) -> tuple[tuple[str, str], ...]:
    """The keys of a file: one a line, with a name before it if there are several words; # begins a remark."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: expected a file of keys, one a line; {error}.") from error
    words = [line.split() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    found = tuple((each[0] if len(each) > 1 else f"key {place}", each[-1]) for place, each in enumerate(words, 1))
    if not found:
        raise UsageError(f"{path}: expected a key a line; found none.")
    return found


def keys_of(text: str) -> tuple[tuple[str, str], ...]:
    """The keys of an environment variable, with commas between."""
    words = [word.strip() for word in text.split(",")]
    return tuple((f"key {place}", word) for place, word in enumerate(filter(None, words), 1))
