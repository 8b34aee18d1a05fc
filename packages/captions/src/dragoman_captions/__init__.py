"""Caption models, each a folder in this package. dragoman finds them by the entry points of the distribution."""
