// SPDX-License-Identifier: MIT
/*
 * live.js - questions that are asked again and again
 *
 * Each question has at most one request in flight. A question rests while the tab is hidden, and
 * while the page is paused after it was answered once: so a view that is opened during a pause is
 * not empty.
 */
import {get} from "./api.js";

let paused = false;
const sleepers = new Set();

function wakeAll() {
	for (const wake of [...sleepers])
		wake();
}

document.addEventListener("visibilitychange", wakeAll);

export const isPaused = () => paused;

export function setPaused(on) {
	paused = on;
	wakeAll();
}

/* Until ms have passed (null: without end), or wake() of `holder` or wakeAll() is called. */
function sleep(holder, ms) {
	return new Promise((resolve) => {
		const wake = () => {
			sleepers.delete(wake);
			clearTimeout(timer);
			holder.wake = null;
			resolve();
		};
		const timer = ms === null ? undefined : setTimeout(wake, ms);
		sleepers.add(wake);
		holder.wake = wake;
	});
}

/*
 * Ask `path` with parameters() each `period` ms, a number or a function, until stop(). take(answer) gets the answers,
 * fail(error) the errors. again() asks at once, with other parameters; an answer to the old
 * ones is not used. parameters() returns null while there is nothing to ask.
 */
export function live({path, parameters, period, take, fail}) {
	const holder = {wake: null};
	let stopped = false, request = null, fresh = true;

	async function once() {
		const asked = parameters ? parameters() : {};
		if (asked === null) {
			await sleep(holder, null);
			return;
		}
		request = new AbortController();
		const {signal} = request;
		let answer, error = null;
		try {
			answer = await get(path, asked, signal);
		} catch (e) {
			error = e;
		}
		request = null;
		if (signal.aborted || stopped)
			return;
		fresh = false;
		try {
			if (error)
				fail(error);
			else
				take(answer);
		} catch (e) {
			window.reportError(e);
		}
	}

	async function run() {
		while (!stopped) {
			if (document.hidden || (paused && !fresh)) {
				await sleep(holder, null);
				continue;
			}
			const began = performance.now();
			await once();
			if (!stopped && !fresh)
				await sleep(holder, Math.max(20, (typeof period === "function" ? period() : period) - (performance.now() - began)));
			else if (!stopped)
				await sleep(holder, 20);
		}
	}

	run();
	return {
		again() {
			fresh = true;
			if (request)
				request.abort();
			if (holder.wake)
				holder.wake();
		},
		stop() {
			stopped = true;
			if (request)
				request.abort();
			if (holder.wake)
				holder.wake();
		},
	};
}
