/* SPDX-License-Identifier: Apache-2.0 */
/* Parses conditions by recursive descent and checks names and units on the way. */
#include "expr.h"

#include "node.h"
#include "token.h"

#include "trainprof/base/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct parser {
	const char *text;
	size_t at; /* after `token` */
	struct tp_token token;
	const struct tp_expr_scope *place;
	struct tp_error *err;
	unsigned depth;
	bool has_failed;
};

static const struct tp_expr *parse_or(struct parser *parser);
static const struct tp_expr *parse_sum(struct parser *parser);

/* The first failure is the one that is reported. */
TP_PRINTF(3, 4)
static const struct tp_expr *parser_fail(struct parser *parser, size_t at, const char *format, ...)
{
	if (parser->has_failed)
		return NULL;
	parser->has_failed = true;
	char what[160];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	tp_fail(parser->err, TP_PARSE, "%s:%u: %s, at column %zu of \"%.60s\"", parser->place->file,
		parser->place->line, what, at + 1, parser->text);
	return NULL;
}

static void parser_advance(struct parser *parser)
{
	tp_token_next(parser->text, &parser->at, &parser->token);
	if (parser->token.kind == TP_TOKEN_BAD)
		parser_fail(parser, parser->token.at, "%s", parser->token.text);
}

static bool parser_is_at(const struct parser *parser, enum tp_token_kind kind, const char *text)
{
	return !parser->has_failed && parser->token.kind == kind &&
	       strcmp(parser->token.text, text) == 0;
}

static bool parser_accept(struct parser *parser, enum tp_token_kind kind, const char *text)
{
	bool seen = parser_is_at(parser, kind, text);
	if (seen)
		parser_advance(parser);
	return seen;
}

static bool parser_expect(struct parser *parser, const char *sign)
{
	if (parser_accept(parser, TP_TOKEN_SIGN, sign))
		return true;
	bool is_end = parser->token.kind == TP_TOKEN_END;
	parser_fail(parser, parser->token.at, "'%s' expected before %s%s%s", sign,
		    is_end ? "" : "'", is_end ? "the end" : parser->token.text, is_end ? "" : "'");
	return false;
}

/* Called by the two functions that every recursion passes through. */
static bool parser_deepen(struct parser *parser)
{
	if (++parser->depth > TP_EXPR_MAX_DEPTH)
		parser_fail(parser, parser->token.at, "brackets are deeper than %d",
			    TP_EXPR_MAX_DEPTH);
	return !parser->has_failed;
}

static struct tp_expr *parser_node(struct parser *parser, enum tp_node_kind kind,
				   const struct tp_expr *left, const struct tp_expr *right)
{
	struct tp_expr *node = tp_arena_alloc(parser->place->arena, sizeof(*node));
	node->kind = kind;
	node->left = left;
	node->right = right;
	/* Evaluation visits a shared node each time it is named, so sizes add up. */
	node->size = 1 + (left ? left->size : 0) + (right ? right->size : 0);
	if (node->size > TP_EXPR_MAX_SIZE)
		parser_fail(parser, parser->token.at, "a condition has more than %d parts",
			    TP_EXPR_MAX_SIZE);
	return node;
}

static const struct tp_expr *parser_truth(struct parser *parser, enum tp_node_kind kind,
					  const struct tp_expr *left, const struct tp_expr *right)
{
	struct tp_expr *node = parser_node(parser, kind, left, right);
	node->dimension = (struct tp_dimension){.is_bool = true, .scale = 1};
	return node;
}

static bool need_truth(struct parser *parser, size_t at, const struct tp_expr *node)
{
	if (node && !node->dimension.is_bool)
		parser_fail(parser, at, "a condition is needed here, not %s",
			    tp_dimension_name(&node->dimension));
	return node && node->dimension.is_bool;
}

static bool need_number(struct parser *parser, size_t at, const struct tp_expr *node)
{
	if (node && node->dimension.is_bool)
		parser_fail(parser, at, "a number is needed here, not a truth value");
	return node && !node->dimension.is_bool;
}

static bool need_same(struct parser *parser, size_t at, const char *verb,
		      const struct tp_expr *left, const struct tp_expr *right)
{
	if (!left || !right)
		return false;
	if (tp_dimension_match(&left->dimension, &right->dimension))
		return true;
	parser_fail(parser, at, "%s does not %s with %s", tp_dimension_name(&left->dimension), verb,
		    tp_dimension_name(&right->dimension));
	return false;
}

/* A sum, minimum or comparison of a share with a plain number stays a share. */
static const struct tp_expr *parser_joined(struct parser *parser, enum tp_node_kind kind,
					   const struct tp_expr *left, const struct tp_expr *right)
{
	struct tp_expr *node = parser_node(parser, kind, left, right);
	node->dimension = left->dimension;
	node->dimension.is_ratio |= right->dimension.is_ratio;
	return node;
}

static const struct tp_expr *parse_fact(struct parser *parser, enum tp_node_kind kind)
{
	const struct tp_token *token = &parser->token;
	tp_fact_id fact = tp_n_facts;
	if (token->kind == TP_TOKEN_NAME)
		fact = tp_fact_find(token->text);
	if (fact == tp_n_facts) {
		const char *nearest =
			token->kind == TP_TOKEN_NAME ? tp_fact_closest(token->text) : NULL;
		if (nearest)
			return parser_fail(parser, token->at, "no fact '%s'; nearest: %s",
					   token->text, nearest);
		return parser_fail(parser, token->at, "no fact '%s'", token->text);
	}
	struct tp_expr *node = parser_node(parser, kind, NULL, NULL);
	node->fact = fact;
	node->dimension = tp_dimension_of_fact(fact);
	if (kind == TP_NODE_KNOWN)
		node->dimension = (struct tp_dimension){.is_bool = true, .scale = 1};
	parser_advance(parser);
	return node;
}

static const struct tp_expr *parse_threshold(struct parser *parser)
{
	for (size_t i = 0; i < parser->place->n_locals; i++) {
		const struct tp_local *local = &parser->place->locals[i];
		if (strcmp(local->name, parser->token.text) != 0)
			continue;
		parser_advance(parser);
		return local->expr;
	}
	const struct tp_threshold *found =
		tp_thresholds_find(parser->place->thresholds, parser->token.text);
	if (!found) {
		const char *nearest =
			tp_thresholds_nearest(parser->place->thresholds, parser->token.text);
		return parser_fail(parser, parser->token.at, "no threshold '$%s'%s%s",
				   parser->token.text, nearest ? "; nearest: $" : "",
				   nearest ? nearest : "");
	}
	struct tp_expr *node = parser_node(parser, TP_NODE_NUMBER, NULL, NULL);
	node->number = found->value;
	node->dimension = found->dimension;
	parser_advance(parser);
	return node;
}

/* Parses min(a, b, …) and similar functions into a chain of pairs. */
static const struct tp_expr *parse_min_max(struct parser *parser, enum tp_node_kind kind)
{
	size_t at = parser->token.at;
	const struct tp_expr *node = parse_sum(parser);
	if (!need_number(parser, at, node) || !parser_is_at(parser, TP_TOKEN_SIGN, ","))
		return parser_fail(parser, parser->token.at,
				   "min, max and first take two numbers or more");
	while (parser_accept(parser, TP_TOKEN_SIGN, ",")) {
		at = parser->token.at;
		const struct tp_expr *other = parse_sum(parser);
		if (!need_number(parser, at, other) ||
		    !need_same(parser, at, "compare", node, other))
			return NULL;
		node = parser_joined(parser, kind, node, other);
	}
	return node;
}

static const struct tp_expr *parse_rounding(struct parser *parser, enum tp_node_kind kind)
{
	size_t at = parser->token.at;
	const struct tp_expr *inner = parse_sum(parser);
	if (!need_number(parser, at, inner))
		return NULL;
	if (inner->dimension.time || inner->dimension.bytes)
		return parser_fail(parser, at, "only plain numbers are rounded, not %s",
				   tp_dimension_name(&inner->dimension));
	struct tp_expr *node = parser_node(parser, kind, inner, NULL);
	node->dimension = (struct tp_dimension){.scale = 1};
	return node;
}

static const struct tp_expr *parse_whole_interval(struct parser *parser)
{
	size_t at = parser->token.at;
	const struct tp_expr *inner = parse_or(parser);
	return need_truth(parser, at, inner) ? parser_truth(parser, TP_NODE_SURE, inner, NULL)
					     : NULL;
}

static const struct tp_expr *parse_call(struct parser *parser, const char *name, size_t at)
{
	const struct tp_expr *node;
	if (!parser_deepen(parser))
		return NULL;
	if (strcmp(name, "min") == 0)
		node = parse_min_max(parser, TP_NODE_MIN);
	else if (strcmp(name, "max") == 0)
		node = parse_min_max(parser, TP_NODE_MAX);
	else if (strcmp(name, "first") == 0)
		node = parse_min_max(parser, TP_NODE_FIRST);
	else if (strcmp(name, "ceil") == 0)
		node = parse_rounding(parser, TP_NODE_CEIL);
	else if (strcmp(name, "floor") == 0)
		node = parse_rounding(parser, TP_NODE_FLOOR);
	else if (strcmp(name, "known") == 0)
		node = parse_fact(parser, TP_NODE_KNOWN);
	else if (strcmp(name, "sure") == 0)
		node = parse_whole_interval(parser);
	else
		node = parser_fail(
			parser, at,
			"no function '%s'; there are min max first ceil floor known sure", name);
	parser->depth--;
	return node && parser_expect(parser, ")") ? node : NULL;
}

static const struct tp_expr *parse_name(struct parser *parser)
{
	struct tp_token name = parser->token;
	for (int value = 0; value < 2; value++) {
		if (!parser_accept(parser, TP_TOKEN_NAME, value ? "true" : "false"))
			continue;
		struct tp_expr *node = parser_node(parser, TP_NODE_CONSTANT, NULL, NULL);
		node->number = value;
		node->dimension = (struct tp_dimension){.is_bool = true, .scale = 1};
		return node;
	}
	/* A function is a name followed by a bracket; this is checked before the name is taken as a
	 * fact. */
	if (parser->text[parser->at] != '(')
		return parse_fact(parser, TP_NODE_FACT);
	parser_advance(parser);
	parser_advance(parser);
	return parse_call(parser, name.text, name.at);
}

static const struct tp_expr *parse_atom(struct parser *parser)
{
	if (parser->has_failed)
		return NULL;
	if (parser->token.kind == TP_TOKEN_NUMBER) {
		struct tp_expr *node = parser_node(parser, TP_NODE_NUMBER, NULL, NULL);
		node->number = parser->token.value;
		node->dimension = parser->token.dimension;
		parser_advance(parser);
		return node;
	}
	if (parser->token.kind == TP_TOKEN_THRESHOLD)
		return parse_threshold(parser);
	if (parser->token.kind == TP_TOKEN_NAME)
		return parse_name(parser);
	if (parser_accept(parser, TP_TOKEN_SIGN, "(")) {
		const struct tp_expr *inner = parse_or(parser);
		return inner && parser_expect(parser, ")") ? inner : NULL;
	}
	return parser_fail(parser, parser->token.at, "a number, a fact or '(' expected%s%s%s",
			   parser->token.kind == TP_TOKEN_END ? "" : " before '",
			   parser->token.text, parser->token.kind == TP_TOKEN_END ? "" : "'");
}

static const struct tp_expr *parse_sign(struct parser *parser)
{
	size_t at = parser->token.at;
	bool is_negative = parser_accept(parser, TP_TOKEN_SIGN, "-");
	const struct tp_expr *inner = parse_atom(parser);
	if (!is_negative || !need_number(parser, at, inner))
		return is_negative ? NULL : inner;
	struct tp_expr *node = parser_node(parser, TP_NODE_NEGATE, inner, NULL);
	node->dimension = inner->dimension;
	return node;
}

/* True for a zero that does not depend on any fact. */
static bool is_zero(const struct tp_expr *expr)
{
	static const struct tp_quantity unknown[TP_MAX_FACTS];
	struct tp_number number = tp_expr_number(expr, unknown);
	return number.is_known && number.value == 0;
}

static const struct tp_expr *parse_mul(struct parser *parser)
{
	const struct tp_expr *left = parse_sign(parser);
	while (left) {
		size_t at = parser->token.at;
		bool divides = parser_accept(parser, TP_TOKEN_SIGN, "/");
		if (!divides && !parser_accept(parser, TP_TOKEN_SIGN, "*"))
			break;
		const struct tp_expr *right = parse_sign(parser);
		if (!need_number(parser, at, left) || !need_number(parser, at, right))
			return NULL;
		struct tp_dimension dimension;
		if (!tp_dimension_mul(&left->dimension, &right->dimension, divides ? -1 : 1,
				      &dimension))
			return parser_fail(parser, at, "%s %s %s has no meaning here",
					   tp_dimension_name(&left->dimension),
					   divides ? "divided by" : "times",
					   tp_dimension_name(&right->dimension));
		if (divides && is_zero(right))
			return parser_fail(parser, at, "this divides by zero");
		struct tp_expr *node =
			parser_node(parser, divides ? TP_NODE_DIVIDE : TP_NODE_MULTIPLY, left,
				    right);
		node->dimension = dimension;
		left = node;
	}
	return left;
}

static const struct tp_expr *parse_sum(struct parser *parser)
{
	const struct tp_expr *left = parse_mul(parser);
	while (left) {
		size_t at = parser->token.at;
		bool subtracts = parser_accept(parser, TP_TOKEN_SIGN, "-");
		if (!subtracts && !parser_accept(parser, TP_TOKEN_SIGN, "+"))
			break;
		const struct tp_expr *right = parse_mul(parser);
		if (!need_same(parser, at, "add up", left, right))
			return NULL;
		left = parser_joined(parser, subtracts ? TP_NODE_SUBTRACT : TP_NODE_ADD, left,
				     right);
	}
	return left;
}

static bool parser_accept_compare(struct parser *parser, enum tp_compare *out)
{
	static const char *const signs[] = {"<", "<=", ">", ">=", "==", "!="};
	for (unsigned i = 0; i < TP_N_COMPARES; i++) {
		if (parser_accept(parser, TP_TOKEN_SIGN, signs[i])) {
			*out = (enum tp_compare)i;
			return true;
		}
	}
	return false;
}

static const struct tp_expr *parse_compare(struct parser *parser)
{
	const struct tp_expr *left = parse_sum(parser);
	size_t at = parser->token.at;
	enum tp_compare compare;
	if (!left || !parser_accept_compare(parser, &compare))
		return left;
	const struct tp_expr *right = parse_sum(parser);
	if (!need_same(parser, at, "compare", left, right))
		return NULL;
	enum tp_compare second;
	size_t chain = parser->token.at;
	if (parser_accept_compare(parser, &second))
		return parser_fail(parser, chain, "comparisons do not chain; use 'and'");
	struct tp_expr *node = parser_node(parser, TP_NODE_COMPARE, left, right);
	node->compare = compare;
	node->dimension = (struct tp_dimension){.is_bool = true, .scale = 1};
	return node;
}

static const struct tp_expr *parse_not(struct parser *parser)
{
	bool is_negated = false;
	size_t at = parser->token.at;
	while (parser_accept(parser, TP_TOKEN_NAME, "not"))
		is_negated = !is_negated;
	const struct tp_expr *inner = parse_compare(parser);
	if (!is_negated || !need_truth(parser, at, inner))
		return is_negated ? NULL : inner;
	return parser_truth(parser, TP_NODE_NOT, inner, NULL);
}

static const struct tp_expr *parse_and(struct parser *parser)
{
	const struct tp_expr *left = parse_not(parser);
	size_t at = parser->token.at;
	while (left && parser_accept(parser, TP_TOKEN_NAME, "and")) {
		const struct tp_expr *right = parse_not(parser);
		if (!need_truth(parser, at, left) || !need_truth(parser, at, right))
			return NULL;
		left = parser_truth(parser, TP_NODE_AND, left, right);
	}
	return left;
}

static const struct tp_expr *parse_or(struct parser *parser)
{
	if (!parser_deepen(parser))
		return NULL;
	const struct tp_expr *left = parse_and(parser);
	size_t at = parser->token.at;
	while (left && parser_accept(parser, TP_TOKEN_NAME, "or")) {
		const struct tp_expr *right = parse_and(parser);
		if (!need_truth(parser, at, left) || !need_truth(parser, at, right))
			return NULL;
		left = parser_truth(parser, TP_NODE_OR, left, right);
	}
	parser->depth--;
	return left;
}

enum tp_status tp_expr_parse(const struct tp_expr **out, const char *text, enum tp_expr_type want,
			     const struct tp_expr_scope *place, struct tp_error *err)
{
	if (strlen(text) > TP_EXPR_MAX_LENGTH)
		return tp_fail(err, TP_PARSE, "%s:%u: a condition is longer than %d characters",
			       place->file, place->line, TP_EXPR_MAX_LENGTH);
	struct parser parser = {.text = text, .place = place, .err = err};
	parser_advance(&parser);
	const struct tp_expr *root = parse_or(&parser);
	if (root && parser.token.kind != TP_TOKEN_END)
		parser_fail(&parser, parser.token.at, "'%s' follows the end of the condition",
			    parser.token.text);
	if (root && want == TP_EXPR_CONDITION)
		need_truth(&parser, 0, root);
	if (root && want == TP_EXPR_NUMBER)
		need_number(&parser, 0, root);
	if (parser.has_failed)
		return TP_PARSE;
	*out = root;
	return TP_OK;
}
