/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that are written into NVTX's tables. */
#include "nvtx.h"

#include "nvtx_ranges.h"

#include <stddef.h>
#include <string.h>

/* ---- domains and strings -------------------------------------------------------------------- */

static void *on_create_domain(const char *name)
{
	return tp_nvtx_range_domain(&(struct tp_nvtx_range_message){.ascii = name});
}

static void *on_create_domain_wide(const wchar_t *name)
{
	return tp_nvtx_range_domain(&(struct tp_nvtx_range_message){.wide = name});
}

static void *on_register(const void *domain, const char *message)
{
	(void)domain;
	return tp_nvtx_range_register(&(struct tp_nvtx_range_message){.ascii = message});
}

static void *on_register_wide(const void *domain, const wchar_t *message)
{
	(void)domain;
	return tp_nvtx_range_register(&(struct tp_nvtx_range_message){.wide = message});
}

/* ---- ranges of a thread --------------------------------------------------------------------- */

static int on_push(const char *text)
{
	return tp_nvtx_range_push(NULL, &(struct tp_nvtx_range_message){.ascii = text}, NULL);
}

static int on_push_wide(const wchar_t *text)
{
	return tp_nvtx_range_push(NULL, &(struct tp_nvtx_range_message){.wide = text}, NULL);
}

static int on_domain_push(const void *domain, const struct nvtx_attributes *attributes)
{
	return tp_nvtx_range_push(domain, &(struct tp_nvtx_range_message){.attributes = attributes},
				  NULL);
}

static int on_push_attributes(const struct nvtx_attributes *attributes)
{
	return on_domain_push(NULL, attributes);
}

static int on_pop(void)
{
	return tp_nvtx_range_pop(NULL, NULL);
}

static int on_domain_pop(const void *domain)
{
	return tp_nvtx_range_pop(domain, NULL);
}

static int on_push_payload(const void *domain, const struct nvtx_payload *payloads, size_t n)
{
	return tp_nvtx_range_push(domain, &(struct tp_nvtx_range_message){0}, n ? payloads : NULL);
}

static int on_pop_payload(const void *domain, const struct nvtx_payload *payloads, size_t n)
{
	return tp_nvtx_range_pop(domain, n ? payloads : NULL);
}

/* ---- ranges that any thread may end, and marks ---------------------------------------------- */

static uint64_t on_start(const char *text)
{
	return tp_nvtx_range_start(&(struct tp_nvtx_range_message){.ascii = text});
}

static uint64_t on_start_wide(const wchar_t *text)
{
	return tp_nvtx_range_start(&(struct tp_nvtx_range_message){.wide = text});
}

static uint64_t on_start_attributes(const struct nvtx_attributes *attributes)
{
	return tp_nvtx_range_start(&(struct tp_nvtx_range_message){.attributes = attributes});
}

static uint64_t on_domain_start(const void *domain, const struct nvtx_attributes *attributes)
{
	(void)domain;
	return on_start_attributes(attributes);
}

static uint64_t on_start_payload(const void *domain, const struct nvtx_payload *payloads, size_t n)
{
	(void)domain;
	(void)payloads;
	(void)n;
	return tp_nvtx_range_start(&(struct tp_nvtx_range_message){0});
}

static void on_domain_end(const void *domain, uint64_t range)
{
	(void)domain;
	tp_nvtx_range_end(range);
}

static void on_end_payload(const void *domain, uint64_t range, const struct nvtx_payload *payloads,
			   size_t n)
{
	(void)payloads;
	(void)n;
	(void)domain;
	tp_nvtx_range_end(range);
}

static void on_mark(const char *text)
{
	tp_nvtx_range_mark(NULL, &(struct tp_nvtx_range_message){.ascii = text});
}

static void on_mark_wide(const wchar_t *text)
{
	tp_nvtx_range_mark(NULL, &(struct tp_nvtx_range_message){.wide = text});
}

static void on_domain_mark(const void *domain, const struct nvtx_attributes *attributes)
{
	tp_nvtx_range_mark(domain, &(struct tp_nvtx_range_message){.attributes = attributes});
}

static void on_mark_attributes(const struct nvtx_attributes *attributes)
{
	on_domain_mark(NULL, attributes);
}

/* ---- attaching ------------------------------------------------------------------------------ */

struct nvtx_row {
	unsigned place;
	nvtx_function function;
};

#define ROW(place, function)                                                                       \
	{                                                                                          \
		place, (nvtx_function)(function)                                                   \
	}

static const struct nvtx_row core[] = {
	ROW(NVTX_MARK_EX, on_mark_attributes),
	ROW(NVTX_MARK_A, on_mark),
	ROW(NVTX_MARK_W, on_mark_wide),
	ROW(NVTX_START_EX, on_start_attributes),
	ROW(NVTX_START_A, on_start),
	ROW(NVTX_START_W, on_start_wide),
	ROW(NVTX_END, tp_nvtx_range_end),
	ROW(NVTX_PUSH_EX, on_push_attributes),
	ROW(NVTX_PUSH_A, on_push),
	ROW(NVTX_PUSH_W, on_push_wide),
	ROW(NVTX_POP, on_pop),
};

static const struct nvtx_row core2[] = {
	ROW(NVTX_DOMAIN_MARK_EX, on_domain_mark),
	ROW(NVTX_DOMAIN_START_EX, on_domain_start),
	ROW(NVTX_DOMAIN_END, on_domain_end),
	ROW(NVTX_DOMAIN_PUSH_EX, on_domain_push),
	ROW(NVTX_DOMAIN_POP, on_domain_pop),
	ROW(NVTX_DOMAIN_REGISTER_A, on_register),
	ROW(NVTX_DOMAIN_REGISTER_W, on_register_wide),
	ROW(NVTX_DOMAIN_CREATE_A, on_create_domain),
	ROW(NVTX_DOMAIN_CREATE_W, on_create_domain_wide),
};

static const struct nvtx_row payloads[] = {
	ROW(NVTX_SLOT_PUSH_PAYLOAD, on_push_payload),
	ROW(NVTX_SLOT_POP_PAYLOAD, on_pop_payload),
	ROW(NVTX_SLOT_START_PAYLOAD, on_start_payload),
	ROW(NVTX_SLOT_END_PAYLOAD, on_end_payload),
};

#define N_ROWS(rows) (sizeof(rows) / sizeof((rows)[0]))

static bool fill(const struct nvtx_callbacks *callbacks, enum nvtx_module module,
		 const struct nvtx_row *rows, size_t n)
{
	nvtx_function **table = NULL;
	unsigned size = 0;
	if (!callbacks->get_functions(module, &table, &size) || !table)
		return false;
	for (size_t i = 0; i < n; i++)
		if (rows[i].place < size && table[rows[i].place])
			*table[rows[i].place] = rows[i].function;
	return true;
}

bool tp_nvtx_attach(nvtx_get_table get_table)
{
	const struct nvtx_callbacks *callbacks = get_table(NVTX_TABLE_CALLBACKS);
	if (!callbacks || callbacks->struct_size < sizeof(*callbacks))
		return false;
	bool has_core = fill(callbacks, NVTX_MODULE_CORE, core, N_ROWS(core));
	bool has_core2 = fill(callbacks, NVTX_MODULE_CORE2, core2, N_ROWS(core2));
	return has_core || has_core2;
}

void tp_nvtx_attach_extension(const struct nvtx_extension *extension)
{
	if (extension->module != NVTX_EXTENSION_PAYLOAD || !extension->n_segments)
		return;
	const struct nvtx_segment *segment = &extension->segments[0];
	for (size_t i = 0; i < N_ROWS(payloads); i++)
		if (payloads[i].place < segment->n_slots)
			segment->slots[payloads[i].place] = (intptr_t)payloads[i].function;
}
