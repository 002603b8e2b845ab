"""Readers of what other CRF engines write."""
