/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_DEVICES_H
#define BT_SOAK_DEVICES_H
/**
 * Devices of the simulated cluster: what there is to ask for, and the pools in which drivers
 * publish them. What a device is stands in its driver and name for ever, so that a pool may shrink,
 * vanish and come back while claims hold what was in it.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/types.h"
#include "base/strbuf.h"

struct bt_sim;

/** A selector of the workloads, and what it means without CEL. */
struct bt_sim_selector {
	const char *expression;
	const char *driver;
	const char *attribute; /* NULL: any device of the driver */
	const char *text;      /* NULL: the attribute is the number */
	int64_t number;
};

extern const struct bt_sim_selector bt_sim_selectors[];
extern const uint32_t bt_sim_selector_count;

/** --- device_model.c: naively, and only what the workloads use. Spec: 12 --- */

/** What one request, or one of its alternatives, asks for. */
struct bt_sim_wish {
	struct bt_str class_name;
	const struct bt_device_selector *selectors;
	uint32_t selector_count;
	bool is_all;
	bool is_admin;
	uint32_t count;
	const struct bt_device_toleration *tolerations;
	uint32_t toleration_count;
	int64_t bandwidth; /* -1: as much as there is */
};

/** The sub-th alternative, or the request itself. */
struct bt_sim_wish bt_sim_wish_of(const struct bt_device_request *request, uint32_t sub);
/** class_ and the wish both select the device, and the wish tolerates its taints. */
bool bt_sim_is_wished(const struct bt_sim_wish *wish, const struct bt_device_class *class_,
	struct bt_str driver, const struct bt_device *device);
bool bt_sim_is_shareable(const struct bt_device *device);
/** The numa attribute; -1: it has none. */
int64_t bt_sim_numa_of(const struct bt_device *device);
/** Of its pool's one counter. */
int64_t bt_sim_slots_of(const struct bt_device *device);
/** Of a device that is shared. */
int64_t bt_sim_bandwidth_of(const struct bt_device *device);
/** What an allocation has of it. */
int64_t bt_sim_consumed_by(const struct bt_device_request_allocation_result *result);
bool bt_sim_is_device(const struct bt_device_request_allocation_result *result,
	const struct bt_resource_slice *slice, const struct bt_device *device);

enum bt_sim_pool_kind {
	BT_SIM_POOL_GPU,    /* of a node: whole devices, in one slice or two */
	BT_SIM_POOL_NIC,    /* of a node: one device that several may have parts of */
	BT_SIM_POOL_PART,   /* of a node: devices that draw on one counter */
	BT_SIM_POOL_FABRIC, /* of a zone */
	BT_SIM_POOL__COUNT
};

/** What a driver publishes, or will. */
struct bt_sim_pool {
	enum bt_sim_pool_kind kind;
	struct bt_str name; /* of its node or zone */
	int64_t generation;
	uint32_t device_count;
	uint32_t tainted; /* bit by device */
	const char *effect;
	bool is_away; /* its driver is restarted */
};

/** --- workload_devices.c --- */

void bt_sim_create_device_classes(struct bt_sim *sim);
/** Pools of zones, before any others; those of nodes come with their nodes. */
void bt_sim_create_fabric(struct bt_sim *sim);
/** "selectors" with this one. */
void bt_sim_append_selector(struct bt_strbuf *out, const char *expression);

/** --- workload_claims.c --- */

/** How a pod comes to a claim. */
enum bt_sim_claim_source {
	BT_SIM_CLAIM_OF_TEMPLATE,
	BT_SIM_CLAIM_OWN, /* made with the pod, named after it, and there when the pod comes again
	                   */
	BT_SIM_CLAIM_SHARED, /* by all pods of the app */
};

/** An entry of an app's spec.resourceClaims. */
struct bt_sim_app_claim {
	enum bt_sim_claim_source source;
	struct bt_str devices; /* JSON of the claim's spec */
};

struct bt_sim_app;

/** Some apps get claims, and their templates. */
void bt_sim_design_claims(struct bt_sim *sim, struct bt_sim_app *app);
/** The claims that do not come of templates, as far as they are missing. */
void bt_sim_create_claims(struct bt_sim *sim, const struct bt_sim_app *app, struct bt_str pod);
/** spec.resourceClaims of a pod, with a comma before it; nothing when there are none. */
void bt_sim_append_claims(const struct bt_sim_app *app, struct bt_str pod, struct bt_strbuf *out);
void bt_sim_delete_templates(struct bt_sim *sim, const struct bt_sim_app *app);
/** Somebody deletes a claim, used or not. */
void bt_sim_delete_device_claim(struct bt_sim *sim);

/** --- device_driver.c --- */

/** What the pool has is published, by and by, in a new generation. */
void bt_sim_publish(struct bt_sim *sim, uint32_t pool);
#endif
