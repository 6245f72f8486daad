"""The laws of noise, one file for each; no code outside this room depends on which law it is."""
