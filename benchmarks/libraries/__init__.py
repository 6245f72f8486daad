"""Real mechanisms of OpenDP and diffprivlib against the exact distributions that their documentation promises."""
