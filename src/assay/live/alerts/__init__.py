"""Alerts on live runs: rules, the evidence for an opening or closing, the check, and the delivery."""
