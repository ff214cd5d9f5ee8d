// SPDX-License-Identifier: MIT
/*
 * waits.js - who waits for whom: deadlocks in words, the graph, and the same as a table
 */
import {WaitsGraph, graphOf} from "./graph.js";
import {badge, fiberHref, fiberLinks, h, processHref, reconcile, refill, say} from "./dom.js";
import {Table, text} from "./table.js";
import {called, count, duration, functionOf, many, placeOf, quoted, waitWords} from "./words.js";

/* Holders asked for, and boxes of which the name and the wait are asked for. */
const MOST = 50, NAMED = 60, MEMBERS = 12;

/* -- deadlocks -- */

const KINDS = {
	"cycle": (f) => `${many(f.count, "fiber")} wait for each other in a cycle`,
	"self-lock": () => "a fiber waits for a lock that it holds itself",
	"dead-holder": (f) => `${many(f.count, "fiber")} ${f.count === 1 ? "waits" : "wait"} for a lock whose holder has exited`,
	"join-ancestor": (f) => `${many(f.count, "fiber")} in joins on an ancestor`,
	"thread-holder": (f) => `${many(f.count, "fiber")} ${f.count === 1 ? "waits" : "wait"} for a lock that a thread holds`,
	"all-wait": (f) => `all ${many(f.count, "fiber")} wait, and nothing is left that could wake one`,
};

function sentence(f) {
	return (KINDS[f.kind] || (() => `${f.kind}: ${many(f.count, "fiber")}`))(f) +
		(f.behind ? `; ${many(f.behind, "more fiber")} ${f.behind === 1 ? "waits" : "wait"} for these` : "") +
		(f.leftNs !== null ? `; a deadline ends it in ${duration(f.leftNs)}` : "");
}

function memberLine(pid, fiber) {
	const own = fiber.frames.find((f) => !f.internal && f.file !== null && !functionOf(f).startsWith("fiber_")) ||
		fiber.frames.find((f) => !f.internal);
	const wait = fiber.wait, holder = wait && wait.holderId;
	return h("li", {}, fiber.thread ? `thread ${fiber.id} ` : h("a", {href: fiberHref(pid, fiber.id)}, `fiber ${fiber.id}`),
		called(fiber) ? ` "${called(fiber)}"` : "", wait ? ` waits for ${waitWords(wait)}` : ` is ${fiber.state}`,
		holder ? [", held by ", h("a", {href: fiberHref(pid, holder)}, `fiber ${holder}`)] :
			wait && wait.holderThread !== null ? `, held by thread ${wait.holderThread}` : "", `, for ${duration(fiber.ageNs)}`,
		own ? h("span", {class: "place"}, ` in ${functionOf(own)}${placeOf(own) ? ` at ${placeOf(own)}` : ""}`) : "");
}

function deadlocks(ctx) {
	const list = h("ul", {class: "findings", id: "deadlocks"}), none = h("p", {class: "dim"});

	function make() {
		const card = h("li", {class: "finding"}), mark = h("span"), words = h("strong"), members = h("ol", {class: "members"});
		card.append(h("p", {class: "line"}, mark, " ", words), members);
		card.show = (f) => {
			card.className = `finding ${f.deadlock ? "bad" : "slow"}`;
			badge(mark, f.deadlock ? "bad" : "slow", f.deadlock ? "deadlock" : "may resolve");
			say(words, sentence(f));
			refill(members, JSON.stringify(f.fibers.map((m) => [m.id, m.wait && m.wait.holderId, Math.round(m.ageNs / 1e9)])),
				() => [...f.fibers.slice(0, MEMBERS).map((m) => memberLine(ctx.pid, m)),
					f.count > Math.min(MEMBERS, f.fibers.length) ?
					h("li", {}, `and ${count(f.count - Math.min(MEMBERS, f.fibers.length))} more`) : null]);
		};
		return card;
	}

	ctx.ask({command: "deadlock", period: 2000, take: (answer) => {
		const unknown = Object.entries(answer.notFollowed).map(([kind, n]) => `${kind} ${count(n)}`).join(", ");
		reconcile(list, answer.findings.slice(0, 20), (f) => `${f.kind} ${f.fiberIds[0]} ${f.count}`, make, (card, f) => card.show(f));
		say(none, (answer.findings.length ? "" : "No deadlock. ") +
			(unknown ? `Waits that nobody is known to end: ${unknown}; a deadlock may hide there.` : ""));
	}});
	return [list, none];
}

/* -- the graph -- */

/* A filter for the fibers of a box with many. */
function groupFilter(n) {
	return n.object !== null ? `address=${n.object}` : n.holder !== null ? `holder=${n.holder}` :
		n.name ? `wait=${n.of} and object=${quoted(n.name)}` : `wait=${n.of}`;
}

function words(n, known) {
	const [first, second] = plainWords(n, known);
	return [n.behind > 1 ? `${first} (${count(n.behind)} wait)` : first, second];
}

function plainWords(n, known) {
	const fiber = n.kind === "fiber" ? known.get(n.ids[0]) : null;
	if (fiber)
		return [`${fiber.id} ${called(fiber)}`, fiber.wait ? `${duration(fiber.ageNs)} in ${waitWords(fiber.wait)}` :
			`${fiber.state} for ${duration(fiber.ageNs)}`];
	switch (n.kind) {
	case "fiber":
		return [`fiber ${n.ids[0]} ${n.name}`, n.state === "gone" ? "has exited" : n.state || "waits"];
	case "thread":
		return [`thread ${n.thread} ${n.name}`, n.state === "ended" ? "has ended" : "not a fiber"];
	case "group":
		return [many(n.count, "fiber"), `${n.ageNs ? `${duration(n.ageNs.max)} in ` : ""}${n.of} ${n.name ? `"${n.name}"` : n.object || ""}`];
	default:
		return [`${n.of} ${n.name ? `"${n.name}"` : n.object || ""}`, "held by no known fiber"];
	}
}

function hrefOf(pid, n) {
	return n.kind === "fiber" && n.state !== "gone" ? fiberHref(pid, n.ids[0]) :
		n.kind === "group" ? processHref(pid, `fibers?${new URLSearchParams({where: groupFilter(n)})}`) : null;
}

function holderTable(ctx) {
	return new Table([
		{title: "Holder", show: text((o) => o.who)},
		{title: "Waiting", number: true, show: text((o) => count(o.count)), help: "Fibers that wait for this object"},
		{title: "Behind", number: true, wide: true, show: text((o) => count(o.behind)), help: "Fibers that wait for those fibers"},
		{title: "For", grow: true, show: text((o) => `${o.kind} ${o.objectName ? `"${o.objectName}"` : o.object || ""}`)},
		{title: "Longest", number: true, show: text((o) => o.ageNs ? duration(o.ageNs.max) : "")},
		{title: "Waiters", wide: true, show: (td, o) => refill(td, o.fiberIds.slice(0, 7).join(), () => fiberLinks(ctx.pid, o.fiberIds, 6))},
	], {label: "Holders and their waiters", key: (o) => o.key, href: (o) => o.href, empty: "No fiber waits for another one."});
}

/* Cycles first, then holders in the order of the server; waits whose holder is not known last. */
function sorted(answer) {
	const rank = (holder) => holder.cycle ? 0 : holder.holderId !== null || holder.holderThread !== null ? 1 : 2;
	return {...answer, holders: [...answer.holders].sort((a, b) => rank(a) - rank(b))};
}

function rowsOf(pid, answer) {
	return answer.holders.flatMap((holder) => holder.objects.map((object) => {
		const id = holder.holderId, name = holder.holderName ? ` "${holder.holderName}"` : "";
		return {...object, behind: holder.behind, key: `${id} ${holder.holderThread} ${object.kind} ${object.object} ${object.objectName}`,
			who: id !== null ? `fiber ${id}${name}` : holder.holderThread !== null ? `thread ${holder.holderThread}${name}` : "not known",
			href: id !== null ? fiberHref(pid, id) : hrefOf(pid, {kind: "group", of: object.kind, object: object.object,
				name: object.objectName, holder: null})};
	}));
}

export function openWaits(ctx) {
	const known = new Map(), sum = h("p", {class: "dim"});
	const graph = new WaitsGraph((n) => hrefOf(ctx.pid, n), (n) => words(n, known));
	const table = holderTable(ctx);
	let drawn = null;

	/* The names and waits of the fibers in the boxes. */
	const names = ctx.ask({command: "list", period: 2000, parameters: () => {
		const ids = drawn ? drawn.nodes.filter((n) => n.kind === "fiber").slice(0, NAMED).map((n) => `id=${n.ids[0]}`) : [];
		return ids.length ? {where: ids.join(" or "), limit: NAMED} : null;
	}, take: (answer) => {
		known.clear();
		answer.fibers.forEach((f) => known.set(f.id, f));
		graph.update(drawn);
		ctx.ready();
	}});

	ctx.root.append(...deadlocks(ctx), h("h2", {}, "Who waits for whom"), sum, ctx.drawing(h("div", {class: "graph-box",
		tabindex: 0, role: "region", "aria-label": "Graph of waits"}, graph.element)), table.element);
	ctx.ask({command: "waits", parameters: () => ({limit: MOST}), period: 1500, take: (unsorted) => {
		const answer = sorted(unsorted), first = !drawn || !drawn.nodes.length;
		drawn = graphOf(answer);
		graph.update(drawn);
		graph.element.parentNode.hidden = drawn.nodes.length === 0;
		table.update(rowsOf(ctx.pid, answer));
		say(sum, answer.waitingTotal === 0 ? "" : `${count(answer.waiting)} of ${many(answer.total, "fiber")} wait for others` +
			(answer.holdersShown < answer.holdersTotal ? `; the ${count(answer.holdersShown)} worst of ` +
				`${many(answer.holdersTotal, "holder")} are shown` : "") +
			(answer.problems.length ? `. ${answer.problems.join(". ")}` : ""));
		if (first && drawn.nodes.length)
			names.again();
		if (!drawn.nodes.length)
			ctx.ready();
	}});
	return {table};
}
