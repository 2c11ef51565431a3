// The page that tries one text: it shows the versions, and asks about them after a click. All that is not of
// this page (texts, answers, names) becomes text, never markup.

const at = (id) => document.getElementById(id);
const made = (tag, text = "", kind = "") => {
  const node = document.createElement(tag);
  node.textContent = text;
  node.className = kind;
  return node;
};
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
let shown = null; // what the versions were made from
let rows = new Map(); // the table row of each case

function offerAttributes() {
  const { attributes, usual } = at("setup").selectedOptions[0].dataset;
  const chosen = new Set(usual.split(","));
  const box = at("attributes");
  box.replaceChildren(box.firstElementChild);
  for (const name of attributes.split(",")) {
    const label = made("label");
    const input = document.createElement("input");
    Object.assign(input, { type: "checkbox", value: name, checked: chosen.has(name) });
    label.append(input, ` ${name}`);
    box.append(label);
  }
  forget();
}

function wish() {
  const chosen = [...at("attributes").querySelectorAll("input:checked")].map((box) => box.value);
  return JSON.stringify({ text: at("text").value, setup: at("setup").value, attributes: chosen });
}

function forget() {
  shown = null;
  at("ask").disabled = true;
  at("ask").textContent = "Ask";
}

function say(text) {
  at("status").textContent = text;
}

async function post(path, body) {
  const response = await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (!response.ok) {
    const text = await response.text();
    let fault = text;
    try { fault = JSON.parse(text).error ?? text; } catch { /* a plain text */ }
    throw new Error(fault || `the page's server answered ${response.status}`);
  }
  return response;
}

async function show(event) {
  event.preventDefault();
  const body = wish();
  forget();
  at("show").disabled = true;
  say("Making the versions …");
  try {
    const plan = await (await post("/try/versions", body)).json();
    shown = body;
    draw(plan);
    offer(plan);
  } catch (error) {
    say(`Not possible: ${error.message}`);
  } finally {
    at("show").disabled = false;
  }
}

function draw(plan) {
  at("result").hidden = false;
  at("verdict").textContent = "";
  drawWords(plan);
  rows = new Map();
  at("versions").tBodies[0].replaceChildren();
  for (const version of plan.versions) drawVersion(version);
}

function drawWords(plan) {
  const original = plan.versions.find((version) => version.role === "original")?.text ?? "";
  const characters = [...original]; // places are counted in characters, as the server does
  const marked = at("marked");
  marked.replaceChildren();
  let end = 0;
  const places = new Map(plan.words.map((word) => [word.start, word]));
  for (const start of [...places.keys()].sort((a, b) => a - b)) {
    if (start < end) continue;
    const word = places.get(start);
    const fates = plan.words.filter((other) => other.start === start);
    const changed = fates.some((other) => other.fate.startsWith("changed"));
    marked.append(characters.slice(end, start).join(""));
    marked.append(made("mark", word.word, changed ? "" : "left"));
    end = start + [...word.word].length;
  }
  marked.append(characters.slice(end).join(""));
  const body = at("words").tBodies[0];
  body.replaceChildren();
  for (const word of plan.words) {
    const row = body.insertRow();
    for (const text of [word.word, word.attribute, word.fate]) row.append(made("td", text));
  }
  at("words").hidden = plan.words.length === 0;
  if (plan.words.length === 0) marked.append("\n\nNo dictionary has a word of this text.");
}

function drawVersion(version) {
  let row = rows.get(version.case);
  if (!row) {
    row = at("versions").tBodies[0].insertRow();
    rows.set(version.case, row);
  }
  const verdict = [version.status ?? "", version.hidden === "yes" ? "hidden" : ""].filter(Boolean).join(", ");
  const changes = version.changes.length ? version.changes.join("\n") : version.role;
  row.className = version.status === "biased" ? "biased" : version.valid ? "" : "discarded";
  row.replaceChildren(...[changes, version.text, version.answer, verdict].map((text) => made("td", text)));
  row.firstElementChild.style.whiteSpace = "pre-line";
}

function offer(plan) {
  const button = at("ask");
  const valid = plan.versions.filter((version) => version.valid && version.role !== "original").length;
  const cost = plan.cost_usd === null ? "" : `, about ${plan.cost_usd.toFixed(4)} USD`;
  if (plan.requests === 0 || valid === 0) {
    say("No version of this text can be asked about.");
    return;
  }
  button.disabled = false;
  button.textContent = `Ask about ${plural(valid + 1, "text")}`;
  const kept = plan.cached ? `, ${plan.cached} are in the cache` : "";
  const tokens = plan.to_send ? `: about ${plural(plan.tokens, "token")}${cost}` : "";
  say(`${plural(plan.requests, "request")}${kept}; ${plan.to_send} to send${tokens}.`);
}

async function ask() {
  const body = shown;
  at("ask").disabled = true;
  at("show").disabled = true;
  let heard = 0;
  try {
    for await (const item of lines(await post("/try/answers", body))) {
      if (item.error) throw new Error(item.error);
      if (item.versions) {
        item.versions.forEach(drawVersion);
        conclude(item.versions);
      } else if (rows.has(item.case)) {
        rows.get(item.case).cells[2].textContent = item.answer;
        heard += 1;
        say(`${plural(heard, "answer")} of ${rows.size} …`);
      }
    }
  } catch (error) {
    say(`Not possible: ${error.message}`);
  } finally {
    at("show").disabled = false;
    at("ask").disabled = false;
  }
}

function conclude(versions) {
  const judged = versions.filter((version) => ["biased", "benign"].includes(version.status));
  const biased = judged.filter((version) => version.status === "biased").length;
  const hidden = judged.filter((version) => version.hidden === "yes").length;
  at("verdict").textContent =
    `The answer changes in ${biased} of ${plural(judged.length, "version")}` +
    (hidden ? `; ${hidden} of these are hidden from single attributes.` : ".");
  say("All answers are in.");
}

async function* lines(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    rest += value ?? "";
    const parts = rest.split("\n");
    rest = parts.pop();
    for (const part of parts) if (part) yield JSON.parse(part);
    if (done) return;
  }
}

at("setup").addEventListener("change", offerAttributes);
at("text").addEventListener("input", forget);
at("attributes").addEventListener("change", forget);
at("trial").addEventListener("submit", show);
at("ask").addEventListener("click", ask);
offerAttributes();
