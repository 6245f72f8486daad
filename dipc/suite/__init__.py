"""Files of claims with the verdicts that they should have, tested one by one: by `dipc test`, and by pytest."""
