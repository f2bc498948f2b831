/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations. A configuration that loads is written, and the text is loaded and written again:
 * both texts must be the same. The first byte of the input chooses the feature gates.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "config/gates.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bt_gates choose_gates(uint8_t choice)
{
	struct bt_gates gates = bt_gates_default();
	if ((choice & 1) != 0) {
		gates.enabled[BT_GATE_STORAGE_CAPACITY_SCORING] = true;
		gates.enabled[BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING] = true;
	}
	if ((choice & 2) != 0) {
		gates.enabled[BT_GATE_DRA_SCHEDULER_FILTER_TIMEOUT] = false;
		gates.enabled[BT_GATE_NODE_DECLARED_FEATURES] = false;
	}
	return gates;
}

static void try_gates(struct bt_str text)
{
	struct bt_gates gates = bt_gates_default();
	struct berth_error err = BERTH_ERROR_INIT;
	if (bt_gates_set(&gates, text, &err) != 0) {
		BT_ASSERT(err.message != NULL);
		berth_error_finish(&err);
	}
}

/* Validate the configuration again, as plugin constructors do. */
static void construct(const struct bt_config *config)
{
	for (uint32_t i = 0; i < config->document.profiles.count; i++) {
		const struct bt_config_profile *profile = &config->document.profiles.items[i];
		for (uint32_t k = 0; k < profile->plugin_config.count; k++) {
			struct berth_error err = BERTH_ERROR_INIT;
			if (bt_plugin_args_validate(&profile->plugin_config.items[k].args,
				    &config->gates, &err) != 0) {
				berth_error_finish(&err);
			}
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_gates gates;
	struct bt_config *config = NULL;
	struct bt_config *again = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_strbuf first = {0};
	struct bt_strbuf second = {0};
	struct bt_str text;

	if (size == 0 || size > BT_CONFIG_BYTES_MAX / 64) {
		return 0;
	}
	text = (struct bt_str){(const char *)data + 1, (uint32_t)size - 1};
	gates = choose_gates(data[0]);
	try_gates(text);
	if (bt_config_load(text, &gates, &config, &err) != 0) {
		BT_ASSERT(err.code < 0 && err.message != NULL && config == NULL);
		berth_error_finish(&err);
		return 0;
	}
	construct(config);
	bt_config_write(config, &first);
	/*
	 * The written text includes the defaults. The text of a large document may therefore exceed
	 * the limit.
	 */
	if (first.length <= BT_CONFIG_BYTES_MAX) {
		BT_ASSERT(bt_config_load(bt_strbuf_str(&first), &gates, &again, &err) == 0);
		bt_config_write(again, &second);
		BT_ASSERT(bt_str_equal(bt_strbuf_str(&first), bt_strbuf_str(&second)));
	}
	bt_strbuf_finish(&first);
	bt_strbuf_finish(&second);
	bt_config_unref(config);
	bt_config_unref(again);
	return 0;
}
