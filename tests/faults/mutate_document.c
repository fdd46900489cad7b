/* SPDX-License-Identifier: Apache-2.0 */
/* Changes JSON documents by their structure. */
#include "mutate_document.h"

#include <cjson/cJSON.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * UINT64_C(2685821657736338717);
}

uint64_t random_below(uint64_t *state, uint64_t n)
{
	return n ? random_next(state) % n : 0;
}

static size_t count_nodes(const cJSON *node)
{
	size_t n = 0;
	for (; node; node = node->next)
		n += 1 + count_nodes(node->child);
	return n;
}

/* Returns the `at`-th node below `parent`, and its parent in `owner`. */
static cJSON *find_node(cJSON *parent, size_t *at, cJSON **owner)
{
	for (cJSON *node = parent->child; node; node = node->next) {
		if ((*at)-- == 0) {
			*owner = parent;
			return node;
		}
		cJSON *found = find_node(node, at, owner);
		if (found)
			return found;
	}
	return NULL;
}

static cJSON *odd_value(const cJSON *node, uint64_t *state)
{
	static const double numbers[] = {0,
					 -1,
					 1,
					 0.5,
					 1e18,
					 -1e18,
					 1e300,
					 -0.0,
					 4294967296,
					 2147483648,
					 9007199254740993.0,
					 DBL_MIN,
					 1e-9,
					 65536,
					 1e15};
	static const char *const texts[] = {"",
					    "-1",
					    "0",
					    "18446744073709551615",
					    "nan",
					    "\033[2J",
					    "\xe2\x80\xae",
					    "%s%n",
					    "a/b",
					    "9999999999999999999999"};
	switch (random_below(state, 8)) {
	case 0:
		return cJSON_CreateString(
			texts[random_below(state, sizeof(texts) / sizeof(texts[0]))]);
	case 1:
		return cJSON_CreateNull();
	case 2:
		return cJSON_CreateBool((int)random_below(state, 2));
	case 3:
		return random_below(state, 2) ? cJSON_CreateArray() : cJSON_CreateObject();
	case 4:
		if (cJSON_IsNumber(node))
			return cJSON_CreateNumber(node->valuedouble *
						  (double)((int64_t)random_below(state, 5) - 2));
		/* fall through */
	default:
		return cJSON_CreateNumber(
			numbers[random_below(state, sizeof(numbers) / sizeof(numbers[0]))]);
	}
}

/* Replaces `node` by `value`, with the same key. */
static void replace(cJSON *owner, cJSON *node, cJSON *value)
{
	if (node->string) {
		value->string = strdup(node->string);
	}
	(void)cJSON_ReplaceItemViaPointer(owner, node, value);
}

/* Replaces the same member in all objects of a list: all records of a kind. */
static void replace_in_all(cJSON *list, const char *member_name, uint64_t *state, uint64_t one_of)
{
	char *key = strdup(member_name); /* belongs to a member that is replaced */
	cJSON *value = odd_value(NULL, state);
	for (cJSON *item = list->child; item; item = item->next) {
		cJSON *member = cJSON_GetObjectItemCaseSensitive(item, key);
		if (member && random_below(state, one_of) == 0)
			replace(item, member, cJSON_Duplicate(value, 1));
	}
	cJSON_Delete(value);
	free(key);
}

static void change_one(cJSON *root, uint64_t *state)
{
	cJSON *owner = NULL;
	size_t n = count_nodes(root->child);
	size_t at = (size_t)random_below(state, n);
	/* The members that control the rest are near the beginning. */
	if (random_below(state, 2))
		at = (size_t)random_below(state, n < 300 ? n : 300);
	cJSON *node = n ? find_node(root, &at, &owner) : NULL;
	if (!node)
		return;
	uint64_t choice = random_below(state, 8);
	if (choice == 0) {
		cJSON_Delete(cJSON_DetachItemViaPointer(owner, node));
	} else if (choice == 1 && cJSON_IsArray(owner)) {
		cJSON_AddItemToArray(owner, cJSON_Duplicate(node, 1));
	} else if (choice == 2 && cJSON_IsArray(owner)) {
		cJSON_AddItemToArray(owner, cJSON_DetachItemViaPointer(owner, node));
	} else if (choice <= 5 && node->string && cJSON_IsObject(owner) && cJSON_IsArray(root)) {
		replace_in_all(root, node->string, state, 1 + random_below(state, 3));
	} else if (choice == 6 && cJSON_IsArray(node) && node->child && node->child->child) {
		size_t m = (size_t)cJSON_GetArraySize(node->child);
		const cJSON *member = cJSON_GetArrayItem(node->child, (int)random_below(state, m));
		if (member && member->string)
			replace_in_all(node, member->string, state, 1 + random_below(state, 3));
	} else {
		replace(owner, node, odd_value(node, state));
	}
}

char *mutate_document(const char *text, size_t size, uint64_t *state)
{
	cJSON *root = cJSON_ParseWithLength(text, size);
	if (!root)
		return NULL;
	for (uint64_t n = 1 + random_below(state, 3); n; n--)
		change_one(root, state);
	char *out = cJSON_PrintUnformatted(root);
	cJSON_Delete(root);
	return out;
}
