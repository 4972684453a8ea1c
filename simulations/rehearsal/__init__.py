"""The rehearsal of an operator's own quorum: `kraftctl rehearse` plays the loss of nodes, sites and links."""
