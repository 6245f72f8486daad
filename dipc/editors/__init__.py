"""Programs in editors and on pages: highlighting, made from the grammar."""
