"""Questions about programs: each is a source of obligations."""
