"""Many runs: worker processes, outcomes, shrinking, and what is printed of one run."""
