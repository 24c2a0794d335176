"""Load a kernel from its Python source, whether or not it was also compiled."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

KERNELS = Path(__file__).resolve().parents[1] / "src" / "errata" / "kernels"


def load_pure(name: str) -> ModuleType:
    """The kernel module as plain Python, under a name of its own."""
    alias = f"errata_pure_{name}"
    if alias not in sys.modules:
        spec = importlib.util.spec_from_file_location(alias, KERNELS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[alias] = module
        spec.loader.exec_module(module)
    return sys.modules[alias]


def load_maxmatch() -> ModuleType:
    """The MaxMatch kernel with the one it calls for long sentences, both as plain Python."""
    module = load_pure("maxmatch")
    module.propose_long = load_pure("maxmatch_long").propose_long  # type: ignore[attr-defined]
    return module
