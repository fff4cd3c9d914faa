"""`laya stack validate`: a stack's components held to their contracts on a corpus of our own."""
