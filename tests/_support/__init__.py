"""Helpers of the tests: servers, hostile texts, supported versions."""
