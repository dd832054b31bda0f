"""`python -m benchmarks`."""

from benchmarks.threads import use_one_thread

use_one_thread()  # before numpy is imported

from benchmarks.cli import main  # noqa: E402

if __name__ == "__main__":
    raise SystemExit(main())
