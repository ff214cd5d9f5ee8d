// SPDX-License-Identifier: MIT
/*
 * words.js - numbers, times and waits in words
 *
 * The words are those of fiberctl: a person who knows one output can read the other.
 */

/*
 * Text with control characters, invisible characters and characters that change the direction of
 * writing replaced by their codes. Names come from programs that may be hostile: such a character
 * could make one name look like another.
 */
export function visible(text) {
	return String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}]/gu, (c) => c.codePointAt(0) < 256 ?
		`\\x${c.codePointAt(0).toString(16).padStart(2, "0")}` : `\\u{${c.codePointAt(0).toString(16)}}`);
}

/* "12.3s", "1m58s", "20ms": three digits of seconds and less, then whole units. */
export function duration(ns) {
	if (ns === null || ns === undefined)
		return "";
	if (ns < 1000)
		return `${Math.round(ns)}ns`;
	for (const [unit, name] of [[1e3, "us"], [1e6, "ms"], [1e9, "s"]]) {
		const value = ns / unit;
		if (value < 99.95)
			return `${value.toFixed(1).replace(/\.0$/, "")}${name}`;
		if (name !== "s" && value < 999.5)
			return `${Math.round(value)}${name}`;
	}
	const s = Math.round(ns / 1e9);
	if (s < 3600)
		return `${Math.floor(s / 60)}m${String(s % 60).padStart(2, "0")}s`;
	if (s < 86400)
		return `${Math.floor(s / 3600)}h${String(Math.floor(s / 60) % 60).padStart(2, "0")}m`;
	return `${Math.floor(s / 86400)}d${String(Math.floor(s / 3600) % 24).padStart(2, "0")}h`;
}

/* "12,345" */
export function count(n) {
	return n === null || n === undefined ? "" : Math.round(n).toLocaleString("en-US");
}

/* "1 fiber", "12,345 fibers" */
export function many(n, noun) {
	return `${count(n)} ${noun}${n === 1 ? "" : "s"}`;
}

/* "3.4k": at most three digits, for axes and narrow cells. */
export function short(n) {
	for (const [unit, name] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]])
		if (Math.abs(n) >= unit)
			return `${+(n / unit).toPrecision(3)}${name}`;
	return `${+n.toPrecision(3)}`;
}

/* "64 KiB" */
export function bytes(n) {
	if (n === null || n === undefined)
		return "";
	for (const [unit, name] of [[1 << 30, "GiB"], [1 << 20, "MiB"], [1 << 10, "KiB"]])
		if (n >= unit)
			return `${+(n / unit).toPrecision(3)} ${name}`;
	return `${n} B`;
}

/* "12.5%" of one CPU */
export function percent(share) {
	return share === null || share === undefined ? "" : `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)}%`;
}

/* "14:03:12", the clock of the viewer. */
export function clock(ms) {
	return new Date(ms).toLocaleTimeString("en-GB");
}

/*
 * How bad a verdict is, "deadlock 2" or a rule of `why` alone: bad (will not end by itself), slow, ok
 * or unknown. severity: that of the finding, which decides if it is given.
 */
export function grade(verdict, severity) {
	const rule = verdict ? verdict.split(" ")[0] : "-";
	if (severity)
		return severity === "lasting" ? "bad" : "slow";
	if (rule === "ok")
		return "ok";
	if (rule === "-")
		return "unknown";
	return ["deadlock", "stopped", "leaks"].includes(rule) ? "bad" : "slow";
}

/* The name of a fiber, or its function in its place. */
export function called(fiber) {
	return fiber.name ? fiber.name : fiber.entry ? `${fiber.entry}()` : "";
}

/* What a fiber waits for, without the holder: 'mutex "lock-1"', "fd 4 read", "sleep, 38.4s left". */
export function waitWords(wait) {
	if (!wait)
		return "";
	let words = wait.kind;
	if (wait.fd !== null)
		words += ` ${wait.fd}`;
	if (wait.events !== null)
		words += ` ${wait.events}`;
	if (wait.objectName)
		words += ` "${wait.objectName}"`;
	else if (wait.object !== null && wait.targetId === null)
		words += ` ${wait.object}`;
	if (wait.targetId !== null)
		words += ` of fiber ${wait.targetId}`;
	if (wait.leftNs !== null)
		words += `, ${duration(wait.leftNs)} left`;
	return words;
}

/* The function of a frame; if it is not known, the place in its module. */
export function functionOf(frame) {
	if (frame.function !== null)
		return frame.function;
	const module = frame.module === null ? "" : frame.module.slice(frame.module.lastIndexOf("/") + 1);
	return module && frame.offset !== null ? `${module}+0x${frame.offset.toString(16)}` : frame.pc;
}

/* "store.c:230", or "" if it is not known. */
export function placeOf(frame) {
	return frame.file === null ? "" : frame.line ? `${frame.file}:${frame.line}` : frame.file;
}

/* Text as a value in the language of --where. */
export function quoted(text) {
	return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
