// SPDX-License-Identifier: MIT
/*
 * flame.js - the stacks of all fibers in one drawing
 *
 * Each box is a function, as wide as the number of fibers that are in it, below the box of its
 * caller. The lowest box of a stack says what its fibers wait for. A click makes a box as wide as the
 * drawing; the boxes above it then lead back. The new groups of a live program do not change what is
 * zoomed: boxes are known by their functions from the outermost to their own.
 */
import {h, s, say} from "./dom.js";
import {count, functionOf, many, placeOf, visible} from "./words.js";

const ROW = 21, LETTER = 7.3, LEAST_PX = 1;

function child(node, name, kind) {
	const key = `${node.key}\n${kind} ${name}`;
	let found = node.of.get(key);
	if (!found) {
		found = {key, name, kind, own: 0, of: new Map(), place: ""};
		node.of.set(key, found);
	}
	return found;
}

/* The tree of the groups of `stacks`; internal: with the frames inside libfiber. */
function tree(groups, internal) {
	const root = {key: "", name: "all fibers", kind: "root", own: 0, of: new Map(), place: ""};
	for (const group of groups) {
		let node = root;
		for (const frame of [...group.frames].reverse()) {
			if (frame.internal && !internal)
				continue;
			node = child(node, functionOf(frame), frame.internal ? "library" : "own");
			node.place = placeOf(frame);
		}
		child(node, group.wait ? group.wait.kind : group.state, `tip ${group.state}`).own += group.count;
	}
	return root;
}

function hue(name) {
	let n = 0;
	for (const c of name)
		n = (n * 31 + c.codePointAt(0)) % 997;
	return n % 12;
}

export class Flame {
	constructor() {
		this.zoomed = "";
		this.search = "";
		this.boxes = new Map();
		this.svg = s("svg", {class: "flame", role: "tree", "aria-label": "Flame graph: functions by the number of fibers in them"});
		this.told = h("p", {class: "told", "aria-live": "off"});
		this.element = h("div", {class: "flame-box"}, this.svg, this.told);
		this.svg.addEventListener("click", (event) => this.zoom(this.nodeOf(event.target)));
		this.svg.addEventListener("keydown", (event) => this.key(event));
		this.svg.addEventListener("pointerover", (event) => this.tell(this.nodeOf(event.target)));
		this.svg.addEventListener("focusin", (event) => this.tell(this.nodeOf(event.target)));
		this.svg.addEventListener("pointerleave", () => this.tell(null));
		new ResizeObserver(() => this.draw()).observe(this.element);
	}

	nodeOf(target) {
		const g = target.closest("g");
		return g ? g.node : null;
	}

	update(groups, internal) {
		if (!window.d3)
			return;
		this.root = window.d3.hierarchy(tree(groups, internal), (d) => [...d.of.values()])
			.sum((d) => d.own).sort((a, b) => b.value - a.value || (a.data.name < b.data.name ? -1 : 1));
		window.d3.partition().size([1, this.root.height + 1])(this.root);
		this.draw();
	}

	setSearch(text) {
		this.search = text.toLowerCase();
		this.draw();
	}

	zoom(node) {
		if (!node)
			return;
		this.zoomed = node.data.key;
		this.draw();
		const g = this.boxes.get(this.zoomed);
		if (g && document.activeElement.closest("svg") === this.svg)
			g.focus({preventScroll: true});
	}

	found(node) {
		return this.search !== "" && node.data.name.toLowerCase().includes(this.search);
	}

	/* What the search finds: fibers with a matching function anywhere in their stacks. */
	matching(node) {
		return this.found(node) ? node.value : (node.children || []).reduce((sum, n) => sum + this.matching(n), 0);
	}

	draw() {
		const width = this.element.clientWidth;
		if (!this.root || width === 0)
			return;
		const nodes = this.root.descendants();
		let focus = nodes.find((n) => n.data.key === this.zoomed);
		if (!focus) {
			focus = this.root;
			this.zoomed = "";
		}
		const scale = width / (focus.x1 - focus.x0), seen = new Set(), height = (this.root.height + 1) * ROW;
		this.focus = focus;
		this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
		this.svg.setAttribute("height", height);
		for (const n of nodes) {
			const x0 = Math.max(0, (n.x0 - focus.x0) * scale), x1 = Math.min(width, (n.x1 - focus.x0) * scale);
			if (x1 - x0 < LEAST_PX)
				continue;
			seen.add(n.data.key);
			this.box(n, x0, x1 - x0, n.depth < focus.depth);
		}
		for (const [key, g] of this.boxes)
			if (!seen.has(key)) {
				g.remove();
				this.boxes.delete(key);
			}
		if (!this.pointed)
			this.tell(null);
	}

	make(n) {
		const g = s("g", {role: "treeitem"}, s("rect", {height: ROW - 1, rx: 2}), s("text", {x: 4, y: ROW - 7}));
		this.boxes.set(n.data.key, g);
		this.svg.append(g);
		return g;
	}

	box(n, x, width, above) {
		const g = this.boxes.get(n.data.key) || this.make(n), kind = n.data.kind;
		const letters = Math.floor((width - 8) / LETTER), name = visible(n.data.name);
		const colour = kind === "own" ? `own hue${hue(n.data.name)}` : kind;
		g.node = n;
		g.setAttribute("class", `${colour}${above ? " above" : ""}${this.found(n) ? " found" : ""}` +
			(this.search !== "" && !this.found(n) ? " other" : ""));
		g.setAttribute("transform", `translate(${x},${n.depth * ROW})`);
		g.setAttribute("tabindex", n === this.focus ? 0 : -1);
		g.setAttribute("aria-level", n.depth + 1);
		g.setAttribute("aria-label", `${name}, ${many(n.value, "fiber")}`);
		g.firstChild.setAttribute("width", Math.max(0.5, width - 1));
		say(g.lastChild, letters < 3 ? "" : name.length <= letters ? name : `${name.slice(0, letters - 1)}…`);
	}

	tell(node) {
		const all = this.root ? this.root.value : 0;
		this.pointed = node;
		if (!this.root)
			return;
		if (node)
			say(this.told, `${node.data.name}${node.data.place ? ` at ${node.data.place}` : ""}: ` +
				`${many(node.value, "fiber")}, ${(100 * node.value / all).toFixed(1)}%`);
		else if (this.search)
			say(this.told, `"${this.search}" is in the stacks of ${count(this.matching(this.root))} of ${many(all, "fiber")}`);
		else if (this.focus && this.focus !== this.root)
			say(this.told, `zoomed to ${this.focus.data.name}: ${many(this.focus.value, "fiber")} of ${count(all)}; ` +
				"a box above it leads back");
		else
			say(this.told, "Click a box to zoom into it.");
	}

	/* Arrows move between boxes, Enter zooms, Esc zooms out. */
	key(event) {
		const n = this.nodeOf(event.target), row = n && n.parent ? n.parent.children : [];
		const to = n && {ArrowDown: n.children && n.children[0], ArrowUp: n.parent,
			ArrowRight: row[row.indexOf(n) + 1], ArrowLeft: row[row.indexOf(n) - 1]}[event.key];
		if (event.key === "Enter" || event.key === " ")
			this.zoom(n);
		else if (event.key === "Escape" && this.focus !== this.root)
			this.zoom(this.root);
		else if (to && this.boxes.has(to.data.key))
			this.boxes.get(to.data.key).focus();
		else if (!event.key.startsWith("Arrow"))
			return;
		event.preventDefault();
	}
}
