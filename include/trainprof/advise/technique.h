/* SPDX-License-Identifier: Apache-2.0 */
/* The practitioner's guide as data: what may limit a run, what helps against it, and who reports
 * which result. rules/limits.json, rules/techniques/<id>.json and rules/sources.json;
 * rules/README.md documents the keys. Everything is loaded with a rulebook and checked against its
 * facts and thresholds. */
#ifndef TRAINPROF_ADVISE_TECHNIQUE_H
#define TRAINPROF_ADVISE_TECHNIQUE_H

#include "trainprof/base/status.h"
#include "trainprof/model/finding.h"

#include <stdbool.h>
#include <stddef.h>

struct tp_rulebook;
struct tp_expr;

/* Classes of techniques; some of the words in its file are used elsewhere too. */
enum tp_group {
	TP_GROUP_INPUT,
	TP_GROUP_KERNELS,
	TP_GROUP_MEMORY,
	TP_GROUP_COMMUNICATION,
	TP_GROUP_ITERATIONS,
	TP_GROUP_OFF_STEP,
	TP_GROUP_CPU,
	TP_N_GROUPS
};
/* The component of training that a technique changes. IMPL: only the implementation; no component
 * changes. */
enum tp_component {
	TP_COMPONENT_F_PARAM,
	TP_COMPONENT_F_ARCH,
	TP_COMPONENT_D_TRAIN,
	TP_COMPONENT_D_DERIVED,
	TP_COMPONENT_O_OBJ,
	TP_COMPONENT_O_ALG,
	TP_COMPONENT_IMPL,
	TP_N_COMPONENTS
};
/* The five Rs. */
enum tp_verb {
	TP_VERB_REMOVE,
	TP_VERB_RESTRICT,
	TP_VERB_REORDER,
	TP_VERB_REPLACE,
	TP_VERB_RETROFIT,
	TP_N_VERBS
};
enum tp_saving {
	TP_SAVING_ITERATION,  /* time per iteration */
	TP_SAVING_ITERATIONS, /* number of iterations */
	TP_SAVING_BOTH,
	TP_SAVING_CAPACITY, /* memory; may cost time */
	TP_SAVING_OTHER,    /* outside of the steps */
	TP_N_SAVINGS
};
enum tp_risk { TP_RISK_NONE, TP_RISK_LOW, TP_RISK_MEDIUM, TP_RISK_HIGH, TP_N_RISKS };
enum tp_effort { TP_EFFORT_FLAG, TP_EFFORT_LINES, TP_EFFORT_REFACTOR, TP_N_EFFORTS };
enum tp_framework {
	TP_FRAMEWORK_PYTORCH,
	TP_FRAMEWORK_JAX,
	TP_FRAMEWORK_TENSORFLOW,
	TP_FRAMEWORK_C,
	TP_N_FRAMEWORKS
};

/* Names in the order of the enumerations, NULL-terminated. */
extern const char *const tp_verb_names[TP_N_VERBS + 1];
extern const char *const tp_risk_names[TP_N_RISKS + 1];
extern const char *const tp_effort_names[TP_N_EFFORTS + 1];
extern const char *const tp_framework_names[TP_N_FRAMEWORKS + 1];
extern const char *const tp_effort_words[TP_N_EFFORTS + 1]; /* the same in words for people */

/* Something that may limit a run. */
struct tp_limit {
	const char *id;
	const char *title;
	unsigned order;          /* order of diagnosis: lower ones are examined first */
	const char *parent_name; /* NULL = none */
	const struct tp_limit *parent;
	const char *signals; /* the measurements that show it */
	const char *proof;   /* the cheapest experiment that distinguishes it from others */
	const char **look_alikes;
	size_t n_look_alikes;
	const char *path;
	unsigned line;
};

/* Where published results were read. */
struct tp_reference {
	const char *tag;
	const char *title;
	const char *where;
	const char *checked; /* date, as in 2026-11-20 */
	const char *path;
	unsigned line;
};

/* A published result. */
struct tp_effect {
	const char *text;
	const char *hardware; /* "not stated" if the source does not say */
	const char *baseline;
	const char *tag;
	const struct tp_reference *source;
	unsigned line;
};

/* A condition in words and, where facts can decide it, as an expression. */
struct tp_guide_condition {
	const char *text;
	const char *when_written;   /* NULL = facts cannot decide it */
	const struct tp_expr *when; /* NULL in the same case */
};

struct tp_technique {
	const char *id;
	const char *title;
	enum tp_group group;
	const char **relieves_names;
	const struct tp_limit **relieves;
	size_t n_relieves;
	enum tp_component component;
	enum tp_verb verb;
	const char *mechanism; /* timing; duration; selection */
	enum tp_saving saving;
	enum tp_advice_kind kind;
	struct tp_effect *effects;
	size_t n_effects;
	struct tp_guide_condition *needs;
	size_t n_needs;
	struct tp_guide_condition *not_when;
	size_t n_not_when;
	struct tp_guide_condition
		done; /* applied already; no text; all NULL if facts cannot decide it */
	const char **together_names;
	const struct tp_technique **together; /* useful only together with this one */
	size_t n_together;
	const char *against_name;           /* NULL = it needs as many iterations as before */
	const struct tp_technique *against; /* trades time for quality at a known rate */
	enum tp_risk risk;                  /* to the quality of the model */
	const char *risk_text;
	enum tp_effort effort;
	const char *how[TP_N_FRAMEWORKS]; /* NULL where it does not apply */
	const char *verify;
	const char *path;
	unsigned relieves_line;
	unsigned together_line;
	unsigned against_line;
};

struct tp_guide_section {
	const char *heading; /* NULL: the beginning of the page */
	const char *text;    /* one paragraph per line; lines that begin with "- " form a list */
};

/* A list that follows the text of a page. */
enum tp_guide_list { TP_GUIDE_LIST_NONE, TP_GUIDE_LIST_LIMITS, TP_GUIDE_LIST_TECHNIQUES };

/* A page of text. */
struct tp_guide_text {
	const char *id;
	const char *title;
	struct tp_guide_section *sections;
	size_t n_sections;
	const char **steps; /* of diagnosis: a limit of order i belongs to steps[i - 1] */
	size_t n_steps;
	enum tp_guide_list list;
	const char **cites_names; /* tags of the sources */
	const struct tp_reference **cites;
	size_t n_cites;
	const char *path;
	unsigned line;
};

/* Immutable once loaded; everything lives as long as the rulebook. */
struct tp_catalogue {
	struct tp_limit *limits; /* by order, then as written */
	size_t n_limits;
	struct tp_technique *techniques; /* by id */
	size_t n_techniques;
	struct tp_reference *references; /* as written */
	size_t n_references;
	struct tp_guide_text *texts; /* as written */
	size_t n_texts;
};

/* Never NULL; empty if no folder contains any. */
const struct tp_catalogue *tp_rulebook_catalogue(const struct tp_rulebook *book);

/* NULL if there is none. */
const struct tp_technique *tp_catalogue_technique(const struct tp_catalogue *catalogue,
						  const char *id);
const struct tp_limit *tp_catalogue_limit(const struct tp_catalogue *catalogue, const char *id);

/* Returns the description of a step in the order of diagnosis, from 1; NULL if no page has it. */
const char *tp_catalogue_stage(const struct tp_catalogue *catalogue, unsigned order);

/* True if the technique names this limit; relief of a parent limit does not count. */
bool tp_technique_has_limit(const struct tp_technique *technique, const struct tp_limit *limit);

#endif
