// SPDX-License-Identifier: MIT
/*
 * page.js - the page: which view is open, and whether what it shows is current
 *
 * The part of the address after '#' names the view, so each view can be linked to, and the back button
 * works. A view is a function that fills ctx.root and returns {table, filter} for the keyboard. Its
 * questions stop when another view is opened.
 *
 * Nothing that was shown is removed because an answer is missing: a line says since when it is old and
 * why, and the page goes on asking.
 */
import {get, getSession, heard} from "./api.js";
import {badge, el, h, processHref, say} from "./dom.js";
import {openFiber} from "./fiber.js";
import {openFibers} from "./fibers.js";
import {listen, showKeys} from "./keys.js";
import {isPaused, live, setPaused} from "./live.js";
import {openOverview} from "./overview.js";
import {openPrograms} from "./programs.js";
import {openRecordings} from "./recordings.js";
import {openStacks} from "./stacks.js";
import {openWaits} from "./waits.js";
import {clock, grade} from "./words.js";

/* When answers are this old, the page says so. */
const OLD_MS = 3000;
const TABS = [["", "Overview", "o"], ["fibers", "Fibers", "f"], ["stacks", "Stacks", "s"], ["waits", "Waits", "w"],
	["recordings", "Recordings", "r"]];
const VIEWS = {"": openOverview, fibers: openFibers, stacks: openStacks, waits: openWaits, recordings: openRecordings, fiber: openFiber};

/*
 * The open view: {route, hash, root, view, questions, judged, state}. judged: the verdict in the header is that of the view.
 * state: when an answer about the program and any answer of the server came, in ms, and what is wrong: see trouble().
 */
let open = null, tabsOf = null, depth = -1, sessionSeen = false;
const scrolls = new Map();

/* {pid, view, id, params} of the address. */
function routeOf(hash) {
	const [path, query] = hash.replace(/^#/, "").split("?"), parts = path.split("/").filter((part) => part);
	const params = new URLSearchParams(query || "");
	if (parts[0] === "process" && /^\d+$/.test(parts[1] || "") && (parts[2] || "") in VIEWS)
		return {pid: parts[1], view: parts[2] || "", id: parts[3], params};
	return {pid: null, view: null, params};
}

/* -- what is current -- */

/* The worst of: no server, an ended program, a program that does not answer, another error. */
function trouble() {
	const {state, route} = open, [error] = state.errors.values(), name = state.name || "The program";
	const seen = state.seen ? ` This was last seen at ${clock(state.seen)}.` : "";
	if (heard.silentSince !== null)
		return `The server does not answer.${seen} The page asks again each second.`;
	if (state.ended)
		return `${name} (process ${route.pid}) has ended.${seen}`;
	if (error)
		return `${error.status === 503 ? "The server is busy" : name}: ${error.message}.${seen}`;
	return "";
}

function tellState() {
	const now = Date.now(), {state} = open, text = trouble(), link = el("link");
	const since = heard.silentSince, old = now - state.replied;
	el("notice").hidden = text === "";
	say(el("notice"), text);
	document.body.classList.toggle("old", text !== "");
	link.className = since !== null || state.ended ? "bad" : "dim";
	say(link, since !== null ? `no answer since ${Math.max(0, Math.round((now - since) / 1000))} s` : state.ended ? "ended" :
		isPaused() ? "paused" : old > OLD_MS ? `waiting ${Math.round(old / 1000)} s` : "live");
}

/* Is the process of the view still there? Asked at most once at a time. */
function alive(mine) {
	if (!mine.looking)
		mine.looking = get("processes").then((answer) => answer.processes.some((p) => String(p.pid) === mine.route.pid), () => true)
			.finally(() => {
				mine.looking = null;
			});
	return mine.looking;
}

async function failed(mine, question, e) {
	if (e.status !== 0 && mine.route.pid && (e.status === 404 || e.status === 502) && !await alive(mine))
		Object.assign(mine.state, {ended: true, back: false});
	else if (e.status !== 0)
		mine.state.errors.set(question, e);
	else
		sessionSeen = false;
	if (mine === open)
		tellState();
}

/*
 * An answer came: what was wrong with its question is over. That the program has ended is not: the answer may be one that the
 * server had. After a silence the server may be another one.
 */
function answered(mine, question) {
	const {state, route} = mine;
	state.errors.delete(question);
	/* The list of programs says nothing about the one that the view is of. */
	if (route.pid === null || question.command)
		state.seen = state.replied = Date.now();
	if (!sessionSeen)
		readSession();
	if (mine === open)
		tellState();
}

async function readSession() {
	sessionSeen = true;
	try {
		say(el("version"), `fiberctl ${(await getSession(true)).version}`);
	} catch (e) {
		sessionSeen = false;
	}
}

/* -- views -- */

function contextOf(mine) {
	const {route} = mine;
	return {pid: route.pid, id: route.id, params: route.params, root: mine.root,
		/* Ask `command` of the process, or another path; see live(). */
		ask(question) {
			const failing = (e) => failed(mine, question, e);
			const one = live({...question, path: question.path || `processes/${route.pid}/${question.command}`,
				take: (answer) => {
					answered(mine, question);
					if (answer.pid !== undefined && String(answer.pid) === route.pid)
						mine.state.name = answer.name;
					question.take(answer);
				}, fail: (e) => {
					if (e.status !== 0)
						mine.state.replied = Date.now();
					return question.fail ? question.fail(e, failing) : failing(e);
				}});
			mine.questions.push(one);
			return one;
		},
		alive: () => alive(mine),
		/* The verdict of a look at this program alone, which is newer than that in the list of programs. */
		verdict(verdict) {
			mine.judged = Boolean(verdict);
			if (verdict)
				badge(el("verdict"), grade(verdict), verdict);
		},
		title: (text) => {
			say(el("title"), text);
			document.title = text === "Programs" ? "fibers" : `${text} - fibers`;
		},
		/* Change the parameters in the address; empty ones are left out. */
		setParams(params) {
			const query = new URLSearchParams(Object.entries(params).filter(([, value]) => value !== ""));
			const hash = `${location.hash.split("?")[0]}${query.size ? `?${query}` : ""}`;
			history.replaceState(history.state, "", hash);
			mine.hash = hash;
		},
		/* An element for a drawing, or a line in its place. */
		drawing: (element) => window.d3 ? element : h("p", {class: "dim no-drawing"}, "built without d3: no drawings"),
		/* The view is filled: restore what a return to it should find. */
		ready() {
			if (mine.ready)
				return;
			mine.ready = true;
			mine.root.dataset.ready = "yes";
			const at = scrolls.get(mine.hash);
			if (!at)
				return;
			window.scrollTo(0, at.page);
			mine.root.querySelectorAll(".scroll").forEach((box, i) => {
				box.scrollTop = at.boxes[i] || 0;
			});
		}};
}

function close() {
	if (!open)
		return;
	open.questions.forEach((question) => question.stop());
	scrolls.set(open.hash, {page: window.scrollY, boxes: [...open.root.querySelectorAll(".scroll")].map((box) => box.scrollTop)});
	open.root.remove();
}

function showTabs(route) {
	const nav = el("tabs");
	nav.hidden = route.pid === null;
	if (tabsOf !== route.pid) {
		tabsOf = route.pid;
		nav.replaceChildren(...(route.pid === null ? [] : TABS.map(([view, words]) =>
			h("a", {href: processHref(route.pid, view), "data-view": view}, words))));
		el("verdict").className = "";
		say(el("verdict"), "");
	}
	for (const a of nav.children)
		if (a.dataset.view === route.view || (route.view === "fiber" && a.dataset.view === "fibers"))
			a.setAttribute("aria-current", "page");
		else
			a.removeAttribute("aria-current");
}

/* The name and the verdict in the header of all views of a process. */
function watchName(ctx, mine) {
	let known = null;
	ctx.title(`Process ${mine.route.pid}`);
	ctx.ask({path: "processes", period: 3000, take: (answer) => {
		const one = answer.processes.find((p) => String(p.pid) === mine.route.pid);
		if (!one) {
			Object.assign(mine.state, {ended: true, back: false});
			return tellState();
		}
		/* The first list after the end may have been on its way before it; the second is of a new program with that id. */
		mine.state.ended &&= !mine.state.back;
		mine.state.back = true;
		mine.state.name = one.name;
		if (known !== one.name)
			ctx.title(`${one.name} (${one.pid})`);
		known = one.name;
		if (!mine.judged)
			badge(el("verdict"), grade(one.verdict), one.verdict);
	}});
}

function go() {
	if (open && open.hash === location.hash)
		return;
	close();
	/* How many entries of the history lead back to views of this page; a link makes an entry without a state. */
	if (history.state)
		({depth} = history.state);
	else
		history.replaceState({depth: ++depth}, "");
	const route = routeOf(location.hash), root = h("div", {class: `view ${route.pid === null ? "programs" : route.view || "overview"}`});
	const state = {replied: Date.now(), seen: 0, name: "", ended: false, back: false, errors: new Map()};
	const mine = {route, hash: location.hash, root, questions: [], judged: false, state};
	open = mine;
	el("main").append(root);
	showTabs(route);
	window.scrollTo(0, 0);
	const ctx = contextOf(mine);
	if (route.pid !== null)
		watchName(ctx, mine);
	mine.view = (route.pid === null ? openPrograms : VIEWS[route.view])(ctx);
	tellState();
}

/* -- the header and the keys -- */

function pause() {
	setPaused(!isPaused());
	el("pause").setAttribute("aria-pressed", isPaused());
	say(el("pause"), isPaused() ? "Continue" : "Pause");
	tellState();
}

function theme() {
	window.theme.next();
	sayTheme();
}

function sayTheme() {
	const name = window.theme.name();
	el("theme").setAttribute("aria-label", `Theme: ${name}`);
	say(el("theme"), {system: "Auto", dark: "Dark", light: "Light"}[name]);
}

/* One step up, or back to where the viewer came from. */
function back() {
	const {pid, view} = open.route;
	if (history.state && history.state.depth > 0)
		history.back();
	else
		location.hash = pid === null || view === "" ? "#/" : processHref(pid, view === "fiber" ? "fibers" : "");
}

function start() {
	el("pause").addEventListener("click", pause);
	el("theme").addEventListener("click", theme);
	el("help").addEventListener("click", showKeys);
	el("keys-close").addEventListener("click", () => el("keys").close());
	el("skip").addEventListener("click", () => el("main").focus());
	listen({view: () => open.view, pause, theme, back, go(letter) {
		const tab = TABS.find(([, , key]) => key === letter);
		if (letter === "p")
			location.hash = "#/";
		else if (tab && open.route.pid !== null)
			location.hash = processHref(open.route.pid, tab[0]);
		else
			return false;
		return true;
	}});
	window.addEventListener("hashchange", go);
	setInterval(tellState, 500);
	if (!window.d3)
		say(el("drawings"), "built without d3: no drawings");
	sayTheme();
	readSession();
	go();
}

start();
