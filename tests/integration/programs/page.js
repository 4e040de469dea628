// SPDX-License-Identifier: MIT
// What a person does with the page of `tutti trace html`, for browser.sh, which appends this script to it. The page of
// example `reduce` is expected. Each line of the element `said` is "ok ..." or "BAD ...".
"use strict";
{
	const said = document.createElement("pre");
	const expect = (what, holds) => { said.textContent += `${holds ? "ok" : "BAD"} ${what}\n`; };
	const get = id => document.getElementById(id);
	const entries = [...document.querySelectorAll("#legend span")];

	const at = (canvas, x, y) => {
		const box = canvas.getBoundingClientRect();
		return { clientX: box.left + x, clientY: box.top + y, bubbles: true, cancelable: true };
	};
	const mouse = (kind, canvas, x, y, more) => canvas.dispatchEvent(new MouseEvent(kind, { ...at(canvas, x, y), ...more }));
	const tip = (id, x, y) => {
		mouse("mousemove", get(id), x, y);
		return get("tip").style.display === "block" ? get("tip").textContent : "";
	};

	/* A place in the timeline that has just the colour of the legend's entry; null: nothing has. */
	const find = entry => {
		const [r, g, b] = getComputedStyle(entry.firstChild).backgroundColor.match(/\d+/g).map(Number);
		const canvas = get("timeline"), wide = canvas.width, scale = wide / canvas.clientWidth;
		const data = canvas.getContext("2d").getImageData(0, 0, wide, canvas.height).data;
		for (let i = 0; i < data.length; i += 4)
			if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 4)
				return { x: (i / 4 % wide + 0.5) / scale, y: (Math.floor(i / 4 / wide) + 0.5) / scale };
		return null;
	};
	const shown = () => get("range").textContent.match(/^([\d.]+) to ([\d.]+) µs of ([\d.]+)$/).slice(1).map(Number);

	expect("title: " + document.title, /^896 workgroups of 9 tasks on 32 SMs$/.test(document.title));
	expect("legend: " + entries.map(e => e.textContent), entries.map(e => e.textContent).join() === "load (8),reduce (1)");
	for (const entry of entries) {
		const place = find(entry), text = place ? tip("timeline", place.x, place.y) : "";
		expect("tip: " + text.replace(/\n/g, "; "), text.startsWith(entry.dataset.kernel + "\nworkgroup ") && / on SM \d+\nqueue \d/.test(text));
	}

	const whole = shown();
	expect("all of it: " + whole, whole[0] === 0 && whole[1] === whole[2] && whole[1] > 1000);
	get("timeline").dispatchEvent(new WheelEvent("wheel", { ...at(get("timeline"), 500, 100), deltaY: -100 }));
	const near = shown();
	expect("zoom: " + near, near[0] > 0 && near[1] < whole[1] && Math.abs((near[1] - near[0]) / whole[1] - 0.8) < 0.01);
	mouse("mousedown", get("timeline"), 500, 100, { buttons: 1 });
	mouse("mousemove", get("timeline"), 460, 100, { buttons: 1 });
	mouse("mouseup", get("timeline"), 460, 100);
	const moved = shown();
	expect("drag: " + moved, moved[0] > near[0] && Math.abs((moved[1] - moved[0]) - (near[1] - near[0])) < 2);
	mouse("dblclick", get("timeline"), 500, 100);
	expect("double click", shown().join() === whole.join());

	const texts = id => Array.from({ length: 200 }, (_, i) => tip(id, 66 + i * (get(id).clientWidth - 80) / 200, 20));
	const busy = texts("occupancy").map(t => +(t.match(/^(\d+) of 32 SMs/) || [0, -1])[1]);
	expect("SMs at work: " + Math.min(...busy) + " to " + Math.max(...busy), Math.min(...busy) >= 0 && Math.max(...busy) === 32);
	const depth = texts("depth").map(t => t.match(/^queue 0: (\d+)\nqueue 1: (\d+)\nat /) || [0, -1, -1]);
	expect("queue 0", depth.every(d => +d[1] === 0 || +d[1] === 1) && depth.some(d => +d[1] === 1));
	expect("queue 1", depth.every(d => +d[2] >= 0) && Math.max(...depth.map(d => +d[2])) === 8);

	entries[1].click();
	expect("hidden", find(entries[1]) === null && find(entries[0]) !== null);
	entries[1].click();
	expect("shown again", find(entries[1]) !== null);
	said.id = "said";
	document.body.append(said);
}
