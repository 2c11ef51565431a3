"""Test methods, one package a system."""
