/*
 * Which frameworks work in the program, by names that only their stacks and operators have. Gives:
 * env.uses_pytorch, env.uses_jax, env.uses_tensorflow
 */
#include "analysis.h"

#include "trainprof/base/memory.h"
#include "trainprof/base/text.h"

#include <string.h>

/* What only stacks and operators of a framework have in their names. */
struct framework_sign {
	enum tp_fact fact;
	const char *text;
	bool is_begin; /* of the name; else anywhere in it */
};

static const struct framework_sign framework_signs[] = {
	{TP_FACT_ENV_PYTORCH, "aten::", true},
	{TP_FACT_ENV_PYTORCH, "/libtorch", false},
	{TP_FACT_ENV_PYTORCH, "-packages/torch/", false},
	{TP_FACT_ENV_JAX, "-packages/jax/", false},
	{TP_FACT_ENV_JAX, "-packages/jaxlib/", false},
	{TP_FACT_ENV_TENSORFLOW, "-packages/tensorflow/", false},
	{TP_FACT_ENV_TENSORFLOW, "/libtensorflow", false},
};

static bool is_sign(const struct framework_sign *sign, const char *name)
{
	return sign->is_begin ? tp_text_starts_with(name, sign->text)
			      : strstr(name, sign->text) != NULL;
}

/* What was not seen may be there: a run without stacks knows nothing of its libraries. */
enum tp_status tp_pass_frameworks(struct tp_analysis *analysis, struct tp_error *err)
{
	(void)err;
	static const enum tp_fact facts[] = {TP_FACT_ENV_PYTORCH, TP_FACT_ENV_JAX,
					     TP_FACT_ENV_TENSORFLOW};
	const struct tp_trace *trace = analysis->trace;
	for (size_t i = 0; i < TP_ARRAY_LEN(facts); i++)
		tp_profile_miss(analysis->profile, facts[i],
				"no stack and no operator of it was seen");
	for (size_t i = 0; i < TP_ARRAY_LEN(framework_signs); i++) {
		const struct framework_sign *sign = &framework_signs[i];
		bool is_seen = analysis->profile->facts[sign->fact].is_known;
		for (size_t k = 0; k < trace->n_strings && !is_seen; k++)
			is_seen = is_sign(sign, tp_trace_string(trace, (uint32_t)k));
		if (is_seen)
			tp_profile_set(analysis->profile, sign->fact, true, TP_ORIGIN_MEASURED, 1);
	}
	return TP_OK;
}
