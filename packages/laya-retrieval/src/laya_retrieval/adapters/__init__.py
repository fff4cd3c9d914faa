"""Adapters for LangChain, LlamaIndex and Haystack, each importing its framework lazily."""
