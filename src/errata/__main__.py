"""``python -m errata`` is the command ``errata``."""

from errata.cli.main import main

main()
