"""The report on a fleet: one page of HTML that needs nothing beside itself, made from the tables."""
