"""Source texts, spans and diagnostics: what every other room uses to say what is wrong and how to mend it."""
