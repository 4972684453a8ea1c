"""The installed package: the commands, the client of the watch service, and below it all other packages (setup.py)."""
