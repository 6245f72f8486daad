"""Exact measures of events over independent noises; knows no language."""
