"""Trained models for other programs than dragoman."""
