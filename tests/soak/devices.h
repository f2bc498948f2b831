/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_DEVICES_H
#define BT_SOAK_DEVICES_H
/**
 * Devices of the simulated cluster: selectors, and the pools in which drivers publish devices. The
 * properties of a device follow from its driver and name and never change. So a pool may shrink,
 * vanish and come back while claims hold its devices.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/types.h"
#include "base/strbuf.h"

struct bt_sim;

/** A selector of the workloads, and the condition that it expresses, for checks without CEL. */
struct bt_sim_selector {
	const char *expression;
	const char *driver;
	const char *attribute; /* name; NULL: any device of the driver matches */
	const char *text;      /* value of the attribute; NULL: the value is number */
	int64_t number;
};

extern const struct bt_sim_selector bt_sim_selectors[];
extern const uint32_t bt_sim_selector_count;

/** --- device_model.c: plain computation of the features that the workloads use. Spec: 12 --- */

/** One request without alternatives, or one alternative of a request. */
struct bt_sim_subrequest {
	struct bt_str class_name;
	const struct bt_device_selector *selectors;
	uint32_t selector_count;
	bool is_all;
	bool is_admin;
	uint32_t count;
	const struct bt_device_toleration *tolerations;
	uint32_t toleration_count;
	int64_t bandwidth; /* requested capacity; -1: the whole capacity of the device */
};

/** Returns alternative number sub (from 0), or the request itself if it has no alternatives. */
struct bt_sim_subrequest bt_sim_subrequest_of(
	const struct bt_device_request *request, uint32_t sub);
/** Whether class and subrequest select the device, and the subrequest tolerates the device's
 * taints. */
bool bt_sim_subrequest_selects(const struct bt_sim_subrequest *subrequest,
	const struct bt_device_class *class_, struct bt_str driver, const struct bt_device *device);
bool bt_sim_is_shareable(const struct bt_device *device);
/** The device's attribute "numa"; -1: none. */
int64_t bt_sim_numa_of(const struct bt_device *device);
/** How much the device consumes of its pool's counter. */
int64_t bt_sim_slots_of(const struct bt_device *device);
/** The capacity of a shared device. */
int64_t bt_sim_bandwidth_of(const struct bt_device *device);
/** How much of the device's capacity the result consumes. */
int64_t bt_sim_consumed_by(const struct bt_device_request_allocation_result *result);
bool bt_sim_is_device(const struct bt_device_request_allocation_result *result,
	const struct bt_resource_slice *slice, const struct bt_device *device);

enum bt_sim_pool_kind {
	BT_SIM_POOL_GPU,    /* of a node: exclusive devices, in one slice or two */
	BT_SIM_POOL_NIC,    /* of a node: one device that claims share */
	BT_SIM_POOL_PART,   /* of a node: devices that consume a shared counter */
	BT_SIM_POOL_FABRIC, /* of a zone */
	BT_SIM_POOL__COUNT
};

/** A pool as its driver publishes it, or will publish it soon. */
struct bt_sim_pool {
	enum bt_sim_pool_kind kind;
	struct bt_str name; /* of its node or zone */
	int64_t generation;
	uint32_t device_count;
	uint32_t tainted;   /* bit i: device i is tainted */
	const char *effect; /* of the taints */
	bool is_away;       /* the driver is restarting */
};

/** --- workload_devices.c --- */

void bt_sim_create_device_classes(struct bt_sim *sim);
/** Adds the pools of zones. Call it before any node is added: pools of zones must come first, and a
 * new node adds the pools of the node. */
void bt_sim_create_fabric(struct bt_sim *sim);
/** Append "selectors" with this expression. */
void bt_sim_append_selector(struct bt_strbuf *out, const char *expression);

/** --- workload_claims.c --- */

/** Where a pod's claim comes from. */
enum bt_sim_claim_source {
	BT_SIM_CLAIM_OF_TEMPLATE,
	BT_SIM_CLAIM_OWN,    /* named after the pod, kept for the replacement of the pod */
	BT_SIM_CLAIM_SHARED, /* one claim for all pods of the app */
};

/** An entry of an app's spec.resourceClaims. */
struct bt_sim_app_claim {
	enum bt_sim_claim_source source;
	struct bt_str devices; /* JSON of the claim's spec */
};

struct bt_sim_app;

/** Gives ResourceClaims to the app, with some probability. */
void bt_sim_design_claims(struct bt_sim *sim, struct bt_sim_app *app);
/** Creates the missing claims of a pod, except claims from templates. pod: the pod's name. */
void bt_sim_create_claims(struct bt_sim *sim, const struct bt_sim_app *app, struct bt_str pod);
/** Appends a comma and spec.resourceClaims of the pod; nothing if the app has no claims. */
void bt_sim_append_claims(const struct bt_sim_app *app, struct bt_str pod, struct bt_strbuf *out);
void bt_sim_delete_templates(struct bt_sim *sim, const struct bt_sim_app *app);
/** Delete a random claim, even if pods use it. */
void bt_sim_delete_device_claim(struct bt_sim *sim);

/** --- device_driver.c --- */

/** Publish the pool in a new generation, slice by slice. */
void bt_sim_publish(struct bt_sim *sim, uint32_t pool);
#endif
