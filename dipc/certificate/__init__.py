"""Write certificates: the engine's results as data that `dipc.verifier` checks without the engine."""
