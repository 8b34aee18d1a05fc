"""Rules for translations: a seam for new ones (`protocol`), those that the settings offer, and all of a search as one
(`active`)."""

from dragoman.decoding.constraints.protocol import Constraint, ConstraintState, Guide, Rows, Stateless

__all__ = ["Constraint", "ConstraintState", "Guide", "Rows", "Stateless"]
