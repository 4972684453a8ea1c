"""The report on a fleet: one self-contained page of HTML, made from the tables."""
