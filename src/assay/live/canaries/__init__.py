"""Canary rows: a small fixed set that the judge scores again each day, to tell its changes from the application's."""
