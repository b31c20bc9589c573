# The longer trainings whose results stand in docs/proofs.md: `make proofs` runs all of them (about nine hours on
# two cores), `make proof-luong` one. Arms run side by side with a thread each; a rerun goes on where it stopped.
# Real corpora are read from DATA; without them their proofs say what is missing.
DATA ?= ../shared/data
PROOFS ?= runs/proofs
REGARD := $(BIN)/regard
MULTI30K := --data $(DATA)/multi30k --from de --to en
SMALL := -s embed.width=128 -s predict.embed.width=128 -s embed.dropout=0.2 -s predict.embed.dropout=0.2 \
	-s encode.dropout=0.2 -s predict.dropout=0.2 -s task.source.vocabulary=4000 -s train.tokens=1024 \
	-s train.validate_steps=500 -s train.average.decay=0.99
WIDE := -s encode.hidden=256 -s predict.hidden=256
NAMES := dates phrasebook multi30k luong europarl align reversal skips shift transformer quick published fast positions kills \
	classify segment long erasure needle lstmn bert masks albert gpt2 wikitext reading scenes scenes-hard formulas im2latex flickr8k \
	residual mirror omniglot omniglot-more autoencoder
.PHONY: proofs $(NAMES:%=proof-%)

proofs: $(NAMES:%=proof-%)

# At least 99 % of held-out dates after at most three minutes.
proof-dates: $(VENV)/installed
	OMP_NUM_THREADS=1 $(REGARD) train rnnsearch-characters --data dates --out $(PROOFS)/dates --minutes 3
	OMP_NUM_THREADS=1 $(REGARD) evaluate $(PROOFS)/dates --data dates --beam 1

# With and without attention at equal parameters, with token vectors that begin alike: the gap grows with length;
# alignment error against gold links. `seq2seq` by itself begins with larger vectors than `rnnsearch` does.
BEGIN = embed.deviation=$(1) predict.embed.deviation=$(1)
PLAIN := seq2seq embed.width=128 encode.hidden=224 predict.hidden=224 predict.embed.width=128 encode.layers=1 \
	predict.layers=1 embed.dropout=0.1 encode.dropout=0 predict.dropout=0.1 predict.embed.dropout=0.1 \
	train.average.decay=0.99
proof-phrasebook: $(VENV)/installed
	$(REGARD) compare rnnsearch-small "seq2seq: $(PLAIN) $(call BEGIN,0.1)" --data phrasebook --from en --to fr --size 100000 \
		--minutes 12 --out $(PROOFS)/phrasebook -s task.source.vocabulary=3000 -s train.tokens=2048 -s train.validate_steps=1500

# Real sentences: at least 33 BLEU with attention, at least 8 less without.
proof-multi30k: $(VENV)/installed
	$(REGARD) compare rnnsearch seq2seq $(MULTI30K) --minutes 25 --out $(PROOFS)/multi30k

# Luong's scores, scopes and input feeding; Google's layers; hard beside soft attention. One layer a side where the
# paper has four: with two, attention is not found within so few updates (benchmarks/LOG.md). All begin alike.
DEEP := attend.score.hidden=128
ONE := encode.layers=1 predict.layers=1
LUONG := luong $(ONE)
proof-luong: $(VENV)/installed
	$(REGARD) compare "global general: $(LUONG)" "none: seq2seq $(ONE)" "global dot: $(LUONG) attend.score=dot" \
		"global concat: $(LUONG) attend.score=additive $(DEEP)" "global location: $(LUONG) attend.score=location" \
		"general, no feeding: $(LUONG) predict.feeding=false" "local-m general: luong-local-m $(ONE)" \
		"local-p general: luong-local-p $(ONE)" "gnmt: gnmt $(DEEP)" \
		"rnnsearch: rnnsearch $(DEEP) predict.readout.hidden=128 $(call BEGIN,1)" \
		"rnnsearch-hard: rnnsearch-hard $(DEEP) predict.readout.hidden=128 $(call BEGIN,1)" \
		$(MULTI30K) --steps 3000 --out $(PROOFS)/luong $(SMALL) $(WIDE)

# An hour on longer sentences, with and without attention.
proof-europarl: $(VENV)/installed
	$(REGARD) compare "rnnsearch: rnnsearch-small $(call BEGIN,1)" \
		"seq2seq: $(subst 224,256,$(PLAIN))" --data $(DATA)/europarl --from de --to en \
		--minutes 60 --out $(PROOFS)/europarl -s task.source.vocabulary=8000 -s train.tokens=4096 -s train.validate_steps=1000

# Gold alignments: plain attention, chosen heads, both directions, guided, beside statistical aligners on the same pairs.
ALIGN := $(PROOFS)/align
GUIDE := task.goal.guide=reference task.goal.guide_step=after task.goal.guide_weight=0.5
LIGHT := -s embed.dropout=0.1 -s predict.embed.dropout=0.1 -s encode.dropout=0.1 -s predict.dropout=0.1 \
	-s task.source.vocabulary=8000 -s task.source.longest=80 -s train.validate_steps=1000
proof-align: $(VENV)/installed
	$(BIN)/pip install -q -c constraints.txt '.[align]'
	for way in "de-en de en" "de-en en de" "en-fr en fr" "en-fr fr en"; do set -- $$way; \
		$(BIN)/python benchmarks/align.py $$1 --data $(DATA) --prepare $(ALIGN)/text-$$1 && \
		$(REGARD) compare "plain: transformer-tiny" "guided: transformer-tiny $(GUIDE)" --data $(ALIGN)/text-$$1 \
			--from $$2 --to $$3 --minutes 12 --out $(ALIGN)/$$2-$$3 $(LIGHT) || exit; done
	for way in "de en" "en fr"; do set -- $$way; $(BIN)/python benchmarks/align.py $$1-$$2 --data $(DATA) \
		--forward $(ALIGN)/$$1-$$2/arms/plain/run --backward $(ALIGN)/$$2-$$1/arms/plain/run \
		--guided $(ALIGN)/$$1-$$2/arms/guided/run --guided-backward $(ALIGN)/$$2-$$1/arms/guided/run || exit; done

# Reading the source backwards helps the fixed vector.
proof-reversal: $(VENV)/installed
	$(REGARD) compare "backwards: seq2seq" "forwards: seq2seq encode.direction=forward" \
		$(MULTI30K) --steps 1500 --out $(PROOFS)/reversal $(SMALL) $(WIDE)

# Skips at four layers and at two.
NO_SKIPS := encode.residual=false predict.residual=false
TWO := encode.layers=2 predict.layers=2
proof-skips: $(VENV)/installed
	$(REGARD) compare "4 layers, skips: gnmt" "4 layers, none: gnmt $(NO_SKIPS)" "2 layers, skips: gnmt $(TWO)" \
		"2 layers, none: gnmt $(TWO) $(NO_SKIPS)" $(MULTI30K) --steps 1500 --out $(PROOFS)/skips $(SMALL) \
		-s encode.hidden=128 -s predict.hidden=128 -s attend.score.hidden=128

# Dates with every kind of looking, and with words put before every input that were never seen in training.
NOTHING := attend=none predict.part=plain predict.cell=gru predict.bridge=project predict.dropout=0.1 predict.hidden=64 \
	predict.embed.width=32
proof-shift: $(VENV)/installed
	$(REGARD) data make dates --out $(PROOFS)/dates-plain
	rm -rf $(PROOFS)/dates-shifted && cp -r $(PROOFS)/dates-plain $(PROOFS)/dates-shifted
	sed -i 's/^/on the /' $(PROOFS)/dates-shifted/test.human
	$(REGARD) compare "additive: rnnsearch-characters attend.score.hidden=32" \
		"location: rnnsearch-characters attend.score=location" "none: rnnsearch-characters $(NOTHING)" \
		--data $(PROOFS)/dates-plain --from human --to iso --steps 1500 --beam 1 --out $(PROOFS)/shift \
		-s embed.width=32 -s predict.embed.width=32 -s encode.hidden=64 -s predict.hidden=64
	for arm in additive location none; do OMP_NUM_THREADS=1 $(REGARD) evaluate $(PROOFS)/shift/arms/$$arm/run \
		--data $(PROOFS)/dates-shifted --from human --to iso --beam 1; done

# The Transformer beside the recurrent systems: at least 38 BLEU in 45 minutes on two cores.
proof-transformer: $(VENV)/installed
	$(REGARD) compare transformer-guided rnnsearch seq2seq $(MULTI30K) --minutes 25 --out $(PROOFS)/transformer \
		-s train.validate_steps=1000

# As long as another toolkit took for 25.2 BLEU on one core: at least 33; guided and not.
proof-quick: $(VENV)/installed
	$(REGARD) compare transformer-guided "not guided: transformer-guided task.goal.guide=none" $(MULTI30K) \
		--minutes 15.6 --out $(PROOFS)/quick -s train.validate_steps=1000

# What the wide Transformer is trained with on so few pairs.
GUIDED := task.goal.guide=reference task.goal.guide_step=after task.goal.guide_weight=0.3
SAME := train.tokens=2048 train.average.decay=0.998 train.validate_steps=1000

# The setting of the published 41.02: English to German, lower-cased, cut into words as Moses does. Two models are trained,
# and a third learns from what people wrote and from what those write: of four outputs the one nearest to the reference.
PUBLISHED := $(PROOFS)/published
LOWER := $(PUBLISHED)/lower
EN_DE := --from en --to de
DROP = $(addprefix -s ,$(addsuffix dropout=$(1),embed. predict.embed. encode. predict.))
SIX := -s task.source.vocabulary=6000 -s train.tokens=4096 -s train.average.decay=0.999
define TEACH
	$(REGARD) export $(PUBLISHED)/$(1) --to ctranslate2 --out $(PUBLISHED)/$(1)-int8 --data $(LOWER) --from en --to de
	$(REGARD) translate $(PUBLISHED)/$(1)-int8 $(LOWER)/train.en.gz --beam 8 --nbest 4 --alpha 1.4 > $(PUBLISHED)/$(1).offers
	$(BIN)/python benchmarks/nearest.py $(PUBLISHED)/train.de $(PUBLISHED)/$(1).offers > $(PUBLISHED)/$(1).de
endef
proof-published: $(VENV)/installed
	$(BIN)/python benchmarks/moses.py $(DATA)/multi30k $(LOWER) --languages en de
	gunzip -c $(LOWER)/train.de.gz > $(PUBLISHED)/train.de
	OMP_NUM_THREADS=1 $(REGARD) train transformer-guided --data $(LOWER) $(EN_DE) --minutes 80 --out $(PUBLISHED)/one \
		$(call DROP,0.2) -s task.source.vocabulary=6000
	OMP_NUM_THREADS=1 $(REGARD) train transformer-guided --data $(LOWER) $(EN_DE) --minutes 95 --out $(PUBLISHED)/two \
		$(call DROP,0.3)
	$(call TEACH,one)
	$(call TEACH,two)
	mkdir -p $(PUBLISHED)/taught && cp $(LOWER)/val.*.gz $(LOWER)/test*.gz $(PUBLISHED)/taught
	cat $(LOWER)/train.en.gz $(LOWER)/train.en.gz $(LOWER)/train.en.gz > $(PUBLISHED)/taught/train.en.gz
	cat $(PUBLISHED)/train.de $(PUBLISHED)/one.de $(PUBLISHED)/two.de | gzip > $(PUBLISHED)/taught/train.de.gz
	OMP_NUM_THREADS=1 $(REGARD) train transformer-guided --data $(PUBLISHED)/taught $(EN_DE) --minutes 105 \
		--out $(PUBLISHED)/three $(call DROP,0.2) $(SIX) -s train.validate_steps=1000
	OMP_NUM_THREADS=1 $(REGARD) evaluate $(PUBLISHED)/three --data $(LOWER) $(EN_DE) --tokenize none
	OMP_NUM_THREADS=1 $(REGARD) evaluate $(PUBLISHED)/three --data $(LOWER) $(EN_DE)
	gunzip -c $(DATA)/multi30k/test_2016_flickr.de.gz > $(PUBLISHED)/raw.de
	$(REGARD) translate $(PUBLISHED)/three $(LOWER)/test_2016_flickr.en.gz | $(BIN)/sacremoses -l de detokenize > $(PUBLISHED)/plain.de
	$(BIN)/sacrebleu $(PUBLISHED)/raw.de -i $(PUBLISHED)/plain.de -lc

# A deep encoder and a shallow decoder, which learns from what people wrote and from what the deeper one writes: as good,
# and faster? Then both as int8 for CTranslate2, all timed in turn.
FAST := $(PROOFS)/fast
proof-fast: $(VENV)/installed
	OMP_NUM_THREADS=1 $(REGARD) train transformer $(MULTI30K) --minutes 45 --out $(FAST)/transformer \
		$(addprefix -s ,$(GUIDED) $(SAME) task.source.vocabulary=8000)
	$(REGARD) export $(FAST)/transformer --to ctranslate2 --out $(FAST)/teacher --data $(DATA)/multi30k \
		--from de --to en
	mkdir -p $(FAST)/taught && cp $(DATA)/multi30k/val.*.gz $(DATA)/multi30k/test*.gz $(FAST)/taught
	$(REGARD) translate $(FAST)/teacher $(DATA)/multi30k/train.de.gz --alpha 1.5 | gzip > $(FAST)/written.gz
	cat $(DATA)/multi30k/train.de.gz $(DATA)/multi30k/train.de.gz > $(FAST)/taught/train.de.gz
	cat $(DATA)/multi30k/train.en.gz $(FAST)/written.gz > $(FAST)/taught/train.en.gz
	OMP_NUM_THREADS=1 $(REGARD) train transformer-fast --data $(FAST)/taught --from de --to en --minutes 76 \
		--out $(FAST)/transformer-fast $(addprefix -s ,$(GUIDED) $(SAME))
	$(REGARD) compare "transformer: $(FAST)/transformer" "transformer-fast: $(FAST)/transformer-fast" $(MULTI30K) \
		--minutes 45 --out $(FAST)/report
	$(BIN)/python benchmarks/decode.py --data $(DATA)/multi30k --model $(FAST)/transformer \
		--beside $(FAST)/transformer-fast --engines torch,behind-int8,ctranslate2,ctranslate2-int8 --beams 5 --alpha 1

# A hundred kills, about half of them within a save: trainings of six kinds, resumed each time, end as if nothing had happened.
KILLS ?= 100
proof-kills: $(VENV)/installed
	$(BIN)/python benchmarks/kills.py --out $(PROOFS)/kills --kills $(KILLS) --jobs $(JOBS)

# Without positions a Transformer reads a bag of words.
proof-positions: $(VENV)/installed
	$(REGARD) compare "positions: transformer-tiny" \
		"none: transformer-tiny embed.position=none predict.embed.position=none" --data phrasebook --from en --to fr \
		--size 30000 --steps 1500 --out $(PROOFS)/positions -s task.source.vocabulary=3000 -s train.tokens=2048 \
		-s train.validate_steps=250 -s embed.dropout=0.1 -s predict.embed.dropout=0.1 -s encode.dropout=0.1 \
		-s predict.dropout=0.1

# Ways from the states of a sentence to one vector, three seeds each; GA-Net beside soft attention on the first.
CLASSIFY := $(PROOFS)/classify
POOLS := classify classify-last classify-mean classify-max classify-queries classify-self
proof-classify: $(VENV)/installed
	$(REGARD) compare $(POOLS) ga-net --data $(DATA)/rt_polarity --steps 400 --seeds 3 --out $(CLASSIFY)/rt_polarity
	for data in sst2 trec; do \
		$(REGARD) compare $(POOLS) --data $(DATA)/$$data --steps 400 --seeds 3 --out $(CLASSIFY)/$$data || exit; done

# Reviews among five sentences about other things: the last state forgets. A batch is as many texts as of short ones.
proof-long: $(VENV)/installed
	$(REGARD) compare classify classify-last --data reviews-long --steps 300 --seeds 3 --out $(CLASSIFY)/reviews-long \
		-s train.tokens=4096 -s embed.dropout=0.1 -s embed.deviation=0.5

# Is what is looked at what decides? Erase it. After proof-classify and proof-long, whose models these are.
RUNS = $(foreach seed,. seed-1 seed-2,$(CLASSIFY)/$(1)/arms/$(2)/$(seed)/run)
proof-erasure: $(VENV)/installed
	for data in rt_polarity sst2 trec; do \
		$(BIN)/python benchmarks/erasure.py $(call RUNS,$$data,classify) $(call RUNS,$$data,classify-self) \
			--data $(DATA)/$$data || exit; done
	$(BIN)/python benchmarks/erasure.py $(call RUNS,rt_polarity,ga-net) --data $(DATA)/rt_polarity
	$(BIN)/python benchmarks/erasure.py $(call RUNS,reviews-long,classify) --data reviews-long --polar

# Gates at several prices, where it is known which words tell.
proof-needle: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/needle.py --out $(PROOFS)/needle --seeds 3

# WikiText-2 by word: AWD-LSTM in little more than an hour of one core, then a cache chosen on validation text.
WIKITEXT := $(DATA)/lm/wikitext2
proof-wikitext: $(VENV)/installed
	OMP_NUM_THREADS=1 $(REGARD) train awd-lstm --data $(WIKITEXT) --out $(PROOFS)/wikitext --minutes 70 \
		-s train.validate_steps=0 -s train.validate_minutes=30
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/wikitext.py $(PROOFS)/wikitext --data $(WIKITEXT)

# Language models and readers: the arms are in benchmarks/language_arms.py, three seeds each, all in one process.
LANGUAGE = OMP_NUM_THREADS=1 $(BIN)/python benchmarks/language_models.py $(1) --data $(DATA) --out $(PROOFS)/text

# A tape beside a state of no fewer weights: real sentences, and verbs far from their subjects.
proof-lstmn: $(VENV)/installed
	$(call LANGUAGE,lstmn agreement)

# Both ways beside left to right; pretrained beside the same net from scratch, of questions and of reviews, with all
# labels and with 500.
proof-bert: $(VENV)/installed
	$(call LANGUAGE,fill trec trec-500 bert bert-500)

# Masks drawn anew beside masks drawn once, over a small text that is read often.
proof-masks: $(VENV)/installed
	$(call LANGUAGE,masks)

# Shared layers beside layers of their own; the order of two segments beside the next one.
proof-albert: $(VENV)/installed
	$(call LANGUAGE,albert order)

# Three sizes, a state of as many weights in as much time, and what was said once.
proof-gpt2: $(VENV)/installed
	$(call LANGUAGE,sizes time copy)

# What a tape, and the heads of a GPT-2, look back at in the lectures' sentence; both learn from everyday English.
READING := $(PROOFS)/reading
READ := --data $(PROOFS)/text/spoken -s task.target.vocabulary=6000 -s train.tokens=2048 -s train.validate_steps=250
FBI := "The FBI is chasing a criminal on the run."
proof-reading: $(VENV)/installed
	$(BIN)/python benchmarks/language_text.py --data $(DATA) --out $(PROOFS)/text
	OMP_NUM_THREADS=1 $(REGARD) train lstmn $(READ) --out $(READING)/lstmn --steps 650 -s train.rate=0.004 \
		-s train.precision=bf16 -s predict.embed.scale=true -s predict.embed.deviation=1.0
	OMP_NUM_THREADS=1 $(REGARD) train gpt2 $(READ) --out $(READING)/gpt2 --steps 600 -s train.rate=0.002 \
		-s task.examples=rows -s predict.layers=3 -s predict.embed.width=192 -s predict.feed=768 -s predict.self_attend.heads=6
	$(REGARD) show $(READING)/lstmn $(FBI) --out $(READING)/words.png
	$(REGARD) show $(READING)/gpt2 $(FBI) --view heads --out $(READING)/heads.png

# Captions of scenes: soft attention beside the mean of as many weights, and with places looked at evenly.
SCENES := $(PROOFS)/scenes
proof-scenes: $(VENV)/installed
	$(REGARD) compare "soft: caption" "mean: caption-mean predict.hidden=136" "even: caption predict.coverage=0.01" \
		--data scenes --steps 1500 --seeds 3 --beam 1 --out $(SCENES)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/scenes.py $(SCENES)

# One cell for each word, begun softly, with a baseline and without, beside soft attention.
proof-scenes-hard: $(VENV)/installed
	$(REGARD) compare "soft: caption" "hard: caption-hard" "no baseline: caption-hard attend.choice.baseline=0" \
		--data scenes --steps 3000 --seeds 3 --beam 1 --out $(SCENES)-hard
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/scenes.py $(SCENES)-hard

# Formulas of a grammar: rows beside cells that nobody reads across, beside the mean of all cells; short ones, and long.
# Then a reader of long ones, which goes on from one that read short ones: 30,000 images, drawn first (five minutes).
FORMULAS := $(PROOFS)/formulas
READERS := "rows: latex" "flat: latex-flat" "mean: latex-mean"
LONG := --data formulas --size 30000
proof-formulas: proof-formulas-long
	$(REGARD) compare $(READERS) --data formulas --steps 6000 --beam 1 --out $(FORMULAS) -s train.tokens=65536 \
		-s train.validate_steps=1500
	$(BIN)/python benchmarks/formulas.py $(FORMULAS) --data formulas --kept

proof-formulas-short: $(VENV)/installed
	$(REGARD) compare $(READERS) --data formulas-short --steps 2500 --seeds 3 --beam 1 --out $(FORMULAS)-short
	$(BIN)/python benchmarks/formulas.py $(FORMULAS)-short --data formulas-short --kept --edges 5 8 10

proof-formulas-long: proof-formulas-short
	$(REGARD) train latex $(LONG) --steps 2300 --out $(FORMULAS)-long -s train.tokens=196608 \
		-s train.validate_steps=600 -s task.from=$(FORMULAS)-short/arms/rows/run
	for how in "--beam 1" "--beam 5" "--beam 8 --redraw"; do \
		$(BIN)/python benchmarks/formulas.py $(FORMULAS)-long --data formulas --edges 10 20 30 $$how || exit; done

# Formulas of papers: drawn by mathtext to learn from, the official test list to be asked, and images that LaTeX drew.
IM2LATEX := $(PROOFS)/im2latex
proof-im2latex: $(VENV)/installed
	$(BIN)/python benchmarks/im2latex.py $(DATA)/im2latex $(IM2LATEX)-data
	$(REGARD) compare $(READERS) --data $(IM2LATEX)-data/drawn --minutes 15 --beam 1 --out $(IM2LATEX) \
		-s train.tokens=131072 -s train.validate_steps=2000 -s task.source.size=[96,480]
	for kind in drawn real; do $(BIN)/python benchmarks/formulas.py $(IM2LATEX) --data $(IM2LATEX)-data/$$kind || exit; done

# Captions of photographs over a frozen network: soft attention, the mean of all cells, a Transformer and hard attention for
# the same updates, judged as Flickr8k is published; sheets on which a person judges where nouns look; a page of twelve.
# CIDEr and its tokenizer are a package of its own, which needs java.
FLICKR := $(PROOFS)/flickr8k
PHOTOS := --data $(FLICKR)/data --steps 1500 -s task.target.longest=20 -s train.validate_steps=0
proof-flickr8k: $(VENV)/installed
	$(BIN)/pip install --quiet --no-deps --target $(FLICKR)/coco pycocoevalcap==1.2
	$(BIN)/python benchmarks/flickr8k.py $(DATA)/flickr8k $(FLICKR)/data
	OMP_NUM_THREADS=1 $(REGARD) train caption-frozen $(PHOTOS) --out $(FLICKR)/soft
	OMP_NUM_THREADS=1 $(REGARD) train caption-frozen $(PHOTOS) --out $(FLICKR)/mean -s attend=none
	OMP_NUM_THREADS=1 $(REGARD) train caption-frozen-transformer $(PHOTOS) --out $(FLICKR)/transformer
	OMP_NUM_THREADS=1 $(REGARD) train caption-frozen $(PHOTOS) --out $(FLICKR)/hard \
		-s attend.choice=hard -s attend.choice.baseline=learned -s attend.choice.entropy=-0.03 \
		-s attend.choice.warmup=500 -s attend.choice.harden=1000
	PYTHONPATH=$(FLICKR)/coco OMP_NUM_THREADS=1 $(BIN)/python benchmarks/flickr8k_table.py $(FLICKR)/data \
		$(FLICKR)/soft $(FLICKR)/mean $(FLICKR)/transformer $(FLICKR)/hard
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/pointing_page.py $(FLICKR)/data $(FLICKR)/soft --out $(FLICKR)/sheets
	OMP_NUM_THREADS=1 $(REGARD) show $(FLICKR)/soft --data $(FLICKR)/data --answers 12 --out $(FLICKR)/gallery.html
	$(BIN)/python benchmarks/caption.py $(FLICKR)/data $(FLICKR)/soft

# Nuclei, EM sections and discs with a distant mark: gates beside a plain U-Net of no fewer parameters, three seeds, the
# same updates, every size taught in both.
SEGMENT := $(PROOFS)/segment
UNETS := attention-unet "unet: unet encode.hidden=17 predict.deep=true"
proof-segment: $(VENV)/installed
	$(BIN)/python benchmarks/segmentation.py $(DATA)/segmentation $(SEGMENT)-data
	$(REGARD) compare $(UNETS) --data $(SEGMENT)-data/nuclei --steps 800 --seeds 3 --out $(SEGMENT)/nuclei
	$(REGARD) compare $(UNETS) --data $(SEGMENT)-data/em --steps 800 --seeds 3 --out $(SEGMENT)/em \
		-s task.source.size=[96,96] -s train.tokens=73728
	$(REGARD) compare attention-unet "unet: unet encode.hidden=9 predict.deep=true" --data cue-discs --steps 400 --seeds 3 \
		--out $(SEGMENT)/cue-discs -s task.source.size=[32,32] -s task.source.windows=false \
		-s task.source.flip=false -s encode.hidden=8 -s train.tokens=16384

# Residual attention on 16,000 images of CIFAR-10, 1,000 of them for validation: 15 epochs, three seeds of each arm; then
# with half of the training labels wrong; a step beside the same network in plain PyTorch.
RESIDUAL := $(PROOFS)/residual
proof-residual: $(VENV)/installed
	$(BIN)/python benchmarks/cifar.py $(DATA)/cifar10/cifar10_jpeg_16k_4k.npz $(RESIDUAL)/data
	OMP_NUM_THREADS=1 $(REGARD) compare "residual, 2: residual-attention" "naive, 2: residual-attention-naive" \
		"residual, 4: residual-attention encode.modules=[0,2,2]" "naive, 4: residual-attention-naive encode.modules=[0,2,2]" \
		"none: residual-attention-none" --data $(RESIDUAL)/data --steps 3500 --seeds 3 --out $(RESIDUAL)/clean
	OMP_NUM_THREADS=1 $(REGARD) compare "residual: residual-attention" "none: residual-attention-none" \
		--data $(RESIDUAL)/data --steps 3500 --seeds 3 --out $(RESIDUAL)/noisy -s task.target.noise=0.5
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/residual.py --json $(RESIDUAL)/step-2.json
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/residual.py --modules 2 --json $(RESIDUAL)/step-4.json

# SAGAN on images whose halves match: attention beside a residual block of equal size, and beside no spectral norm, after
# equal updates. The weights of the last update are measured, not the best of several.
ADVERSARIAL := --data mirror --steps 1500 -s train.precision=bf16 -s train.validate_steps=0 -s train.tensorboard=false
proof-mirror: $(VENV)/installed
	for recipe in sagan sagan-block sagan-plain; do for seed in 0 1 2; do \
		run=$(PROOFS)/mirror/$$recipe-$$seed; \
		OMP_NUM_THREADS=1 $(REGARD) train $$recipe $(ADVERSARIAL) --seed $$seed --out $$run; \
		OMP_NUM_THREADS=1 $(REGARD) evaluate $$run --data mirror > $$run/report.txt; done; done

# SNAIL on Omniglot (28 x 28, the split of Vinyals et al.): all of it, its convolutions alone, its attention alone, for the
# same updates; then five shots, and twenty ways. Two more seeds with SEEDS="0 1 2".
OMNIGLOT := $(PROOFS)/omniglot
SEEDS ?= 0
STEPS_OMNIGLOT ?= 5000
proof-omniglot: $(VENV)/installed
	$(BIN)/python benchmarks/omniglot.py $(DATA)/omniglot/omniglot28.npz $(OMNIGLOT)/data
	for seed in $(SEEDS); do for arm in snail snail-tc snail-attention; do \
		OMP_NUM_THREADS=1 $(REGARD) train $$arm --data $(OMNIGLOT)/data --steps $(STEPS_OMNIGLOT) --seed $$seed \
			--out $(OMNIGLOT)/$$arm-$$seed && \
		$(REGARD) evaluate $(OMNIGLOT)/$$arm-$$seed --data $(OMNIGLOT)/data || exit; done; done
proof-omniglot-more: $(VENV)/installed
	$(BIN)/python benchmarks/omniglot.py $(DATA)/omniglot/omniglot28.npz $(OMNIGLOT)/data
	OMP_NUM_THREADS=1 $(REGARD) train snail --data $(OMNIGLOT)/data --steps $(STEPS_OMNIGLOT) --out $(OMNIGLOT)/five \
		-s task.source.shots=5 -s train.tokens=960
	OMP_NUM_THREADS=1 $(REGARD) train snail --data $(OMNIGLOT)/data --steps $(STEPS_OMNIGLOT) --out $(OMNIGLOT)/twenty \
		-s task.source.ways=20 -s train.tokens=800
	for run in five twenty; do $(REGARD) evaluate $(OMNIGLOT)/$$run --data $(OMNIGLOT)/data || exit; done

# Auto-encoders on Omniglot: linear beside PCA, deep below it, neighbours in the code, noise taken away; three seeds.
proof-autoencoder: $(VENV)/installed
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/autoencoder_proof.py --data $(DATA)/omniglot --out $(PROOFS)/autoencoder
