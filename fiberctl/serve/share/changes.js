// SPDX-License-Identifier: MIT
/*
 * changes.js - what the viewer can change, each after a question
 *
 * The server decides whether changes are allowed; the page only hides what would be refused.
 */
import {getSession, post} from "./api.js";
import {el, h, say} from "./dom.js";

let hiding = 0;

/* A line at the bottom of the page, for some seconds. */
export function tell(text, bad) {
	const said = el("said");
	said.className = `said${bad ? " bad" : ""} shown`;
	say(said, text);
	clearTimeout(hiding);
	hiding = setTimeout(() => {
		said.className = "said";
	}, 8000);
}

function confirmed(title, text, yes) {
	const dialog = el("confirm");
	say(el("confirm-title"), title);
	say(el("confirm-text"), text);
	say(el("confirm-yes"), yes);
	return new Promise((resolve) => {
		/* Not the event close: it comes later, when the dialog may be open for the next question. */
		const settle = (answer) => {
			dialog.close();
			resolve(answer);
		};
		el("confirm-yes").onclick = () => settle(true);
		el("confirm-no").onclick = () => settle(false);
		dialog.oncancel = () => resolve(false);
		dialog.showModal();
		el("confirm-no").focus();
	});
}

/*
 * Ask the viewer, then the server. Shows done(answer) when the server has made the change, or its error message.
 * Returns the answer, or null.
 */
export async function change({title, text, yes, path, parameters, done}) {
	if (!await confirmed(title, text, yes))
		return null;
	try {
		const answer = await post(path, parameters);
		tell(done(answer));
		return answer;
	} catch (e) {
		tell(e.message, true);
		return null;
	}
}

/* Fill `element` with make() if changes are allowed, else with a line that says how to allow them. */
export async function whenAllowed(element, make) {
	let session;
	try {
		session = await getSession();
	} catch (e) {
		return;
	}
	if (session.allowChanges)
		element.replaceChildren(...make());
	else
		element.replaceChildren(h("p", {class: "dim"}, "This server only looks. To allow recordings and changes from the page, ",
			"start it with ", h("code", {}, "fiberctl serve --allow-changes"), "."));
}
