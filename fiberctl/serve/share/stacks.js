// SPDX-License-Identifier: MIT
/*
 * stacks.js - groups of fibers with equal stacks, and the flame graph of all
 *
 * A program may have a different stack in each fiber. If there are more groups than the page shows, or
 * more than the server sends, the next question leaves out the small ones; a line says how many are
 * left out. Where all groups are equally small, they are asked for less often.
 */
import {Flame} from "./flame.js";
import {fiberLinks, h, reconcile, refill, say} from "./dom.js";
import {count, duration, functionOf, many, placeOf, waitWords} from "./words.js";

const MOST = 500, FIRST = 25;

/* The frames of a stack, innermost first; internal: also those inside libfiber. */
export function frameList(frames, internal, truncated) {
	return h("ol", {class: "frames"}, frames.map((f, i) => f.internal && !internal ? null :
		h("li", {value: i, class: f.internal ? "library" : null}, h("span", {class: "function"}, functionOf(f)),
			f.inlined ? " (inlined)" : "", h("span", {class: "place"}, placeOf(f) ? ` ${placeOf(f)}` : ""),
			variables(f))), truncated ? h("li", {class: "library"}, "the rest is not known") : null);
}

function variables(frame) {
	const rows = [["arg", frame.args || []], ["local", frame.locals || []]].flatMap(([kind, all]) =>
		all.map((v) => h("tr", {class: v.available ? null : "library"}, h("th", {scope: "row"}, `${kind} ${v.name}`),
			h("td", {}, v.value), h("td", {class: "type"}, v.type))));
	return rows.length ? h("table", {class: "variables"}, h("tbody", {}, rows)) : null;
}

/* Equal stacks of one state and wait; ages and ids may change. */
function signature(group) {
	const wait = group.wait ? [group.wait.kind, group.wait.object, group.wait.objectName, group.wait.holderId, group.wait.fd] : null;
	return JSON.stringify([group.state, wait, group.truncated, group.frames.map((f) => f.pc + f.function)]);
}

function groupCard(pid, internal) {
	const card = h("li", {class: "group"}), number = h("strong"), waits = h("span"), ages = h("span", {class: "dim"});
	const ids = h("span", {class: "dim"}), frames = h("div");
	card.append(h("p", {class: "line"}, number, " ", waits, " ", ages), frames, ids);
	card.show = (group) => {
		const age = group.ageNs;
		say(number, many(group.count, "fiber"));
		waits.className = `state ${group.state}`;
		say(waits, group.wait ? `${group.state}: ${waitWords({...group.wait, leftNs: null})}` : group.state);
		say(ages, !age ? "" : duration(age.min) === duration(age.max) ? `for ${duration(age.max)}` :
			`for ${duration(age.min)} to ${duration(age.max)}, median ${duration(age.median)}`);
		refill(ids, group.fiberIds.join(), () => ["ids ", ...fiberLinks(pid, group.fiberIds, 8),
			group.count > group.fiberIds.length && group.fiberIds.length <= 8 ? ", ..." : ""]);
		refill(frames, `${internal()} ${signature(group)}`, () => frameList(group.frames, internal(), group.truncated));
	};
	return card;
}

export function openStacks(ctx) {
	const flame = new Flame(), sum = h("p", {class: "dim"}), list = h("ul", {class: "groups"});
	const search = h("input", {type: "search", id: "search", spellcheck: "false", placeholder: "a function",
		value: ctx.params.get("search")});
	const internal = h("input", {type: "checkbox"}), more = h("button", {type: "button", hidden: true}, "Show more groups");
	let min = null, shown = FIRST, last = null, question = null;

	function matches(group) {
		const text = search.value.trim().toLowerCase();
		return text === "" || group.frames.some((f) => functionOf(f).toLowerCase().includes(text));
	}

	function draw() {
		if (!last)
			return;
		const groups = last.groups.filter(matches), rest = groups.length - shown;
		reconcile(list, groups.slice(0, shown), signature, () => groupCard(ctx.pid, () => internal.checked), (card, g) => card.show(g));
		more.hidden = rest <= 0;
		say(more, `Show ${count(Math.min(rest, FIRST * 2))} of ${many(rest, "more group")}`);
		say(sum, `${many(last.groups.length, "group")} of ${many(last.total, "fiber")}` +
			(last.cut ? `; ${many(last.cut, "group")} of the same sizes left out` : "") +
			(groups.length < last.groups.length ? `, ${count(groups.length)} match` : "") +
			(last.leftOut.groups ? `; ${many(last.leftOut.groups, "smaller group")} with ${many(last.leftOut.fibers, "fiber")} left out` : "") +
			(last.problems.length ? `. ${last.problems.join(". ")}` : ""));
	}

	function show() {
		flame.update(last.groups, internal.checked);
		draw();
	}

	function take(answer) {
		const {groups} = answer;
		last = {...answer, groups: groups.slice(0, MOST), cut: Math.max(0, groups.length - MOST)};
		if (last.cut && groups[MOST].count < groups[0].count)
			min = groups[MOST].count + 1;
		show();
		ctx.ready();
	}

	/* An answer that is longer than the server sends. */
	function fail(e, otherwise) {
		if (e.status !== 502 || min !== null || !e.message.includes("longer than"))
			return otherwise(e);
		min = 2;
		return question.again();
	}

	flame.setSearch(search.value);
	search.addEventListener("input", () => {
		flame.setSearch(search.value.trim());
		ctx.setParams({search: search.value.trim()});
		draw();
	});
	internal.addEventListener("change", () => last && show());
	more.addEventListener("click", () => {
		shown += FIRST * 2;
		draw();
	});
	ctx.root.append(h("div", {class: "controls"}, h("label", {class: "grow", for: "search"}, "Search ", search),
		h("label", {}, internal, " frames inside libfiber")), ctx.drawing(flame.element), h("h2", {}, "Groups of equal stacks"), sum, list, more);
	question = ctx.ask({command: "stacks", parameters: () => ({min}), period: () => last && last.cut ? 10000 : 2000, take, fail});
	return {filter: search};
}
