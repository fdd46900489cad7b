/* Pages of the guide about the taxonomy of speed-ups, and about judging them. */
#include "guide.h"

/* Bartoldson, Kailkhura, Blalock, arXiv 2210.06640, JMLR 24(122), 2023: abstract, and an article
 * about it at infoq.com, December 2022; both read 2026-11-20. The paper's body was not. */
static const char taxonomy_begin[] =
	"Techniques are classed after a survey of more than 200 papers: Bartoldson, Kailkhura and "
	"Blalock, Compute-Efficient Deep Learning, JMLR 24(122), 2023. It asks three questions of "
	"a speed-up: where does it change the training, what does it do there, and when and how.\n"
	"What could be read of it: its abstract and an article about it (infoq.com, December "
	"2022). From these are the three questions, the names of the components, the five Rs and "
	"what each reduces. Not from there, since the paper itself could not be read: the parts "
	"of components, the words for mechanisms, and where each technique is put; these are "
	"trainprof's own.\n";

static const char components[] =
	"- F.param, F.arch: the function. The model's parameters; its architecture.\n"
	"- D.train, D.derived: the data. What is trained on; what is derived from it on the way, "
	"as activations and gradients.\n"
	"- O.obj, O.alg: the optimisation. The objective; the algorithm that pursues it.\n"
	"- impl: the implementation. The same mathematics by other means: loader workers, pinned "
	"memory, fused kernels, settings of a network. The survey is about changes of what is "
	"computed, so this is outside of it, and its R stands by analogy.\n";

static const char verbs[] =
	"- Remove: take elements out. Reduces the time of an iteration. Pruning, freezing layers, "
	"leaving samples out.\n"
	"- Restrict: shrink the space of values. Reduces the time of an iteration. Low precision, "
	"low rank, shared weights, low resolution.\n"
	"- Reorder: change when elements come in. Reduces time of an iteration and number of "
	"iterations. Growing resolution, short sequences first, curricula, packing.\n"
	"- Replace: take another element. Reduces both. Another optimiser, architecture, loader "
	"or kernel.\n"
	"- Retrofit: add elements; the opposite of Remove. Reduces the number of iterations. "
	"Averaged weights, smoothed labels, distillation.\n";

static const char verbs_end[] =
	"An R says what is aimed at, not what happens: what is added may make each iteration "
	"longer, what is removed may need more of them. And time taken out of an iteration only "
	"pays while it is on the critical path: smaller images do not help a loader that is the "
	"limit.\n";

static const char mechanisms[] =
	"- static, scheduled or adaptive: always the same; by a plan; by what data or training "
	"show.\n"
	"- before training, a phase or throughout training: how long it holds.\n"
	"- uniform, random or importance: which elements it takes.\n";

void tp_guide_fill_taxonomy(struct tp_sheet *sheet, const struct tp_rulebook *book)
{
	(void)book;
	tp_sheet_paragraphs(sheet, taxonomy_begin);
	tp_sheet_heading(sheet, "Where: components");
	tp_sheet_paragraphs(sheet, components);
	tp_sheet_heading(sheet, "What: five Rs");
	tp_sheet_paragraphs(sheet, verbs);
	tp_sheet_paragraphs(sheet, verbs_end);
	tp_sheet_heading(sheet, "When and how: mechanisms");
	tp_sheet_paragraphs(sheet, mechanisms);
	tp_sheet_heading(sheet, "Free and semantic");
	tp_sheet_paragraphs(
		sheet,
		"A free technique computes the same training faster; that it is faster is all "
		"that must be shown. A semantic one changes what is computed or learnt; that the "
		"model is as good must be shown as well. Low precision is semantic.\n");
}

static const char evaluation_begin[] =
	"A change made training faster when the same quality is reached in less time on the same "
	"hardware. Operations, parameters and utilisation are not that.\n";

static const char comparing[] =
	"- Compare time to equal quality on one machine. Figures of different papers do not "
	"compare: hardware, baseline and recipe differ.\n"
	"- Look at the loader first. If both variants wait for data they look equally fast, "
	"whatever their kernels do; the wait belongs beside the result.\n"
	"- Let the baseline be a good one, tuned with as much effort as the change.\n"
	"- Compare with simply training for less time, the decay of the learning rate rescaled to "
	"the shorter run and not cut off. Many techniques do not beat it.\n"
	"- Show a curve of quality against time, by runs of several lengths. A win is a point "
	"that no point of the baseline beats in both.\n"
	"- Repeat with three to five seeds; one run does not show a change of the recipe.\n"
	"- Keep data for the choice and data for the verdict apart.\n"
	"- Count the time spent on tuning.\n";

static const char measuring[] =
	"- The same batch size, precision and data order, unless they are the change.\n"
	"- Caches warm in both runs or cold in both.\n"
	"- Without the first steps: compiling, trying kernels, growing memory pools.\n"
	"- The same clock and power limits, nothing else on the machine.\n"
	"- The loader's wait below 5 % of the step in both runs, or told.\n"
	"- The final quality beside the time.\n";

static const char limits_of_figures[] =
	"- Utilisation of model FLOPs compares within one setup: counting and time window differ "
	"elsewhere.\n"
	"- Batch sizes compared at equal epochs only show where doubling is free. If doubling the "
	"batch does not nearly double the throughput, something else is the limit.\n"
	"- An average over many models says little of yours: torch.compile gains 43 % over 163 "
	"models, and one that is bound by matrix products became 6 % slower.\n"
	"- Tables err: one vendor's page gives the same times to train for both precisions, and "
	"1.8 to 1.9 times the throughput for the lower one. A figure that matters is to be "
	"measured.\n";

void tp_guide_fill_evaluation(struct tp_sheet *sheet, const struct tp_rulebook *book)
{
	(void)book;
	tp_sheet_paragraphs(sheet, evaluation_begin);
	tp_sheet_heading(sheet, "What to compare");
	tp_sheet_paragraphs(sheet, comparing);
	tp_sheet_heading(sheet, "Before and after, on your machine");
	tp_sheet_paragraphs(sheet, measuring);
	tp_sheet_heading(sheet, "What figures do not say");
	tp_sheet_paragraphs(sheet, limits_of_figures);
}
