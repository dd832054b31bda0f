"""Run the command line by `python -m vectormem`."""

from vectormem.cli.app import main

if __name__ == "__main__":
    main()
