/* SPDX-License-Identifier: Apache-2.0 */
#include "base/unicode.h"
#include "cel/cel.h"
#include "cel/lexer.h"

/** Maximum length of a unit such as "Mi" or "ms". */
#define UNIT_LETTERS_MAX 2

struct renamer {
	struct bt_cel_renaming *renaming;
	struct bt_arena *arena;
	struct bt_cel_lexer lexer;
	struct bt_cel_issues issues;
	BT_VEC(struct bt_cel_token) tokens;
	struct bt_strbuf *out;
};

static const char *const functions[] = {
#define BT_CEL_FUNCTION(name, style, signature, guard, charge, code, variant) name,
#define BT_CEL_OWN(name, style, signature) name,
#include "cel/functions.def"
#undef BT_CEL_FUNCTION
#undef BT_CEL_OWN
};

static const char *const macros[] = {"has", "all", "exists", "exists_one", "existsOne", "map",
	"filter", "transformList", "transformMap", "transformMapEntry", "bind", "optMap",
	"optFlatMap", "sortBy"};

/** Names that are not renamed: variables, types, and namespaces of functions. */
static const char *const roots[] = {"device", "int", "uint", "double", "bool", "string", "bytes",
	"list", "map", "type", "null_type", "optional_type", "dyn", "cel", "optional", "sets",
	"lists", "strings", "math", "format", "ip", "google", "kubernetes", "net"};

static const char *const device_fields[] = {
	"driver", "attributes", "capacity", "allowMultipleAllocations"};

/** Functions whose result depends on parts of a text, so that renaming may change the result. */
static const char *const of_parts[] = {"charAt", "cidr", "contains", "endsWith", "find", "findAll",
	"format", "indexOf", "ip", "isCIDR", "isCanonical", "isIP", "isURL", "join", "lastIndexOf",
	"lowerAscii", "matches", "quote", "replace", "reverse", "size", "split", "startsWith",
	"substring", "trim", "upperAscii", "url"};

static const char *const of_amounts[] = {
	"quantity", "isQuantity", "duration", "timestamp", "semver", "isSemver"};

#define IS_AMONG(text, list) bt_str_is_one_of((text), (list), BT_ARRAY_LENGTH(list))

/** Whether name is a function, a macro, or the end of a dotted function ("of": optional.of). */
static bool is_function(struct bt_str name)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(functions); i++) {
		struct bt_str rest = bt_str_from(functions[i]);
		do {
			if (bt_str_equal(rest, name)) {
				return true;
			}
			(void)bt_str_cut(&rest, '.');
		} while (rest.data != NULL);
	}
	return IS_AMONG(name, macros);
}

/** Whether the text is a number with an optional unit: "40Gi", "-1.5", "1e3". */
static bool is_amount(struct bt_str text)
{
	uint32_t letters = 0;
	bool has_digit = false;
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		letters += bt_is_letter(byte);
		has_digit = has_digit || bt_is_digit(byte);
		if (!bt_is_letter(byte) && !bt_is_digit(byte) && byte != '.' && byte != '+' &&
			byte != '-') {
			return false;
		}
	}
	return has_digit && letters <= UNIT_LETTERS_MAX;
}

/** Kind of the token at index + offset; BT_CEL_TOKEN_END: there is no such token. */
static enum bt_cel_token_kind kind_at(const struct renamer *renamer, uint32_t index, int offset)
{
	int64_t at = (int64_t)index + offset;
	return at >= 0 && at < renamer->tokens.count ? renamer->tokens.items[at].kind
						     : BT_CEL_TOKEN_END;
}

static struct bt_str text_at(const struct renamer *renamer, uint32_t index, int offset)
{
	int64_t at = (int64_t)index + offset;
	return at >= 0 && at < renamer->tokens.count ? renamer->tokens.items[at].text : BT_STR("");
}

static struct bt_str rename_name(const struct renamer *renamer, struct bt_str name)
{
	return renamer->renaming->rename(renamer->renaming->context, name, renamer->arena);
}

/** Reads the text of the literal at index. false: the literal has an invalid escape. */
static bool read_literal(struct renamer *renamer, uint32_t index, struct bt_str *out_text)
{
	const struct bt_cel_token *token = &renamer->tokens.items[index];
	uint32_t before = renamer->issues.items.count;
	struct bt_cel_value value =
		bt_cel_literal_read(token, false, token->position, &renamer->lexer, renamer->arena);
	*out_text = value.text;
	return renamer->issues.items.count == before;
}

static void append_quoted(struct bt_strbuf *out, struct bt_str text, bool is_bytes)
{
	bt_strbuf_append_c(out, is_bytes ? "b\"" : "\"");
	for (uint32_t i = 0; i < text.length; i++) {
		unsigned char byte = (unsigned char)text.data[i];
		if (byte == '"' || byte == '\\') {
			bt_strbuf_append_char(out, '\\');
			bt_strbuf_append_char(out, (char)byte);
		} else if (byte < 0x20 || byte == 0x7f || (is_bytes && byte > 0x7f)) {
			bt_strbuf_printf(out, "\\x%02x", (unsigned)byte);
		} else {
			bt_strbuf_append_char(out, (char)byte);
		}
	}
	bt_strbuf_append_char(out, '"');
}

/** Whether the token is an index in brackets, which may be a domain. */
static bool is_index(const struct renamer *renamer, uint32_t index)
{
	enum bt_cel_token_kind before = kind_at(renamer, index, -2);
	return kind_at(renamer, index, -1) == BT_CEL_TOKEN_OPEN_BRACKET &&
		kind_at(renamer, index, 1) == BT_CEL_TOKEN_CLOSE_BRACKET &&
		(before == BT_CEL_TOKEN_IDENTIFIER || before == BT_CEL_TOKEN_CLOSE_BRACKET ||
			before == BT_CEL_TOKEN_CLOSE_PARENTHESIS);
}

/** Renames "domain/name" as a whole and splits the result at the last slash. */
static void rename_pair(const struct renamer *renamer, struct bt_str domain, struct bt_str name,
	struct bt_str *out_domain, struct bt_str *out_name)
{
	struct bt_str whole = rename_name(renamer,
		bt_arena_printf(renamer->arena, "%.*s/%.*s", BT_STR_ARG(domain), BT_STR_ARG(name)));
	int64_t found = bt_str_find_last_char(whole, '/');
	BT_ASSERT(found >= 0);
	uint32_t slash = (uint32_t)found;
	*out_domain = bt_str_sub(whole, 0, slash);
	*out_name = bt_str_sub(whole, slash + 1, whole.length);
}

static struct bt_str rename_identifier(struct renamer *renamer, uint32_t index)
{
	struct bt_str name = text_at(renamer, index, 0);
	/* number of tokens of "." or ".?" before the name of a field; 0: no field */
	int dots = kind_at(renamer, index, -1) == BT_CEL_TOKEN_QUESTION ? 2 : 1;
	if (kind_at(renamer, index, -dots) != BT_CEL_TOKEN_DOT) {
		dots = 0;
	}
	bool is_call = kind_at(renamer, index, 1) == BT_CEL_TOKEN_OPEN_PARENTHESIS;
	if (is_call && is_function(name)) {
		renamer->renaming->has_parts =
			renamer->renaming->has_parts || IS_AMONG(name, of_parts);
		return name;
	}
	if (dots != 0 && !is_call) {
		struct bt_str domain;
		uint32_t literal = index - (uint32_t)dots - 2; /* of ["domain"].name */
		bool is_devices = bt_str_equal_c(text_at(renamer, index, -dots - 1), "device") &&
			kind_at(renamer, index, -dots - 2) != BT_CEL_TOKEN_DOT;
		if (is_devices && IS_AMONG(name, device_fields)) {
			return name;
		}
		if (kind_at(renamer, index, -dots - 1) == BT_CEL_TOKEN_CLOSE_BRACKET &&
			kind_at(renamer, index, -dots - 2) == BT_CEL_TOKEN_STRING &&
			is_index(renamer, literal) && read_literal(renamer, literal, &domain)) {
			rename_pair(renamer, domain, name, &domain, &name);
			return name;
		}
		return rename_name(renamer, name);
	}
	return dots == 0 && IS_AMONG(name, roots) ? name : rename_name(renamer, name);
}

/**
 * If a call of startsWith, endsWith or contains with a literal begins at index, after a variable or
 * field and a dot, appends a call of matches() with the pattern that find_texts returns. false:
 * there is no such call, or find_texts returns no pattern; nothing is appended.
 */
static bool append_part_call(struct renamer *renamer, uint32_t index)
{
	static const char *const known[] = {"startsWith", "endsWith", "contains"};
	struct bt_cel_renaming *renaming = renamer->renaming;
	enum bt_cel_token_kind target = kind_at(renamer, index, -2);
	struct bt_str part;
	if (kind_at(renamer, index, 0) != BT_CEL_TOKEN_IDENTIFIER ||
		kind_at(renamer, index, -1) != BT_CEL_TOKEN_DOT ||
		(target != BT_CEL_TOKEN_IDENTIFIER && target != BT_CEL_TOKEN_CLOSE_BRACKET) ||
		kind_at(renamer, index, 1) != BT_CEL_TOKEN_OPEN_PARENTHESIS ||
		kind_at(renamer, index, 2) != BT_CEL_TOKEN_STRING ||
		kind_at(renamer, index, 3) != BT_CEL_TOKEN_CLOSE_PARENTHESIS ||
		!IS_AMONG(text_at(renamer, index, 0), known) ||
		!read_literal(renamer, index + 2, &part)) {
		return false;
	}
	struct bt_str pattern = renaming->find_texts(
		renaming->context, text_at(renamer, index, 0), part, renamer->arena);
	if (pattern.data == NULL) {
		return false;
	}
	bt_strbuf_append_c(renamer->out, "matches(");
	append_quoted(renamer->out, pattern, false);
	bt_strbuf_append_char(renamer->out, ')');
	return true;
}

static bool append_token(struct renamer *renamer, uint32_t index)
{
	const struct bt_cel_token *token = &renamer->tokens.items[index];
	if (token->kind == BT_CEL_TOKEN_STRING || token->kind == BT_CEL_TOKEN_BYTES) {
		bool is_bytes = token->kind == BT_CEL_TOKEN_BYTES;
		bool is_argument = kind_at(renamer, index, -1) == BT_CEL_TOKEN_OPEN_PARENTHESIS;
		struct bt_str text;
		struct bt_str rest;
		if (!read_literal(renamer, index, &text)) {
			return false;
		}
		if (is_index(renamer, index)) {
			/* ["domain"].name or ["domain"].?name */
			int field = kind_at(renamer, index, 3) == BT_CEL_TOKEN_QUESTION ? 4 : 3;
			bool is_pair = kind_at(renamer, index, 2) == BT_CEL_TOKEN_DOT &&
				kind_at(renamer, index, field) == BT_CEL_TOKEN_IDENTIFIER &&
				kind_at(renamer, index, field + 1) != BT_CEL_TOKEN_OPEN_PARENTHESIS;
			rename_pair(renamer, text,
				is_pair ? text_at(renamer, index, field) : BT_STR(""), &text,
				&rest);
		} else if (!is_argument || !IS_AMONG(text_at(renamer, index, -2), of_amounts) ||
			!is_amount(text)) {
			text = rename_name(renamer, text);
		}
		append_quoted(renamer->out, text, is_bytes);
		return true;
	}
	if (token->kind == BT_CEL_TOKEN_IDENTIFIER) {
		bt_strbuf_append_str(renamer->out, rename_identifier(renamer, index));
	} else if (token->kind == BT_CEL_TOKEN_QUOTED) {
		bt_strbuf_append_char(renamer->out, '`');
		bt_strbuf_append_str(renamer->out,
			rename_name(renamer, bt_str_sub(token->text, 1, token->text.length - 2)));
		bt_strbuf_append_char(renamer->out, '`');
	} else { /* an operator or a number */
		bt_strbuf_append_str(renamer->out, token->text);
	}
	return true;
}

bool bt_cel_rename(struct bt_str source, struct bt_cel_renaming *renaming, struct bt_arena *arena,
	struct bt_strbuf *out)
{
	struct bt_strbuf text = {0};
	struct renamer renamer = {.renaming = renaming,
		.arena = arena,
		.issues = {.source = source, .arena = arena},
		.out = &text};
	renamer.lexer = (struct bt_cel_lexer){.source = source, .issues = &renamer.issues};
	/* The lexer requires valid UTF-8 of bounded length. */
	bool is_expression =
		bt_utf8_is_valid(source.data, source.length) && source.length <= BT_CEL_SIZE_MAX;
	while (is_expression) {
		struct bt_cel_token token = bt_cel_lexer_next(&renamer.lexer);
		if (token.kind == BT_CEL_TOKEN_END) {
			break;
		}
		bt_vec_push(&renamer.tokens, token);
	}
	is_expression = is_expression && renamer.issues.items.count == 0;
	for (uint32_t i = 0; i < renamer.tokens.count && is_expression; i++) {
		const struct bt_cel_token *token = &renamer.tokens.items[i];
		/* A single blank replaces whitespace and comments. */
		if (i != 0 && token[-1].text.data + token[-1].text.length != token->text.data) {
			bt_strbuf_append_char(&text, ' ');
		}
		if (append_part_call(&renamer, i)) {
			i += 3;
		} else {
			is_expression = append_token(&renamer, i);
		}
	}
	if (is_expression) {
		bt_strbuf_append_str(out, bt_strbuf_str(&text));
	}
	bt_vec_finish(&renamer.tokens);
	bt_vec_finish(&renamer.issues.items);
	bt_strbuf_finish(&text);
	return is_expression;
}
