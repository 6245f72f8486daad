"""The ideal that a program approximates: det(u) as an exact function, its regions, and distances to disagreement."""
