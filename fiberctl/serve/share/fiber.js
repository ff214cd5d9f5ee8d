// SPDX-License-Identifier: MIT
/*
 * fiber.js - one fiber: why it does not run, its stack, its fields and its family
 *
 * When it exits, what was last seen stays on the page.
 */
import {change, whenAllowed} from "./changes.js";
import {badge, fiberHref, fiberLinks, h, linked, processHref, refill, say} from "./dom.js";
import {frameList} from "./stacks.js";
import {bytes, called, count, duration, many, placeOf, waitWords} from "./words.js";

const CHILDREN = 20, FRAMES = 500;

function link(pid, id, words) {
	return h("a", {href: fiberHref(pid, id)}, words || `fiber ${id}`);
}

/* -- fields: [name, content], without those that do not apply -- */

function waitFields(pid, wait) {
	if (!wait)
		return [];
	const others = (wait.holders || []).filter((one) => one.holderId !== wait.holderId && one.holderId !== null);
	return [
		["Waits for", waitWords(wait)],
		["Held by", wait.holderId !== null ? [link(pid, wait.holderId), ...others.flatMap((one) => [", ", link(pid, one.holderId)])] :
			wait.holderThread !== null ? `thread ${wait.holderThread}` : null],
		["Joins", wait.targetId !== null ? link(pid, wait.targetId) : null],
		["Object", wait.object],
	];
}

function fields(pid, f) {
	const site = f.spawn.function !== null || f.spawn.file !== null ? `${f.spawn.function || ""} ${placeOf(f.spawn)}` : f.spawn.pc;
	return [
		["State", `${f.state} for ${duration(f.ageNs)}`],
		...waitFields(pid, f.wait),
		["Waiters", f.waiters.joining + f.waiters.wanting === 0 ? "none" : [`${count(f.waiters.joining)} join it, ` +
			`${count(f.waiters.wanting)} want what it holds: `, ...fiberLinks(pid, f.waiters.fiberIds, 8)]],
		["Parent", f.parentId ? link(pid, f.parentId) : "a thread"],
		["Function", f.entry],
		["Spawned in", site],
		["Carrier", f.carrier],
		["On a carrier", duration(f.cpuNs)],
		["Runnable", duration(f.runnableNs)],
		["Suspended", duration(f.waitedNs)],
		["Lived", duration(f.livedNs)],
		["Switches", count(f.switches)],
		["Stack", [f.stack.used === null ? null : `${bytes(f.stack.used)} used of ${bytes(f.stack.size)}`,
			f.stack.highWater === null ? null : `, at most ${bytes(f.stack.highWater)}`, f.stack.address ? `, at ${f.stack.address}` : null,
			f.stack.pointerOutside ? "; its stack pointer is outside" : null]],
		["Pinned", f.pins ? `${f.pins} deep` : null],
		["Cancelled", f.cancelled ? f.masked ? "yes, but it masks cancellations" : "yes" : f.masked ? "it masks cancellations" : null],
		...Object.entries(f.labels).map(([key, value]) => [`Label ${key}`, value]),
	].filter(([, value]) => value !== null && value !== undefined && value !== "");
}

/* -- changes -- */

function act(ctx, name, what, title, text, yes) {
	return h("button", {type: "button", click: () => change({title, text, yes, path: `processes/${ctx.pid}/${name}`,
		parameters: {id: ctx.id}, done: (answer) => {
			const one = answer[name] || answer;
			const wait = one.endedWait === true ? ", its wait ended" : one.endedWait === false ? ", it was in no wait that this ends" : "";
			return `Fiber ${ctx.id}: ${what} requested${wait}.`;
		}})}, `${what[0].toUpperCase()}${what.slice(1)} it`);
}

function actions(ctx) {
	const element = h("div", {class: "buttons"});
	whenAllowed(element, () => [
		act(ctx, "cancel", "cancel", `Cancel fiber ${ctx.id}?`,
			"Its current wait and every later one return -ECANCELED. A cancellation cannot be withdrawn.", "Cancel the fiber"),
		act(ctx, "wake", "wake", `Wake fiber ${ctx.id}?`,
			"Its fiber_park() returns as if it had been unparked. A program that does not expect this may fail.", "Wake the fiber"),
	]);
	return element;
}

/* -- its stack -- */

function stack(ctx) {
	const values = h("input", {type: "checkbox"}), internal = h("input", {type: "checkbox"}), note = h("p", {class: "dim"});
	const list = h("div", {id: "stack"});
	const lines = h("input", {type: "checkbox"}), source = h("pre", {id: "source", tabindex: "0", hidden: true});
	let last = null, question = null, asked = null;

	function draw() {
		const f = last.fibers[0];
		if (!f)
			return;
		say(note, [f.paused ? "It was running: its thread was stopped for the time of a copy." : "",
			f.switching ? "It was in the middle of a switch." : "",
			f.framesLeftOut ? `${many(f.framesLeftOut, "frame")} left out.` : "", ...last.problems].filter((t) => t).join(" "));
		refill(list, JSON.stringify([internal.checked, f.truncated, f.frames]), () => f.frames.length ?
			frameList(f.frames, internal.checked, f.truncated) : h("p", {class: "empty"}, "Its stack cannot be read now."));
	}

	values.addEventListener("change", () => question.again());
	internal.addEventListener("change", () => last && draw());
	question = ctx.ask({command: "bt", period: 1500,
		parameters: () => ({id: ctx.id, args: values.checked, locals: values.checked, frames: FRAMES}),
		take: (answer) => {
			last = answer;
			draw();
			ctx.ready();
		}, fail: (e, otherwise) => ctx.lost(e, otherwise)});
	asked = ctx.ask({command: "source", period: 5000, parameters: () => lines.checked ? {id: ctx.id} : null,
		take: (answer) => {
			source.textContent = answer.text; // fiberctl has escaped it
		}, fail: (e, otherwise) => ctx.lost(e, otherwise)});
	lines.addEventListener("change", () => {
		source.hidden = !lines.checked;
		source.textContent = "";
		asked.again();
	});
	return h("section", {class: "panel"}, h("h2", {}, "Stack"), h("div", {class: "controls"},
		h("label", {}, values, " arguments and variables"), h("label", {}, internal, " frames inside libfiber"),
		h("label", {}, lines, " source lines")), note, list, source);
}

function family(ctx) {
	const list = h("ul", {class: "plain"}), title = h("h2", {}, "Children");
	ctx.ask({command: "list", period: 3000, parameters: () => ({where: `parent=${ctx.id}`, limit: CHILDREN}), take: (answer) => {
		say(title, answer.matched ? `${many(answer.matched, "child").replace("childs", "children")}` : "No children");
		refill(list, JSON.stringify(answer.fibers.map((f) => [f.id, f.name, f.state])), () => [...answer.fibers.map((f) =>
			h("li", {}, link(ctx.pid, f.id), called(f) ? ` ${called(f)}` : "", `, ${f.state}`)), answer.matched > CHILDREN ?
			h("li", {}, h("a", {href: processHref(ctx.pid, `fibers?where=parent%3D${ctx.id}`)}, "all")) : null]);
	}});
	return h("section", {class: "panel"}, title, list);
}

export function openFiber(ctx) {
	const name = h("h2", {class: "fiber-name"}), state = h("span"), why = h("p", {class: "why"});
	const gone = h("p", {class: "notice", hidden: true});
	const table = h("dl", {class: "fields"});

	/* An error of a question about this fiber: has the fiber exited, or the program ended? */
	ctx.lost = async (e, otherwise) => {
		if (e.status !== 404 || !await ctx.alive())
			return otherwise(e);
		gone.hidden = false;
		say(gone, why.textContent ? `Fiber ${ctx.id} has exited. This is what was last seen of it.` : e.message);
		return ctx.ready();
	};
	say(name, `Fiber ${ctx.id}`);
	ctx.root.append(h("div", {class: "line"}, name, " ", state), gone, why, actions(ctx), h("div", {class: "two wide-left"}, stack(ctx),
		h("div", {}, h("section", {class: "panel"}, h("h2", {}, "Fields"), table), family(ctx))));
	ctx.ask({command: "show", parameters: () => ({id: ctx.id}), period: 1000, fail: ctx.lost, take: (answer) => {
		const f = answer.fibers[0];
		gone.hidden = true;
		say(name, `Fiber ${f.id}${called(f) ? ` ${called(f)}` : ""}`);
		badge(state, f.state === "suspended" ? "unknown" : f.state === "dead" ? "slow" : "ok", f.state);
		refill(why, f.why, () => linked(f.why, ctx.pid));
		refill(table, JSON.stringify(f), () => fields(ctx.pid, f).flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)]));
	}});
	return {};
}

