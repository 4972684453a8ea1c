"""Rules that several APIs share: elections, reassignment and placement of partitions."""
