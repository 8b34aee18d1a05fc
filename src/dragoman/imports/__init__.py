"""Trained models of other programs as bundles. What is read is a stranger's: data, of which no part is run."""
