
// The marks above the slider: what happened where, at a glance.

const THUMB = 16; // the width of a slider's thumb, whose middle never reaches the edges

function drawTicks(canvas, model, step) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  const colours = getComputedStyle(document.documentElement);
  const place = (n) => THUMB / 2 + ((width - THUMB) * n) / Math.max(model.steps.length - 1, 1);
  pen.fillStyle = colours.getPropertyValue("--soft");
  pen.fillRect(0, 0, place(step), height);
  for (const kind of RANKS.slice().reverse()) {
    pen.fillStyle = colours.getPropertyValue(`--${kind}`);
    const share = kind === "call" || kind === "odd" ? 0.6 : 1;
    for (const one of model.marks) {
      if (one.kind === kind) pen.fillRect(place(one.step) - 1, height * (1 - share), 2.5, height * share);
    }
  }
  pen.fillStyle = colours.getPropertyValue("--accent");
  pen.fillRect(place(step) - 0.5, 0, 1, height);
}
