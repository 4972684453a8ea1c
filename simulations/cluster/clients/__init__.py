"""The clients of a cluster: model brokers, admin clients, and fuzz clients, which send invalid requests too."""
