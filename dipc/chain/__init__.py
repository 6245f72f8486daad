"""The parametrized DTMC of a program, built once with its real inputs left open; knows nothing of probabilities."""
