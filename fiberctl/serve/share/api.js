// SPDX-License-Identifier: MIT
/*
 * api.js - requests to the server
 *
 * An answer is the JSON of fiberctl, or {text} where it is plain text, an error an ApiError with the words of the server. A request
 * that gets no answer at all is an error with status 0. When the server wants a bearer token the
 * viewer is asked for it once, and all requests that were refused are sent again.
 */
import {el} from "./dom.js";

/* The server may be slow with a program of a million fibers, but not forever. */
const PATIENCE_MS = 30000;
const TOKEN = "fiberctl-token";

export class ApiError extends Error {
	constructor(status, text) {
		super(text);
		this.status = status;
	}
}

/* What the last requests met: when the server last answered and since when it does not, in ms. */
export const heard = {last: 0, silentSince: null};

let bearer = null, asking = null, session = null;

try {
	bearer = window.sessionStorage.getItem(TOKEN);
} catch (e) {
	/* Forbidden: the token is asked for with each load of the page. */
}

function askToken() {
	if (asking)
		return asking;
	asking = new Promise((resolve) => {
		const dialog = el("token"), value = el("token-value");
		if (bearer)
			el("token-text").textContent = "That was not the token of this server.";
		value.value = "";
		el("token-form").onsubmit = (event) => {
			event.preventDefault();
			bearer = value.value.trim();
			try {
				window.sessionStorage.setItem(TOKEN, bearer);
			} catch (e) {
				/* As above. */
			}
			dialog.close();
		};
		dialog.oncancel = (event) => event.preventDefault();
		dialog.onclose = () => {
			asking = null;
			resolve();
		};
		dialog.showModal();
	});
	return asking;
}

async function send(path, options, signal) {
	const late = AbortSignal.timeout(PATIENCE_MS);
	const headers = Object.assign({}, options.headers, bearer ? {Authorization: `Bearer ${bearer}`} : {});
	const used = bearer;
	let answer;
	try {
		answer = await fetch(path, Object.assign({cache: "no-store", credentials: "omit"}, options, {headers,
			signal: signal ? AbortSignal.any([signal, late]) : late}));
	} catch (e) {
		if (signal && signal.aborted)
			throw e;
		if (heard.silentSince === null)
			heard.silentSince = Date.now();
		throw new ApiError(0, "the server does not answer");
	}
	heard.last = Date.now();
	heard.silentSince = null;
	if (answer.status === 401) {
		if (used === bearer)
			await askToken();
		return send(path, options, signal);
	}
	return answer;
}

async function json(answer) {
	let body;
	if (answer.ok && answer.headers.get("Content-Type").startsWith("text/plain"))
		return {text: await answer.text(), problems: []};
	try {
		body = await answer.json();
	} catch (e) {
		throw new ApiError(answer.ok ? 0 : answer.status, `the server has answered ${answer.status} without JSON`);
	}
	if (!answer.ok)
		throw new ApiError(answer.status, body.error ? body.error.text : `status ${answer.status}`);
	return body;
}

/* "/api/v1/x?a=b": parameters that are null, false or empty are left out. */
export function address(path, parameters) {
	const query = new URLSearchParams();
	for (const [name, value] of Object.entries(parameters || {}))
		if (value !== null && value !== undefined && value !== false && value !== "")
			query.set(name, value === true ? "1" : value);
	return `/api/v1/${path}${query.size ? `?${query}` : ""}`;
}

export async function get(path, parameters, signal) {
	return json(await send(address(path, parameters), {}, signal));
}

/* {version, allowChanges, token}, asked once; fresh: ask again, as the server may be another one. */
export async function getSession(fresh) {
	if (fresh || !session)
		session = await get("session");
	return session;
}

/* Ask for a change. A server that was started again has another token: then ask once more with that. */
export async function post(path, parameters) {
	for (let tries = 0; ; tries++) {
		const {token} = await getSession(tries > 0);
		try {
			return await json(await send(address(path, parameters),
				{method: "POST", headers: {"X-Fiber-Token": token || ""}}));
		} catch (e) {
			if (e.status !== 403 || tries > 0)
				throw e;
		}
	}
}

/*
 * Let a link to a file work on a server with a bearer token, which a link cannot send: fetch the file
 * and save it under `name`.
 */
export function guardLink(a, name) {
	a.addEventListener("click", async (event) => {
		if (!bearer)
			return;
		event.preventDefault();
		const answer = await send(a.getAttribute("href"), {});
		const url = URL.createObjectURL(await answer.blob()), save = document.createElement("a");
		save.href = url;
		save.download = name;
		save.click();
		setTimeout(() => URL.revokeObjectURL(url), 60000);
	});
	return a;
}
