/* SPDX-License-Identifier: Apache-2.0
 *
 * The page of "berth view". It draws what the server answers and never computes a decision: for a
 * question it asks the server (POST /api/question), which runs the command that the page shows.
 * Everything that comes from a cluster is put in as text.
 */
"use strict";

const byId = (id) => document.getElementById(id);
const svgSpace = "http://www.w3.org/2000/svg";

/* --- state that the address bar has --- */

const defaults = {tab: "pending", group: "", color: "cpu", pod: "", node: "",
	at: "", what: "", config: "", like: "", table: ""};
const tabs = ["pending", "whatif", "capacity", "details", "change"];
let state = {...defaults};
let cluster = null;      /* answer of /api/cluster that has nodes */
let samples = null;
let pending = null;      /* answer of "berth pending" */
let lit = null;          /* highlighted nodes: Map of node name -> text of the tile (null: the node's use); other nodes are dimmed */
let litByAnswer = null;  /* highlighted nodes while the pointer is on no element that highlights others */
let sourceState = "";    /* "live", "a recording" */
let mayChange = false;
let focused = -1;        /* index of the tile with the keyboard focus */

function readAddress() {
	const address = new URLSearchParams(location.hash.slice(1));
	state = {...defaults};
	for (const key of Object.keys(defaults)) if (address.has(key)) state[key] = address.get(key);
	if (!/^\d+$/.test(state.at)) state.at = "";
}
function writeAddress(isStep) {
	const address = new URLSearchParams();
	for (const [key, value] of Object.entries(state)) if (value !== defaults[key]) address.set(key, value);
	const hash = "#" + address.toString();
	if (hash === location.hash || (hash === "#" && location.hash === "")) return;
	history[isStep ? "pushState" : "replaceState"](null, "", hash === "#" ? location.pathname : hash);
}
/** Changes the state and shows it. */
function go(changes, isStep = true) {
	Object.assign(state, changes);
	writeAddress(isStep);
	show();
}

/* --- elements --- */

function make(name, attributes = {}, ...children) {
	const element = document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) {
		if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
		else if (value !== false && value !== null) element.setAttribute(key, value === true ? "" : value);
	}
	element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
	return element;
}
function draw(name, attributes = {}) {
	const element = document.createElementNS(svgSpace, name);
	for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
	return element;
}
const text = (tag, content, name = null) => make(tag, name ? {class: name} : {}, content);
const nameOf = (content) => make("bdi", {class: "name"}, content);
/** Attributes of an element that highlights these nodes while the pointer or the focus is on it. */
const pointing = (nodes) => ({onmouseenter: () => point(nodes), onmouseleave: () => point(null),
	onfocus: () => point(nodes), onblur: () => point(null)});
const nodeLink = (name) => make("button", {class: "link", type: "button", onclick: () => go({tab: "details", node: name, pod: ""}), ...pointing([name])}, name);
/** Shows the pod. With its kind, because a namespace may have the name of a kind. */
const goToPod = (namespace, name) => go({tab: "details", pod: `pod/${namespace}/${name}`, node: ""});
const podLink = ({namespace, name}) => make("button", {class: "link", type: "button", onclick: () => goToPod(namespace, name)}, `${namespace}/${name}`);

/* --- numbers --- */

const count = (value) => Math.round(value).toLocaleString("en");
const percent = (value) => `${(value * 100).toFixed(value > 0 && value < 0.1 ? 1 : 0)}\u00a0%`;
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
function amount(value, resource) {
	if (resource === "cpu") return value % 1000 === 0 ? count(value / 1000) : (value / 1000).toLocaleString("en", {maximumFractionDigits: 2});
	if (resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-")) {
		const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
		let unit = 0;
		while (value >= 1024 && unit < units.length - 1) { value /= 1024; unit++; }
		return `${value.toLocaleString("en", {maximumFractionDigits: value < 10 ? 1 : 0})} ${units[unit]}`;
	}
	return count(value);
}
function duration(seconds) {
	if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
	if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
	if (seconds < 7200) return `${(seconds / 60).toFixed(0)} min`;
	return `${(seconds / 3600).toFixed(1)} h`;
}
const clock = (ms) => new Date(ms).toLocaleString("en-GB", {dateStyle: sourceState === "live" ? undefined : "medium", timeStyle: "medium"});

/* --- the server --- */

let problemTimer = 0;
function showProblem(message) {
	byId("problem").textContent = message;
	byId("problem").hidden = false;
	clearTimeout(problemTimer);
	problemTimer = setTimeout(() => { byId("problem").hidden = true; }, 8000);
}
async function get(path, options = {}) {
	const response = await fetch(path, {...options, credentials: "same-origin", cache: "no-store"});
	const answer = await response.json();
	if (!response.ok) throw new Error(answer.error || `status ${response.status}`);
	return answer;
}
const at = () => state.at === "" ? null : Number(state.at);
const withTime = (path) => at() === null ? path : `${path}${path.includes("?") ? "&" : "?"}at=${at()}`;

/** Run a command on the shown cluster and time. Returns {exitStatus, output, messages, commandLine}; at a past time without commandLine. */
function ask(commandArguments, files = [], signal = undefined) {
	const request = {arguments: commandArguments, files};
	if (at() !== null) request.at = at();
	return get("/api/question", {method: "POST", body: JSON.stringify(request), signal});
}

/* --- colours: a ramp of lightness, which can be read without distinguishing hues --- */

const darkScheme = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => darkScheme.matches;
const lightRamp = [[224, 234, 245], [158, 196, 226], [84, 148, 200], [26, 93, 164], [8, 34, 84]];
const darkRamp = [[38, 48, 64], [35, 84, 132], [42, 134, 180], [110, 194, 196], [250, 231, 140]];
const kinds = ["#1a63d8", "#e0892b", "#0b8a6a", "#a04bc0", "#c0392b", "#7a6a00", "#4b5a70", "#2aa5c0"];

const rampSteps = 64;
function mixRamp(ramp) {
	return Array.from({length: rampSteps + 1}, (_, step) => {
		const place = step / rampSteps * (ramp.length - 1);
		const index = Math.min(ramp.length - 2, Math.floor(place));
		return `rgb(${ramp[index].map((low, i) => Math.round(low + (ramp[index + 1][i] - low) * (place - index))).join()})`;
	});
}
const ramps = {dark: mixRamp(darkRamp), light: mixRamp(lightRamp)};
function rampColor(value) {
	return ramps[isDark() ? "dark" : "light"][Math.round(Math.max(0, Math.min(1, value)) * rampSteps)];
}

/* --- appearance of a node --- */

const notReady = (node) => node.conditions.Ready !== undefined && node.conditions.Ready !== "True";
const pressures = (node) => Object.entries(node.conditions)
	.filter(([type, status]) => type !== "Ready" && status === "True").map(([type]) => type);

function useOf(index, resource) {
	const at = cluster.resources.indexOf(resource);
	const all = cluster.nodes[index].allocatable[at] || 0;
	return {used: cluster.use[index][at] || 0, all, part: all > 0 ? cluster.use[index][at] / all : 0};
}
function categoryOf(node) {
	if (state.color === "taints") return node.taints.length === 0 ? "no taints" : node.taints.join(", ");
	if (notReady(node)) return "not ready";
	if (node.unschedulable) return "cordoned";
	return pressures(node).join(", ") || "ready";
}
let categories = [];
function colorOf(index) {
	const node = cluster.nodes[index];
	if (state.color === "taints" || state.color === "conditions") {
		const place = categories.indexOf(categoryOf(node));
		return place === 0 ? (isDark() ? "#3a4656" : "#c5d0dd") : kinds[(place - 1) % kinds.length];
	}
	const use = useOf(index, state.color);
	return use.all > 0 ? rampColor(use.part) : "transparent";
}
function describe(index) {
	const node = cluster.nodes[index];
	const lines = [node.name];
	for (const resource of new Set(["cpu", "memory", "pods", state.color])) {
		const use = cluster.resources.includes(resource) ? useOf(index, resource) : {all: 0};
		if (use.all > 0) lines.push(`${resource}: ${amount(use.used, resource)} of ${amount(use.all, resource)} (${percent(use.part)})`);
	}
	const notes = [notReady(node) && "not ready", node.unschedulable && "cordoned", ...pressures(node), ...node.taints].filter(Boolean);
	if (notes.length !== 0) lines.push(notes.join(", "));
	return lines;
}

/* --- tiles --- */

let prefix = "";         /* common prefix of all names, left out on tiles */
let tiles = [];          /* {index, x, y} of each node, in the order of the groups */
let tileSize = 10;
let groupTitles = [];
let columns = 1;

/* Well-known labels, in the order in which they are offered; [0] and [1] are the default groups. */
const knownLabels = [
	["pool", ["cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool", "karpenter.sh/nodepool",
		"doks.digitalocean.com/node-pool", "node-pool", "nodepool", "pool"]],
	["zone", ["topology.kubernetes.io/zone"]],
	["region", ["topology.kubernetes.io/region"]],
	["instance type", ["node.kubernetes.io/instance-type"]],
];
const noGroup = "-";
let nodeLabels = new Map();  /* key -> number of values */
function groupLabel() {
	if (state.group === noGroup) return "";
	if (state.group !== "") return state.group;
	return [...knownLabels[0][1], ...knownLabels[1][1]].find((key) => nodeLabels.get(key) > 1)
		?? knownLabels[1][1].find((key) => nodeLabels.has(key)) ?? "";
}
function groupNodes() {
	const groups = new Map();
	const label = groupLabel();
	cluster.nodes.forEach((node, index) => {
		const key = label === "" ? "" : node.labels[label] ?? "";
		if (!groups.has(key)) groups.set(key, []);
		groups.get(key).push(index);
	});
	const compare = new Intl.Collator("en", {numeric: true}).compare;
	for (const list of groups.values()) list.sort((a, b) => compare(cluster.nodes[a].name, cluster.nodes[b].name));
	return [...groups].sort((a, b) => a[0].localeCompare(b[0], "en", {numeric: true}));
}

function commonPrefix(names) {
	let common = names.length > 1 ? names[0] : "";
	for (const name of names) while (!name.startsWith(common)) common = common.slice(0, -1);
	return common.slice(0, Math.max(common.lastIndexOf("-"), common.lastIndexOf(".")) + 1);
}
function layOut() {
	const box = byId("canvas-box");
	const canvas = byId("tiles");
	const width = Math.max(200, box.clientWidth);
	const height = Math.max(240, box.clientHeight);
	const groups = groupNodes();
	prefix = commonPrefix(cluster.nodes.map((node) => node.name));
	const titleHeight = groups.length > 1 || groupLabel() !== "" ? 22 : 0;
	const heightFor = (size) => groups.reduce((sum, [, list]) =>
		sum + titleHeight + Math.ceil(list.length / Math.floor(width / size)) * size + 8, 0);
	tileSize = 120;
	while (tileSize > 4 && heightFor(tileSize) > height) tileSize--;
	columns = Math.max(1, Math.floor(width / tileSize));
	tiles = [];
	groupTitles = [];
	let y = 0;
	for (const [key, list] of groups) {
		if (titleHeight !== 0) groupTitles.push({text: key === "" ? "without this label" : key, count: list.length, y: y + 15});
		y += titleHeight;
		list.forEach((index, i) => tiles.push({index, x: (i % columns) * tileSize, y: y + Math.floor(i / columns) * tileSize}));
		y += Math.ceil(list.length / columns) * tileSize + 8;
	}
	if (focused >= tiles.length) focusTile(-1);
	const scale = devicePixelRatio || 1;
	canvas.width = Math.round(width * scale);
	canvas.height = Math.round(Math.max(y, 40) * scale);
	canvas.style.width = `${width}px`;
	canvas.style.height = `${Math.max(y, 40)}px`;
}

let drawWanted = false;
let layer = null;        /* the tiles without the focus, drawn when they change */
function requestDraw(isChanged = true) {
	if (isChanged) layer = null;
	if (drawWanted) return;
	drawWanted = true;
	requestAnimationFrame(() => { drawWanted = false; drawTiles(); });
}

function tileSide() {
	return tileSize - (tileSize >= 12 ? 2 : tileSize >= 6 ? 1 : 0);
}
function drawLayer(canvas) {
	const pen = canvas.getContext("2d");
	const style = getComputedStyle(document.body);
	const ink = style.color;
	const soft = getComputedStyle(byId("tile-text")).color;
	const size = tileSide();
	pen.font = `600 13px ${style.fontFamily}`;
	for (const title of groupTitles) {
		pen.fillStyle = ink;
		pen.fillText(title.text, 0, title.y);
		const after = pen.measureText(title.text).width + 8;
		pen.fillStyle = soft;
		pen.fillText(count(title.count), after, title.y);
	}
	/* Draw tiles by colour, because changing the colour costs more than drawing a tile. */
	const byColor = new Map();
	for (const tile of tiles) {
		const isDim = lit !== null && !lit.has(cluster.nodes[tile.index].name);
		const key = `${isDim ? "dim" : ""} ${colorOf(tile.index)}`;
		if (!byColor.has(key)) byColor.set(key, []);
		byColor.get(key).push(tile);
	}
	for (const [key, list] of byColor) {
		const [dim, color] = [key.startsWith("dim"), key.slice(key.indexOf(" ") + 1)];
		pen.globalAlpha = dim ? 0.16 : 1;
		if (color === "transparent") {
			pen.globalAlpha *= 0.5;
			pen.strokeStyle = soft;
			pen.lineWidth = 1;
			for (const tile of list) pen.strokeRect(tile.x + 0.5, tile.y + 0.5, size - 1, size - 1);
			continue;
		}
		pen.fillStyle = color;
		for (const tile of list) pen.fillRect(tile.x, tile.y, size, size);
		if (size >= 44 && !dim) for (const tile of list) drawName(pen, tile, cluster.nodes[tile.index].name, size, style.fontFamily);
	}
	pen.globalAlpha = 1;
	if (size < 7) return;
	pen.lineWidth = Math.max(1, Math.min(3, size / 14));
	for (const tile of tiles) {
		const node = cluster.nodes[tile.index];
		if (!node.unschedulable && !notReady(node)) continue;
		pen.globalAlpha = lit !== null && !lit.has(node.name) ? 0.16 : 1;
		/* The mark is between the two lines of text, if there is text. */
		const side = size >= 44 ? size * 0.3 : size - 4;
		const [x, y] = size >= 44 ? [tile.x + size - side - 5, tile.y + (size - side) / 2] : [tile.x + 2, tile.y + 2];
		/* Lines can be seen without distinguishing colours. */
		pen.strokeStyle = notReady(node) ? (isDark() ? "#ff9a90" : "#b3261e") : ink;
		pen.beginPath();
		pen.moveTo(x, y + side);
		pen.lineTo(x + side, y);
		if (notReady(node)) { pen.moveTo(x, y); pen.lineTo(x + side, y + side); }
		const width = pen.lineWidth;
		const color = pen.strokeStyle;
		pen.lineWidth = width + 2;
		pen.strokeStyle = isDark() ? "#171c24" : "#ffffff";
		pen.stroke();
		pen.lineWidth = width;
		pen.strokeStyle = color;
		pen.stroke();
	}
	pen.globalAlpha = 1;
}
function drawTiles() {
	if (cluster === null || state.table !== "") return;
	const canvas = byId("tiles");
	const pen = canvas.getContext("2d");
	const scale = devicePixelRatio || 1;
	if (layer === null) {
		layer = document.createElement("canvas");
		layer.width = canvas.width;
		layer.height = canvas.height;
		layer.getContext("2d").setTransform(scale, 0, 0, scale, 0, 0);
		drawLayer(layer);
	}
	pen.setTransform(1, 0, 0, 1, 0, 0);
	pen.clearRect(0, 0, canvas.width, canvas.height);
	pen.drawImage(layer, 0, 0);
	if (focused >= 0 && focused < tiles.length) {
		const size = tileSide();
		pen.setTransform(scale, 0, 0, scale, 0, 0);
		pen.strokeStyle = getComputedStyle(document.body).color;
		pen.lineWidth = 2;
		pen.strokeRect(tiles[focused].x + 1, tiles[focused].y + 1, Math.max(2, size - 2), Math.max(2, size - 2));
	}
}
/** Shorten the name at its start, because names differ at the end (worker-03). */
function shorten(pen, name, width) {
	const fits = (part) => pen.measureText(part).width <= width;
	let shown = fits(name) ? name : name.slice(prefix.length);
	while (!fits(shown) && /[-.]./.test(shown)) shown = shown.slice(shown.search(/[-.]/) + 1);
	while (shown.length > 1 && !fits(shown)) shown = shown.slice(0, -1);
	return shown;
}
/** Whether dark letters are easier to read on the colour "#rrggbb". */
const isPale = (color) => [1, 3, 5].reduce((sum, at, i) => sum + parseInt(color.slice(at, at + 2), 16) * [0.3, 0.59, 0.11][i], 0) > 130;
const inkOn = (use) => (isDark() ? use > 0.6 : use < 0.45) ? "#10202f" : "#ffffff";
function drawName(pen, tile, name, size, family) {
	const isUse = !["taints", "conditions"].includes(state.color);
	const use = isUse ? useOf(tile.index, state.color).part : 0;
	pen.fillStyle = isUse ? inkOn(use) : isPale(colorOf(tile.index)) ? "#10202f" : "#ffffff";
	pen.font = `11px ${family}`;
	pen.fillText(shorten(pen, name, size - 8), tile.x + 5, tile.y + size - 7);
	const note = lit?.get(name) ?? (isUse ? percent(use) : "");
	if (size >= 60 && note !== "") {
		pen.font = `600 ${size >= 90 ? 20 : 15}px ${family}`;
		pen.fillText(note, tile.x + 5, tile.y + (size >= 90 ? 25 : 20));
	}
}

function tileAt(event) {
	const box = byId("tiles").getBoundingClientRect();
	const x = event.clientX - box.left;
	const y = event.clientY - box.top;
	return tiles.findIndex((tile) => x >= tile.x && x < tile.x + tileSize && y >= tile.y && y < tile.y + tileSize);
}
function focusTile(place, event = null) {
	const tip = byId("tip");
	if (place === focused) return;
	focused = place < tiles.length ? place : -1;
	if (focused < 0) {
		tip.hidden = true;
	} else {
		const tile = tiles[place];
		const lines = describe(tile.index);
		tip.textContent = lines.join("\n");
		tip.hidden = false;
		const box = byId("canvas-box");
		tip.style.left = `${Math.max(0, Math.min(tile.x + tileSize + 6, box.clientWidth - tip.offsetWidth - 4))}px`;
		if (event === null) {
			byId("tile-text").textContent = lines.join(", ");
			box.scrollTop = Math.max(tile.y + tileSize - box.clientHeight, Math.min(box.scrollTop, tile.y));
		}
		const below = tile.y + tileSize + 6;
		const isBelow = below + tip.offsetHeight <= box.scrollTop + box.clientHeight;
		tip.style.top = `${isBelow ? below : Math.max(box.scrollTop, tile.y - tip.offsetHeight - 6)}px`;
	}
	requestDraw(false);
}
/** Highlight these nodes while they are pointed at; null: stop. */
function point(nodes) {
	lit = nodes !== null ? new Map(nodes.map((name) => [name, null])) : litByAnswer;
	requestDraw();
}
/** Highlight these nodes until the next answer. */
function light(nodes) {
	litByAnswer = nodes;
	point(null);
}

function writeLegend() {
	const legend = byId("legend");
	if (state.color === "taints" || state.color === "conditions") {
		const counts = new Map();
		for (const node of cluster.nodes) counts.set(categoryOf(node), (counts.get(categoryOf(node)) || 0) + 1);
		const first = state.color === "taints" ? "no taints" : "ready";
		categories = [first, ...[...counts.keys()].filter((key) => key !== first).sort()];
		legend.replaceChildren(...categories.slice(0, 9).filter((key) => counts.has(key)).map((key) => {
			const mark = make("i");
			const place = categories.indexOf(key);
			mark.style.background = place === 0 ? (isDark() ? "#3a4656" : "#c5d0dd") : kinds[(place - 1) % kinds.length];
			return make("span", {}, mark, `${key} (${count(counts.get(key))})`);
		}));
		return;
	}
	const ramp = make("i", {class: "ramp"});
	ramp.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(rampColor).join()})`;
	legend.replaceChildren(make("span", {}, "0 %", ramp, `100 % of ${state.color} requested`));
}

function writeTable() {
	const isTable = state.table !== "";
	byId("as-table").setAttribute("aria-pressed", String(isTable));
	byId("canvas-box").hidden = isTable;
	byId("tile-text").hidden = isTable;
	byId("table-box").hidden = !isTable;
	if (!isTable) return;
	const shown = cluster.nodes.slice(0, 500);
	const columns = ["cpu", "memory", "pods"].concat(cluster.resources.slice(4, 7));
	byId("table-box").replaceChildren(make("table", {},
		make("thead", {}, make("tr", {}, text("th", "Node"), ...columns.map((resource) => text("th", resource, "number")), text("th", "Remarks"))),
		make("tbody", {}, ...shown.map((node, index) => make("tr", {}, make("td", {}, nodeLink(node.name)),
			...columns.map((resource) => text("td", useOf(index, resource).all > 0 ? percent(useOf(index, resource).part) : "", "number")),
			text("td", [notReady(node) && "not ready", node.unschedulable && "cordoned", ...node.taints].filter(Boolean).join(", ")))))),
	shown.length < cluster.nodes.length ? text("p", `and ${count(cluster.nodes.length - shown.length)} more: search for them`, "note") : "");
}

/* --- choices --- */

function fillSelect(select, options, value) {
	const known = [...select.options].map((option) => option.value).join("\n");
	if (known !== options.map(([key]) => key).join("\n")) {
		select.replaceChildren(...options.map(([key, label]) => make("option", {value: key}, label)));
	}
	select.value = value;
}
function writeChoices() {
	const values = new Map();
	for (const node of cluster.nodes) {
		for (const [key, value] of Object.entries(node.labels)) {
			if (!values.has(key)) values.set(key, new Set());
			values.get(key).add(value);
		}
	}
	nodeLabels = new Map([...values].map(([key, set]) => [key, set.size]));
	nodeLabels.delete("kubernetes.io/hostname");
	const label = groupLabel();
	if (label !== "" && !nodeLabels.has(label)) nodeLabels.set(label, 0);
	const known = knownLabels.flatMap(([name, keys]) => keys.filter((key) => nodeLabels.has(key)).map((key, _, found) => [key, found.length === 1 ? name : `${name} (${key})`]));
	const others = [...nodeLabels.keys()].filter((key) => !known.some(([one]) => one === key)).sort().map((key) => [key, key]);
	fillSelect(byId("group"), [...known, [noGroup, "nothing"], ...others], label === "" ? noGroup : label);
	const resources = cluster.resources.filter((resource, at) => cluster.nodes.some((node) => node.allocatable[at] > 0));
	if (!["taints", "conditions"].includes(state.color) && !resources.includes(state.color)) resources.push(state.color);
	fillSelect(byId("color"), [...resources.map((name) => [name, name]), ["conditions", "conditions"], ["taints", "taints"]], state.color);
}

/* --- the right side --- */

let body = null;
let bodyKey = "";
let asking = null;       /* AbortController of the unanswered question of the right side; null: none */
/** Call this before each change of the right side, so that no earlier answer replaces it. */
function stopAsking() {
	asking?.abort();
	asking = null;
}
function startAsking() {
	stopAsking();
	asking = new AbortController();
	return asking.signal;
}
function setBody(...children) {
	body.replaceChildren(...children.filter((child) => child !== null && child !== false));
}
/** Ask a question, and show the answer unless the page has changed meanwhile. form: elements above an error, in which the question is corrected. */
async function answerInto(key, question, write, form = () => []) {
	const signal = startAsking();
	if (body.childElementCount === 0 || bodyKey !== key) setBody(make("p", {class: "wait", "data-asks": true}, "Asking…"));
	bodyKey = key;
	try {
		const answer = await ask(question.arguments, question.files, signal);
		if (signal.aborted) return;
		asking = null;
		if (answer.output === undefined) setBody(...form(), text("p", answer.messages.trim() || "There was no answer.", "message bad"), commandLine(answer));
		else write(answer);
	} catch (error) {
		if (signal.aborted) return;
		asking = null;
		setBody(...form(), text("p", error.message, "message bad"));
	}
}
function commandLine(answer) {
	const line = answer.commandLine;
	if (line === undefined) return null;
	const copy = async (event) => {
		await navigator.clipboard.writeText(line);
		event.target.textContent = "Copied";
	};
	return make("details", {}, text("summary", "The same on the command line"),
		make("pre", {tabindex: 0, role: "region", "aria-label": "Command line"}, line),
		navigator.clipboard !== undefined && make("button", {type: "button", onclick: copy}, "Copy"));
}
function selectTab() {
	for (const name of tabs) {
		const isOn = state.tab === name;
		byId(`tab-${name}`).setAttribute("aria-selected", String(isOn));
		byId(`tab-${name}`).tabIndex = isOn ? 0 : -1;
		if (isOn) body.setAttribute("aria-labelledby", `tab-${name}`);
	}
}

/* Pending */

const fates = {Unschedulable: "no node fits", Gated: "held by a scheduling gate", Fits: "fits, not placed yet",
	NotHandled: "no scheduler of this name", Deleting: "is being deleted"};

function showPending() {
	answerInto("pending", {arguments: ["pending"]}, (answer) => {
		pending = answer.output;
		if (!cluster.hasHistory) byId("n-pending").textContent = count(pending.summary.pending);
		const {summary, groups} = pending;
		setBody(
			text("p", summary.pending === 0 ? "No pod waits for a node." : `${plural(summary.pending, "pod")} wait${summary.pending === 1 ? "s" : ""} for a node.`),
			summary.helpedByChange > 1 && make("p", {class: "good"}, `Most would help: ${summary.change} (${plural(summary.helpedByChange, "pod")})`),
			make("ul", {class: "list"}, ...groups.map((group) => make("li", {}, make("button", {class: "group", type: "button",
				onclick: () => goToPod(group.namespace, group.firstPod)},
			text("b", count(group.count)), " ", nameOf(group.owner.name !== "" ? `${group.owner.kind} ${group.namespace}/${group.owner.name}` : `${group.namespace}/${group.firstPod}`),
			text("span", group.message !== "" ? group.message : fates[group.fate] || group.fate),
			group.change !== "" && text("span", `→ ${group.change}`, "help"))))),
			commandLine(answer));
	});
}

/* Details: a pod */

function reasonButton(group) {
	const reasons = group.reasons.join(", ");
	return make("button", {class: "group", type: "button", ...pointing(group.nodes)},
	text("b", count(group.count)), " ", reasons, text("span", `${group.plugin}: ${group.nodes.slice(0, 6).join(", ")}${group.nodes.length > 6 ? ", …" : ""}`));
}
const scoreColumns = 4;
/** The words of a name such as NodeResourcesFit, with <wbr> between them. */
const words = (name) => name.split(/(?=[A-Z][a-z])/).flatMap((word, i) => i === 0 ? [word] : [make("wbr"), word]);
/**
 * Scores with a row for each plugin and a column for each of the best nodes; for other nodes only
 * the total.
 */
function scoreTables(nodes) {
	const best = nodes.slice(0, scoreColumns);
	const plugins = [...new Set(best.flatMap((node) => Object.keys(node.scores || {})))];
	const cell = (plugin, node) => {
		const values = best.map((one) => one.scores?.[plugin] ?? 0);
		const isBest = Math.min(...values) < Math.max(...values) && node.scores?.[plugin] === Math.max(...values);
		return text("td", String(node.scores?.[plugin] ?? ""), isBest ? "number most" : "number");
	};
	return [
		make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Scores by plugin"}, make("table", {id: "scores"},
			make("thead", {}, make("tr", {}, text("th", "Plugin"), ...best.map((node) => make("th", {class: "number"}, nodeLink(node.name))))),
			make("tbody", {}, ...plugins.map((plugin) => make("tr", {}, make("td", {class: "words"}, ...words(plugin)), ...best.map((node) => cell(plugin, node)))),
				make("tr", {class: "sum"}, text("td", "Total"), ...best.map((node) => text("td", count(node.total ?? 0), "number")))))),
		nodes.length > best.length && make("details", {}, text("summary", `${plural(nodes.length - best.length, "more node")} that would do`),
			make("table", {}, make("tbody", {}, ...nodes.slice(scoreColumns, 100).map((node) => make("tr", {}, make("td", {}, nodeLink(node.name)), text("td", count(node.total ?? 0), "number")))))),
	];
}
function writePod(answer) {
	const found = answer.output;
	const {pod} = found;
	const fitting = found.nodes.filter((node) => node.fits).sort((a, b) => (b.total ?? 0) - (a.total ?? 0));
	const near = found.nodes.filter((node) => !node.fits)
		.sort((a, b) => a.final - b.final || a.obstacles.length - b.obstacles.length || a.changes.length - b.changes.length).slice(0, 10);
	const victims = found.preemption?.candidates?.find((candidate) => candidate.selected)?.victims ?? [];
	setBody(
		make("h3", {}, nameOf(`${pod.namespace}/${pod.name}`)),
		make("p", {class: "quiet"}, `priority ${pod.priority}`, pod.node !== "" ? ", runs on " : "", pod.node !== "" ? nodeLink(pod.node) : ""),
		text("p", found.message !== "" ? found.message : `${pod.node !== "" ? "would fit if it were pending" : fates[found.fate] || found.fate}: ${plural(found.feasibleCount, "node")} of ${count(found.nodeCount)}${found.bestNode !== "" ? `, best ${found.bestNode}` : ""}`, "message"),
		fitting.length !== 0 && text("h3", "Scores of the nodes that fit, best first"),
		...(fitting.length !== 0 ? scoreTables(fitting) : []),
		found.groups.length !== 0 && text("h3", fitting.length !== 0 ? "What is in the way on other nodes" : "What is in the way"),
		found.groups.length !== 0 && make("ul", {class: "list"}, ...found.groups.map((group) => make("li", {}, reasonButton(group)))),
		found.proposals?.length > 0 && text("h3", "What would help"),
		found.proposals?.length > 0 && make("ul", {class: "list"}, ...found.proposals.map((proposal) => make("li", {class: "help"},
			`→ ${proposal.changes.map((change) => change.text).join("; ")}`, proposal.node ? make("span", {class: "quiet"}, " opens ", nodeLink(proposal.node)) : ""))),
		victims.length !== 0 && text("h3", `Preemption on ${found.preemption.node} would evict`),
		victims.length !== 0 && make("ul", {class: "list"}, ...victims.map((victim) => make("li", {}, podLink(victim), make("span", {class: "quiet"}, ` priority ${victim.priority}`)))),
		near.length !== 0 && text("h3", "Nearest nodes"),
		near.length !== 0 && make("table", {}, make("tbody", {}, ...near.map((node) => make("tr", {}, make("td", {}, nodeLink(node.name)),
			text("td", node.obstacles.map((obstacle) => obstacle.hint || obstacle.reasons).join("; ")))))),
		make("div", {class: "row"}, make("button", {type: "button", onclick: () => go({tab: "capacity", like: nameFor({kind: "Pod", ...pod})})}, "How many more like it fit?")),
		commandLine(answer));
}

/* Details: a node */

async function showNode() {
	if (bodyKey !== `node ${state.node}`) setBody(make("p", {class: "wait", "data-asks": true}, "Asking…"));
	bodyKey = `node ${state.node}`;
	const signal = startAsking();
	let answer;
	try {
		answer = await get(withTime(`/api/node?name=${encodeURIComponent(state.node)}`), {signal});
	} catch (error) {
		if (signal.aborted) return;
		asking = null;
		setBody(text("p", error.message, "message bad"));
		return;
	}
	if (signal.aborted) return;
	asking = null;
	const {node, pods, resources} = answer;
	const meters = resources.map((resource, at) => {
		const all = node.allocatable[at];
		const used = pods.reduce((sum, pod) => sum + pod.request[at], 0);
		if (all === 0 && used === 0) return null;
		const blocks = make("div", {class: "blocks"});
		if (resource !== "pods") {
			[...pods].filter((pod) => pod.request[at] > 0).sort((a, b) => b.request[at] - a.request[at]).slice(0, 150).forEach((pod, i) => {
				const block = make("button", {type: "button", title: `${pod.namespace}/${pod.name}: ${amount(pod.request[at], resource)}`,
					"aria-label": `${pod.namespace}/${pod.name}, ${amount(pod.request[at], resource)} ${resource}`,
					onclick: () => goToPod(pod.namespace, pod.name)});
				block.style.width = `${100 * pod.request[at] / Math.max(all, used)}%`;
				block.style.background = rampColor(0.35 + 0.5 * ((i % 2) / 1));
				blocks.append(block);
			});
		} else {
			const block = make("div");
			block.style.width = `${100 * used / Math.max(all, 1)}%`;
			block.style.background = rampColor(0.6);
			blocks.append(block);
		}
		return make("div", {class: "meter"}, make("p", {}, text("span", resource),
			text("span", `${amount(used, resource)} of ${amount(all, resource)}, ${amount(Math.max(0, all - used), resource)} left`)), blocks);
	});
	const remarks = [notReady(node) && "not ready", node.unschedulable && "cordoned", ...pressures(node), ...node.taints].filter(Boolean);
	setBody(make("h3", {}, nameOf(node.name)),
		remarks.length !== 0 && text("p", remarks.join(", "), "warn"),
		make("div", {class: "row"},
			make("button", {type: "button", onclick: () => addChange(`drain ${node.name}`)}, "What if it is drained?"),
			make("button", {type: "button", onclick: () => addChange(`add 1=${node.name}`)}, "What if there is one more?")),
		nodeChanges(node),
		...meters,
		text("h3", plural(pods.length, "pod")),
		pods.length !== 0 && make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Pods of the node"}, make("table", {},
			make("thead", {}, make("tr", {}, text("th", "Pod"), text("th", "cpu", "number"), text("th", "memory", "number"), text("th", "Priority", "number"))),
			make("tbody", {}, ...pods.slice(0, 300).map((pod) => make("tr", {}, make("td", {}, podLink(pod), pod.deleting ? text("span", " is being deleted", "warn") : ""),
				text("td", amount(pod.request[0], "cpu"), "number"), text("td", amount(pod.request[1], "memory"), "number"), text("td", String(pod.priority), "number")))))),
		make("details", {}, text("summary", "Labels"), make("table", {}, make("tbody", {}, ...Object.entries(node.labels).map(([key, value]) => make("tr", {}, text("td", key), text("td", value)))))));
}
function showDetails() {
	if (state.node !== "") { light(new Map([[state.node, null]])); showNode(); return; }
	if (state.pod !== "") { answerInto(`pod ${state.pod}`, {arguments: ["explain", state.pod]}, writePod); return; }
	bodyKey = "";
	setBody(text("p", "Choose a node on the left, a pending pod, or search for either.", "wait"));
}

/* What if */

const actions = [["drain", "drain", "NODE"], ["remove", "remove", "NODE"], ["add", "add", "N=NODE"], ["cordon", "cordon", "NODE"],
	["uncordon", "uncordon", "NODE"], ["scale", "scale", "KIND/[NAMESPACE/]NAME=N"], ["taint", "taint", "NODE=KEY=VALUE:EFFECT"],
	["label", "label", "NODE=KEY=VALUE"]];
const changes = () => state.what === "" ? [] : state.what.split("\n");
function addChange(change) {
	go({tab: "whatif", what: [...changes(), change].join("\n")});
}
function whatIfForm() {
	const undo = (index) => go({what: changes().filter((_, i) => i !== index).join("\n")});
	const action = make("select", {"aria-label": "What to do"}, ...actions.map(([key, label]) => make("option", {value: key}, label)));
	const value = make("input", {"aria-label": "To what", placeholder: actions[0][2], autocomplete: "off", list: "node-names"});
	action.addEventListener("change", () => { value.placeholder = actions.find(([key]) => key === action.value)[2]; });
	const names = make("datalist", {id: "node-names"}, ...(cluster?.nodes ?? []).slice(0, 200).map((node) => make("option", {value: node.name})));
	const config = make("textarea", {"aria-label": "Another KubeSchedulerConfiguration", placeholder: "Another KubeSchedulerConfiguration (YAML)", spellcheck: "false"});
	config.value = state.config;
	return [make("form", {class: "row", onsubmit: (event) => {
		event.preventDefault();
		if (value.value.trim() !== "") addChange(`${action.value} ${value.value.trim()}`);
	}}, action, value, names, make("button", {class: "main"}, "Add")),
	(changes().length !== 0 || state.config !== "") && make("ul", {class: "chips", "aria-label": "Changes"}, ...changes().map((change, i) => make("li", {}, nameOf(change),
		make("button", {type: "button", "aria-label": `Take back ${change}`, onclick: () => undo(i)}, "×"))),
	state.config !== "" && make("li", {}, "another configuration", make("button", {type: "button", "aria-label": "Take back the configuration", onclick: () => go({config: ""})}, "×"))),
	changes().length !== 0 && make("div", {class: "row"},
		make("button", {type: "button", onclick: () => undo(changes().length - 1)}, "Undo"),
		make("button", {type: "button", onclick: () => go({what: "", config: ""})}, "Start over")),
	make("details", {}, text("summary", "Schedule with another configuration"), config,
		make("div", {class: "row"}, make("button", {type: "button", onclick: () => go({config: config.value.trim() === "" ? "" : config.value})}, "Use it")))];
}
/** Tiles of the changed nodes, before or after; a node has the same place on both sides. */
function miniTiles(nodes, side) {
	const width = 480;
	const {fontFamily} = getComputedStyle(document.body);
	let perRow = Math.max(3, Math.min(4, nodes.length));
	while (perRow < width / 3 && Math.ceil(nodes.length / perRow) * (width / perRow) > width) perRow++;
	const step = Math.floor(width / perRow);
	const canvas = make("canvas", {role: "img", "aria-label": `Use of cpu ${side}: in the table below`, width,
		height: Math.max(1, Math.ceil(nodes.length / perRow)) * step});
	const pen = canvas.getContext("2d");
	const size = Math.max(1, step - (step > 20 ? 4 : 1));
	nodes.forEach((node, i) => {
		const use = node[side]?.cpuMilli;
		const [x, y] = [(i % perRow) * step, Math.floor(i / perRow) * step];
		if (!use || use.allocatable === 0) {
			pen.strokeStyle = getComputedStyle(byId("tile-text")).color;
			pen.setLineDash([6, 6]);
			pen.strokeRect(x + 1, y + 1, size - 2, size - 2);
			return;
		}
		const part = use.requested / use.allocatable;
		pen.fillStyle = rampColor(part);
		pen.fillRect(x, y, size, size);
		if (step < 110) return;
		pen.fillStyle = inkOn(part);
		pen.font = `20px ${fontFamily}`;
		pen.fillText(shorten(pen, node.name, size - 16), x + 8, y + size - 12);
		pen.font = `600 28px ${fontFamily}`;
		pen.fillText(percent(part), x + 8, y + 34);
	});
	return make("figure", {}, canvas, text("figcaption", side === "before" ? "Before" : "After"));
}
function writeWhatIf(answer) {
	const found = answer.output;
	const {summary} = found;
	const worse = [];
	if (summary.pending > 0) worse.push(`${plural(summary.pending, "pod")} newly pending`);
	if (summary.lost > 0) worse.push(`${plural(summary.lost, "pod")} lost`);
	if (summary.preempted > 0) worse.push(`${plural(summary.preempted, "pod")} preempted`);
	const line = (name, key, resource) => {
		const before = found.cluster.before[key];
		const after = found.cluster.after[key];
		const part = (use) => use.allocatable > 0 ? `${amount(use.requested, resource)} (${percent(use.requested / use.allocatable)})` : "–";
		return make("tr", {}, text("th", name), text("td", part(before), "number"), text("td", part(after), "number"));
	};
	const moves = found.pods.filter((pod) => pod.change !== "none");
	setBody(...whatIfForm(),
		text("p", worse.length !== 0 ? `Worse: ${worse.join(", ")}.` : "Nothing gets worse.", worse.length !== 0 ? "message bad" : "message good"),
		make("div", {class: "pair"}, miniTiles(found.nodes, "before"), miniTiles(found.nodes, "after")),
		make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Before and after"}, make("table", {}, make("thead", {}, make("tr", {}, text("th", "Cluster"), text("th", "Before", "number"), text("th", "After", "number"))),
			make("tbody", {},
				make("tr", {}, text("th", "nodes"), text("td", count(summary.nodesBefore), "number"), text("td", count(summary.nodesAfter), "number")),
				make("tr", {}, text("th", "pending"), text("td", count(summary.pendingBefore), "number"), text("td", count(summary.pendingAfter), "number")),
				line("pods", "pods", "pods"), line("cpu", "cpuMilli", "cpu"), line("memory", "memoryBytes", "memory")))),
		moves.length !== 0 && text("h3", plural(moves.length, "pod") + " with another fate"),
		moves.length !== 0 && make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Pods"}, make("table", {}, make("tbody", {}, ...moves.slice(0, 200).map((pod) => make("tr", {},
			make("td", {}, nameOf(`${pod.namespace}/${pod.name}`)), text("td", pod.change, ["lost", "pending", "preempted"].includes(pod.change) ? "bad" : ""),
			text("td", pod.nodeAfter !== "" ? `${pod.nodeBefore !== "" ? `${pod.nodeBefore} ` : ""}→ ${pod.nodeAfter}` : pod.cause || pod.message || pod.nodeBefore)))))),
		commandLine(answer));
}
function showWhatIf() {
	const question = {arguments: ["whatif"], files: []};
	for (const change of changes()) {
		const [action, ...rest] = change.split(" ");
		question.arguments.push(`--${action}`, rest.join(" "));
	}
	if (state.config !== "") question.files.push({flag: "--new-config", text: state.config});
	if (question.arguments.length === 1 && question.files.length === 0) {
		bodyKey = "whatif";
		setBody(...whatIfForm(), text("p", "Add a change: what would move, stay pending or be lost is simulated. Nothing is changed in the cluster.", "wait"));
		return;
	}
	answerInto(`whatif ${state.what} ${state.config}`, question, writeWhatIf, whatIfForm);
}

/* Capacity */

/** The argument of the command line that names an object of the search results. */
const nameFor = (item) => `${item.kind.toLowerCase()}/${item.namespace}/${item.name}`;
/** A text field with a list of the workloads to choose from. */
function workloadField(id, attributes, isOffered) {
	const offers = make("datalist", {id});
	const offer = async () => {
		const wanted = field.value.trim();
		const items = await get(withTime(`/api/search?workloads=1&text=${encodeURIComponent(wanted.toLowerCase().slice(wanted.lastIndexOf("/") + 1))}`));
		if (wanted === field.value.trim()) offers.replaceChildren(...items.filter(isOffered).map((item) => make("option", {value: nameFor(item)})));
	};
	const field = make("input", {...attributes, list: id, autocomplete: "off", onfocus: offer, oninput: offer});
	return [field, offers];
}
function capacityForm() {
	const [like, offers] = workloadField("workloads", {"aria-label": "Workload or pod", placeholder: "deployment/NAMESPACE/NAME or NAMESPACE/POD", value: state.like}, () => true);
	return make("form", {class: "row", onsubmit: (event) => { event.preventDefault(); go({like: like.value.trim()}); }},
		like, offers, make("button", {class: "main"}, "How many more fit?"));
}
function writeCapacity(answer) {
	const item = answer.output.items ? answer.output.items[0] : answer.output;
	const found = item.status;
	const places = new Map((found.pods?.[0]?.replicasOnNodes ?? []).map((place) => [place.nodeName, place.replicas]));
	light(places.size !== 0 ? new Map([...places].map(([name, replicas]) => [name, `+${count(replicas)}`])) : null);
	setBody(capacityForm(),
		text("p", count(found.replicas), "big"), text("p", `more of ${state.like} fit`),
		text("p", found.pods?.[0]?.stopped?.tightest || found.failReason?.failMessage || "", "message"),
		make("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Where"}, make("table", {}, make("thead", {}, make("tr", {}, text("th", "Node"), text("th", "More", "number"))),
			make("tbody", {}, ...[...places].sort((a, b) => b[1] - a[1]).slice(0, 100).map(([name, replicas]) => make("tr", {}, make("td", {}, nodeLink(name)), text("td", count(replicas), "number")))))),
		commandLine(answer));
}
function showCapacity() {
	if (state.like === "") {
		bodyKey = "capacity";
		setBody(capacityForm(), text("p", "Name a workload or pod of the cluster: copies of it are scheduled one by one until the next finds no node.", "wait"));
		return;
	}
	/* deployment/shop/web becomes deployment/web with --namespace shop */
	const parts = state.like.split("/");
	const question = parts.length === 3 ? ["capacity", "--like", `${parts[0]}/${parts[2]}`, "--namespace", parts[1]]
		: ["capacity", "--like", state.like];
	answerInto(`capacity ${state.like}`, {arguments: question}, writeCapacity, () => [capacityForm()]);
}

/* Change: requests to the API server */

/** Make a change, and show its results in list. */
async function change(request, list) {
	list.replaceChildren(text("li", "Sending…", "wait"));
	try {
		const answer = await get("/api/change", {method: "POST", body: JSON.stringify(request)});
		list.replaceChildren(...answer.results.map((result) => make("li", {class: result.ok ? "good" : "bad"},
			nameOf(result.object), result.ok ? " done" : `: ${result.message}`)));
	} catch (error) {
		list.replaceChildren(text("li", error.message, "bad"));
	}
}
const resultList = () => make("ul", {class: "list"});
const example = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          image: nginx
          resources: {requests: {cpu: 500m, memory: 1Gi}}
`;
let manifest = example;
function showChange() {
	if (bodyKey === "change" && body.childElementCount !== 0) return;
	bodyKey = "change";
	const results = resultList();
	const manifests = make("textarea", {"aria-label": "Manifests", spellcheck: "false", rows: 16, oninput: () => { manifest = manifests.value; }});
	manifests.value = manifest;
	const scaled = ["Deployment", "StatefulSet", "ReplicaSet"];
	const [name, offers] = workloadField("scaled", {"aria-label": "Workload", placeholder: "deployment/NAMESPACE/NAME", required: true}, (item) => scaled.includes(item.kind));
	const replicas = make("input", {"aria-label": "Replicas", type: "number", min: 0, placeholder: "replicas", required: true});
	setBody(text("p", "These are requests to the API server: the cluster changes.", "message warn"),
		text("h3", "Create or apply"),
		make("form", {onsubmit: (event) => { event.preventDefault(); change({type: "apply", text: manifests.value}, results); }},
			manifests, make("div", {class: "row"}, make("button", {class: "main"}, "Apply"))),
		text("h3", "Scale"),
		make("form", {class: "row", onsubmit: (event) => {
			event.preventDefault();
			const [kind, ...parts] = name.value.trim().split("/");
			change({type: "scale", kind, namespace: parts.length > 1 ? parts.shift() : "default", name: parts.join("/"), replicas: Number(replicas.value)}, results);
		}}, name, offers, replicas, make("button", {class: "main"}, "Scale")),
		make("div", {role: "status"}, results));
}
function nodeChanges(node) {
	if (!mayChange || at() !== null) return null;
	const results = resultList();
	const button = (label, type) => make("button", {type: "button", onclick: () => change({type, node: node.name}, results)}, label);
	return make("div", {}, make("div", {class: "row"}, node.unschedulable ? button("Uncordon", "uncordon") : button("Cordon", "cordon"), button("Drain", "drain")), make("div", {role: "status"}, results));
}

/* --- time --- */

/** lines: lists of samples, the main one first; a sample of null: no data. top: the axis reaches at least this value. shown:
    exact value at the shown time, which lies between two samples. */
function chart(title, lines, format, {top = 0, shown = null} = {}) {
	const length = lines[0].length;
	const most = Math.max(...lines.flat(), 0);
	const height = Math.max(most, top, 1e-9);
	const xOf = (i) => (i / Math.max(1, length - 1) * 100).toFixed(2);
	const svg = draw("svg", {viewBox: "0 0 100 30", preserveAspectRatio: "none", "aria-hidden": "true"});
	lines.forEach((values, k) => {
		const known = values.map((value, i) => [i, value]).filter(([, value]) => value !== null);
		if (known.length === 0) return;
		const line = known.map(([i, value]) => `${xOf(i)},${(30 - value / height * 28).toFixed(2)}`).join("L");
		if (k === 0) svg.append(draw("path", {class: "area", d: `M${xOf(known[0][0])},30L${line}L${xOf(known[known.length - 1][0])},30Z`}));
		svg.append(draw("path", {d: `M${line}h0`, class: k === 0 ? "" : "second"}));
	});
	const place = at() === null ? length - 1 : Math.max(0, Math.min(length - 1, Math.round((at() - samples.from) / samples.step)));
	if (at() !== null) svg.append(draw("line", {x1: xOf(place), x2: xOf(place), y1: 0, y2: 30}));
	shown ??= lines.map((values) => values.slice(0, place + 1).findLast((value) => value !== null));
	return make("figure", {}, make("figcaption", {}, text("span", title),
		text("b", shown[0] === undefined ? "–" : shown.map(format).join(" / "))), svg, text("p", shown[0] === undefined ? "\u00a0" : `at most ${format(most)}`));
}
function writeTime() {
	const has = cluster !== null && cluster.hasHistory && samples !== null;
	byId("time").hidden = !has;
	if (!has) return;
	const stepSeconds = samples.step / 1000;
	const color = samples.resources.includes(state.color) ? state.color : "cpu";
	byId("charts").replaceChildren(
		chart("Pending", [samples.pending], count, {shown: [cluster.pending]}),
		chart("Decisions a second", [samples.decided.map((value) => value / stepSeconds)], (value) => value === 0 || value >= 10 ? count(value) : value.toFixed(1)),
		chart("Waited, p99 / p50", [samples.waitP99, samples.waitP50], duration),
		chart(`Requested ${color}`, [samples.use[samples.resources.indexOf(color)]], percent, {top: 1}));
	byId("time-text").textContent = at() === null ? (sourceState === "live" ? "now" : "the end") : clock(at());
	byId("now").hidden = at() === null;
	byId("now").textContent = sourceState === "live" ? "Now" : "End";
	const end = samples.from + samples.step * (samples.pending.length - 1);
	byId("slider").value = at() === null ? 1000 : Math.round(1000 * (at() - samples.from) / Math.max(1, end - samples.from));
	byId("slider").setAttribute("aria-valuetext", byId("time-text").textContent);
}

/* --- the whole page --- */

function showMap() {
	if (cluster === null) return;
	writeChoices();
	writeLegend();
	writeTable();
	if (state.table === "") { layOut(); requestDraw(); }
	byId("n-nodes").textContent = count(cluster.nodes.length);
	byId("n-running").textContent = count(cluster.running);
	/* The cluster lacks the pods of workloads that files define; "berth pending" adds them, so its count is shown once it is there. */
	byId("n-pending").textContent = count(cluster.hasHistory || pending === null ? cluster.pending : pending.summary.pending);
	byId("tiles").setAttribute("aria-label", `${plural(cluster.nodes.length, "node")} as tiles, coloured by ${state.color}`);
}
function showPanel() {
	if (!tabs.includes(state.tab) || byId(`tab-${state.tab}`).hidden) state.tab = defaults.tab;
	stopAsking();
	light(null);
	selectTab();
	if (state.tab === "pending") showPending();
	else if (state.tab === "whatif") showWhatIf();
	else if (state.tab === "capacity") showCapacity();
	else if (state.tab === "change") showChange();
	else showDetails();
}
let shownAt = null;
function show() {
	if (shownAt !== state.at) { shownAt = state.at; load().then(showPanel); return; }
	showMap();
	showPanel();
	writeTime();
}

async function load() {
	try {
		const wanted = state.at;
		const known = cluster !== null && at() === null && cluster.isNow ? `?known=${cluster.nodesRevision}` : "";
		const answer = await get(withTime(`/api/cluster${known}`));
		if (wanted !== state.at && !isFollowing) return;
		if (answer.nodes === undefined) answer.nodes = cluster.nodes;
		answer.isNow = wanted === "";
		cluster = answer;
		if (cluster.hasHistory && (samples === null || at() === null)) samples = await get("/api/samples?steps=120");
		showMap();
		writeTime();
	} catch (error) {
		showProblem(error.message);
	}
}

let isFollowing = false;
let slideTimer = 0;
/**
 * Called for each event while the slider is dragged: tiles are updated with each answer; questions
 * are asked again only at the end.
 */
async function followSlider() {
	if (isFollowing) return;
	isFollowing = true;
	let shown;
	do { shown = state.at; await load(); } while (shown !== state.at);
	isFollowing = false;
}

let refreshTimer = 0;
let refreshing = false;
let panelAt = 0;
/** Called for each change of the cluster. Sends no second request while one is unanswered. */
function changed() {
	if (refreshTimer !== 0 || state.at !== "") return;
	refreshTimer = setTimeout(async () => {
		refreshTimer = 0;
		if (refreshing) { changed(); return; }
		refreshing = true;
		await load();
		if (asking === null && performance.now() - panelAt > 2000 && !body.contains(document.activeElement)) {
			panelAt = performance.now();
			if (state.tab === "pending") showPending();
			else if (state.tab === "details" && state.node !== "") await showNode();
		}
		refreshing = false;
	}, 300);
}
function follow() {
	const changes = new EventSource("/api/changes");
	const show = (problem) => { byId("state").className = problem ? "lost" : "live"; byId("state").textContent = problem || sourceState; };
	changes.onopen = () => show("");
	changes.onmessage = changed;
	changes.onerror = () => {
		/* Another server may answer next: its nodes are different ones, even if they have the same revision. */
		if (cluster !== null) cluster.isNow = false;
		if (changes.readyState !== EventSource.CLOSED) { show("connection lost, trying again"); return; }
		/* The server refused the stream, and the browser does not try again. */
		get("/api/source").then(() => show("too many pages are open, trying again"), (error) => show(error.message));
		setTimeout(follow, 5000);
	};
	changes.addEventListener("server", (event) => show(event.data === "lost" ? "the API server does not answer, trying again" : ""));
}

/* --- search --- */

let foundAt = -1;
let searchTimer = 0;
function hideFound() {
	byId("found").hidden = true;
	byId("search").setAttribute("aria-expanded", "false");
}
function choose(item) {
	byId("search").blur();
	if (item.kind === "Node") go({tab: "details", node: item.name, pod: ""});
	else if (item.kind === "Pod") goToPod(item.namespace, item.name);
	else go({tab: "capacity", like: nameFor(item)});
}
function markFound(place) {
	const items = [...byId("found").children];
	foundAt = items.length === 0 ? -1 : (place + items.length) % items.length;
	items.forEach((item, i) => item.setAttribute("aria-selected", String(i === foundAt)));
	if (foundAt >= 0) { byId("search").setAttribute("aria-activedescendant", items[foundAt].id); items[foundAt].scrollIntoView({block: "nearest"}); }
}
async function search() {
	const wanted = byId("search").value.trim();
	const list = byId("found");
	if (wanted === "") { Object.assign(list, {items: [], wanted}); hideFound(); return; }
	const items = await get(withTime(`/api/search?text=${encodeURIComponent(wanted.toLowerCase())}`));
	if (wanted !== byId("search").value.trim() || document.activeElement !== byId("search")) return;
	list.replaceChildren(...items.map((item, i) => make("li", {role: "option", id: `found-${i}`, "aria-selected": "false", onmousedown: (event) => { event.preventDefault(); choose(item); }},
		text("small", item.kind), nameOf(item.namespace !== "" ? `${item.namespace}/${item.name}` : item.name))));
	if (items.length === 0) list.replaceChildren(make("li", {role: "option", "aria-disabled": "true"}, "Nothing has this in its name"));
	Object.assign(list, {items, wanted});
	list.hidden = false;
	byId("search").setAttribute("aria-expanded", "true");
	markFound(0);
}

/* --- keys, mouse, start --- */

function listen() {
	const tilesElement = byId("tiles");
	tilesElement.addEventListener("mousemove", (event) => focusTile(tileAt(event), event));
	tilesElement.addEventListener("mouseleave", () => focusTile(-1));
	tilesElement.addEventListener("click", (event) => { const place = tileAt(event); if (place >= 0) go({tab: "details", node: cluster.nodes[tiles[place].index].name, pod: ""}); });
	tilesElement.addEventListener("focus", () => { if (focused < 0 && tiles.length !== 0) focusTile(0); });
	tilesElement.addEventListener("blur", () => focusTile(-1));
	tilesElement.addEventListener("keydown", (event) => {
		const steps = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, Home: -tiles.length, End: tiles.length};
		if (event.key === "Enter" && focused >= 0) go({tab: "details", node: cluster.nodes[tiles[focused].index].name, pod: ""});
		else if (event.key in steps) { event.preventDefault(); focusTile(Math.max(0, Math.min(tiles.length - 1, focused + steps[event.key]))); }
	});
	byId("group").addEventListener("change", (event) => go({group: event.target.value}, false));
	byId("color").addEventListener("change", (event) => go({color: event.target.value}, false));
	byId("as-table").addEventListener("click", () => go({table: state.table === "" ? "yes" : ""}));
	for (const name of tabs) {
		byId(`tab-${name}`).addEventListener("click", () => go({tab: name}));
		byId(`tab-${name}`).addEventListener("keydown", (event) => {
			const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
			if (step === undefined) return;
			const names = tabs.filter((tab) => !byId(`tab-${tab}`).hidden);
			const next = names[(names.indexOf(name) + step + names.length) % names.length];
			go({tab: next});
			byId(`tab-${next}`).focus();
		});
	}
	byId("slider").addEventListener("input", (event) => {
		const end = samples.from + samples.step * (samples.pending.length - 1);
		const part = Number(event.target.value) / 1000;
		state.at = part >= 1 ? "" : String(Math.round(samples.from + part * (end - samples.from)));
		writeTime();
		followSlider();
		clearTimeout(slideTimer);
		slideTimer = setTimeout(() => { writeAddress(false); shownAt = state.at; showPanel(); }, 200);
	});
	byId("now").addEventListener("click", () => { byId("slider").focus(); go({at: ""}); });
	byId("search").addEventListener("input", () => { clearTimeout(searchTimer); searchTimer = setTimeout(() => search().catch((error) => showProblem(error.message)), 120); });
	byId("search").addEventListener("blur", hideFound);
	byId("search").addEventListener("keydown", (event) => {
		if (event.key === "ArrowDown") { event.preventDefault(); markFound(foundAt + 1); }
		else if (event.key === "ArrowUp") { event.preventDefault(); markFound(foundAt - 1); }
		else if (event.key === "Escape") { byId("search").value = ""; byId("search").blur(); }
	});
	byId("search-form").addEventListener("submit", async (event) => {
		event.preventDefault();
		const list = byId("found");
		if (list.wanted !== byId("search").value.trim()) await search().catch((error) => showProblem(error.message));
		const item = list.items?.[foundAt];
		if (item && list.wanted === byId("search").value.trim()) choose(item);
	});
	document.addEventListener("keydown", (event) => {
		if (event.key === "/" && !["INPUT", "TEXTAREA", "SELECT"].includes(document.activeElement.tagName)) { event.preventDefault(); byId("search").focus(); }
	});
	addEventListener("popstate", () => {
		/* The link of another server at this address was opened in place of this page. */
		if (new URLSearchParams(location.hash.slice(1)).has("token")) { location.reload(); return; }
		readAddress();
		show();
	});
	addEventListener("resize", showMap);
	darkScheme.addEventListener("change", showMap);
}

async function start() {
	body = byId("body");
	const address = new URLSearchParams(location.hash.slice(1));
	const token = address.get("token");
	if (token !== null) {
		address.delete("token");
		history.replaceState(null, "", `${location.pathname}${address.toString() !== "" ? `#${address}` : ""}`);
		const response = await fetch("/session", {method: "POST", headers: {Authorization: `Bearer ${token}`}});
		if (!response.ok) { showProblem((await response.json()).error); return; }
	}
	readAddress();
	listen();
	try {
		const answer = await get("/api/source");
		const {source} = answer;
		sourceState = answer.state;
		mayChange = answer.mayChange;
		byId("tab-change").hidden = !mayChange;
		byId("source").textContent = source;
		document.title = `${source} – berth`;
	} catch (error) {
		byId("problem").textContent = error.message;
		byId("problem").hidden = false;
		setBody(text("p", error.message, "message bad"));
		return;
	}
	shownAt = state.at;
	await load();
	showPanel();
	follow();
	/* Runs after the tiles were drawn for the first time. */
	requestAnimationFrame(() => { document.documentElement.dataset.ready = "yes"; });
}
start();
