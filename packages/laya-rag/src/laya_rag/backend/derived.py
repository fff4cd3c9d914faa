"""Where the arrays derived from a bundle are kept: beside it, one folder for each state of it."""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from laya_rag.errors import CacheError

T = TypeVar("T")

logger = logging.getLogger(__name__)

#: Raised when the arrays change their meaning; part of every folder's name.
LAYOUT = 1

_TEMPORARY = ".tmp-"
# A build that was killed leaves its folder behind; none runs for as long as this.
_ABANDONED_SECONDS = 86400


class DerivedCache:
    """Folders of arrays in `root`, each named by what it holds and the bundle's `identity`.

    A folder is built under a temporary name and renamed when it is complete, so nobody ever reads
    half of one. Of two processes that build the same one at the same time, the second to finish
    takes the first one's. Everything in `root` may be deleted at any time: who has it open keeps
    it, and who needs it builds it again.
    """

    def __init__(self, root: Path, identity: str) -> None:
        self.root = root
        self.key = f"{identity[:16]}-{LAYOUT}"

    def open(self, name: str, read: Callable[[Path], T]) -> T | None:
        """What `read` makes of the folder that is there; None when there is none, or a bad one.

        `read` opens every file of the folder, which may be removed afterwards. It raises
        `CacheError` for one that is damaged.
        """
        try:
            return read(self._folder(name))
        except FileNotFoundError:
            return None
        except (CacheError, OSError) as error:
            logger.warning("%s; building it again", error)
            return None

    def build(self, name: str, fill: Callable[[Path], None], read: Callable[[Path], T]) -> T:
        """Have `fill` write the folder that `open` did not find, and `read` it.

        Where `root` cannot be written, the folder is made in the system's temporary one, for this
        process alone and gone with it. Whatever `fill` raises is passed on and leaves nothing
        behind. Raises `CacheError` when not even the temporary folder can be written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            work = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=self.root))
        except OSError as error:
            work = self._aside(name, error)
        try:
            fill(work)
            built = read(work)
            if work.parent == self.root:
                self._adopt(work, name, read)
        except OSError as error:
            raise CacheError(f"cannot write {str(work)!r}: {error.strerror or error}") from error
        finally:
            # What was read is mapped and stays readable; nothing else of it has to stay.
            shutil.rmtree(work, ignore_errors=True)
        return built

    def clean(self) -> None:
        """Remove the folders of other states of the bundle, and what killed builds left."""
        try:
            found = list(self.root.iterdir())
        except OSError:
            return
        for path in found:
            if path.name.startswith(_TEMPORARY):
                unwanted = _age(path) > _ABANDONED_SECONDS
            else:
                unwanted = not path.name.endswith(self.key)
            if unwanted:
                # Where a file in use cannot be removed, it stays until the next time.
                shutil.rmtree(path, ignore_errors=True)

    def _folder(self, name: str) -> Path:
        return self.root / f"{name}-{self.key}"

    def _adopt(self, work: Path, name: str, read: Callable[[Path], object]) -> None:
        """Give `work` its name, unless another process was quicker; a damaged one makes way."""
        folder = self._folder(name)
        if folder.exists() and self.open(name, read) is None:
            shutil.rmtree(folder, ignore_errors=True)
        try:
            work.rename(folder)
        except OSError:
            if not folder.exists():
                raise

    def _aside(self, name: str, reason: OSError) -> Path:
        logger.warning(
            "cannot write %r (%s): the %s arrays go to a temporary folder and are built anew by "
            "every process; name a cache folder that can be written to keep them",
            str(self.root),
            reason.strerror or reason,
            name,
        )
        try:
            return Path(tempfile.mkdtemp(prefix="laya-"))
        except OSError as error:
            raise CacheError(f"cannot write a temporary folder: {error}") from error


def _age(path: Path) -> float:
    try:
        newest = max((entry.stat().st_mtime for entry in path.iterdir()), default=0.0)
        return time.time() - max(newest, path.stat().st_mtime)
    except OSError:
        return 0.0
