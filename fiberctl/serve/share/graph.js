// SPDX-License-Identifier: MIT
/*
 * graph.js - the graph of waits: who waits for whom
 *
 * Boxes are fibers and threads; an arrow goes from the waiter to the holder of what it waits for. The
 * holders for which all others wait are at the top left, so the cause is read first. Fibers that wait for
 * each other are in one column, one below the other, with their arrows beside them. Waiters that hold
 * nothing and are many are one box with their number. An object without a known holder is a box if
 * several fibers wait for it. The places depend on the answer alone, not on
 * the last drawing: a graph that does not change does not move.
 */
import {s, say} from "./dom.js";
import {visible} from "./words.js";

const WIDTH = 250, HEIGHT = 46, BETWEEN = 90, APART = 14, EDGE = 56, LETTERS = 34, MANY = 5;

/* The nodes and edges of an answer of `waits`. A node: {key, ids, kind, count, name, cycle, behind, out, in}. */
export function graphOf(answer) {
	const nodes = new Map(), edges = new Map(), holding = new Set();

	function node(key, kind, more) {
		if (!nodes.has(key))
			nodes.set(key, {key, kind, ids: [], count: 1, name: "", cycle: false, behind: 0, out: [], in: [], ...more});
		return nodes.get(key);
	}

	function holderNode(h, object) {
		if (h.holderId !== null)
			return node(`f${h.holderId}`, "fiber", {ids: [h.holderId], name: h.holderName || "", state: h.holderState});
		if (h.holderThread !== null)
			return node(`t${h.holderThread}`, "thread", {thread: h.holderThread, name: h.holderName || "",
				state: h.holderState});
		return node(`o${object.kind}${object.object}${object.objectName}`, "object",
			{name: object.objectName || "", object: object.object, of: object.kind});
	}

	function edge(from, to, object) {
		const key = `${from.key}>${to.key}`;
		if (edges.has(key))
			return;
		edges.set(key, {key, from, to, object});
		from.out.push(to);
		to.in.push(from);
	}

	for (const holder of answer.holders)
		if (holder.holderId !== null || holder.holderThread !== null) {
			const one = holderNode(holder);
			one.cycle = holder.cycle;
			one.behind = holder.waiting + holder.behind;
			if (holder.holderId !== null)
				holding.add(holder.holderId);
		}
	for (const holder of answer.holders)
		for (const object of holder.objects) {
			if (holder.holderId === null && holder.holderThread === null && object.count < 2)
				continue;
			const to = [holderNode(holder, object)], plain = object.fiberIds.filter((id) => !holding.has(id));
			if (holder.holderId !== null || holder.holderThread !== null)
				to.push(...object.holders.map((one) => holderNode(one, object)).filter((one) => one !== to[0]));
			const from = object.fiberIds.filter((id) => holding.has(id) || plain.length <= MANY)
				.map((id) => node(`f${id}`, "fiber", {ids: [id]}));
			from.push(...object.threadIds.map((id) => node(`t${id}`, "thread", {thread: id})));
			if (plain.length > MANY)
				from.push(node(`g${to[0].key}/${object.kind}${object.object}`, "group",
					{ids: plain, count: plain.length, of: object.kind, object: object.object, name: object.objectName || "",
						holder: holder.holderId, ageNs: object.ageNs}));
			from.forEach((f) => to.forEach((t) => edge(f, t, object)));
		}
	return {nodes: [...nodes.values()], edges: [...edges.values()]};
}

/* Strongly connected parts, each after the parts that it waits for (Tarjan). */
function parts(nodes) {
	const found = [], stack = [], index = new Map(), low = new Map(), on = new Set();

	function visit(n) {
		index.set(n, index.size);
		low.set(n, index.get(n));
		stack.push(n);
		on.add(n);
		for (const to of n.out)
			if (!index.has(to)) {
				visit(to);
				low.set(n, Math.min(low.get(n), low.get(to)));
			} else if (on.has(to))
				low.set(n, Math.min(low.get(n), index.get(to)));
		if (low.get(n) !== index.get(n))
			return;
		const part = {members: [], layer: 0, parent: null, children: []};
		let one;
		do {
			one = stack.pop();
			on.delete(one);
			one.part = part;
			part.members.unshift(one);
		} while (one !== n);
		found.push(part);
	}

	nodes.forEach((n) => index.has(n) || visit(n));
	return found;
}

/* Give each node x and y; returns the size of the drawing. */
export function place(nodes) {
	const all = parts(nodes), size = {width: 0, height: EDGE / 2};

	for (const part of all) {
		for (const n of part.members)
			for (const to of n.out)
				if (to.part !== part && to.part.layer + 1 > part.layer) {
					part.layer = to.part.layer + 1;
					part.parent = to.part;
				}
		if (part.parent)
			part.parent.children.push(part);
	}

	function put(part, top) {
		const own = part.members.length * (HEIGHT + APART);
		let height = 0;
		for (const one of part.children)
			height += put(one, top + height);
		height = Math.max(height, own);
		part.members.forEach((n, i) => {
			n.x = EDGE + part.layer * (WIDTH + BETWEEN);
			n.y = top + i * (HEIGHT + APART);
			size.width = Math.max(size.width, n.x + WIDTH + EDGE);
		});
		return height;
	}

	for (const part of all.filter((one) => !one.parent))
		size.height += put(part, size.height) + APART;
	size.height += EDGE / 2;
	return size;
}

/* From the left of the waiter to the right of the holder; inside a column an arc: down at the left, up at the right. */
function route({from, to}) {
	const path = window.d3.path(), y0 = from.y + HEIGHT / 2, y1 = to.y + HEIGHT / 2;
	if (from.part !== to.part) {
		const x0 = from.x, x1 = to.x + WIDTH, half = (x0 - x1) / 2;
		path.moveTo(x0, y0);
		path.bezierCurveTo(x0 - half, y0, x1 + half, y1, x1 + 3, y1);
		return String(path);
	}
	const down = y1 > y0, x = down ? from.x : from.x + WIDTH, out = down ? -44 : 44;
	path.moveTo(x, y0 + (from === to ? -10 : 4));
	path.bezierCurveTo(x + out, y0, x + out, y1, x + (down ? -3 : 3), y1 + (from === to ? 10 : -4));
	return String(path);
}

function cut(text) {
	const shown = visible(text);
	return shown.length <= LETTERS ? shown : `${shown.slice(0, LETTERS - 1)}…`;
}

export class WaitsGraph {
	/* hrefOf(node): where a box leads, or null; wordsOf(node): its two lines. */
	constructor(hrefOf, wordsOf) {
		this.hrefOf = hrefOf;
		this.wordsOf = wordsOf;
		this.svg = s("svg", {class: "graph", role: "group", "aria-label": "Graph of waits: arrows from waiters to holders"},
			s("defs", {}, ["", "cycle"].map((name) => s("marker", {id: `arrow${name}`, class: name, viewBox: "0 0 8 8",
				refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse"},
			s("path", {d: "M0 0L8 4L0 8z"})))), s("g", {class: "edges"}), s("g", {class: "nodes"}));
		this.element = this.svg;
	}

	/* graph: of graphOf(). */
	update({nodes, edges}) {
		if (!window.d3)
			return;
		const {width, height} = place(nodes), svg = window.d3.select(this.svg);
		svg.attr("viewBox", `0 0 ${width} ${height}`).attr("width", width).attr("height", height);
		const inCycle = (e) => e.from.part === e.to.part;
		svg.select(".edges").selectAll("path").data(edges, (e) => e.key).join("path")
			.attr("class", (e) => `edge${inCycle(e) ? " cycle" : ""}`)
			.attr("marker-end", (e) => `url(#arrow${inCycle(e) ? "cycle" : ""})`).attr("d", route);
		svg.select(".nodes").selectAll("a").data(nodes, (n) => n.key).join((enter) => enter.append(() => this.make()))
			.each((n, i, all) => this.show(all[i], n));
	}

	make() {
		return s("a", {}, s("title"), s("rect", {width: WIDTH, height: HEIGHT, rx: 6}), s("text", {class: "first", x: 12, y: 19}),
			s("text", {class: "second", x: 12, y: 36}));
	}

	show(a, n) {
		const href = this.hrefOf(n), [first, second] = this.wordsOf(n), [title, , one, two] = a.children;
		const cycle = n.cycle && n.out.some((to) => to.part === n.part);
		a.setAttribute("class", `node ${n.kind}${cycle ? " cycle" : ""}`);
		a.setAttribute("transform", `translate(${n.x},${n.y})`);
		if (href)
			a.setAttribute("href", href);
		say(title, `${first}\n${second}`.replace("\n", " - "));
		say(one, cut(first));
		say(two, cut(second));
	}
}
