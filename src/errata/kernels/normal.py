"""The logarithm of the normal distribution function, for whole arrays.

What SciPy's ``log_ndtr`` gives to the last digits but one, without the import of ``scipy.special``,
which takes longer than most runs. The C library's ``erfc`` is Python's too, so that compiled and
plain Python give the same bits.
"""

import cython
import numpy as np
from cython.cimports.libc.math import erfc, log, log1p

ROOT_HALF = cython.declare(cython.const_double, 0.7071067811865476)
LOG_ROOT_TAU = cython.declare(cython.const_double, 0.9189385332046727)  # log(sqrt(2 pi))
NEAR = cython.declare(cython.const_double, -1.0)  # above, 1 - Phi is small
FAR = cython.declare(cython.const_double, -35.0)  # below, erfc comes near to underflow


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _tail(x: cython.double) -> cython.double:
    """log Phi(x) far out: ``-x²/2 - log(-x sqrt(2 pi)) + log(1 - 1/x² + 3/x⁴ - 15/x⁶ ...)``."""
    step: cython.double = -1.0 / (x * x)
    term: cython.double = 1.0
    rest: cython.double = 0.0
    k: cython.int
    for k in range(1, 12, 2):  # six terms: the seventh is below 1e-15 at -35
        term = term * step * k
        rest = rest + term
    return -0.5 * x * x - log(-x) - LOG_ROOT_TAU + log1p(rest)


def log_ndtr(values: cython.double[::1]):
    """``log Phi(x)`` of every value, where Phi is the standard normal distribution function."""
    found = np.empty(len(values))
    out: cython.double[::1] = found
    i: cython.Py_ssize_t
    x: cython.double
    with cython.nogil:
        for i in range(out.shape[0]):
            x = values[i]
            if x > NEAR:
                out[i] = log1p(-0.5 * erfc(x * ROOT_HALF))
            elif x > FAR:
                out[i] = log(0.5 * erfc(-x * ROOT_HALF))
            elif x == x:
                out[i] = _tail(x)
            else:
                out[i] = x
    return found
