"""Text files as they come: kinds of files, character encodings, compression, and exact lines."""
