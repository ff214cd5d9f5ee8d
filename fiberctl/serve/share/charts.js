// SPDX-License-Identifier: MIT
/*
 * charts.js - what happened in the last minutes
 *
 * One small drawing for each quantity, over the same time. The legend has the last values, or those
 * at the pointer. There is a gap where nobody looked at the program.
 */
import {h, s, say} from "./dom.js";

const WIDTH = 560, HEIGHT = 132, LEFT = 44, RIGHT = 8, TOP = 8, BOTTOM = 20;
const LEAST_MS = 60000, MOST_MS = 600000, GAP_MS = 6000;

/*
 * title; series: [{name, label}], of which `name` is also the class that colours it; stacked: drawn on
 * top of each other; value(n): a value in words; top: the least upper end of the axis.
 */
export class Chart {
	constructor({title, series, stacked, value, top}) {
		Object.assign(this, {series, stacked, value, least: top, samples: [], at: null});
		this.when = h("span", {class: "dim"});
		this.values = series.map(() => h("b"));
		this.svg = s("svg", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title, hidden: !window.d3});
		this.layers = series.map((one) => s("path", {class: `${stacked ? "area" : "line"} ${one.name}`}));
		this.axes = [s("g", {class: "axis", transform: `translate(0,${HEIGHT - BOTTOM})`}),
			s("g", {class: "axis", transform: `translate(${LEFT},0)`})];
		this.cross = s("line", {class: "cross", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden"});
		this.svg.append(...this.axes, ...this.layers, this.cross);
		this.element = h("figure", {class: "chart"}, h("figcaption", {}, h("span", {class: "name"}, title, " ", this.when),
			h("span", {class: "legend"}, series.map((one, i) => h("span", {}, h("i", {class: `key ${one.name}`}),
				series.length > 1 ? `${one.label} ` : "", this.values[i])))), this.svg);
		this.svg.addEventListener("pointermove", (event) => this.point(event));
		this.svg.addEventListener("pointerleave", () => this.point(null));
	}

	point(event) {
		const box = this.svg.getBoundingClientRect();
		this.at = event && this.x ? +this.x.invert((event.clientX - box.left) / box.width * WIDTH) : null;
		this.tell();
	}

	/* all: samples [{t, NAME: value...}], oldest first, t in ms of Unix time; those with null are left out. */
	update(all) {
		const samples = all.filter((one) => one[this.series[0].name] !== null);
		const d3 = window.d3, last = samples.length ? samples[samples.length - 1].t : Date.now();
		const first = samples.length ? samples[0].t : last, names = this.series.map((one) => one.name);
		this.samples = samples;
		if (!d3)
			return this.tell();
		const total = (one) => this.stacked ? d3.sum(names, (n) => one[n] || 0) : d3.max(names, (n) => one[n] || 0);
		this.x = d3.scaleLinear([Math.max(last - MOST_MS, Math.min(first, last - LEAST_MS)), last], [LEFT, WIDTH - RIGHT]);
		const y = d3.scaleLinear([0, Math.max(this.least, d3.max(samples, total) || 0)], [HEIGHT - BOTTOM, TOP]).nice(3);
		const x = this.x, parts = this.split();
		if (this.stacked) {
			const area = d3.area().x((d) => x(d.data.t)).y0((d) => y(d[0])).y1((d) => y(d[1]));
			const stacks = parts.map((part) => d3.stack().keys(names).value((d, n) => d[n] || 0)(part));
			this.layers.forEach((path, i) => path.setAttribute("d", stacks.map((one) => area(one[i])).join("")));
		} else {
			this.layers.forEach((path, i) => {
				const line = d3.line().x((d) => x(d.t)).y((d) => y(d[names[i]] || 0));
				path.setAttribute("d", parts.map(line).join(""));
			});
		}
		this.drawAxes(x, y, last);
		return this.tell();
	}

	/* Parts without a gap. */
	split() {
		const parts = [];
		this.samples.forEach((one, i) => {
			if (i === 0 || one.t - this.samples[i - 1].t > GAP_MS)
				parts.push([]);
			parts[parts.length - 1].push(one);
		});
		return parts;
	}

	drawAxes(x, y, last) {
		const ago = (last - x.domain()[0]) / 1000, step = [10, 20, 30, 60, 120, 300].find((n) => ago / n <= 6) || 600;
		const times = [];
		for (let t = 0; t <= ago; t += step)
			times.push([x(last - t * 1000), t === 0 ? "now" : t % 60 ? `-${t}s` : `-${t / 60}m`]);
		this.axes[0].replaceChildren(...times.map(([at, words], i) => s("text",
			{x: at, y: 14, "text-anchor": i === 0 ? "end" : "middle"}, words)));
		this.axes[1].replaceChildren(...y.ticks(3).map((value) => s("g", {},
			s("line", {x1: 0, x2: WIDTH - RIGHT - LEFT, y1: y(value), y2: y(value)}),
			s("text", {x: -6, y: y(value) + 4, "text-anchor": "end"}, this.value(value)))));
	}

	/* The legend, and the line at the pointer. */
	tell() {
		const {samples, at} = this;
		let one = samples[samples.length - 1];
		if (!one)
			return;
		if (at !== null)
			for (const other of samples)
				if (Math.abs(other.t - at) < Math.abs(one.t - at))
					one = other;
		this.series.forEach((series, i) => say(this.values[i], this.value(one[series.name] || 0)));
		say(this.when, at === null ? "" : `${Math.round((samples[samples.length - 1].t - one.t) / 1000)}s ago`);
		this.cross.setAttribute("visibility", at === null ? "hidden" : "visible");
		if (this.x) {
			this.cross.setAttribute("x1", this.x(one.t));
			this.cross.setAttribute("x2", this.x(one.t));
		}
	}
}
