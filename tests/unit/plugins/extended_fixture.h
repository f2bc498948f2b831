/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_EXTENDED_FIXTURE_H
#define BT_TESTS_UNIT_PLUGINS_EXTENDED_FIXTURE_H
/** Pods that request extended resources, and device classes that provide them. */
#include "devices_fixture.h"

#define RESOURCE(name, amount) "'" name "':'" amount "'"
#define CONTAINER(name, requests) "{'name':'" name "','resources':{'requests':{" requests "}}}"
#define POD_WITH(init_containers, containers) \
	"{'metadata':{'name':'p','uid':'uid-p'},'spec':{'initContainers':[" init_containers \
	"],'containers':[" containers "]}}"
#define POD(requests) POD_WITH("", CONTAINER("main", requests))
#define POD_WITH_CLAIM_C \
	"{'metadata':{'name':'p','uid':'uid-p'},'spec':{'resourceClaims':[{'name':'c'," \
	"'resourceClaimName':'c'}],'containers':[" CONTAINER("main", RESOURCE(X, "1")) "]}}"
#define X "e.io/x"
#define Y "e.io/y"
#define INT64_MAX_TEXT "9223372036854775807"
#define STALE_CLAIM(requests) \
	"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{'name':'stale'," \
	"'uid':'uid-stale','annotations':{'resource.kubernetes.io/" \
	"extended-resource-claim':'true'}," \
	"'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'p','uid':'uid-p','controller'" \
	":" \
	"true}]},'spec':{'devices':{'requests':[" requests "]}}}"

static inline void put_class(struct fixture *fixture, const char *name, const char *resource)
{
	fixture_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{"
			"'name':'%s'},'spec':{'extendedResourceName':'%s'}}",
			name, resource)
			.data);
}

/**
 * Adds nodes "n1" and "n2" (no extended resources), "own" (2 of e.io/x) and "none" (0 of e.io/x),
 * and device classes "c" (no extended resource) and "x" (e.io/x).
 */
static inline void init(struct fixture *fixture)
{
	devices_fixture_init(fixture, NULL, NULL);
	fixture_add_node(fixture,
		"{'metadata':{'name':'own'},'status':{'allocatable':{" RESOURCE(X, "2") "}}}");
	fixture_add_node(fixture,
		"{'metadata':{'name':'none'},'status':{'allocatable':{" RESOURCE(X, "0") "}}}");
	put_class(fixture, "x", X);
}
#endif
