/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_BERTH_H
#define BERTH_BERTH_H
/**
 * @file
 * All of libberth: Kubernetes' scheduling decisions as a library.
 *
 * - Values: str.h (texts, arenas), error.h, status.h (verdicts), api.h (attributes, the version).
 * - The cluster: object.h, resource.h, pod_info.h, node_info.h.
 * - A scheduler: config.h, engine.h.
 * - Plugins: plugin.h, handle.h, cycle_state.h, registry.h.
 *
 * A second library on top of libberth, libberth-compat (headers in include/berth-compat), offers
 * the scheduler's interfaces of v1.4 to v1.32 (predicates, the scheduler cache, the equivalence
 * cache, ...).
 *
 * @code{.c}
 * static void print_why_pending(struct berth_engine *engine, const char *pod_name)
 * {
 *     struct berth_arena *arena = berth_arena_create();
 *     struct berth_pod_wait wait;
 *
 *     berth_engine_pod_wait(
 *         engine, BERTH_STR("default"), berth_str_from(pod_name), arena, &wait);
 *     printf("%s: %.*s\n", berth_pod_place_string(wait.place), BERTH_STR_ARG(wait.message));
 *     berth_arena_destroy(arena);
 * }
 * @endcode
 */
#include "berth/api.h"
#include "berth/config.h"
#include "berth/cycle_state.h"
#include "berth/engine.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/node_info.h"
#include "berth/object.h"
#include "berth/plugin.h"
#include "berth/pod_info.h"
#include "berth/registry.h"
#include "berth/resource.h"
#include "berth/status.h"
#include "berth/str.h"
#endif
