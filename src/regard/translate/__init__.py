"""A translator as a person uses it, and what `regard translate` does with lines.

translator  a model with its tokenizers: text in; text, scores and alignments out
job         what becomes of a block of lines, in this process or in one of many
linked      an output with its links: words of both sides by their places in the texts
markup      HTML translated, its markup put back by the words' alignment
"""
