"""The decision study: how far the gates' probabilities hold, and what abstaining buys."""
