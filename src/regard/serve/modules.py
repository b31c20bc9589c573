"""The files of the studio as a browser is handed them."""

from __future__ import annotations

import os
from typing import Any

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope


class Modules(StaticFiles):
    """Files that a browser asks about each time, so that the pages of a new version find modules of that version."""

    def file_response(
        self, full_path: Any, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """A file, or word that it is as it was."""
        found = super().file_response(full_path, stat_result, scope, status_code)
        found.headers["cache-control"] = "no-cache"
        return found
