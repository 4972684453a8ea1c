"""The verbs that mend what a stopped node left."""
