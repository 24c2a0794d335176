"""Inner loops in Cython's pure-Python mode: compiled at install, the same uncompiled."""
