"""Upgrades of our own: an older wheel and the present code in one quorum (`make upgrade-check`)."""
