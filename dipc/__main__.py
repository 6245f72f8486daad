"""`python -m dipc` is `dipc`."""

from dipc.cli.main import main

if __name__ == "__main__":
    main()
