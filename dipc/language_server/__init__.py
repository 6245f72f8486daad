"""What editors ask while a program is written, answered in the Language Server Protocol."""
