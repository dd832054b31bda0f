"""One thread for every engine that asks the environment; it has to be set before numpy is imported."""

import os

ONE_THREAD = dict.fromkeys(
    (
        "BLIS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
    ),
    "1",
)
QUIET = {"ANONYMIZED_TELEMETRY": "False", "DO_NOT_TRACK": "1", "PYTHONWARNINGS": "ignore"}


def use_one_thread() -> None:
    os.environ.update(ONE_THREAD)


def worker_environment() -> dict[str, str]:
    return {**os.environ, **ONE_THREAD, **QUIET}
