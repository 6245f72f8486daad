"""What objects of the library do that needs rooms above their own: they ask here, when they are asked."""
