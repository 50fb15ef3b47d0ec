"""The README's three lines, nothing else, for models as people have them: do error bars hold?"""
