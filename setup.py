"""Compile the kernels where Cython and a C compiler are; install them as plain Python elsewhere.

ERRATA_COMPILE=0 leaves them uncompiled on purpose.
"""

import os
from pathlib import Path

from setuptools import Extension, setup


def kernels() -> list[Extension]:
    if os.environ.get("ERRATA_COMPILE") == "0":
        return []
    from Cython.Build import cythonize

    sources = sorted(Path("src/errata/kernels").glob("[!_]*.py"))
    extensions: list[Extension] = cythonize(
        [Extension(f"errata.kernels.{path.stem}", [str(path)]) for path in sources],
        build_dir="build/cython",
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    )
    for extension in extensions:
        extension.optional = True  # no compiler: go on without, the .py files run as they are
    return extensions


# The kernels are compiled side by side: on two cores an install takes half the time.
setup(ext_modules=kernels(), options={"build_ext": {"parallel": os.cpu_count() or 1}})
