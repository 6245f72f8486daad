"""Half-spaces, exact linear programs, and consequences of systems of linear inequalities."""
