// SPDX-License-Identifier: MIT
/*
 * programs.js - the programs of this user, those in trouble first
 */
import {badge, h, processHref, say} from "./dom.js";
import {Table, text} from "./table.js";
import {count, grade, many} from "./words.js";

const ORDER = {bad: 0, slow: 1, unknown: 2, ok: 3};

function concerned(verdict) {
	return Number(verdict.split(" ")[1] || 0);
}

function worse(a, b) {
	return ORDER[grade(a.verdict)] - ORDER[grade(b.verdict)] || concerned(b.verdict) - concerned(a.verdict) ||
		b.fibers - a.fibers || a.pid - b.pid;
}

const COLUMNS = [
	{title: "Program", show: text((p) => p.name)},
	{title: "Verdict", show: (td, p) => {
		if (!td.firstChild)
			td.append(h("span"));
		badge(td.firstChild, grade(p.verdict), p.verdict === "-" ? "not readable" : p.verdict);
	}, help: "The worst finding of one look, and its number of fibers"},
	{title: "Process", number: true, show: text((p) => p.pid)},
	{title: "Fibers", number: true, show: text((p) => count(p.fibers))},
	{title: "Carriers", number: true, wide: true, show: text((p) => p.carriers)},
	{title: "Policy", wide: true, show: text((p) => p.policy), help: "What pinned fibers that wait do"},
	{title: "Command", wide: true, grow: true, show: text((p) => p.command)},
];

export function openPrograms(ctx) {
	const sum = h("p", {class: "dim"});
	const table = new Table(COLUMNS, {label: "Programs with fibers", key: (p) => `${p.pid} ${p.socket}`,
		href: (p) => p.pid ? processHref(p.pid) : null, empty: "No program with fibers runs as this user, or none has a control socket."});

	ctx.title("Programs");
	ctx.root.append(sum, table.element);
	ctx.ask({path: "processes", period: 1000, take: (answer) => {
		const programs = [...answer.processes].sort(worse), bad = programs.filter((p) => !["ok", "unknown"].includes(grade(p.verdict)));
		say(sum, `${many(programs.length, "program")} on ${answer.host || "this machine"}, ` +
			(bad.length ? `${count(bad.length)} with a finding` : "no findings"));
		table.update(programs);
		ctx.ready();
	}});
	return {table};
}
