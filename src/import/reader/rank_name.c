/* SPDX-License-Identifier: Apache-2.0 */
/* Finds rank numbers in names of files and in environments. */
#include "rank_name.h"

#include "trainprof/base/memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Returns the number after the word that begins at `p`: "rank-34", "worker3". */
static int64_t number_after(const char *p, const char *word)
{
	size_t len = strlen(word);
	if (strncasecmp(p, word, len) != 0)
		return -1;
	p += len;
	p += *p == '-' || *p == '_' || *p == ' ';
	if (!isdigit((unsigned char)*p))
		return -1;
	int64_t number = 0;
	for (; isdigit((unsigned char)*p); p++) {
		number = number * 10 + (*p - '0');
		if (number > INT32_MAX)
			return -1;
	}
	return number;
}

int64_t tp_rank_name_number(const char *path)
{
	static const char *const words[] = {"rank", "worker"};
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < TP_ARRAY_LEN(words); i++)
		for (const char *p = name; *p; p++) {
			int64_t number = number_after(p, words[i]);
			if (number >= 0)
				return number;
		}
	return -1;
}

/* Returns the number after a variable: "RANK": "3", or RANK=3. */
static int64_t variable_in(const char *text, size_t len, const char *variable)
{
	const char *end = text + len;
	size_t n = strlen(variable);
	for (const char *at = text; (at = memmem(at, (size_t)(end - at), variable, n)); at++) {
		const char *value = at + n;
		int64_t number = 0;
		bool is_whole = (at == text || strchr("\" \n{,;", at[-1])) && value < end &&
				strchr("\"= :", *value);
		while (value < end && strchr("\"= :", *value))
			value++;
		if (!is_whole || value == end || *value < '0' || *value > '9')
			continue;
		for (; value < end && *value >= '0' && *value <= '9' && number < INT32_MAX; value++)
			number = 10 * number + (*value - '0');
		return number;
	}
	return -1;
}

int64_t tp_rank_environment_number(const char *text, size_t len)
{
	static const char *const variables[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
						"SLURM_PROCID"};
	int64_t number = -1;
	for (size_t i = 0; number < 0 && i < TP_ARRAY_LEN(variables); i++)
		number = variable_in(text, len, variables[i]);
	return number;
}
