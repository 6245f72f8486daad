"""The built page, in the directory `site`: `dipc serve` opens it."""
