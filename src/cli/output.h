/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_OUTPUT_H
#define BT_CLI_OUTPUT_H
/** The answer of a simulation, for people (tables) and programs (JSON, YAML, names). */
#include "cli/simulation.h"

enum bt_output_format {
	BT_OUTPUT_TABLE,
	BT_OUTPUT_WIDE, /* with priority, requests, score, number of nodes that fit, other resources
	                 */
	BT_OUTPUT_JSON,
	BT_OUTPUT_YAML,
	BT_OUTPUT_NAME, /* "pod/NAMESPACE/NAME NODE" of each placed pod, then
	                   "evicted/NAMESPACE/NAME NODE pod/NAMESPACE/NAME" of each victim and its
	                   preemptor */
};

/**
 * What the flag --output says. has_names: the command has BT_OUTPUT_NAME, too. BERTH_ERR_INVALID
 * names those there are.
 */
BT_MUST_USE int bt_output_format_parse(const char *text, bool has_names,
	enum bt_output_format *out_format, struct berth_error *err);
/** To standard output; that it could be written is looked at by main. */
void bt_output_print(const struct bt_strbuf *text);
/** Append the whole answer. BERTH_ERR_INVALID: YAML in a program built without it. */
BT_MUST_USE int bt_output_write(const struct bt_simulation *simulation,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err);

/** The same document as YAML, appended. BERTH_ERR_INVALID: this program was built without. */
BT_MUST_USE int bt_output_yaml_from_json(
	struct bt_str json, struct bt_strbuf *out, struct berth_error *err);

/** Slots of the nodes in the input, ascending by name; owned: bt_free. */
uint32_t *bt_output_node_slots(const struct bt_simulation *simulation);
void bt_output_write_tables(
	const struct bt_simulation *simulation, bool wide, struct bt_strbuf *out);
#endif
