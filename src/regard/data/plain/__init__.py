"""Plain text as data: files of lines, files that are documents, folders of either.

wanted      which corpora are plain text, and which side of a row holds it
files       reading them
find        which files make up a corpus, and what is held out of it
warnings    what can be the matter with it
"""
