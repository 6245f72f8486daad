"use strict";
(function () {
  var curves = JSON.parse(document.getElementById("curves").textContent);
  var host = document.getElementById("plot"), which = document.getElementById("which");
  var dark = window.matchMedia("(prefers-color-scheme: dark)"), plot = null;
  function color(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
  function shade(u, c) {
    u.ctx.save();
    u.ctx.fillStyle = color("--fail");
    c.shaded.forEach(function (ends) {
      var low = Math.max(ends[0], u.scales.x.min), high = ends[1] === null ? u.scales.x.max : Math.min(ends[1], u.scales.x.max);
      if (high > low) {
        var left = u.valToPos(low, "x", true), right = u.valToPos(high, "x", true);
        u.ctx.fillRect(left, u.bbox.top, right - left, u.bbox.height);
      }
    });
    u.ctx.restore();
  }
  function dot(u, x, y, fill) {
    if (x < u.scales.x.min || x > u.scales.x.max || y < u.scales.y.min || y > u.scales.y.max) { return; }
    u.ctx.beginPath();
    u.ctx.arc(u.valToPos(x, "x", true), u.valToPos(y, "y", true), 5 * devicePixelRatio, 0, 7);
    u.ctx.fillStyle = fill; u.ctx.fill();
  }
  function upright(u, x, stroke) {
    if (x < u.scales.x.min || x > u.scales.x.max) { return; }
    var at = u.valToPos(x, "x", true);
    u.ctx.strokeStyle = stroke; u.ctx.lineWidth = 2 * devicePixelRatio; u.ctx.setLineDash([3, 3]);
    u.ctx.beginPath(); u.ctx.moveTo(at, u.bbox.top); u.ctx.lineTo(at, u.bbox.top + u.bbox.height); u.ctx.stroke();
  }
  function mark(u, c) {
    u.ctx.save();
    if (c.point) { dot(u, c.point[0], c.point[1], color("--bad")); dot(u, c.point[0], c.point[2], color("--req")); }
    c.worst.forEach(function (x) { upright(u, x, color("--bad")); });
    c.optima.forEach(function (x) { upright(u, x, color("--good")); });
    u.ctx.restore();
  }
  function draw() {
    var c = curves[which ? +which.value : 0], soft = color("--soft"), line = color("--line");
    var axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
    if (plot) { plot.destroy(); }
    plot = new uPlot({
      width: host.clientWidth, height: Math.min(380, Math.max(240, host.clientWidth * 0.5)),
      cursor: { y: false }, legend: { show: false },
      scales: { x: { time: false, distr: 3, range: [c.x[0], c.x[c.x.length - 1]] }, y: { range: [0, 1.02] } },
      axes: [Object.assign({ label: c.variable }, axis), Object.assign({ label: "probability" }, axis)],
      series: [
        {},
        { stroke: color("--pr"), width: 3, points: { show: false }, pxAlign: 0 },
        { stroke: color("--req"), width: 2, dash: [6, 4], points: { show: false }, pxAlign: 0 }
      ],
      hooks: { drawClear: [function (u) { shade(u, c); }], draw: [function (u) { mark(u, c); }], setCursor: [function (u) { read(c, u.cursor.idx); }] }
    }, [c.x, c.pr, c.req], host);
    read(c, null);
  }
  function short(value) { return value === null || value === undefined ? "no number" : String(+value.toPrecision(5)); }
  function read(c, at) {
    var where = document.getElementById("reading");
    if (at !== null && at !== undefined) {
      where.textContent = c.variable + " = " + short(c.x[at]) + ": " + c.bound + " " + short(c.pr[at]) + (c.required ? ", " + c.required + " " + short(c.req[at]) : "");
    } else if (c.point) {
      where.textContent = "Counterexample, " + c.variable + " = " + short(c.point[0]) + ": " + c.bound + " " + short(c.point[1]) + ", " + c.required + " " + short(c.point[2]);
    } else {
      where.textContent = "Point at the plot to read its numbers.";
    }
  }
  function redraw() {
    if (host.isConnected) { draw(); return; }
    dark.removeEventListener("change", redraw);  // another report took the place of this one
    window.removeEventListener("resize", redraw);
    window.removeEventListener("beforeprint", unfold);
  }
  function unfold() { document.querySelectorAll("details").forEach(function (part) { part.open = true; }); }
  draw();
  if (which) { which.addEventListener("change", draw); }
  dark.addEventListener("change", redraw);
  window.addEventListener("resize", redraw);
  window.addEventListener("beforeprint", unfold);
})();
