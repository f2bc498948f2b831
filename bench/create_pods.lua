-- SPDX-License-Identifier: Apache-2.0
-- For wrk: create pods on a running `berth up --no-scheduler --nodes 1`; the server chooses their names.
--
--   wrk -t1 -c16 -d10s -s bench/create_pods.lua https://127.0.0.1:6443 -- TOKEN
--
-- For plain HTTP, omit TOKEN.

local body = [[{"metadata":{"generateName":"web-7c5ddbdf54-","labels":{"app":"web",
"pod-template-hash":"7c5ddbdf54"}},"spec":{"containers":[{"name":"c","image":"nginx:1.25",
"ports":[{"containerPort":80}],"env":[{"name":"A","value":"b"}],"resources":{"requests":
{"cpu":"100m","memory":"64Mi"},"limits":{"memory":"128Mi"}}}]}}]]
local refused = 0

function init(arguments)
	wrk.method = "POST"
	wrk.path = "/api/v1/namespaces/default/pods"
	wrk.headers["Content-Type"] = "application/json"
	if arguments[1] then
		wrk.headers["Authorization"] = "Bearer " .. arguments[1]
	end
	wrk.body = body
end

function response(status, headers, text)
	if status ~= 201 then
		refused = refused + 1
		if refused == 1 then
			print("status " .. status .. ": " .. text)
		end
	end
end
