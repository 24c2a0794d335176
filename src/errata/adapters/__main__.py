"""``python -m errata.adapters NAME``: where the files of an adapter are."""

from __future__ import annotations

import sys

from errata.adapters import ADAPTERS, adapter_path
from errata.core.errors import InputError

if __name__ == "__main__":
    try:
        for name in sys.argv[1:] or ADAPTERS:
            print(adapter_path(name))
    except InputError as error:
        sys.exit(f"errata: {error}")
