// SPDX-License-Identifier: MIT
/*
 * overview.js - one program: what is wrong, what it did in the last minutes, its carriers
 *
 * The findings come first: they answer why a person has opened the page. The history of the server is
 * read once, and continued from the live looks.
 */
import {get, guardLink} from "./api.js";
import {change, whenAllowed} from "./changes.js";
import {Chart} from "./charts.js";
import {badge, fiberHref, fiberLinks, h, linked, processHref, reconcile, refill, say} from "./dom.js";
import {Table, text} from "./table.js";
import {count, duration, functionOf, grade, many, percent, placeOf, short} from "./words.js";

const STATES = ["running", "runnable", "suspended", "created", "dead"];
const KEEP = 600, FINDINGS = 12, HOLE_NS = 5e9;

/* -- findings -- */

const MORE = {
	deadlock: ["waits", "the graph of waits"],
	convoy: ["waits", "the graph of waits"],
	forgotten: ["waits", "the graph of waits"],
	signal: ["waits", "the graph of waits"],
	peer: ["fibers?where=wait%3Dfd&group-by=object", "fibers by descriptor"],
	growth: ["fibers?group-by=spawn", "fibers by the place that spawned them"],
};

function findingCard(pid) {
	const box = {mark: h("span"), text: h("strong"), place: h("span", {class: "place"}), evidence: h("ul"), links: h("p")};
	const card = h("li", {class: "finding"}, h("p", {class: "line"}, box.mark, " ", box.text, " ", box.place), box.evidence, box.links);
	card.show = (finding) => {
		card.className = `finding ${grade(finding.rule, finding.severity)}`;
		badge(box.mark, grade(finding.rule, finding.severity), finding.rule);
		refill(box.text, finding.text, () => linked(finding.text, pid));
		say(box.place, finding.place ? `at ${finding.place}` : "");
		refill(box.evidence, JSON.stringify(finding.evidence), () => finding.evidence.map((e) => h("li", {}, linked(e, pid))));
		refill(box.links, JSON.stringify([finding.rule, finding.fiberIds]), () => {
			const more = MORE[finding.rule];
			return [finding.fiberIds.length ? `${finding.fibers === 1 ? "fiber" : "fibers"} ` : null,
				...fiberLinks(pid, finding.fiberIds, 8), finding.fiberIds.length && more ? " · " : null,
				more ? h("a", {href: processHref(pid, more[0])}, more[1]) : null];
		});
	};
	return card;
}

function findings(ctx) {
	const head = h("h2", {}, "Looking..."), list = h("ul", {class: "findings"}), rest = h("p", {class: "dim"});
	const panel = h("section", {class: "panel verdict unknown", "aria-label": "Findings"}, head, list, rest);

	ctx.ask({command: "why", period: 2000, take: (answer) => {
		const worst = answer.findings[0];
		panel.className = `panel verdict ${worst ? grade(worst.rule, worst.severity) : "ok"}`;
		say(head, !worst ? `Nothing is wrong with its ${many(answer.total, "fiber")}, as far as fiberctl why can see` :
			worst.severity === "lasting" ? "It will not go on by itself" : "It is slow, or something is suspicious");
		/* Two findings of one rule differ in what they say of their fibers. */
		reconcile(list, answer.findings.slice(0, FINDINGS), (f) => `${f.rule} ${f.place} ${f.fiberIds[0]}`,
			() => findingCard(ctx.pid), (card, f) => card.show(f));
		say(rest, [answer.found > FINDINGS ? `${count(answer.found - FINDINGS)} more: fiberctl why ${ctx.pid}` : "",
			...answer.problems].filter((t) => t).join(". "));
	}});
	return panel;
}

/* -- history -- */

/* Rates are null in the first look, which has none before it. */
function sampleOf(one) {
	const rate = (n) => one.intervalNs > 0 ? n / one.intervalNs * 1e9 : null, sample = {t: one.takenNs / 1e6};
	for (const state of STATES)
		sample[state] = one.states[state] || 0;
	return Object.assign(sample, {cpu: rate(one.cpuNs / 1e9), switches: rate(one.switches), new: rate(one.new), gone: rate(one.gone)});
}

function history(ctx) {
	const charts = [
		new Chart({title: "Fibers by state", series: STATES.map((name) => ({name, label: name})), stacked: true, value: short, top: 4}),
		new Chart({title: "CPUs used by fibers", series: [{name: "cpu", label: "CPU"}], value: (n) => +n.toPrecision(2), top: 0.1}),
		new Chart({title: "Switches per second", series: [{name: "switches", label: ""}], value: short, top: 10}),
		new Chart({title: "Fibers per second", series: [{name: "new", label: "new"}, {name: "gone", label: "exited"}],
			value: short, top: 4}),
	];
	let samples = null, reading = false;

	/* From the start, and after a hole that the server may have filled for another viewer. */
	async function read() {
		if (reading)
			return;
		reading = true;
		try {
			samples = (await get(`processes/${ctx.pid}/history`)).samples.map(sampleOf);
		} catch (e) {
			samples = samples || [];
		}
		reading = false;
	}

	const panel = h("section", {class: "charts", "aria-label": "The last minutes"}, charts.map((c) => c.element));
	return {panel, async take(answer) {
		const next = sampleOf({...answer, ...answer.change});
		const last = samples && samples.length ? samples[samples.length - 1].t : 0;
		if (!samples || next.t - last > HOLE_NS / 1e6)
			await read();
		if (samples.length === 0 || next.t > samples[samples.length - 1].t)
			samples.push(next);
		samples.splice(0, Math.max(0, samples.length - KEEP));
		charts.forEach((c) => c.update(samples));
	}};
}

/* -- carriers -- */

function carriers(ctx) {
	const table = new Table([
		{title: "Carrier", number: true, show: text((c) => c.name)},
		{title: "State", show: (td, c) => {
			td.className = `state ${c.state}`;
			say(td, c.state);
		}},
		{title: "Fiber", grow: true, show: (td, c) => refill(td, `${c.fiberId} ${c.fiberName}`, () => c.fiberId === null ? "" :
			h("a", {href: fiberHref(ctx.pid, c.fiberId)}, c.fiberName ? `${c.fiberId} ${c.fiberName}` : c.fiberId))},
		{title: "Running for", number: true, show: text((c) => duration(c.runningNs))},
		{title: "CPU", show: (td, c) => {
			if (!td.firstChild)
				td.append(h("meter", {min: 0, max: 1, "aria-label": "CPU"}), h("span", {class: "meter"}));
			td.firstChild.value = c.cpuShare || 0;
			say(td.lastChild, percent(c.cpuShare));
		}},
		{title: "Runnable", number: true, show: text((c) => count(c.queued)), help: "Fibers in its run queue"},
		{title: "Switches/s", number: true, wide: true, show: text((c) => c.switchesPerSecond === null ? "" : short(c.switchesPerSecond))},
		{title: "Timers", number: true, wide: true, show: text((c) => count(c.timers))},
	], {label: "Carriers", key: (c) => `${c.runtime} ${c.index}`, empty: "It has no carriers."});
	const panel = h("section", {class: "panel"}, h("h2", {}, "Carriers"), table.element);
	return {panel, take: (answer) => {
		const several = new Set(answer.carriers.map((c) => c.runtime)).size > 1;
		table.update(answer.carriers.map((c) => ({...c, name: several ? `${c.runtime}.${c.index}` : c.index})));
	}};
}

/* -- long runs and pinned waits -- */

function how(site) {
	return site.systemCall !== null ? `in ${site.systemCall}` : site.wait ? `in ${site.wait.kind}` : site.kind;
}

function events(ctx, command, title, empty) {
	const table = new Table([
		{title: "Times", number: true, show: text((e) => count(e.count))},
		{title: "Where", grow: true, show: (td, e) => {
			const words = `${functionOf({...e.site, module: null, offset: null})} ${placeOf(e.site) ? `at ${placeOf(e.site)}` : ""}`;
			refill(td, words, () => h("span", {class: "place"}, words));
		}},
		{title: "What", show: text((e) => how(e) + (e.refused ? ", refused" : ""))},
		{title: "Longest", number: true, show: text((e) => duration(e.durationNs.max))},
		{title: "Last", number: true, show: text((e) => e.lasting ? "now" : `${duration(e.lastAgoNs)} ago`)},
		{title: "Fibers", wide: true, show: (td, e) => refill(td, e.fiberIds.join(), () => fiberLinks(ctx.pid, e.fiberIds, 4))},
	], {label: title, key: (e) => `${e.kind} ${e.systemCall} ${e.site.pc} ${e.firstWallNs}`, empty});
	ctx.ask({command, period: 3000, take: (answer) => table.update(answer.sites.slice(0, 50))});
	return h("section", {class: "panel"}, h("h2", {}, title), table.element);
}

/* -- settings and profiles -- */

function setting(ctx, {label, value, control, name, title, now}) {
	return h("form", {class: "setting", submit: (event) => {
		event.preventDefault();
		change({title, text: `${label} of process ${ctx.pid} becomes ${control.value}.`, yes: `Set ${control.value}`,
			path: `processes/${ctx.pid}/${name}`, parameters: {[value]: control.value}, done: now});
	}}, h("label", {}, label, " ", control), " ", h("button", {type: "submit"}, "Set"));
}

function settings(ctx) {
	const now = h("p", {class: "dim"}), controls = h("div", {class: "settings"}), words = {policy: "", watchdog: ""};
	const tellNow = () => say(now, [words.policy, words.watchdog].filter((t) => t).join("; "));

	ctx.ask({command: "policy", period: 5000, take: ({policy}) => {
		words.policy = `Pinned fibers that wait: ${policy.pinnedBlocking}, ${many(policy.events, "time")} so far`;
		tellNow();
	}});
	ctx.ask({command: "watchdog", period: 5000, take: ({watchdog}) => {
		words.watchdog = `a run is long from ${watchdog.on ? duration(watchdog.thresholdNs) : "no time at all: off"}, ` +
			`${many(watchdog.events, "long run")} so far`;
		tellNow();
	}});
	whenAllowed(controls, () => [
		setting(ctx, {label: "Policy", value: "policy", name: "policy", title: "Change what pinned fibers do?",
			control: h("select", {}, ["warn", "error", "silent"].map((p) => h("option", {}, p))),
			now: ({policy}) => `The policy is now ${policy.pinnedBlocking}.`}),
		setting(ctx, {label: "Long run", value: "threshold", name: "watchdog", title: "Change what counts as a long run?",
			control: h("input", {value: "20ms", size: 6, required: true, "aria-label": "Long run, a time such as 20ms, or off"}),
			now: ({watchdog}) => `A run is now long from ${watchdog.on ? duration(watchdog.thresholdNs) : "no time: off"}.`}),
	]);
	return h("section", {class: "panel"}, h("h2", {}, "Settings"), now, controls);
}

function profiles(ctx) {
	const link = (href, name, words) => h("li", {}, guardLink(h("a", {href, download: name}, words), name));
	return h("section", {class: "panel"}, h("h2", {}, "Profiles"), h("ul", {},
		link(`/debug/pprof/fiber?process=${ctx.pid}`, `fiber-${ctx.pid}.pb.gz`, "where all fibers are now"),
		...[["profile", "where carriers compute"], ["block", "where fibers wait"], ["mutex", "where fibers wait for what others hold"]]
			.map(([name, words]) => link(`/debug/pprof/${name}?process=${ctx.pid}&seconds=10`, `${name}-${ctx.pid}.pb.gz`, `${words}, for 10 s`))),
	h("p", {class: "dim"}, "Files for ", h("code", {}, "go tool pprof"), ", Pyroscope and Parca."));
}

export function openOverview(ctx) {
	const past = history(ctx), crew = carriers(ctx), sum = h("p", {class: "dim sum"});

	ctx.root.append(findings(ctx), sum, past.panel, crew.panel, h("div", {class: "two"},
		events(ctx, "slow", "Long runs", "No fiber has held its carrier for too long."),
		events(ctx, "pinned", "Pinned waits", "No pinned fiber has waited.")),
	h("div", {class: "two"}, settings(ctx), profiles(ctx)));
	ctx.ask({command: "top", parameters: () => ({limit: 1}), period: 900, take: async (answer) => {
		const waits = Object.entries(answer.waits).sort((a, b) => b[1] - a[1]).slice(0, 6);
		ctx.verdict(answer.verdict);
		say(sum, `${many(answer.total, "fiber")}${waits.length ? "; they wait for: " : ""}` +
			waits.map(([kind, n]) => `${kind} ${count(n)}`).join(", "));
		crew.take(answer);
		await past.take(answer);
		ctx.ready();
	}});
	return {};
}
