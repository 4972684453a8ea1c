"""Whole clusters: the real controllers over the real quorum, model brokers and admin clients around them."""
