// SPDX-License-Identifier: MIT
/*
 * theme.js - light or dark, before the first paint
 *
 * The system decides unless the viewer has chosen; the choice is in localStorage. This is a classic
 * script in the head: a module would run after the first paint, and a dark page would flash white.
 */
"use strict";

window.theme = (() => {
	const KEY = "fiberctl-theme", NEXT = {system: "dark", dark: "light", light: "system"};

	/* localStorage throws where the viewer has forbidden it. */
	function stored() {
		try {
			const value = window.localStorage.getItem(KEY);
			return value in NEXT ? value : "system";
		} catch (e) {
			return "system";
		}
	}

	let chosen = stored();

	function apply() {
		if (chosen === "system")
			delete document.documentElement.dataset.theme;
		else
			document.documentElement.dataset.theme = chosen;
	}

	apply();
	return {
		/* Change to the next of system, dark and light; returns its name. */
		next() {
			chosen = NEXT[chosen];
			apply();
			try {
				window.localStorage.setItem(KEY, chosen);
			} catch (e) {
				/* The choice then ends with this page. */
			}
			return chosen;
		},
		name: () => chosen,
	};
})();
