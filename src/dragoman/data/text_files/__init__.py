"""Text files: kinds of files, character encodings, compression, and exact lines."""
