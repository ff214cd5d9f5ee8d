// SPDX-License-Identifier: MIT
/*
 * recordings.js - record what all fibers do for some seconds, and open the report
 */
import {guardLink} from "./api.js";
import {change, whenAllowed} from "./changes.js";
import {badge, h, refill, say} from "./dom.js";
import {Table, text} from "./table.js";
import {clock, many} from "./words.js";

const GRADES = {running: "unknown", done: "ok", failed: "slow"};

function links(r) {
	if (r.state !== "done")
		return r.text || "";
	const name = `timeline-${r.pid}-${r.id}.json`;
	return [guardLink(h("a", {href: `/recordings/${r.id}/report.html`, target: "_blank", rel: "noopener"}, "report"),
		`report-${r.pid}-${r.id}.html`), " · ", guardLink(h("a", {href: `/recordings/${r.id}/timeline.json`, download: name}, "timeline"), name),
	r.text ? ` · ${r.text}` : null];
}

function form(ctx, again) {
	const seconds = h("input", {type: "number", id: "seconds", min: 1, max: 600, value: 5, required: true});
	return [h("form", {class: "controls", submit: async (event) => {
		event.preventDefault();
		await change({title: `Record process ${ctx.pid}?`, yes: "Record", path: `processes/${ctx.pid}/recordings`,
			text: `For ${many(Number(seconds.value), "second")} the program writes each switch and wait of its fibers into a ring. ` +
				"That costs it some CPU.", parameters: {seconds: seconds.value},
			done: () => `Recording for ${many(Number(seconds.value), "second")}.`});
		again();
	}}, h("label", {for: "seconds"}, "Record for ", seconds, " seconds"), h("button", {type: "submit"}, "Record"))];
}

export function openRecordings(ctx) {
	const start = h("div"), note = h("p", {class: "dim"});
	const table = new Table([
		{title: "Recording", number: true, show: text((r) => r.id)},
		{title: "Program", show: text((r) => `${r.name} ${r.pid}`)},
		{title: "Started", show: text((r) => clock(r.startedNs / 1e6))},
		{title: "Seconds", number: true, show: text((r) => r.seconds)},
		{title: "State", show: (td, r) => {
			if (!td.firstChild)
				td.append(h("span"));
			badge(td.firstChild, GRADES[r.state] || "unknown", r.state);
		}},
		{title: "Open", grow: true, show: (td, r) => refill(td, `${r.state} ${r.text}`, () => links(r))},
	], {label: "Recordings", key: (r) => r.id, empty: "Nothing was recorded yet."});

	const question = ctx.ask({path: "recordings", period: 1000, take: (answer) => {
		const own = answer.recordings.filter((r) => r.pid === Number(ctx.pid)), others = answer.recordings.length - own.length;
		table.update(own.reverse());
		say(note, others ? `${many(others, "recording")} of other programs.` : "");
		ctx.ready();
	}});
	whenAllowed(start, () => form(ctx, () => question.again()));
	ctx.root.append(h("h2", {}, "Recordings"), start, table.element, note);
	return {table};
}
