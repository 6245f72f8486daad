"""The Markov chain of a program, built once with its real inputs left open, without probabilities."""
