"""What the HTTP ports of the nodes say."""
