// SPDX-License-Identifier: MIT
/*
 * table.js - a table that is brought up to date in place
 *
 * Rows are kept by their keys, so scroll position, selection and focus survive an update. The link in
 * the first column opens a row; it is the one that the keyboard moves between, and only one of the
 * links can be reached with Tab. A click anywhere in the row follows it too.
 */
import {h, reconcile, say} from "./dom.js";

/*
 * columns: {title, show(td, row), sort, number, wide, grow, help}. show() fills a cell, which it may have
 * filled before; sort: the field to sort by; number: aligned right; wide: left out on narrow screens;
 * grow: takes the free width.
 * options: label, for screen readers; key(row); href(row), null for a row that cannot be opened; empty, the text
 * without rows; onSort(field).
 */
export class Table {
	constructor(columns, options) {
		this.columns = columns;
		this.options = options;
		this.body = h("tbody");
		this.heads = columns.map((c) => this.head(c));
		this.empty = h("p", {class: "empty", hidden: true}, options.empty || "");
		this.box = h("div", {class: "scroll", role: "region", "aria-label": options.label, tabindex: 0},
			h("table", {}, h("caption", {class: "hidden"}, options.label), h("thead", {}, h("tr", {}, this.heads)),
				this.body));
		this.element = h("div", {class: "live-table"}, this.box, this.empty);
		this.body.addEventListener("click", (event) => this.click(event));
		this.body.addEventListener("focusin", (event) => this.focused(event.target.closest("tr")));
	}

	head(column) {
		const attributes = {scope: "col", class: this.classOf(column), title: column.help};
		if (!column.sort || !this.options.onSort)
			return h("th", attributes, column.title);
		return h("th", attributes, h("button", {type: "button", click: () => this.options.onSort(column.sort)},
			column.title));
	}

	classOf(column) {
		return ["number", "wide", "grow"].filter((name) => column[name]).join(" ") || null;
	}

	/* Mark the column of the field that the rows are sorted by, with a '-' before it if descending. */
	setSorted(field) {
		const name = field.replace(/^-/, "");
		this.columns.forEach((c, i) => {
			if (c.sort === name)
				this.heads[i].setAttribute("aria-sort", field.startsWith("-") ? "descending" : "ascending");
			else
				this.heads[i].removeAttribute("aria-sort");
		});
	}

	make(row) {
		const tr = h("tr", {}, this.columns.map((c) => h("td", {class: this.classOf(c)})));
		if (this.options.href)
			tr.firstChild.append(h("a", {href: this.options.href(row), tabindex: -1}));
		return tr;
	}

	update(rows) {
		const current = this.current, at = current ? [...this.body.children].indexOf(current) : -1;
		const had = current && current.contains(document.activeElement);
		reconcile(this.body, rows, this.options.key, (row) => this.make(row), (tr, row) => {
			const href = this.options.href && this.options.href(row), a = tr.firstChild.firstChild;
			if (href && a.getAttribute("href") !== href)
				a.setAttribute("href", href);
			this.columns.forEach((c, i) => c.show(i === 0 && href ? a : tr.children[i], row));
		});
		this.empty.hidden = rows.length > 0;
		this.box.hidden = rows.length === 0;
		/* The row that had the focus is gone: the one in its place gets it. */
		if (current && !current.isConnected) {
			this.current = null;
			this.choose(this.body.children[Math.min(at, rows.length - 1)], had);
		}
		if (!this.current)
			this.choose(this.body.firstChild, false);
	}

	choose(tr, focus) {
		if (this.current && this.current.isConnected && this.link(this.current))
			this.link(this.current).tabIndex = -1;
		this.current = tr || null;
		if (!tr || !this.link(tr))
			return;
		this.link(tr).tabIndex = 0;
		if (focus) {
			this.link(tr).focus({preventScroll: true});
			tr.scrollIntoView({block: "nearest"});
		}
	}

	link(tr) {
		return tr.firstChild.querySelector("a");
	}

	focused(tr) {
		if (tr && tr !== this.current)
			this.choose(tr, false);
	}

	/* Move the focus by a number of rows; the first time, to the current row. */
	move(by) {
		if (!this.current)
			return;
		if (!this.current.contains(document.activeElement)) {
			this.choose(this.current, true);
			return;
		}
		let next = this.current;
		for (let i = 0; i < Math.abs(by); i++)
			next = (by > 0 ? next.nextElementSibling : next.previousElementSibling) || next;
		this.choose(next, true);
	}

	click(event) {
		const tr = event.target.closest("tr");
		if (!tr || !this.link(tr) || event.target.closest("a, button") || String(window.getSelection()))
			return;
		if (event.ctrlKey || event.metaKey)
			window.open(this.link(tr).href);
		else
			this.link(tr).click();
	}
}

/* A cell of text, as show() of a column. */
export function text(value) {
	return (td, row) => {
		const shown = value(row);
		say(td, shown === null || shown === undefined ? "" : shown);
		/* For a column that is cut at its width. */
		if (td.parentNode.className !== "number" && td.title !== td.textContent && td.textContent.length > 24)
			td.title = td.textContent;
	};
}
