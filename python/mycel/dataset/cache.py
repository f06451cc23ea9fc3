"""DatasetCache: rows that are made once and kept."""

import os
import tempfile

from mycel.dataset import _arguments as arguments


class DatasetCache:
    """Keeps the rows of a source, or the results of map, that it is given to (cache=…): made in the
    first epoch, read in the others.

    session_id: any number; caches live as long as the dataset, in this process. size: MB kept at
    most, 0 without limit. spilling: rows are kept in a file (in the folder for temporary files)
    and not in memory. hostname, port, num_connections, prefetch_size: of the published server for
    caches; there is none here, so only None is allowed."""

    def __init__(
        self,
        session_id,
        size=0,
        spilling=False,
        hostname=None,
        port=None,
        num_connections=None,
        prefetch_size=None,
    ):
        self.session_id = arguments.count(session_id, "DatasetCache: 'session_id'", 0)
        self.size = arguments.count(size, "DatasetCache: 'size'", 0)
        self.spilling = arguments.flag(spilling, "DatasetCache: 'spilling'")
        arguments.refuse(
            "DatasetCache",
            hostname=(hostname, (None,)),
            port=(port, (None,)),
            num_connections=(num_connections, (None,)),
            prefetch_size=(prefetch_size, (None,)),
        )

    def folder(self):
        """Where the file of kept rows lies; "" for memory."""
        return os.path.join(tempfile.gettempdir(), "mycel-cache") if self.spilling else ""
