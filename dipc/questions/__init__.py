"""Questions about programs: each is a source of cases, which list obligations."""
