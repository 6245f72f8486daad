"""Files of claims with their expected verdicts, tested one by one: by `dipc test`, and by pytest."""
