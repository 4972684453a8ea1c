"""The small tables of the state: for each subject its values, its replay functions and its snapshot records."""
