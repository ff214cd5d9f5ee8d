// SPDX-License-Identifier: MIT
/*
 * fibers.js - the fibers of a program: filtered, sorted, grouped
 *
 * The filter is the language of --where; its errors are shown in the words of the server. The server
 * filters and sorts, so the page asks for at most 500 rows of a program of any size. The filter, the order and the
 * grouping are in the address, so they can be sent to a colleague.
 */
import {fiberHref, h, processHref, refill, say} from "./dom.js";
import {Table, text} from "./table.js";
import {bytes, called, count, duration, many, percent, quoted, short, waitWords} from "./words.js";

const MOST = 500, TYPING_MS = 350;
const GROUPS = ["state", "wait", "object", "holder", "fn", "place", "spawn", "parent", "carrier", "name", "cancelled"];
/* Fields of columns that are sorted the smallest first at the first click. */
const ASCENDING = ["id", "name", "state", "wait", "fn", "holder"];
/* Fields whose values are texts: in a filter they are quoted. */
const TEXTS = ["state", "wait", "object", "fn", "place", "spawn", "name", "cancelled"];

const rate = (fiber, interval, key) => fiber.change && interval > 0 ? fiber.change[key] / interval : null;

function columnsOf(ctx, interval) {
	return [
		{title: "Fiber", number: true, sort: "id", show: text((f) => f.id)},
		{title: "Name", sort: "name", grow: true, show: text(called)},
		{title: "State", sort: "state", show: (td, f) => {
			td.className = `state ${f.state}`;
			say(td, f.state);
		}},
		{title: "For", number: true, sort: "age", show: text((f) => duration(f.ageNs)), help: "How long in this state"},
		{title: "Waits for", grow: true, sort: "wait", show: text((f) => waitWords(f.wait))},
		{title: "Held by", sort: "holder", show: (td, {wait}) => refill(td, wait ? `${wait.holderId} ${wait.holderThread}` : "",
			() => !wait ? "" : wait.holderId !== null ? h("a", {href: fiberHref(ctx.pid, wait.holderId)}, wait.holderId) :
				wait.holderThread !== null ? `thread ${wait.holderThread}` : "")},
		{title: "Function", wide: true, sort: "fn", show: text((f) => f.entry)},
		{title: "CPU", number: true, wide: true, sort: "cpu", help: "Of one CPU, since the last look",
			show: text((f) => percent(rate(f, interval(), "cpuNs")))},
		{title: "Switches/s", number: true, wide: true, sort: "switches", show: text((f) => {
			const r = rate(f, interval() / 1e9, "switches");
			return r === null ? "" : short(r);
		})},
		{title: "Stack", number: true, wide: true, sort: "stack", show: text((f) => bytes(f.stack.used)), help: "Bytes of its stack in use"},
	];
}

/* The filter that selects a group, with the filter that is there. */
export function narrowed(where, field, value) {
	const one = value === null ? `not ${field}` :
		`${field}=${TEXTS.includes(field) || field.startsWith("label.") ? quoted(value) : value}`;
	return where ? `(${where}) and ${one}` : one;
}

function groupTable(ctx, params) {
	return new Table([
		{title: "Value", grow: true, show: text((g) => g.value === null ? `(no ${g.field})` : g.value === "" ? "(empty)" : g.value)},
		{title: "Fibers", number: true, show: text((g) => count(g.count))},
		{title: "Longest in state", number: true, show: text((g) => duration(g.ageNs.max))},
		{title: "CPU", number: true, show: text((g) => percent(g.interval > 0 ? g.change.cpuNs / g.interval : null))},
		{title: "Switches/s", number: true, wide: true, show: text((g) => g.interval > 0 ? short(g.change.switches / g.interval * 1e9) : "")},
	], {label: "Groups of fibers", key: (g) => `${g.field} ${g.value === null ? "-" : `=${g.value}`}`, empty: "No fiber matches.",
		href: (g) => processHref(ctx.pid, `fibers?${new URLSearchParams({where: narrowed(params.where, g.field, g.value)})}`)});
}

function controls(params, changed) {
	const filter = h("input", {type: "search", id: "where", spellcheck: "false", autocomplete: "off", autocapitalize: "off",
		placeholder: "wait=mutex and age>1m", "aria-describedby": "where-error", value: params.where});
	const group = h("select", {id: "group"}, h("option", {value: ""}, "nothing"),
		GROUPS.map((g) => h("option", {value: g, selected: g === params.group}, g)));
	const error = h("p", {id: "where-error", class: "error", role: "alert"});
	let timer = 0;

	filter.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(() => changed({where: filter.value.trim()}), TYPING_MS);
	});
	filter.addEventListener("keydown", (event) => {
		if (event.key === "Enter") {
			clearTimeout(timer);
			changed({where: filter.value.trim()});
		}
	});
	group.addEventListener("change", () => changed({group: group.value}));
	return {filter, group, error, element: h("div", {class: "controls"}, h("label", {class: "grow", for: "where"}, "Only where ", filter),
		h("label", {for: "group"}, "group by ", group), h("details", {class: "language"}, h("summary", {}, "The language"),
			h("p", {}, "FIELD OPERATOR VALUE, with not, and, or, (). Operators: = != < > <= >= ~ !~. Values: 17, 1.5s, 64k, a word, \"a text\"."),
			h("p", {}, "Fields: id state age switches cpu runnable waited lived stack size high-water wait waiting object address holder fd ",
				"target left carrier pins cancelled masked parent fn spawn place name label.KEY"),
			h("p", {}, "Examples: ", h("code", {}, "state=suspended and age>1m"), ", ", h("code", {}, "wait=mutex and object=cfg"), ", ",
				h("code", {}, "name~\"^req-\" and not holder"))))};
}

/* Labels that the fibers have can be grouped by, too. */
function offerLabels(select, fibers) {
	const known = new Set([...select.options].map((o) => o.value));
	for (const fiber of fibers)
		for (const key of Object.keys(fiber.labels))
			if (!known.has(`label.${key}`) && /^[\w.-]+$/.test(key) && known.size < 40) {
				known.add(`label.${key}`);
				select.append(h("option", {value: `label.${key}`}, `label.${key}`));
			}
}

/* How many fibers are shown, of how many. */
function sumOf(answer, grouped) {
	const {matched, total, fibers, groups, problems} = answer;
	let words = many(matched, "fiber");
	if (grouped)
		words = `${many(groups.length, "group")} of ${words}`;
	else if (fibers.length < matched)
		words = `${count(fibers.length)} of ${words}: filter or group to see the others`;
	return words + (matched < total ? `, of ${count(total)} in all` : "") + (problems.length ? `. ${problems.join(". ")}` : "");
}

/* The order after a click on a column: largest first for numbers, a second click turns it round. */
function nextSort(sort, field) {
	if (sort === `-${field}`)
		return field;
	return sort === field || !ASCENDING.includes(field) ? `-${field}` : field;
}

export function openFibers(ctx) {
	const params = {where: ctx.params.get("where") || "", sort: ctx.params.get("sort") || "-age", group: ctx.params.get("group-by") || ""};
	let interval = 0, question = null;
	const sum = h("p", {class: "dim", "aria-live": "off"}), view = {};

	function changed(now) {
		Object.assign(params, now);
		ctx.setParams({where: params.where, sort: params.sort === "-age" ? "" : params.sort, "group-by": params.group});
		show();
		question.again();
	}

	const bar = controls(params, changed);
	const rows = new Table(columnsOf(ctx, () => interval), {label: "Fibers", key: (f) => f.id, empty: "No fiber matches.",
		href: (f) => fiberHref(ctx.pid, f.id), onSort: (field) => changed({sort: nextSort(params.sort, field)})});
	const groups = groupTable(ctx, params);

	/* A label that is in the address, before a fiber with it was seen. */
	if (params.group && ![...bar.group.options].some((o) => o.value === params.group))
		bar.group.append(h("option", {value: params.group, selected: true}, params.group));

	function show() {
		rows.element.hidden = params.group !== "";
		groups.element.hidden = params.group === "";
		rows.setSorted(params.sort);
		view.table = params.group ? groups : rows;
	}

	function take(answer) {
		interval = answer.intervalNs;
		say(bar.error, "");
		bar.filter.removeAttribute("aria-invalid");
		ctx.verdict(answer.verdict);
		offerLabels(bar.group, answer.fibers);
		if (params.group)
			groups.update(answer.groups.map((g) => ({...g, interval})));
		else
			rows.update(answer.fibers);
		say(sum, sumOf(answer, params.group !== ""));
		ctx.ready();
	}

	show();
	view.filter = bar.filter;
	ctx.root.append(bar.element, bar.error, sum, rows.element, groups.element);
	question = ctx.ask({command: "top", period: 900, take, fail: (e, otherwise) => {
		if (e.status !== 400)
			return otherwise(e);
		say(bar.error, e.message);
		bar.filter.setAttribute("aria-invalid", "true");
		return null;
	}, parameters: () => ({where: params.where, sort: params.sort, limit: MOST, "group-by": params.group})});
	return view;
}
