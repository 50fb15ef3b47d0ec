"""``python -m rio_uq`` is ``rio-uq``."""

from rio_uq.cli import main

if __name__ == "__main__":
    main()
