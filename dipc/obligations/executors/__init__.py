"""Where obligations are decided: in turn, in processes, or on a cluster. One protocol, so that all else is the same."""
