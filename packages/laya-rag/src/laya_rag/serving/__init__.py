"""What every server of a corpus shares: tokens, rates, addresses, and what may be written."""
