"""The laws of noise: one file a law, with all that is asked about it. Nothing outside asks which law it is."""
