/** Where the program starts: in the page it shows the data, in a worker it answers questions. */

import { App } from "./app";
import { ChainApp } from "./chain";
import { decode, decodeModel } from "./data";
import { h } from "./dom";
import { answer, mode } from "./inference/answer";
import { serve } from "./inference/client";

function start(): void {
  const root = document.getElementById("app") as HTMLElement;
  try {
    const data = JSON.parse(document.getElementById("data")?.textContent ?? "");
    const program = document.getElementById("program")?.textContent ?? "";
    const view = decode(data);
    if (view.kind === "chain") new ChainApp(view, root);
    else new App(view, root, program);
  } catch (error) {
    root.replaceChildren(h("p", { class: "failed" }, `This page cannot be shown: ${error}`));
    throw error;
  }
}

// For whoever wants to ask from the browser's console, and for tests.
Object.assign(globalThis, { graftwork: { decodeModel, answer, mode } });

if (typeof document === "undefined") serve();
else start();
