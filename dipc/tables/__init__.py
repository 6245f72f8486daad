"""Tables of inputs and answers: from CSV files and from Python."""
