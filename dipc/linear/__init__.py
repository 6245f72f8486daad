"""Half-spaces, and what they imply."""
