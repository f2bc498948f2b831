/* SPDX-License-Identifier: Apache-2.0 */
/* Syntax trees of texts, and the errors of invalid texts. Spec: 12b sections 5, 6, 7.7. */
#include "cel/ast.h"

#include "print_tree.h"
#include "test_main.h"

#include "base/unicode.h"
/** Writes the tree of the text, or all of its issues without source line and caret. */
static void parse(struct bt_str text, struct bt_strbuf *out)
{
	struct bt_arena arena = {0};
	struct bt_cel_issues issues = {.source = text, .arena = &arena};
	const struct bt_cel_node *root = bt_cel_parse(text, &arena, &issues);

	ck_assert_msg((root == NULL) == (issues.items.count != 0), "%.*s", BT_STR_ARG(text));
	if (root != NULL) {
		ck_assert(root->height >= 1 && root->height <= BT_CEL_DEPTH_MAX);
		bt_cel_print_tree(root, out);
	} else {
		bt_cel_issues_format(&issues, out);
	}
	bt_vec_finish(&issues.items);
	bt_arena_finish(&arena);
}

struct row {
	const char *text;
	const char *tree;
};

static void check_trees(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct bt_strbuf out = {0};
		parse(bt_str_from(rows[i].text), &out);
		ck_assert_msg(strcmp(bt_strbuf_c(&out), rows[i].tree) == 0, "%s\n got %s\nwant %s",
			rows[i].text, bt_strbuf_c(&out), rows[i].tree);
		bt_strbuf_finish(&out);
	}
}

START_TEST(test_cel_parser__operators)
{
	static const struct row rows[] = {
		{"a || b", "(_||_ a b)"},
		{"a || b || c || d", "(_||_ a b c d)"},
		{"a && b && c", "(_&&_ a b c)"},
		{"a || b && c || d", "(_||_ a (_&&_ b c) d)"},
		{"(a || b) || c", "(_||_ (_||_ a b) c)"},
		{"a < b", "(_<_ a b)"},
		{"a <= b", "(_<=_ a b)"},
		{"a > b", "(_>_ a b)"},
		{"a >= b", "(_>=_ a b)"},
		{"a == b", "(_==_ a b)"},
		{"a != b", "(_!=_ a b)"},
		{"a in b", "(@in a b)"},
		{"a == b in c < d", "(_<_ (@in (_==_ a b) c) d)"},
		{"a < b && c", "(_&&_ (_<_ a b) c)"},
		{"a + b - c", "(_-_ (_+_ a b) c)"},
		{"a * b / c % d", "(_%_ (_/_ (_*_ a b) c) d)"},
		{"a + b * c < d", "(_<_ (_+_ a (_*_ b c)) d)"},
		{"a * b + c", "(_+_ (_*_ a b) c)"},
		{"(a + b) * c", "(_*_ (_+_ a b) c)"},
		{"a - -1", "(_-_ a -1)"},
		{"a -1", "(_-_ a 1)"},
		{"a ? b : c", "(_?_:_ a b c)"},
		{"a ? b : c ? d : e", "(_?_:_ a b (_?_:_ c d e))"},
		{"a || b ? c && d : e || f", "(_?_:_ (_||_ a b) (_&&_ c d) (_||_ e f))"},
		{"a ? (b ? c : d) : e", "(_?_:_ a (_?_:_ b c d) e)"},
		{"!a", "(!_ a)"},
		{"!!a", "a"},
		{"!!!a.b", "(!_ (. a b))"},
		{"! ! a", "a"},
		{"-a", "(-_ a)"},
		{"--a", "a"},
		{"---a", "(-_ a)"},
		{"-a.b(c)", "(-_ (a:b c))"},
		{"-(1)", "(-_ 1)"},
		{"--1", "(-_ -1)"},
		{"---1", "-1"},
		{"-1u", "(-_ 1u)"},
		{"- 1", "-1"},
		{"!-1", "(!_ -1)"},
		{"-1.abs()", "(-1:abs)"},
		{"2--1", "(_-_ 2 -1)"},
	};

	check_trees(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_cel_parser__members)
{
	static const struct row rows[] = {
		{"a", "a"},
		{".a", ".a"},
		{"a.b.c", "(. (. a b) c)"},
		{".a.b", "(. .a b)"},
		{"a . b", "(. a b)"},
		{"a.?b", "(.? a b)"},
		{"a.?b.c", "(. (.? a b) c)"},
		{"a[0]", "(_[_] a 0)"},
		{"a[?0]", "(_[?_] a 0)"},
		{"a[b ? c : d]", "(_[_] a (_?_:_ b c d))"},
		{"a[?b ? c : d]", "(_[?_] a (_?_:_ b c d))"},
		{"a[\"b\"].c[1u]", "(_[_] (. (_[_] a \"b\") c) 1u)"},
		{"f()", "(f)"},
		{"f(a, b + 1)", "(f a (_+_ b 1))"},
		{".f(a)", "(.f a)"},
		{"a.f()", "(a:f)"},
		{"a.b.f(c)", "((. a b):f c)"},
		{"a.f(b).g(c)", "((a:f b):g c)"},
		{"f(a).b", "(. (f a) b)"},
		{"\"x\".size()", "(\"x\":size)"},
		{"1.size()", "(1:size)"},
		{"[1].size()", "([1]:size)"},
		{"{1: 2}[1]", "(_[_] {1:2} 1)"},
		{"(a)", "a"},
		{"((a)).b", "(. a b)"},
		{"a ?.b : c", "(_?_:_ a .b c)"},
		{"ip.isCanonical(a)", "(ip:isCanonical a)"},
		/* Reserved words are allowed as field and function names after a dot. */
		{"a.package", "(. a package)"},
		{"a.for.as", "(. (. a for) as)"},
		{"a.if(b)", "(a:if b)"},
		{"_a1", "_a1"},
		{"inner", "inner"},
		{"trueish", "trueish"},
		{"r", "r"},
		{"b", "b"},
		{"rb", "rb"},
		{"u", "u"},
		{"e1", "e1"},
	};

	check_trees(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_cel_parser__lists_and_maps)
{
	static const struct row rows[] = {
		{"[]", "[]"},
		{"[,]", "[]"},
		{"[1]", "[1]"},
		{"[1,]", "[1]"},
		{"[1, a, \"b\"]", "[1 a \"b\"]"},
		{"[?a]", "[?a]"},
		{"[a, ?b, c]", "[a ?b c]"},
		{"[[1], []]", "[[1] []]"},
		{"{}", "{}"},
		{"{,}", "{}"},
		{"{1: 2}", "{1:2}"},
		{"{\"a\": 1, b: c,}", "{\"a\":1 b:c}"},
		{"{?a: b}", "{?a:b}"},
		{"{a: 1, ?b: 2}", "{a:1 ?b:2}"},
		{"{a ? b : c : d}", "{(_?_:_ a b c):d}"},
		{"{1: {2: 3}}", "{1:{2:3}}"},
	};

	check_trees(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_cel_parser__numbers)
{
	static const struct row rows[] = {
		{"0", "0"},
		{"007", "7"},
		{"9223372036854775807", "9223372036854775807"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"0x1F", "31"},
		{"-0x1f", "-31"},
		{"0x7fffffffffffffff", "9223372036854775807"},
		{"-0x8000000000000000", "-9223372036854775808"},
		{"1u", "1u"},
		{"0xFFu", "255u"},
		{"18446744073709551615U", "18446744073709551615u"},
		{"1.5", "1.50000"},
		{"-1.5", "-1.50000"},
		{".5", "0.500000"},
		{"-.5", "-0.500000"},
		{"1e3", "1000.00"},
		{"1E+3", "1000.00"},
		{"25e-1", "2.50000"},
		{"1.5e2", "150.000"},
		{".5e1", "5.00000"},
		{"1e-400", "0.00000"},
		{"-0.0", "-0.00000"},
		{"true", "true"},
		{"false", "false"},
		{"null", "null"},
	};

	check_trees(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_cel_parser__strings)
{
	static const struct row rows[] = {
		{"''", "\"\""},
		{"\"\"", "\"\""},
		{"'a\"b'", "\"a\\\"b\""},
		{"\"a'b\"", "\"a'b\""},
		{"''''''", "\"\""},
		{"'''a'''", "\"a\""},
		{"'''a''b'c'''", "\"a''b'c\""},
		{"\"\"\"a\nb\"\"\"", "\"a\\nb\""},
		{"'''a\r\nb\rc\n\rd'''", "\"a\\nb\\nc\\n\\nd\""},
		{"'''a\\rb'''", "\"a\\rb\""},
		{"r'a\\n'", "\"a\\\\n\""},
		{"R\"\\\"", "\"\\\\\""},
		{"r'''a\r\n\\'''", "\"a\\n\\\\\""},
		{"'\\a\\b\\f\\n\\r\\t\\v\\\\\\?\\\"\\'\\`'",
			"\"\\a\\b\\f\\n\\r\\t\\v\\\\?\\\"'`\""},
		{"'\\x41\\X7a\\u00e9\\U0001F600\\101\\000'",
			"\"Az\xc3\xa9\xf0\x9f\x98\x80"
			"A\\x00\""},
		/* In a string, \x and octal escapes are code points; in bytes, they are bytes. */
		{"'\\xff\\377' == 'a'", "(_==_ \"\xc3\xbf\xc3\xbf\" \"a\")"},
		{"b'\\xff\\377A'", "b\"\\xff\\xff\x41\""},
		{"b'\xc3\xa9'", "b\"\xc3\xa9\""},
		{"B\"a\"", "b\"a\""},
		{"br'\\x'", "b\"\\\\x\""},
		{"bR'''a'''", "b\"a\""},
		{"'\xc3\xa9'", "\"\xc3\xa9\""},
		{"'\xf0\x9f\x98\x80'", "\"\xf0\x9f\x98\x80\""},
		{"'// no comment'", "\"// no comment\""},
	};

	check_trees(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_cel_parser__space_and_comments)
{
	static const struct row rows[] = {
		{" \t\r\n\fa ", "a"},
		{"// c\na", "a"},
		{"a // c", "a"},
		{"a //", "a"},
		{"a// b\r c\n + // d\n// e\nb", "(_+_ a b)"},
		{"a / b", "(_/_ a b)"},
		{"a.\n b", "(. a b)"},
		{"a.? b", "(.? a b)"},
		{"[ ? a ]", "[?a]"},
		{"a ?b:c", "(_?_:_ a b c)"},
	};

	check_trees(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_cel_parser__macros)
{
	static const struct row rows[] = {
		{"has(a.b)", "(has a b)"},
		{"has(a.b.c)", "(has (. a b) c)"},
		{"has(a[0].b)", "(has (_[_] a 0) b)"},
		{"r.all(x, p)", "<all x r p ->"},
		{"r.exists(x, p)", "<exists x r p ->"},
		{"r.exists_one(x, p)", "<exists_one x r p ->"},
		{"r.map(x, t)", "<map x r - t>"},
		{"r.map(x, p, t)", "<map x r p t>"},
		{"r.filter(x, p)", "<filter x r p ->"},
		{"r.all(i, v, p)", "<all i v r p ->"},
		{"r.exists(i, v, p)", "<exists i v r p ->"},
		{"r.exists_one(i, v, p)", "<exists_one i v r p ->"},
		{"r.existsOne(i, v, p)", "<exists_one i v r p ->"},
		{"r.transformList(i, v, t)", "<transformList i v r - t>"},
		{"r.transformList(i, v, p, t)", "<transformList i v r p t>"},
		{"r.transformMap(i, v, t)", "<transformMap i v r - t>"},
		{"r.transformMap(i, v, p, t)", "<transformMap i v r p t>"},
		{"r.transformMapEntry(i, v, m)", "<transformMapEntry i v r - m>"},
		{"r.transformMapEntry(i, v, p, m)", "<transformMapEntry i v r p m>"},
		{"cel.bind(n, i, e)", "<bind n i - e>"},
		{"o.optMap(n, e)", "<optMap n o - e>"},
		{"o.optFlatMap(n, e)", "<optFlatMap n o - e>"},
		{"l.sortBy(x, k)", "<sortBy x l - k>"},
		{"[1].sortBy(x, k)", "<sortBy x [1] - k>"},
		{"a.b.sortBy(x, k)", "<sortBy x (. a b) - k>"},
		{"f().sortBy(x, k)", "<sortBy x (f) - k>"},
		{"l.map(y, y).sortBy(x, k)", "<sortBy x <map y l - y> - k>"},
		{"[1, 2].all(x, [3].exists(y, x < y))",
			"<all x [1 2] <exists y [3] (_<_ x y) -> ->"},
		{"cel.map(x, t)", "<map x cel - t>"},
		/*
		 * Not macros but ordinary calls: the name, the number of arguments or the call
		 * style differs.
		 */
		{"has()", "(has)"},
		{"has(a, b)", "(has a b)"},
		{"a.has(a.b)", "(a:has (. a b))"},
		{".has(a.b)", "(.has (. a b))"},
		{"all(x, p)", "(all x p)"},
		{"map(r, x, t)", "(map r x t)"},
		{"r.all(x)", "(r:all x)"},
		{"r.all(a, b, c, d)", "(r:all a b c d)"},
		{"r.existsOne(x, p)", "(r:existsOne x p)"},
		{"r.filter(a, b, c)", "(r:filter a b c)"},
		{"r.map(x)", "(r:map x)"},
		{"r.map(1, 2, 3, 4)", "(r:map 1 2 3 4)"},
		{"r.transformList(a, b)", "(r:transformList a b)"},
		{"r.transformMap(a, b)", "(r:transformMap a b)"},
		{"bind(n, i, e)", "(bind n i e)"},
		{"a.bind(n, i, e)", "(a:bind n i e)"},
		{"a.cel.bind(n, i, e)", "((. a cel):bind n i e)"},
		{".cel.bind(n, i, e)", "(.cel:bind n i e)"},
		{"cel.bind(n, i)", "(cel:bind n i)"},
		{"o.optMap(1)", "(o:optMap 1)"},
		{"sortBy(l, x)", "(sortBy l x)"},
		{"l.sortBy(x)", "(l:sortBy x)"},
	};

	check_trees(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

/** The parser must refuse text; its first issue must have this column and message. */
struct refusal {
	const char *text;
	uint32_t column;
	const char *message;
};

static void check_refusals(const struct refusal *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct bt_strbuf want = {0};
		struct bt_strbuf got = {0};
		bt_strbuf_printf(
			&want, "ERROR: <input>:1:%u: %s\n", rows[i].column, rows[i].message);
		parse(bt_str_from(rows[i].text), &got);
		ck_assert_msg(bt_str_has_prefix(bt_strbuf_str(&got), bt_strbuf_str(&want)),
			"%s\n got %s\nwant %s", rows[i].text, bt_strbuf_c(&got),
			bt_strbuf_c(&want));
		bt_strbuf_finish(&want);
		bt_strbuf_finish(&got);
	}
}

/** The tokens that can begin an argument or close the argument list. */
#define ARGUMENT \
	"{'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, " \
	"NUM_UINT, STRING, BYTES, IDENTIFIER}"
/** The tokens that can begin an expression. */
#define EXPRESSION \
	"{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, " \
	"STRING, BYTES, IDENTIFIER}"

START_TEST(test_cel_parser__syntax_errors)
{
	static const struct refusal rows[] = {
		{"?!", 1, "Syntax error: extraneous input '?' expecting " EXPRESSION},
		{"", 1, "Syntax error: mismatched input '<EOF>' expecting " EXPRESSION},
		{"  ", 3, "Syntax error: mismatched input '<EOF>' expecting " EXPRESSION},
		{"// a", 5, "Syntax error: mismatched input '<EOF>' expecting " EXPRESSION},
		{"a b", 3, "Syntax error: extraneous input 'b' expecting <EOF>"},
		{"\"a\" \"b\"", 5, "Syntax error: extraneous input '\"b\"' expecting <EOF>"},
		{"a +", 4, "Syntax error: mismatched input '<EOF>' expecting " EXPRESSION},
		{"* a", 1, "Syntax error: extraneous input '*' expecting " EXPRESSION},
		{"a in", 5, "Syntax error: mismatched input '<EOF>' expecting " EXPRESSION},
		{"in", 1, "Syntax error: mismatched input 'in' expecting " EXPRESSION},
		{"!-x", 3, "Syntax error: no viable alternative at input '-x'"},
		{"-!x", 2, "Syntax error: no viable alternative at input '-!'"},
		{"a ? b", 6, "Syntax error: mismatched input '<EOF>' expecting ':'"},
		{"a ? b ? c : d : e", 7, "Syntax error: mismatched input '?' expecting ':'"},
		{"a : b", 3, "Syntax error: mismatched input ':' expecting <EOF>"},
		{"(a", 3, "Syntax error: missing ')' at '<EOF>'"},
		{"a)", 2, "Syntax error: extraneous input ')' expecting <EOF>"},
		{"()", 2, "Syntax error: mismatched input ')' expecting " EXPRESSION},
		{"f(a,)", 5, "Syntax error: mismatched input ')' expecting " EXPRESSION},
		{"f(,)", 3, "Syntax error: extraneous input ',' expecting " ARGUMENT},
		{"f(?a)", 3, "Syntax error: extraneous input '?' expecting " ARGUMENT},
		{"(a)(b)", 4, "Syntax error: mismatched input '(' expecting <EOF>"},
		{"a[0](b)", 5, "Syntax error: mismatched input '(' expecting <EOF>"},
		{"a.?f(b)", 5, "Syntax error: mismatched input '(' expecting <EOF>"},
		{"a.", 3, "Syntax error: no viable alternative at input '.'"},
		{"a.true", 3, "Syntax error: mismatched input 'true' expecting IDENTIFIER"},
		{"a.in", 3, "Syntax error: mismatched input 'in' expecting IDENTIFIER"},
		{"a.null", 3, "Syntax error: mismatched input 'null' expecting IDENTIFIER"},
		{"a.1", 2, "Syntax error: extraneous input '.1' expecting <EOF>"},
		{"a[]", 3,
			"Syntax error: mismatched input ']' expecting {'[', '{', '(', '.', '-', "
			"'!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, "
			"BYTES, IDENTIFIER}"},
		{"a[1, 2]", 4, "Syntax error: mismatched input ',' expecting ']'"},
		{"[1,,]", 4, "Syntax error: extraneous input ',' expecting ']'"},
		{"[,,]", 3, "Syntax error: extraneous input ',' expecting ']'"},
		{"[,1]", 3, "Syntax error: extraneous input '1' expecting ']'"},
		{"[1 2]", 4, "Syntax error: extraneous input '2' expecting {']', ','}"},
		{"[1", 3, "Syntax error: mismatched input '<EOF>' expecting {']', ','}"},
		{"{1}", 3, "Syntax error: mismatched input '}' expecting ':'"},
		{"{1:}", 4, "Syntax error: mismatched input '}' expecting " EXPRESSION},
		{"{1: 2, ?}", 9, "Syntax error: mismatched input '}' expecting " EXPRESSION},
		{"{1: 2", 6, "Syntax error: mismatched input '<EOF>' expecting {'}', ','}"},
		{"a = b", 3, "Syntax error: token recognition error at: '= '"},
		{"a & b", 3, "Syntax error: token recognition error at: '& '"},
		{"a | b", 3, "Syntax error: token recognition error at: '| '"},
		{"a # b", 3, "Syntax error: token recognition error at: '#'"},
		{"a\x01", 2, "Syntax error: token recognition error at: '\001'"},
		{"a\v", 2, "Syntax error: token recognition error at: '\013'"},
		{"\xc3\xa9", 1, "Syntax error: token recognition error at: '\303\251'"},
		{"\xc2\xa0", 1, "Syntax error: token recognition error at: '\302\240'"},
		{"1.", 3, "Syntax error: no viable alternative at input '.'"},
		{"1e", 2, "Syntax error: extraneous input 'e' expecting <EOF>"},
		{"1.5u", 4, "Syntax error: extraneous input 'u' expecting <EOF>"},
		{"0xg", 2, "Syntax error: extraneous input 'xg' expecting <EOF>"},
		{"0X1", 2, "Syntax error: extraneous input 'X1' expecting <EOF>"},
		{"1a", 2, "Syntax error: extraneous input 'a' expecting <EOF>"},
		{"'a", 1, "Syntax error: token recognition error at: ''a'"},
		{"\"a'", 1, "Syntax error: token recognition error at: '\"a''"},
		{"'a\nb'", 1, "Syntax error: token recognition error at: ''a\n'"},
		{"'a\rb'", 1, "Syntax error: token recognition error at: ''a\r'"},
		{"'a\\\nb'", 1, "Syntax error: token recognition error at: ''a\\\n'"},
		{"'a\\'", 1, "Syntax error: token recognition error at: ''a\\''"},
		{"'''a", 3, "Syntax error: token recognition error at: ''a'"},
		{"r'''a\nb", 4, "Syntax error: token recognition error at: ''a\n'"},
		{"rb'a'", 3, "Syntax error: extraneous input ''a'' expecting <EOF>"},
		{"'\\d'", 1, "Syntax error: token recognition error at: ''\\d'"},
		{"'\\8'", 1, "Syntax error: token recognition error at: ''\\8'"},
		{"'\\400'", 1, "Syntax error: token recognition error at: ''\\4'"},
		{"'\\18'", 1, "Syntax error: token recognition error at: ''\\18'"},
		{"'\\x4'", 1, "Syntax error: token recognition error at: ''\\x4''"},
		{"'\\xg0'", 1, "Syntax error: token recognition error at: ''\\xg'"},
		{"'\\u00e'", 1, "Syntax error: token recognition error at: ''\\u00e''"},
		{"'\\U0001F60'", 1, "Syntax error: token recognition error at: ''\\U0001F60''"},
		{"'\\U00110000'", 1, "Syntax error: invalid escape sequence"},
		{"'\\uD800'", 1, "Syntax error: invalid escape sequence"},
		{"'\\U0000DFFF'", 1, "Syntax error: invalid escape sequence"},
		{"b'\\u0041'", 1, "Syntax error: invalid escape sequence"},
		{"b'\\U00000041'", 1, "Syntax error: invalid escape sequence"},
		{"`a`", 1, "Syntax error: mismatched input '`a`' expecting " EXPRESSION},
		{"a.`b", 3, "Syntax error: token recognition error at: '`b'"},
		{"a.``", 3, "Syntax error: token recognition error at: '``'"},
		{"a.b{c}", 6, "Syntax error: mismatched input '}' expecting ':'"},
		{"(a){b: 1}", 4, "Syntax error: mismatched input '{' expecting <EOF>"},
		{"a.?b{c: 1}", 5, "Syntax error: mismatched input '{' expecting <EOF>"},
		{"a\x80", 2, "Syntax error: invalid UTF-8"},
		{"'a\xed\xa0\x80'", 3, "Syntax error: invalid UTF-8"},
		{"'\xc3\xa9' + '\xff'", 8, "Syntax error: invalid UTF-8"},
		{"a. in", 4, "Syntax error: no viable alternative at input '. in'"},
		{"a.b{c", 6, "Syntax error: mismatched input '<EOF>' expecting ':'"},
		{"-x(", 4, "Syntax error: mismatched input '<EOF>' expecting " ARGUMENT},
		{"--", 3, "Syntax error: no viable alternative at input '-'"},
		{"-1[*]", 4, "Syntax error: no viable alternative at input '-1[*'"},
		{"a ? b : ", 9, "Syntax error: mismatched input '<EOF>' expecting " EXPRESSION},
		{"[1, 2", 6, "Syntax error: mismatched input '<EOF>' expecting {']', ','}"},
		{"{1: 2, 3}", 9, "Syntax error: mismatched input '}' expecting ':'"},
		{"syntax (", 9, "Syntax error: mismatched input '<EOF>' expecting " ARGUMENT},
		{"a == == b", 6, "Syntax error: extraneous input '==' expecting " EXPRESSION},
		{"(1))", 4, "Syntax error: extraneous input ')' expecting <EOF>"},
		{"f(a b)", 5, "Syntax error: extraneous input 'b' expecting ')'"},
		{"a.\"b\"", 3, "Syntax error: no viable alternative at input '.\"b\"'"},
		{"a &b", 3, "Syntax error: token recognition error at: '&b'"},
		{"x[?", 4, "Syntax error: mismatched input '<EOF>' expecting " EXPRESSION},
		{"{", 2,
			"Syntax error: mismatched input '<EOF>' expecting {'[', '{', '}', '(', "
			"'.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, "
			"NUM_UINT, STRING, BYTES, IDENTIFIER}"},
		{"[", 2,
			"Syntax error: mismatched input '<EOF>' expecting {'[', ']', '{', '(', "
			"'.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, "
			"NUM_UINT, STRING, BYTES, IDENTIFIER}"},
		{"!", 2, "Syntax error: extraneous input '<EOF>' expecting " EXPRESSION},
		{"- )", 3, "Syntax error: no viable alternative at input '- )'"},
		{"[*, 1]", 2,
			"Syntax error: extraneous input '*' expecting {'[', ']', '{', '(', '.', "
			"',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, "
			"NUM_UINT, STRING, BYTES, IDENTIFIER}"},
		{"a.b.c{d: 1 e: 2}", 12, "Syntax error: mismatched input 'e' expecting {'}', ','}"},
		{"f(1", 4, "Syntax error: missing ')' at '<EOF>'"},
	};

	check_refusals(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_cel_parser__refused)
{
	static const struct refusal rows[] = {
		{"9223372036854775808", 1, "invalid int literal"},
		{"a + -9223372036854775809", 5, "invalid int literal"},
		{"99999999999999999999", 1, "invalid int literal"},
		{"0x8000000000000000", 1, "invalid int literal"},
		{"-0x8000000000000001", 1, "invalid int literal"},
		{"18446744073709551616u", 1, "invalid uint literal"},
		{"0x10000000000000000u", 1, "invalid uint literal"},
		{"1e309", 1, "invalid double literal"},
		{"-1e309", 1, "invalid double literal"},
		{"package == 1", 1, "reserved identifier: package"},
		{"a + for", 5, "reserved identifier: for"},
		{"if(1)", 1, "reserved identifier: if"},
		{".var", 2, "reserved identifier: var"},
		{"a.`b-c`", 3, "unsupported syntax: '`'"},
		{"a.?`b c/d.e`", 4, "unsupported syntax: '`'"},
		{"A{`b`: 1}", 3, "unsupported syntax: '`'"},
		/* macros */
		{"has(a)", 5, "invalid argument to has() macro"},
		{"has(a[\"b\"])", 6, "invalid argument to has() macro"},
		{"has(a.b())", 8, "invalid argument to has() macro"},
		{"has(a.?b)", 6, "invalid argument to has() macro"},
		{"has(has(a.b))", 8, "invalid argument to has() macro"},
		{"r.all(1, p)", 7, "argument must be a simple name"},
		{"r.all(a.b, p)", 8, "argument must be a simple name"},
		{"r.all(.x, p)", 7, "argument must be a simple name"},
		{"r.exists(f(), p)", 11, "argument must be a simple name"},
		{"r.exists_one('x', p)", 14, "argument must be a simple name"},
		{"r.map(1, t)", 7, "argument is not an identifier"},
		{"r.map(1, p, t)", 7, "argument is not an identifier"},
		{"r.filter(1, p)", 10, "argument is not an identifier"},
		{"l.sortBy(1, k)", 10, "argument is not an identifier"},
		{"r.all(i, 1, p)", 10, "argument must be a simple name"},
		{"r.existsOne(1, v, p)", 13, "argument must be a simple name"},
		{"r.transformList(1, v, t)", 17, "argument must be a simple name"},
		{"r.transformMap(1, v, p, t)", 16, "argument must be a simple name"},
		{"r.transformMapEntry(i, 1, m)", 24, "argument must be a simple name"},
		{"r.all(__result__, p)", 7, "iteration variable overwrites accumulator variable"},
		{"r.map(__result__, p)", 7, "iteration variable overwrites accumulator variable"},
		{"r.all(i, __result__, p)", 10,
			"iteration variable overwrites accumulator variable"},
		{"r.exists(x, x, p)", 13, "duplicate variable name: x"},
		{"r.transformMap(k, k, t)", 19, "duplicate variable name: k"},
		{"cel.bind(1, a, b)", 10, "cel.bind() variable names must be simple identifiers"},
		{"o.optMap(1, e)", 10, "optMap() variable name must be a simple identifier"},
		{"o.optFlatMap(1, e)", 14,
			"optFlatMap() variable name must be a simple identifier"},
		{"1.sortBy(x, k)", 1,
			"sortBy can only be applied to a list, identifier, comprehension, call or "
			"select expression"},
		{"{1: 2}.sortBy(x, k)", 1,
			"sortBy can only be applied to a list, identifier, comprehension, call or "
			"select expression"},
	};

	check_refusals(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

static void check_text(struct bt_str text, const char *want)
{
	struct bt_strbuf got = {0};

	parse(text, &got);
	ck_assert_str_eq(bt_strbuf_c(&got), want);
	bt_strbuf_finish(&got);
}

START_TEST(test_cel_parser__issues_show_the_line)
{
	check_text(BT_STR("a +\n\t\xc3\xa9'x' + package\n+ 1"),
		"ERROR: <input>:2:2: Syntax error: token recognition error at: '\xc3\xa9'\n"
		" |  \xc3\xa9'x' + package\n"
		" | .\xef\xbc\xbe\n"
		"ERROR: <input>:2:9: reserved identifier: package\n"
		" |  \xc3\xa9'x' + package\n"
		" | .\xef\xbc\x8e......^");
	check_text(BT_STR("if + has(a) +\nfor"),
		"ERROR: <input>:1:1: reserved identifier: if\n | if + has(a) +\n | ^\n"
		"ERROR: <input>:1:10: invalid argument to has() macro\n"
		" | if + has(a) +\n | .........^\n"
		"ERROR: <input>:2:1: reserved identifier: for\n | for\n | ^");
	/* The parser reports the error of the inner macro first. */
	check_text(BT_STR("x.all(1, y.all(2, z))"),
		"ERROR: <input>:1:7: argument must be a simple name\n"
		" | x.all(1, y.all(2, z))\n | ......^\n"
		"ERROR: <input>:1:16: argument must be a simple name\n"
		" | x.all(1, y.all(2, z))\n | ...............^");
}
END_TEST

/** The parser recovers from an error and goes on: all errors of a text, with their columns. */
START_TEST(test_cel_parser__recovery)
{
	static const struct {
		const char *text;
		const char *errors; /* a line "column:message" for each error */
	} rows[] = {
		{"*@a | b",
			"1:extraneous input '*' expecting " EXPRESSION "\n"
			"2:token recognition error at: '@'\n"
			"5:token recognition error at: '| '\n"
			"7:extraneous input 'b' expecting <EOF>\n"},
		{"1 + $",
			"5:token recognition error at: '$'\n"
			"6:mismatched input '<EOF>' expecting " EXPRESSION "\n"},
		{"?!",
			"1:extraneous input '?' expecting " EXPRESSION "\n"
			"3:extraneous input '<EOF>' expecting " EXPRESSION "\n"},
		{"\"\\xFh\"",
			"1:token recognition error at: '\"\\xFh'\n"
			"6:token recognition error at: '\"'\n"
			"7:mismatched input '<EOF>' expecting " EXPRESSION "\n"},
		{"a && in.\xf0\x9f\x98\x81",
			"6:extraneous input 'in' expecting " EXPRESSION "\n"
			"9:token recognition error at: '\xf0\x9f\x98\x81'\n"
			"10:no viable alternative at input '.'\n"},
		{"a.in",
			"3:mismatched input 'in' expecting IDENTIFIER\n"
			"5:mismatched input '<EOF>' expecting " EXPRESSION "\n"},
		{"f(a +) || (b == )",
			"6:mismatched input ')' expecting " EXPRESSION "\n"
			"17:mismatched input ')' expecting " EXPRESSION "\n"},
		{"[a b, c d]",
			"4:extraneous input 'b' expecting {']', ','}\n"
			"7:mismatched input 'c' expecting ']'\n"},
		{"(a || (b && c)", "15:missing ')' at '<EOF>'\n"},
		{"value =< 42",
			"7:token recognition error at: '=<'\n"
			"10:extraneous input '42' expecting <EOF>\n"},
		{"1 &lt;= 1",
			"3:token recognition error at: '&l'\n"
			"5:mismatched input 't' expecting <EOF>\n"
			"6:token recognition error at: ';'\n"
			"7:token recognition error at: '= '\n"},
		{"a.\n1", "4:no viable alternative at input '.\\n1'\n"},
		{"f(a) g(b)", "6:mismatched input 'g' expecting <EOF>\n"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_arena arena = {0};
		struct bt_cel_issues issues = {
			.source = bt_str_from(rows[i].text), .arena = &arena};
		struct bt_strbuf text = {0};
		struct bt_strbuf got = {0};

		ck_assert_ptr_null(bt_cel_parse(issues.source, &arena, &issues));
		bt_cel_issues_format(&issues, &text); /* sorts the issues */
		for (uint32_t j = 0; j < issues.items.count; j++) {
			struct bt_str message = issues.items.items[j].message;

			ck_assert(bt_str_has_prefix(message, BT_STR("Syntax error: ")));
			bt_strbuf_printf(&got, "%u:%.*s\n", issues.items.items[j].position + 1,
				BT_STR_ARG(bt_str_sub(message, 14, message.length)));
		}
		ck_assert_str_eq(bt_strbuf_c(&got), rows[i].errors);
		bt_strbuf_finish(&got);
		bt_strbuf_finish(&text);
		bt_vec_finish(&issues.items);
		bt_arena_finish(&arena);
	}
}
END_TEST

/** Returns the first node of the kind in the tree, parents before children; NULL: none. */
static const struct bt_cel_node *find_kind(
	const struct bt_cel_node *node, enum bt_cel_node_kind kind)
{
	const struct bt_cel_node *child;

	if (node->kind == kind) {
		return node;
	}
	for (uint32_t i = 0; (child = bt_cel_node_child(node, i)) != NULL; i++) {
		const struct bt_cel_node *found = find_kind(child, kind);
		if (found != NULL) {
			return found;
		}
	}
	return NULL;
}

START_TEST(test_cel_parser__positions)
{
	static const struct {
		const char *text;
		enum bt_cel_node_kind kind;
		uint32_t position;
	} rows[] = {
		{"a + b", BT_CEL_NODE_CALL, 2},
		{"a\n<= b", BT_CEL_NODE_CALL, 2},
		{"'\xc3\xa9' in b", BT_CEL_NODE_CALL, 4},
		{"a || b || c", BT_CEL_NODE_CALL, 2},
		{"a ? b : c", BT_CEL_NODE_CALL, 2},
		{" !a", BT_CEL_NODE_CALL, 1},
		{" - a", BT_CEL_NODE_CALL, 1},
		{"a [b]", BT_CEL_NODE_CALL, 2},
		{"f (a)", BT_CEL_NODE_CALL, 2},
		{"a.f (b)", BT_CEL_NODE_CALL, 4},
		{"a .b", BT_CEL_NODE_SELECT, 2},
		{"has(a.b)", BT_CEL_NODE_SELECT, 3},
		{"r.all(x, y)", BT_CEL_NODE_MACRO, 5},
		{" ab", BT_CEL_NODE_IDENTIFIER, 1},
		{" .ab", BT_CEL_NODE_IDENTIFIER, 1},
		{"a + 'b'", BT_CEL_NODE_LITERAL, 4},
		{"a * - 1", BT_CEL_NODE_LITERAL, 4},
		{"a + [1]", BT_CEL_NODE_LIST, 4},
		{"a + {}", BT_CEL_NODE_MAP, 4},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_arena arena = {0};
		struct bt_cel_issues issues = {.arena = &arena};
		const struct bt_cel_node *root =
			bt_cel_parse(bt_str_from(rows[i].text), &arena, &issues);
		ck_assert_ptr_nonnull(root);
		const struct bt_cel_node *node = find_kind(root, rows[i].kind);
		ck_assert_ptr_nonnull(node);
		ck_assert_msg(
			node->position == rows[i].position, "%s: %u", rows[i].text, node->position);
		bt_arena_finish(&arena);
	}
}
END_TEST

/* hostile texts */

/** Writes opening count times, then middle, then closing count times. */
static void nest(struct bt_strbuf *out, const char *opening, const char *middle,
	const char *closing, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(out, opening);
	}
	bt_strbuf_append_c(out, middle);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(out, closing);
	}
}

static bool is_accepted(struct bt_str text, const char *else_says)
{
	struct bt_arena arena = {0};
	struct bt_cel_issues issues = {.source = text, .arena = &arena};
	const struct bt_cel_node *root = bt_cel_parse(text, &arena, &issues);
	struct bt_strbuf out = {0};

	bt_cel_issues_format(&issues, &out);
	if (root == NULL) {
		ck_assert_msg(
			strstr(bt_strbuf_c(&out), else_says) != NULL, "%.300s", bt_strbuf_c(&out));
	}
	ck_assert_uint_lt(out.length, 3U << 20);
	bt_strbuf_finish(&out);
	bt_vec_finish(&issues.items);
	bt_arena_finish(&arena);
	return root != NULL;
}

START_TEST(test_cel_parser__nesting)
{
	/* The limit of 250 levels determines how often each opening may be repeated. */
	static const struct {
		const char *opening;
		const char *middle;
		const char *closing;
		uint32_t count_max;
	} rows[] = {
		{"(", "a", ")", 249},
		{"[", "a", "]", 249},
		{"{1:", "a", "}", 249},
		{"f(", "a", ")", 249},
		{"a[", "a", "]", 249},
		{"r.all(x, ", "a", ")", 249},
		{"!(", "a", ")", 249},
		{"", "a", ".b", 249},
		{"", "a", "[0]", 249},
		{"", "a", ".f()", 249},
		{"", "a", "+a", 249},
		{"", "a", "==a", 249},
		{"", "a", "*a", 249},
		{"a?a:", "a", "", 249},
		{"-f(", "a", ")", 124},
		{"a+(", "a", ")", 249},
	};
	static const uint32_t more[] = {1, 1000, 10000};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf text = {0};
		nest(&text, rows[i].opening, rows[i].middle, rows[i].closing, rows[i].count_max);
		ck_assert_msg(is_accepted(bt_strbuf_str(&text), "none"), "%s", bt_strbuf_c(&text));
		for (size_t j = 0; j < BT_ARRAY_LENGTH(more); j++) {
			bt_strbuf_reset(&text);
			/* Without the closing half the recursion error still comes first. */
			nest(&text, rows[i].opening, rows[i].middle,
				rows[i].opening[0] == '\0' || j == 0 ? rows[i].closing : "",
				j == 0 ? rows[i].count_max + 1 : more[j]);
			ck_assert_msg(!is_accepted(bt_strbuf_str(&text),
					      "ERROR: <input>:-1:0: expression recursion limit "
					      "exceeded: 250"),
				"%s", bt_strbuf_c(&text));
		}
		bt_strbuf_finish(&text);
	}
}
END_TEST

START_TEST(test_cel_parser__wide_is_not_deep)
{
	static const char *const rows[][3] = {
		{"a", "||a", ""},
		{"a", "&&a", ""},
		{"[1", ",1", "]"},
		{"f(1", ",1", ")"},
		{"{1:2", ",1:2", "}"},
		{"a", "  ", ""},
		{"!", "!", "a"},
		{"-", "-", "a"},
		{"'a", "\\t", "'"},
		{"a//", "(", ""},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf text = {0};
		bt_strbuf_append_c(&text, rows[i][0]);
		nest(&text, rows[i][1], rows[i][2], "", 19999);
		ck_assert(is_accepted(bt_strbuf_str(&text), "none"));
		bt_strbuf_finish(&text);
	}
}
END_TEST

START_TEST(test_cel_parser__size)
{
	static const char wide[] = "\xf0\x9f\x98\x80"; /* one code point */
	struct bt_strbuf text = {0};

	bt_strbuf_append_char(&text, '\'');
	nest(&text, wide, "'", "", BT_CEL_SIZE_MAX - 2);
	ck_assert(is_accepted(bt_strbuf_str(&text), "none"));
	bt_strbuf_append_char(&text, ' ');
	ck_assert(!is_accepted(bt_strbuf_str(&text),
		"expression code point size exceeds limit: size: 100001, limit 100000"));
	bt_strbuf_reset(&text);
	nest(&text, "\xff(\n'", "", "", 10 << 18);
	ck_assert(!is_accepted(bt_strbuf_str(&text),
		"ERROR: <input>:-1:0: expression code point size exceeds limit: size: 10485760, "
		"limit 100000"));
	bt_strbuf_finish(&text);
}
END_TEST

START_TEST(test_cel_parser__many_syntax_errors)
{
	struct bt_strbuf text = {0};

	nest(&text, "# ", "a", "", 100);
	ck_assert(!is_accepted(bt_strbuf_str(&text),
		"ERROR: <input>:1:199: Syntax error: token recognition error at: '#'"));
	bt_strbuf_reset(&text);
	nest(&text, "# ", "a", "", 49999);
	ck_assert(!is_accepted(bt_strbuf_str(&text), "\n1 more errors were truncated"));
	bt_strbuf_reset(&text);
	/* At most 100 errors of other kinds are printed, but all are counted. */
	nest(&text, "if+", "if", "", 119);
	ck_assert(!is_accepted(bt_strbuf_str(&text), "^\n20 more errors were truncated"));
	bt_strbuf_reset(&text);
	/* The parser recovers from at most 30 syntax errors. */
	nest(&text, "[if,", "", "", 119);
	ck_assert(!is_accepted(bt_strbuf_str(&text), "^\n21 more errors were truncated"));
	bt_strbuf_finish(&text);
}
END_TEST

/* A zero byte is allowed within a string and is an error outside of it. */
START_TEST(test_cel_parser__zero_bytes)
{
	check_text(BT_STR("'a\0b'"), "\"a\\x00b\"");
	check_text(BT_STR("a\0b"),
		"ERROR: <input>:1:2: Syntax error: token recognition error at: '\xef\xbf\xbd'\n"
		" | a\xef\xbf\xbd"
		"b\n | .^\n"
		"ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>\n"
		" | a\xef\xbf\xbd"
		"b\n | ..^");
	check_text(BT_STR("'\\\0'"),
		"ERROR: <input>:1:1: Syntax error: token recognition error at: "
		"''\\\xef\xbf\xbd'\n | '\\\xef\xbf\xbd'\n | ^\n"
		"ERROR: <input>:1:4: Syntax error: token recognition error at: '''\n"
		" | '\\\xef\xbf\xbd'\n | ...^\n"
		"ERROR: <input>:1:5: Syntax error: mismatched input '<EOF>' expecting " EXPRESSION
		"\n | '\\\xef\xbf\xbd'\n | ....^");
	check_text(BT_STR("a '\0'"),
		"ERROR: <input>:1:3: Syntax error: extraneous input ''\xef\xbf\xbd'' expecting "
		"<EOF>\n | a '\xef\xbf\xbd'\n | ..^");
	check_text((struct bt_str){NULL, 0},
		"ERROR: <input>:1:1: Syntax error: mismatched input '<EOF>' expecting " EXPRESSION
		"\n | \n | ^");
}
END_TEST

/* A message has a bounded length, however long the source line is. */
START_TEST(test_cel_parser__long_lines)
{
	struct bt_strbuf text = {0};
	struct bt_strbuf out = {0};

	nest(&text, "a + ", "?\nb", "", 100);
	ck_assert(!is_accepted(bt_strbuf_str(&text), "?\n | ...."));
	bt_strbuf_reset(&text);
	nest(&text, "a||", "?\nb", "", 20000);
	parse(bt_strbuf_str(&text), &out);
	ck_assert_str_eq(bt_strbuf_c(&out),
		"ERROR: <input>:1:60001: Syntax error: extraneous input '?' expecting " EXPRESSION);
	bt_strbuf_reset(&text);
	bt_strbuf_reset(&out);
	nest(&text, "x", " x", "", 50000);
	parse(bt_strbuf_str(&text), &out);
	ck_assert_str_eq(bt_strbuf_c(&out),
		"ERROR: <input>:1:50002: Syntax error: extraneous input 'x' expecting <EOF>");
	bt_strbuf_reset(&text);
	bt_strbuf_reset(&out);
	nest(&text, "\xc3\xa9", "'", "", 50000);
	bt_strbuf_printf(&out, "a '%s", bt_strbuf_c(&text));
	bt_strbuf_reset(&text);
	parse(bt_strbuf_str(&out), &text);
	ck_assert_uint_lt(bt_strbuf_str(&text).length, 25000);
	ck_assert(bt_utf8_is_valid(bt_strbuf_c(&text), bt_strbuf_str(&text).length));
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&out);
}
END_TEST

BT_TEST_MAIN("cel_parser", test_cel_parser__operators, test_cel_parser__members,
	test_cel_parser__lists_and_maps, test_cel_parser__numbers, test_cel_parser__strings,
	test_cel_parser__space_and_comments, test_cel_parser__macros,
	test_cel_parser__syntax_errors, test_cel_parser__refused,
	test_cel_parser__issues_show_the_line, test_cel_parser__recovery,
	test_cel_parser__positions, test_cel_parser__nesting, test_cel_parser__wide_is_not_deep,
	test_cel_parser__size, test_cel_parser__many_syntax_errors, test_cel_parser__zero_bytes,
	test_cel_parser__long_lines)
