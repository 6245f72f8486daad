"""The answer to any question, and a renderer for each format."""
