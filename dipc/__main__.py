"""Run `dipc` as `python -m dipc`."""

from dipc.cli.main import main

if __name__ == "__main__":
    main()
