/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_accept.h"

#include "base/compiler.h"

/** Return a quality in thousandths: 250 for "0.25". 1000 if the text is not a number. */
static uint32_t parse_quality(struct bt_str text)
{
	uint32_t value = 0;
	uint32_t unit = 1000;
	for (uint32_t i = 0; i < text.length; i++) {
		if (text.data[i] == '.' && unit == 1000) {
			unit = 100;
			continue;
		}
		if (text.data[i] < '0' || text.data[i] > '9' || (unit == 1000 && i != 0)) {
			return 1000;
		}
		value += (uint32_t)(text.data[i] - '0') * unit;
		unit = unit == 1000 ? 1000 : unit / 10;
	}
	return text.length == 0 || value > 1000 ? 1000 : value;
}

void bt_accept_parse(struct bt_accept *accept, struct bt_str header, bool by_quality)
{
	accept->count = 0;
	while (header.length != 0 && accept->count < BT_ACCEPT_CLAUSES_MAX) {
		struct bt_accept_clause clause = {.quality = 0};
		struct bt_str text = bt_str_cut(&header, ',');
		clause.type = bt_str_trim(bt_str_cut(&text, ';'), " \t");
		clause.quality = 1000;
		while (text.length != 0) {
			struct bt_str value = bt_str_cut(&text, ';');
			struct bt_str name = bt_str_trim(bt_str_cut(&value, '='), " \t");
			value = bt_str_trim(value, " \t");
			if (value.length >= 2 && value.data[0] == '"') {
				value = bt_str_sub(value, 1, value.length - 2);
			}
			if (bt_str_equal_without_case(name, BT_STR("q"))) {
				clause.quality = parse_quality(value);
			} else if (name.length != 0 &&
				clause.parameter_count < BT_ACCEPT_PARAMETERS_MAX) {
				clause.parameters[clause.parameter_count++] =
					(struct bt_accept_parameter){name, value};
			}
		}
		if (clause.type.length == 0) {
			continue;
		}
		uint32_t at = accept->count++;
		while (by_quality && at > 0 && accept->clauses[at - 1].quality < clause.quality) {
			accept->clauses[at] = accept->clauses[at - 1];
			at--;
		}
		accept->clauses[at] = clause;
	}
}

struct bt_str bt_accept_parameter(const struct bt_accept_clause *clause, const char *name)
{
	for (uint32_t i = clause->parameter_count; i-- > 0;) {
		if (bt_str_equal_without_case(clause->parameters[i].name, bt_str_from(name))) {
			return clause->parameters[i].value;
		}
	}
	return BT_STR("");
}
