// SPDX-License-Identifier: MIT
/*
 * keys.js - the keyboard
 *
 * The same letters as in less(1) and in `fiberctl top`, where these have them. A view gives the table
 * that j and k move in, and its filter.
 */
import {el, h} from "./dom.js";

const KEYS = [
	["j k, ↓ ↑", "next and previous row"],
	["Enter", "open it"],
	["Esc", "leave a field, close a dialog, or go back"],
	["/", "filter or search"],
	["g p", "programs"],
	["g o, g f, g s, g w, g r", "overview, fibers, stacks, waits, recordings"],
	["p", "pause and continue"],
	["t", "theme: as the system, dark, light"],
	["?", "these keys"],
];

export function showKeys() {
	if (!el("keys-list").firstChild)
		el("keys-list").append(...KEYS.map(([keys, what]) => h("tr", {}, h("th", {scope: "row"}, keys), h("td", {}, what))));
	el("keys").showModal();
}

/*
 * page: {view(): the open view, go(letter), pause(), theme(), back()}. A view may have `table` with
 * move(by), and `filter`, an input.
 */
export function listen(page) {
	let gone = -Infinity; /* when g was pressed */

	function plain(key) {
		const view = page.view();
		if (performance.now() - gone < 1500) {
			gone = -Infinity;
			return page.go(key);
		}
		switch (key) {
		case "g":
			gone = performance.now();
			return true;
		case "j":
		case "ArrowDown":
		case "k":
		case "ArrowUp":
			if (!view || !view.table || document.activeElement.closest("svg"))
				return false;
			view.table.move(key === "j" || key === "ArrowDown" ? 1 : -1);
			return true;
		case "/":
			if (!view || !view.filter)
				return false;
			view.filter.focus();
			view.filter.select();
			return true;
		case "p":
			page.pause();
			return true;
		case "t":
			page.theme();
			return true;
		case "?":
			showKeys();
			return true;
		case "Escape":
			page.back();
			return true;
		default:
			return false;
		}
	}

	document.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
			return;
		if (event.target.closest("input, select, textarea")) {
			if (event.key === "Escape")
				event.target.blur();
			return;
		}
		/* The view has used it: the flame graph, for one. */
		if (!event.defaultPrevented && plain(event.key))
			event.preventDefault();
	});
}
