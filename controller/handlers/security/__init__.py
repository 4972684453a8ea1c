"""ACLs, delegation tokens, SASL and SCRAM."""
