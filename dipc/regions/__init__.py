"""Claims about many inputs at once: the theorems of section 6 of the paper, classes of inputs, all real inputs."""
