/* SPDX-License-Identifier: MIT */
/* browser_input.c - the window, the mouse and the keyboard of a headless browser */
#include <string.h>

#include "tests/harness/cli/browser.h"

void browser_size(struct browser *b, int width, int height)
{
	browser_tell(b, "Emulation.setDeviceMetricsOverride",
		     json_pack("{s:i, s:i, s:i, s:b}", "width", width, "height", height,
			       "deviceScaleFactor", 1, "mobile", 0));
}

void browser_scheme(struct browser *b, const char *scheme)
{
	browser_tell(b, "Emulation.setEmulatedMedia",
		     json_pack("{s:[{s:s, s:s}]}", "features", "name", "prefers-color-scheme",
			       "value", scheme));
}

/* -- the mouse -- */

static void mouse(struct browser *b, const char *what, int x, int y, int buttons)
{
	browser_tell(b, "Input.dispatchMouseEvent",
		     json_pack("{s:s, s:i, s:i, s:s, s:i, s:i}", "type", what, "x", x, "y", y,
			       "button", buttons ? "left" : "none", "buttons", buttons,
			       "clickCount", buttons));
}

void browser_wheel(struct browser *b, int x, int y, int by)
{
	browser_tell(b, "Input.dispatchMouseEvent",
		     json_pack("{s:s, s:i, s:i, s:i, s:i}", "type", "mouseWheel", "x", x, "y", y,
			       "deltaX", 0, "deltaY", by));
}

void browser_click(struct browser *b, int x, int y)
{
	mouse(b, "mousePressed", x, y, 1);
	mouse(b, "mouseReleased", x, y, 1);
}

void browser_drag(struct browser *b, int x, int y, int by)
{
	mouse(b, "mousePressed", x, y, 1);
	mouse(b, "mouseMoved", x + by / 2, y, 1);
	mouse(b, "mouseMoved", x + by, y, 1);
	mouse(b, "mouseReleased", x + by, y, 1);
}

/* -- the keyboard -- */

void browser_key(struct browser *b, const char *key)
{
	static const struct {
		const char *name, *text;
		int code;
	} named[] = {{"Enter", "\r", 13},   {"Escape", "", 27},	 {"Tab", "", 9},
		     {"ArrowDown", "", 40}, {"ArrowUp", "", 38}, {NULL, NULL, 0}};
	size_t i;

	for (i = 0; named[i].name && strcmp(named[i].name, key) != 0; i++)
		;
	browser_tell(b, "Input.dispatchKeyEvent",
		     json_pack("{s:s, s:s, s:s, s:i}", "type", "keyDown", "key", key, "text",
			       named[i].name ? named[i].text : key, "windowsVirtualKeyCode",
			       named[i].code));
	browser_tell(b, "Input.dispatchKeyEvent",
		     json_pack("{s:s, s:s}", "type", "keyUp", "key", key));
}

void browser_type(struct browser *b, const char *text)
{
	char key[2] = "";

	for (; *text; text++) {
		key[0] = *text;
		browser_key(b, key);
	}
}
