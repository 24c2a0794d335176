"""What an installed wheel must do before it is published: kernels compiled, the sample scored.

A kernel that fails to compile is left out and runs as plain Python: right, slow, and unnoticed.
"""

import pkgutil
import sys
from importlib import import_module

import errata
import errata.kernels
from errata.datasets import sample_corpus, sample_systems

modules = pkgutil.iter_modules(errata.kernels.__path__)
names = [m.name for m in modules if not m.name.startswith("_")]  # what kernels share stays plain
plain = [n for n in names if str(import_module(f"errata.kernels.{n}").__file__).endswith(".py")]
if plain or not names:
    sys.exit(f"not compiled: {', '.join(plain) or 'there are no kernels'}")

for name in ("m2", "imeasure", "gleu", "bleu"):
    scores = errata.evaluate(errata.parse(name), sample_corpus(), sample_systems(), resamples=20)
    print(scores.signature, *(f"{system} {value:.4f}" for system, value in scores), sep="\n  ")
    if not scores["eager"] > scores["noisy"]:
        sys.exit(f"{name} ranks the system that breaks sentences above the one that mends them")
