/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/flags.h"
#include "config/gates.h"
#include "daemon/flag_values.h"

static const char *const section_names[BT_FLAG_SECTION__COUNT] = {
	[BT_FLAG_SECTION_MISC] = "Misc",
	[BT_FLAG_SECTION_SERVING] = "Secure serving",
	[BT_FLAG_SECTION_AUTHENTICATION] = "Authentication",
	[BT_FLAG_SECTION_AUTHORIZATION] = "Authorization",
	[BT_FLAG_SECTION_DEPRECATED] = "Deprecated",
	[BT_FLAG_SECTION_ELECTION] = "Leader election",
	[BT_FLAG_SECTION_GATES] = "Feature gate",
	[BT_FLAG_SECTION_METRICS] = "Metrics",
	[BT_FLAG_SECTION_LOGS] = "Logs",
	[BT_FLAG_SECTION_GLOBAL] = "Global",
};

static const char *const kind_names[] = {
	[BT_FLAG_KIND_BOOL] = "",
	[BT_FLAG_KIND_STRING] = "string",
	[BT_FLAG_KIND_IP] = "ip",
	[BT_FLAG_KIND_INT] = "int",
	[BT_FLAG_KIND_INT32] = "int32",
	[BT_FLAG_KIND_LEVEL] = "Level",
	[BT_FLAG_KIND_FLOAT32] = "float32",
	[BT_FLAG_KIND_DURATION] = "duration",
	[BT_FLAG_KIND_QUANTITY] = "quantity",
	[BT_FLAG_KIND_STRINGS] = "strings",
	[BT_FLAG_KIND_INTS] = "ints",
	[BT_FLAG_KIND_SNI] = "namedCertKey",
	[BT_FLAG_KIND_GATES] = "gates",
	[BT_FLAG_KIND_VERSIONS] = "strings",
	[BT_FLAG_KIND_LABELS] = "stringToString",
	[BT_FLAG_KIND_VMODULE] = "pattern=N,...",
	[BT_FLAG_KIND_VERSION] = "version[=true]",
};

static const char intro[] =
	"The Kubernetes scheduler assigns pods to nodes: for every pod that waits in its queue it\n"
	"finds the nodes on which the pod may run, ranks them and binds the pod to one of the\n"
	"best. This is berth, which decides and speaks as kube-scheduler v1.36 does.\n"
	"\n";

static void write_head(const struct bt_flag_row *row, struct bt_strbuf *out)
{
	if (row->shorthand != 0) {
		bt_strbuf_printf(out, "  -%c, --%s", row->shorthand, row->name);
	} else {
		bt_strbuf_printf(out, "      --%s", row->name);
	}
	if (kind_names[row->kind][0] != '\0') {
		bt_strbuf_printf(out, " %s", kind_names[row->kind]);
	}
}

/** Only where it says something: not for false, 0 and nothing. */
static void write_default(const struct bt_flag_row *row, struct bt_strbuf *out)
{
	const char *initial = row->initial;
	if (initial[0] == '\0' || strcmp(initial, "false") == 0 || strcmp(initial, "0") == 0) {
		return;
	}
	if (row->kind == BT_FLAG_KIND_STRING) {
		bt_strbuf_printf(out, " (default \"%s\")", initial);
	} else if (row->kind == BT_FLAG_KIND_STRINGS) {
		bt_strbuf_printf(out, " (default [%s])", initial);
	} else {
		bt_strbuf_printf(out, " (default %s)", initial);
	}
}

struct gate_line {
	const char *name;
	enum bt_gate_stage stage;
	bool value;
};

static int compare_gates(const void *a, const void *b)
{
	return strcmp(((const struct gate_line *)a)->name, ((const struct gate_line *)b)->name);
}

/** Alpha and beta ones, by name: the others are there for good, or on their way out. */
static void write_gates(struct bt_strbuf *out)
{
	struct gate_line lines[BT_GATE__COUNT + 2] = {
		{"AllAlpha", BT_GATE_STAGE_ALPHA, false},
		{"AllBeta", BT_GATE_STAGE_BETA, false},
	};
	size_t count = 2;
	for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
		enum bt_gate gate = (enum bt_gate)i;
		if (bt_gate_stage(gate) <= BT_GATE_STAGE_BETA) {
			lines[count++] = (struct gate_line){
				bt_gate_name(gate), bt_gate_stage(gate), bt_gate_default(gate)};
		}
	}
	qsort(lines, count, sizeof(lines[0]), compare_gates);
	for (size_t i = 0; i < count; i++) {
		const char *name = lines[i].name;
		enum bt_gate_stage stage = lines[i].stage;
		bool value = lines[i].value;
		bt_strbuf_printf(out, "        kube:%s=true|false (%s - default=%s)\n", name,
			bt_gate_stage_name(stage), value ? "true" : "false");
	}
}

static void write_section(enum bt_flag_section section, struct bt_strbuf *out)
{
	struct bt_strbuf head = {0};
	struct bt_strbuf text = {0};
	size_t widest = 0;
	for (uint32_t i = 0; i < BT_DAEMON_FLAG__COUNT; i++) {
		if (bt_flag_rows[i].section == section) {
			bt_strbuf_reset(&head);
			write_head(&bt_flag_rows[i], &head);
			widest = head.length > widest ? head.length : widest;
		}
	}
	/* Long ones have a line of their own, so that the texts of the others have room. */
	size_t column = widest + 3 < BT_HELP_TEXT_COLUMN ? widest + 3 : BT_HELP_TEXT_COLUMN;
	bt_strbuf_printf(out, "\n%s flags:\n\n", section_names[section]);
	for (uint32_t i = 0; i < BT_DAEMON_FLAG__COUNT; i++) {
		const struct bt_flag_row *row = &bt_flag_rows[i];
		if (row->section == section) {
			bt_strbuf_reset(&head);
			write_head(row, &head);
			bt_strbuf_reset(&text);
			bt_strbuf_append_c(&text, row->help);
			write_default(row, &text);
			bt_flags_help_row(bt_strbuf_c(&head), column, bt_strbuf_c(&text), out);
			if (row->kind == BT_FLAG_KIND_GATES) {
				write_gates(out);
			}
		}
	}
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&head);
}

void bt_flags_write_help(bool with_intro, struct bt_strbuf *out)
{
	if (with_intro) {
		bt_strbuf_append_c(out, intro);
	}
	bt_strbuf_append_c(out, "Usage:\n  kube-scheduler [flags]\n");
	for (int i = 0; i < BT_FLAG_SECTION__COUNT; i++) {
		write_section((enum bt_flag_section)i, out);
	}
}
