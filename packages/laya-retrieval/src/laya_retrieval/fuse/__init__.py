"""Fusers: several ranked lists to one."""
