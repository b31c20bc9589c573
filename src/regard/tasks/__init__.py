"""Tasks: their goals, the objects that people use, and a training as a whole.

goals           how an answer is made, judged and drawn
classifier      a classifier as a person uses it
writer          a model that writes text for whatever it reads
captioner       a captioner as a person uses it
formula_reader  a reader of formulas as a person uses it
tagger          a tagger as a person uses it
language_model  a language model as a person uses it; generation: what it is asked and gives; streaming, scoring
seen            what was looked at to find a label
using           what these objects have in common
job             a recipe, a corpus and a run folder: to train, to rehearse, or to be timed
setup           sides, model and batches for the first update
memory_check    whether the model fits into memory
validate        a validation
finish          what a writer's folder gets at the end
lengths         how much the length of outputs should count
complete        what the best model's folder has beside the model
"""
