"""Changes of training pairs, so that a model stands what people type and copies what must be copied."""
