// SPDX-License-Identifier: MIT
/*
 * dom.js - elements with data in them
 *
 * Data only becomes text or the value of an attribute, never markup, so a name such as <script> is
 * shown as it is. All text passes visible().
 */
import {visible} from "./words.js";

const SVG = "http://www.w3.org/2000/svg";

function fill(e, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {}))
		if (typeof value === "function")
			e.addEventListener(name, value);
		else if (value !== null && value !== undefined && value !== false)
			e.setAttribute(name, value === true ? "" : visible(value));
	e.append(...children.flat().filter((c) => c !== null && c !== undefined)
		.map((c) => c instanceof Node ? c : visible(c)));
	return e;
}

/* An element. attributes: a function is a listener; null and false leave the attribute out. */
export function h(tag, attributes, ...children) {
	return fill(document.createElement(tag), attributes, children);
}

/* The same of SVG. */
export function s(tag, attributes, ...children) {
	return fill(document.createElementNS(SVG, tag), attributes, children);
}

export const el = (id) => document.getElementById(id);

/* Change the text of an element only if it differs: what is selected in it then stays selected. */
export function say(e, text) {
	const shown = visible(text);
	if (e.textContent !== shown)
		e.textContent = shown;
	return e;
}

/* Give an element other children if `signature`, a text, differs from the last one. */
export function refill(e, signature, make) {
	if (e.signature === signature)
		return;
	e.signature = signature;
	e.replaceChildren(...[make()].flat().filter((c) => c !== null && c !== undefined)
		.map((c) => c instanceof Node ? c : visible(c)));
}

/*
 * Make `parent` have one child for each item, in their order. key(item) is unique; make(item) returns
 * a new child; update(child, item) brings one up to date. Children stay in place as far as possible,
 * and the focus stays where it was.
 */
export function reconcile(parent, items, key, make, update) {
	const old = parent.children_by_key || new Map(), now = new Map(), focused = document.activeElement;
	let at = parent.firstChild;
	for (const item of items) {
		const k = key(item);
		let child = old.get(k);
		if (now.has(k))
			continue;
		if (!child)
			child = make(item);
		old.delete(k);
		now.set(k, child);
		update(child, item);
		if (child === at)
			at = at.nextSibling;
		else
			parent.insertBefore(child, at);
	}
	for (const child of old.values())
		child.remove();
	parent.children_by_key = now;
	/* An element that moves loses the focus. */
	if (focused !== document.activeElement && focused.isConnected)
		focused.focus({preventScroll: true});
}

/* A word in a coloured box: grade is bad, slow, ok or unknown. */
export function badge(e, grade, text) {
	e.className = `badge ${grade}`;
	return say(e, text);
}

/* Words with each "fiber N" made a link. */
export function linked(text, pid) {
	const parts = [];
	let from = 0;
	for (const m of text.matchAll(/\bfiber (\d+)|\bheld by (\d+)/g)) {
		const id = m[1] || m[2], at = m.index + m[0].length - id.length;
		parts.push(text.slice(from, m[1] ? m.index : at),
			h("a", {href: fiberHref(pid, id)}, m[1] ? m[0] : id));
		from = m.index + m[0].length;
	}
	parts.push(text.slice(from));
	return parts;
}

export const processHref = (pid, view) => `#/process/${pid}${view ? `/${view}` : ""}`;
export const fiberHref = (pid, id) => `#/process/${pid}/fiber/${id}`;

/* Links to fibers by id, the first `most` of them. */
export function fiberLinks(pid, ids, most) {
	const parts = [];
	for (const id of ids.slice(0, most))
		parts.push(parts.length ? ", " : null, h("a", {href: fiberHref(pid, id)}, id));
	if (ids.length > most)
		parts.push(", ...");
	return parts;
}
