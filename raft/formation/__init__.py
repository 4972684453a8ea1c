"""How controllers with empty disks make one quorum (`kraft.quorum.bootstrap.expect`)."""
