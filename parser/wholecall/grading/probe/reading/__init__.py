"""Answers of each wire, read strictly: labels and pieces as they came, in one form for all rules."""
