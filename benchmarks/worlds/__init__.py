"""Simulated worlds whose truth is known: does RIO ever make a model worse, and do its error bars hold?"""
