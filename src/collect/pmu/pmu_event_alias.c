/* SPDX-License-Identifier: Apache-2.0 */
/* Reads event aliases and bit formats of core PMUs from sysfs. */
#include "pmu_event_alias.h"

#include "collect/machine/host_file.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES "/sys/bus/event_source/devices"

enum { PATH_SIZE = 512, TEXT_SIZE = 512 };

/* "cpu" and "cpu_*" on x86, "armv8_*" and "armv9_*" on arm64; "apple_*" has no such events. */
static bool is_core_name(const char *name)
{
	return strcmp(name, "cpu") == 0 || strcmp(name, "cpu_core") == 0 ||
	       strcmp(name, "cpu_atom") == 0 || strcmp(name, "cpu_lowpower") == 0 ||
	       strncmp(name, "armv8_", 6) == 0 || strncmp(name, "armv9_", 6) == 0;
}

static bool read_pmu_file(const struct tp_host *host, const struct tp_core_pmu *pmu,
			  const char *directory, const char *name, char *out, size_t size)
{
	char path[PATH_SIZE];
	int len = snprintf(path, sizeof(path), DEVICES "/%s/%s%s%s", pmu->name, directory,
			   directory[0] ? "/" : "", name);
	return len > 0 && (size_t)len < sizeof(path) && tp_host_file_line(host, path, out, size);
}

size_t tp_core_pmu_find(struct tp_core_pmu *out, size_t max, const struct tp_host *host)
{
	char path[PATH_SIZE];
	char text[32];
	size_t n = 0;
	DIR *dir = opendir(tp_host_path(host, path, sizeof(path), DEVICES));
	if (!dir)
		return 0;
	const struct dirent *item;
	while (n < max && (item = readdir(dir))) { /* NOLINT(concurrency-mt-unsafe): our own DIR */
		struct tp_core_pmu pmu = {.type = 0};
		if (!is_core_name(item->d_name) || strlen(item->d_name) >= sizeof(pmu.name))
			continue;
		memcpy(pmu.name, item->d_name, strlen(item->d_name) + 1);
		if (!read_pmu_file(host, &pmu, "", "type", text, sizeof(text)) ||
		    !isdigit((unsigned char)text[0]))
			continue;
		pmu.type = (uint32_t)strtoul(text, NULL, 10);
		out[n++] = pmu;
	}
	closedir(dir);
	return n;
}

/* Puts the bits of `value`, lowest first, to the positions of a format: "config:0-7,32-35" or
 * "config1:0". Rejects a value that does not fit. */
static bool spread_bits(struct tp_pmu_event *out, const char *format, uint64_t value)
{
	uint64_t *field = &out->config;
	if (strncmp(format, "config1:", 8) == 0)
		field = &out->config1;
	else if (strncmp(format, "config:", 7) != 0)
		return false;
	const char *at = strchr(format, ':') + 1;
	while (isdigit((unsigned char)*at)) {
		char *end;
		unsigned long low = strtoul(at, &end, 10);
		unsigned long high = *end == '-' ? strtoul(end + 1, &end, 10) : low;
		if (high > 63 || low > high)
			return false;
		for (unsigned long bit = low; bit <= high; bit++, value >>= 1)
			*field |= (value & 1) << bit;
		at = *end == ',' ? end + 1 : end;
	}
	return *at == '\0' && value == 0;
}

/* One term, "umask=0x1" or "inv". */
static bool apply_term(struct tp_pmu_event *out, const struct tp_host *host,
		       const struct tp_core_pmu *pmu, char *term)
{
	char format[TEXT_SIZE];
	uint64_t value = 1;
	char *sign = strchr(term, '=');
	if (sign) {
		char *end;
		*sign = '\0';
		value = strtoull(sign + 1, &end, 0);
		if (end == sign + 1 || *end != '\0')
			return false;
	}
	if (strcmp(term, "config") == 0) {
		out->config |= value;
		return true;
	}
	if (term[0] == '\0' || strchr(term, '/'))
		return false;
	return read_pmu_file(host, pmu, "format", term, format, sizeof(format)) &&
	       spread_bits(out, format, value);
}

/* Parses terms as in events/ ("event=0x3c,umask=0x1,inv") and distributes them to the bits that
 * format/ specifies. */
static bool parse_terms(struct tp_pmu_event *out, const struct tp_host *host,
			const struct tp_core_pmu *pmu, const char *terms)
{
	char text[TEXT_SIZE];
	struct tp_pmu_event counter = {.type = pmu->type};
	char *rest = NULL;
	int len = snprintf(text, sizeof(text), "%s", terms);
	if (len <= 0 || (size_t)len >= sizeof(text))
		return false;
	for (char *term = strtok_r(text, ",", &rest); term; term = strtok_r(NULL, ",", &rest)) {
		if (!apply_term(&counter, host, pmu, term))
			return false;
	}
	*out = counter;
	return true;
}

bool tp_pmu_event_alias_find(struct tp_pmu_event *out, const struct tp_host *host,
			     const struct tp_core_pmu *pmu, const char *alias)
{
	char terms[TEXT_SIZE];
	return read_pmu_file(host, pmu, "events", alias, terms, sizeof(terms)) && terms[0] &&
	       parse_terms(out, host, pmu, terms);
}

double tp_pmu_event_alias_scale(const struct tp_host *host, const struct tp_core_pmu *pmu,
				const char *alias)
{
	char name[128];
	char text[64];
	snprintf(name, sizeof(name), "%s.scale", alias);
	if (!read_pmu_file(host, pmu, "events", name, text, sizeof(text)))
		return 1;
	double scale = strtod(text, NULL);
	return scale > 0 ? scale : 1;
}

bool tp_pmu_event_alias_cap(uint64_t *out, const struct tp_host *host,
			    const struct tp_core_pmu *pmu, const char *name)
{
	char text[64];
	char *end;
	if (!read_pmu_file(host, pmu, "caps", name, text, sizeof(text)) || !text[0])
		return false;
	*out = strtoull(text, &end, 0);
	return end != text;
}
