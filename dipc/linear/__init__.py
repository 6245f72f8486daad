"""Half-spaces, exact linear programs, and what systems of linear inequalities imply."""
