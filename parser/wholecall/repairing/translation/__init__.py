"""Requests and answers of one wire, written in another."""
