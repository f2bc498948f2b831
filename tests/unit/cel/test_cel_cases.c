/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbered cases of spec 12b section 18, each compiled and evaluated on the device of the case.
 */
#include "api/types.h"
#include "cel/device.h"
#include "codec/json.h"
#include "test_main.h"

#define A "device.attributes['dra.example.com']"
#define C "device.capacity['dra.example.com']"
#define TEN "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"

enum device {
	PLAIN,
	NO_DRIVER,
	MULTIPLE, /* allowMultipleAllocations */
	BAD_VERSION,
	LIST_WITHOUT_GATE,
	NOTHING_SET,
	LISTS, /* with the feature gate on */
};

enum outcome {
	TRUE,
	FALSE,
	REFUSED,
	ERROR,
};

static const struct {
	uint32_t number;
	enum device device;
	const char *expression;
	enum outcome outcome;
	const char *text;
} cases[] = {
#define CASE(number, device, expression, outcome, text) {number, device, expression, outcome, text},
#include "cases.def"
#undef CASE
};

/** Appends the attributes that a device has in addition to the common attributes. */
static void append_more(enum device device, struct bt_strbuf *out)
{
	switch (device) {
	case PLAIN:
	case NO_DRIVER:
	case MULTIPLE:
		break;
	case BAD_VERSION:
		bt_strbuf_append_c(out, ",\"bad\":{\"version\":\"1.0\"}");
		break;
	case LIST_WITHOUT_GATE:
		bt_strbuf_append_c(out, ",\"l\":{\"strings\":[\"a\"]}");
		break;
	case NOTHING_SET:
		bt_strbuf_append_c(out, ",\"e\":{}");
		break;
	case LISTS:
		bt_strbuf_append_c(out,
			",\"ls\":{\"strings\":[\"fish\",\"bird\"]},\"li\":{\"ints\":[1,2]},"
			"\"lb\":{\"bools\":[true,false]},"
			"\"lv\":{\"versions\":[\"1.0.0\",\"2.0.0\"]},\"big\":{\"strings\":[");
		for (int i = 0; i < 49; i++) {
			bt_strbuf_printf(out, "%s\"value-%d\"", i != 0 ? "," : "", i);
		}
		bt_strbuf_append_c(out, "]}");
		break;
	}
}

static void make_device(enum device which, struct bt_arena *arena, struct bt_device *out)
{
	struct bt_strbuf text = {0};
	struct bt_json_reader reader;

	bt_strbuf_append_c(&text,
		"{\"name\":\"dev\",\"attributes\":{\"b\":{\"bool\":true},\"f\":{\"bool\":false},"
		"\"i\":{\"int\":1},\"neg\":{\"int\":-3},\"s\":{\"string\":\"fish\"},"
		"\"p\":{\"string\":\"0000:3b:00.0\"},\"v\":{\"version\":\"1.2.3\"},"
		"\"other.example.com/x\":{\"string\":\"y\"}");
	append_more(which, &text);
	bt_strbuf_append_c(&text,
		"},\"capacity\":{\"mem\":{\"value\":\"1Mi\"},\"cores\":{\"value\":\"8\"},"
		"\"part\":{\"value\":\"1500m\"}}");
	if (which == MULTIPLE) {
		bt_strbuf_append_c(&text, ",\"allowMultipleAllocations\":true");
	}
	bt_strbuf_append_char(&text, '}');
	bt_json_reader_init(&reader, bt_arena_str(arena, bt_strbuf_str(&text)));
	ck_assert_int_eq(bt_message_decode_json(&bt_device_message, &reader, arena, out, NULL), 0);
	bt_strbuf_finish(&text);
}

/** Evaluates the program on a device; returns the result or ERROR. */
static enum outcome evaluate(
	const struct bt_cel_program *program, enum device which, struct berth_error *err)
{
	const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct bt_str driver = which == NO_DRIVER ? BT_STR("") : BT_STR("dra.example.com");
	struct bt_arena arena = {0};
	struct bt_device device = {0};
	struct bt_cel_value value;
	bool matches = false;
	int code;

	make_device(which, &arena, &device);
	code = bt_cel_device_make(driver, &device, which == LISTS, &arena, &value, err);
	if (code == 0) {
		code = bt_cel_device_matches(program, &value, &limits, &arena, &matches, err);
	}
	bt_arena_finish(&arena);
	return code != 0 ? ERROR : matches ? TRUE : FALSE;
}

static void check_case(size_t i)
{
	static const char *const names[] = {"true", "false", "refused", "error"};
	struct bt_cel_program *program = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	enum outcome got = REFUSED;
	const char *text;

	if (bt_cel_compile(bt_str_from(cases[i].expression),
		    bt_cel_device_environment(cases[i].device == LISTS), &program, &err) == 0) {
		got = evaluate(program, cases[i].device, &err);
	}
	text = err.code != 0 ? berth_error_message(&err) : "";
	ck_assert_msg(got == cases[i].outcome &&
			(got == REFUSED ? strstr(text, cases[i].text) != NULL
					: strcmp(text, cases[i].text) == 0),
		"case %u: %s\n got %s %s\nwant %s %s", cases[i].number, cases[i].expression,
		names[got], text, names[cases[i].outcome], cases[i].text);
	berth_error_finish(&err);
	bt_cel_program_destroy(program);
}

/** Checks the cases first to last; fails if a number is missing. */
static void check_cases(uint32_t first, uint32_t last)
{
	uint32_t next = first;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(cases); i++) {
		if (cases[i].number >= first && cases[i].number <= last) {
			check_case(i);
			next += cases[i].number == next ? 1 : 0;
		}
	}
	ck_assert_uint_eq(next, last + 1);
}

START_TEST(test_cel_cases__edge_12b_01_02_03_04_05_06_07_08_09_10_basics)
{
	check_cases(1, 10);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_11_12_13_14_15_16_17_18_19_20_basics)
{
	check_cases(11, 20);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_21_22_23_24_25_26_27_28_29_30_31_32_33_lookup)
{
	check_cases(21, 33);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_34_35_36_37_38_39_40_41_42_43_44_45_46_lookup)
{
	check_cases(34, 46);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_47_48_49_50_51_52_53_54_55_56_57_58_lookup)
{
	check_cases(47, 58);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_59_60_61_62_63_64_65_66_67_68_69_comparison)
{
	check_cases(59, 69);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_70_71_72_73_74_75_76_77_78_79_80_comparison)
{
	check_cases(70, 80);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_81_82_83_84_85_86_87_88_89_comparison)
{
	check_cases(81, 89);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_90_91_92_93_94_95_96_97_98_99_100_101_102_103_104_logic)
{
	check_cases(90, 104);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_105_106_107_108_109_110_111_112_113_114_115_116_117_118_logic)
{
	check_cases(105, 118);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_119_120_121_122_123_124_125_126_127_quantity)
{
	check_cases(119, 127);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_128_129_130_131_132_133_134_135_136_quantity)
{
	check_cases(128, 136);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_137_138_139_140_141_142_143_quantity)
{
	check_cases(137, 143);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_144_145_146_147_148_149_150_151_152_semver)
{
	check_cases(144, 152);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_153_154_155_156_157_158_159_160_semver)
{
	check_cases(153, 160);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_161_162_163_164_165_166_167_168_169_strings)
{
	check_cases(161, 169);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_170_171_172_173_174_175_176_177_178_strings)
{
	check_cases(170, 178);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_179_180_181_182_183_184_185_186_strings)
{
	check_cases(179, 186);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_187_188_189_190_191_192_193_194_195_196_197_lists)
{
	check_cases(187, 197);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_198_199_200_201_202_203_204_205_206_207_208_lists)
{
	check_cases(198, 208);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_209_210_211_212_213_214_215_216_217_218_219_lists)
{
	check_cases(209, 219);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_220_221_222_223_224_225_226_other)
{
	check_cases(220, 226);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_227_228_229_230_231_232_other)
{
	check_cases(227, 232);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_233_234_235_236_237_238_gate)
{
	check_cases(233, 238);
}
END_TEST

START_TEST(test_cel_cases__edge_12b_239_240_241_242_243_244_gate)
{
	check_cases(239, 244);
}
END_TEST

BT_TEST_MAIN("cel_cases", test_cel_cases__edge_12b_01_02_03_04_05_06_07_08_09_10_basics,
	test_cel_cases__edge_12b_11_12_13_14_15_16_17_18_19_20_basics,
	test_cel_cases__edge_12b_21_22_23_24_25_26_27_28_29_30_31_32_33_lookup,
	test_cel_cases__edge_12b_34_35_36_37_38_39_40_41_42_43_44_45_46_lookup,
	test_cel_cases__edge_12b_47_48_49_50_51_52_53_54_55_56_57_58_lookup,
	test_cel_cases__edge_12b_59_60_61_62_63_64_65_66_67_68_69_comparison,
	test_cel_cases__edge_12b_70_71_72_73_74_75_76_77_78_79_80_comparison,
	test_cel_cases__edge_12b_81_82_83_84_85_86_87_88_89_comparison,
	test_cel_cases__edge_12b_90_91_92_93_94_95_96_97_98_99_100_101_102_103_104_logic,
	test_cel_cases__edge_12b_105_106_107_108_109_110_111_112_113_114_115_116_117_118_logic,
	test_cel_cases__edge_12b_119_120_121_122_123_124_125_126_127_quantity,
	test_cel_cases__edge_12b_128_129_130_131_132_133_134_135_136_quantity,
	test_cel_cases__edge_12b_137_138_139_140_141_142_143_quantity,
	test_cel_cases__edge_12b_144_145_146_147_148_149_150_151_152_semver,
	test_cel_cases__edge_12b_153_154_155_156_157_158_159_160_semver,
	test_cel_cases__edge_12b_161_162_163_164_165_166_167_168_169_strings,
	test_cel_cases__edge_12b_170_171_172_173_174_175_176_177_178_strings,
	test_cel_cases__edge_12b_179_180_181_182_183_184_185_186_strings,
	test_cel_cases__edge_12b_187_188_189_190_191_192_193_194_195_196_197_lists,
	test_cel_cases__edge_12b_198_199_200_201_202_203_204_205_206_207_208_lists,
	test_cel_cases__edge_12b_209_210_211_212_213_214_215_216_217_218_219_lists,
	test_cel_cases__edge_12b_220_221_222_223_224_225_226_other,
	test_cel_cases__edge_12b_227_228_229_230_231_232_other,
	test_cel_cases__edge_12b_233_234_235_236_237_238_gate,
	test_cel_cases__edge_12b_239_240_241_242_243_244_gate)
