/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_EXTENDER_H
#define BT_LIB_EXTENDER_H
/** Extenders as the public engine has them. */
#include "base/vec.h"
#include "berth/engine.h"
#include "sched/engine.h"
#include "sched/extender.h"
#include "sched/extender_post.h"

struct berth_extender {
	const struct bt_extenders *all; /* the engine's */
	uint32_t index;
};

/** Part of the public engine; must not move. */
struct bt_lib_extenders {
	struct berth_extender_transport transport;
	struct bt_extender_poster poster;
	struct bt_extender_factory factory;
	struct bt_extender_observer observer;
	berth_log_fn log;
	void *log_context;
	BT_VEC(struct berth_extender) handles;
};

/** Fills in how extenders are asked, if there is a way, and who hears of it. */
void bt_lib_extenders_init(struct bt_lib_extenders *extenders,
	const struct berth_engine_options *options, struct bt_engine_options *out_inside);
/** The engine exists. */
void bt_lib_extenders_attach(struct bt_lib_extenders *extenders, const struct bt_extenders *all);
void bt_lib_extenders_finish(struct bt_lib_extenders *extenders);
#endif
