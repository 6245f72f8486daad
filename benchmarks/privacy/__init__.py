"""The atlas of private mechanisms: what is published about them, and what is exactly so."""
