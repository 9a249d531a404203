"""Ordered kernel-name rules: the first pattern that matches decides the category."""
