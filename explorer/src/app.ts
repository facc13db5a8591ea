/** The page of a network: picture, filters, tables, details, what-if. */

import { EvidenceStrip } from "./badge";
import { modelOf, redraws, refilters, type Context } from "./context";
import type { NetworkView } from "./data";
import { Details } from "./details";
import { button, fill, h, name } from "./dom";
import { count, short } from "./format";
import { help } from "./help";
import { Oracle } from "./oracle";
import { Picture, type Pointed } from "./picture";
import { savePng, saveSvg } from "./save";
import { countedNoun, makeScene, ownEdges, sizeColumn, type Scene } from "./scene";
import { Search } from "./search";
import { decodeState, encodeState, START, Store, type Bounds, type State, type Tab } from "./state";
import { EdgeTable, VariableTable } from "./tables";
import { Theme } from "./theme";
import { Legend, Toolbar } from "./toolbar";
import { WhatIf } from "./whatif";

const TABS: [Tab, string][] = [
  ["details", "Details"],
  ["edges", "Edges"],
  ["variables", "Variables"],
  ["whatif", "What if"],
];

export class App {
  readonly context: Context;
  private readonly store: Store;
  private readonly picture: Picture;
  private readonly theme: Theme;
  private readonly toolbar: Toolbar;
  private readonly legend: Legend;
  private readonly strip: EvidenceStrip;
  private readonly details: Details;
  private readonly edges: EdgeTable;
  private readonly variables: VariableTable;
  private readonly whatIf: WhatIf;
  private readonly search: Search;
  private readonly panel = h("div", { class: "tab-panel", role: "tabpanel", id: "panel" });
  private readonly tabs = h("div", {
    class: "tabs",
    role: "tablist",
    "aria-label": "Beside the picture",
  });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly sized = h("p", { class: "size" });
  private readonly said = h("div", { class: "said", role: "status" });
  private scene: Scene | null = null;
  private readonly bounds: Bounds;
  private written = "";

  constructor(
    private readonly view: NetworkView,
    root: HTMLElement,
    program: string,
  ) {
    this.bounds = {
      pairs: view.models.map((model) => model.pairs.length / 2),
      states: view.models[view.models.length - 1].states.map((each) => each.length),
      groupings: view.groupings.length,
    };
    this.store = new Store(decodeState(location.hash, this.bounds));
    const oracle = new Oracle(view, this.store, program, () => this.answered());
    this.context = {
      view,
      store: this.store,
      oracle,
      selectNode: (node) => this.select({ node, pair: -1 }, true),
      selectPair: (pair) => this.select({ node: -1, pair }, true),
    };
    this.picture = new Picture(view, {
      select: (what) => this.select(what, false),
      moved: (camera) =>
        this.store.set({
          camera: this.picture.isFitted ? null : [camera.x, camera.y, camera.scale],
        }),
      hover: (what, x, y) => this.hover(what, x, y),
    });
    this.theme = new Theme(() => this.redraw());
    this.toolbar = new Toolbar(this.context);
    this.legend = new Legend(this.context);
    this.strip = new EvidenceStrip(this.context);
    this.edges = new EdgeTable(this.context);
    this.details = new Details(this.context, (sort, up) => {
      this.edges.sortBy(sort, up);
      this.store.set({ tab: "edges" });
    });
    this.variables = new VariableTable(this.context);
    this.whatIf = new WhatIf(this.context);
    this.search = new Search(view.names, this.context.selectNode);
    fill(root, this.layout());
    this.start();
  }

  private start(): void {
    const { state } = this.store;
    this.toolbar.reset();
    this.edges.fill();
    this.variables.fill();
    this.details.render();
    this.drawTabs();
    this.strip.render();
    this.redraw();
    this.picture.resize();
    if (state.camera) {
      const [x, y, scale] = state.camera;
      this.picture.look({ x, y, scale });
    }
    this.store.listen((now, before) => this.changed(now, before));
    window.addEventListener("hashchange", () => {
      if (location.hash.slice(1) !== this.written) this.read();
    });
    document.addEventListener("keydown", (event) => this.key(event));
    for (const [type, printing] of [
      ["beforeprint", true],
      ["afterprint", false],
    ] as const) {
      window.addEventListener(type, () => {
        this.theme.print(printing);
        this.picture.print(printing);
      });
    }
    this.context.oracle.ask();
    // The first frame is painted before the second is asked for.
    requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("graftwork-ready")));
  }

  private layout(): Node[] {
    const { view } = this;
    this.sized.textContent = this.size();
    const drawn = (act: typeof savePng) => () =>
      act(this.picture.drawing(), this.theme.palette, view.title);
    const header = h(
      "header",
      { class: "top" },
      h("h1", {}, name(view.title)),
      this.sized,
      this.search.element,
      h(
        "div",
        { class: "actions" },
        button("Copy link", () => this.copyLink(), {
          id: "copy-link",
          title: "A link to the page as it is now",
        }),
        button("PNG", drawn(savePng), { id: "save-png", title: "Save the picture as PNG" }),
        button("SVG", drawn(saveSvg), { id: "save-svg", title: "Save the picture as SVG" }),
        button("Print", () => window.print(), { id: "print" }),
        this.theme.button,
        help(),
      ),
    );
    const zoom = h(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom" },
      button("+", () => this.picture.zoom(1.3), { id: "zoom-in", "aria-label": "Zoom in" }),
      button("−", () => this.picture.zoom(1 / 1.3), { id: "zoom-out", "aria-label": "Zoom out" }),
      button("Fit", () => this.picture.fit(), { id: "zoom-fit", title: "Show everything" }),
    );
    const filters = h(
      "details",
      { class: "filters", open: matchMedia("(min-width: 900px)").matches },
      h("summary", {}, "Filters"),
      this.toolbar.element,
    );
    const stage = h(
      "section",
      { class: "stage", "aria-label": "Picture" },
      this.picture.canvas,
      zoom,
      this.legend.element,
      this.tip,
    );
    const side = h(
      "aside",
      { class: "side", "aria-label": "Details and tables" },
      this.strip.element,
      this.tabs,
      this.panel,
    );
    return [header, filters, h("div", { class: "body" }, stage, side), this.said];
  }

  private size(): string {
    const model = modelOf(this.context);
    const edges = ownEdges(model).length;
    return `${count(this.view.names.length, "variable")}, ${count(edges, countedNoun(model))}`;
  }

  /** Select something; from a table the picture follows, and the details are shown either way. */
  private select(what: Pointed, reveal: boolean): void {
    const nothing = what.node < 0 && what.pair < 0;
    const { tab, ego } = this.store.state;
    this.store.set({
      ...what,
      group: -1,
      tab: nothing ? tab : "details",
      ego: what.node >= 0 ? ego : 0,
    });
    if (!reveal || nothing) return;
    const { pairs } = modelOf(this.context);
    this.picture.reveal(
      what.node >= 0 ? [what.node] : [pairs[2 * what.pair], pairs[2 * what.pair + 1]],
    );
  }

  private changed(now: State, before: State): void {
    if (redraws(now, before)) this.redraw();
    if (now.model !== before.model) {
      this.sized.textContent = this.size();
      this.toolbar.reset();
      this.edges.reset();
      this.variables.reset();
    } else if (redraws(now, before)) {
      this.toolbar.update();
      if (refilters(now, before)) this.edges.fill();
    }
    if (
      now.model !== before.model ||
      now.node !== before.node ||
      now.pair !== before.pair ||
      now.ego !== before.ego
    ) {
      this.details.render();
      this.edges.select(now.tab === "edges");
      this.variables.select(false);
    }
    if (now.model !== before.model) this.whatIf.render();
    if (now.tab !== before.tab || now.model !== before.model) this.drawTabs();
    if (now.evidence !== before.evidence || now.model !== before.model) {
      this.strip.render();
      this.details.refresh();
    }
    if (now.ego !== before.ego) this.picture.fit();
    this.write();
  }

  private answered(): void {
    if (!this.strip) return; // the first question is asked before everything is there
    this.strip.render();
    this.details.refresh();
    if (this.store.state.tab === "whatif") this.whatIf.refresh();
    if (this.store.state.evidence.size) this.redraw();
  }

  private redraw(): void {
    if (!this.picture) return;
    const { state } = this.store;
    const moved = this.context.oracle.movement();
    this.scene = makeScene(this.view, state, this.theme.palette, moved);
    this.picture.show({
      scene: this.scene,
      palette: this.theme.palette,
      selected: state.node,
      observed: state.evidence,
      moved,
    });
    this.legend?.render();
  }

  private drawTabs(): void {
    const { tab } = this.store.state;
    const shown = TABS.filter(([key]) => key !== "whatif" || this.context.oracle.answers);
    const pairs = modelOf(this.context).noun === "pair";
    const focused = this.tabs.contains(document.activeElement);
    fill(
      this.tabs,
      shown.map(([key, label]) =>
        button(key === "edges" && pairs ? "Pairs" : label, () => this.store.set({ tab: key }), {
          role: "tab",
          "aria-selected": key === tab,
          "aria-controls": "panel",
          tabindex: key === tab ? 0 : -1,
          "data-tab": key,
          on: {
            keydown: (event: KeyboardEvent) =>
              this.turnTab(
                event,
                shown.map(([each]) => each),
              ),
          },
        }),
      ),
    );
    if (focused) this.tabs.querySelector<HTMLElement>("[aria-selected=true]")?.focus();
    const parts = {
      details: this.details,
      edges: this.edges,
      variables: this.variables,
      whatif: this.whatIf,
    };
    if (tab === "whatif") this.whatIf.render();
    this.panel.setAttribute("aria-label", shown.find(([key]) => key === tab)?.[1] ?? "");
    fill(this.panel, [parts[tab].element]);
    this.panel.scrollTop = 0;
    if (tab === "edges") this.edges.select(true);
  }

  private turnTab(event: KeyboardEvent, keys: Tab[]): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const place = keys.indexOf(this.store.state.tab);
    this.store.set({ tab: keys[(place + step + keys.length) % keys.length] });
  }

  private hover(what: Pointed, x: number, y: number): void {
    const { names } = this.view;
    const model = modelOf(this.context);
    const nothing = what.node < 0 && what.pair < 0;
    this.tip.hidden = nothing;
    if (nothing) return;
    const size = sizeColumn(model);
    if (what.node >= 0) fill(this.tip, [name(names[what.node])]);
    else {
      const [i, j] = [model.pairs[2 * what.pair], model.pairs[2 * what.pair + 1]];
      fill(this.tip, [
        name(names[i]),
        " – ",
        name(names[j]),
        size ? `, ${size.label.toLowerCase()} ${short(size.values[what.pair])}` : "",
      ]);
    }
    this.tip.style.left = `${x + 14}px`;
    this.tip.style.top = `${y + 12}px`;
  }

  private key(event: KeyboardEvent): void {
    const typing =
      event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === "/" && !typing) {
      event.preventDefault();
      this.search.focus();
    } else if (event.key === "Escape" && !typing) {
      this.store.set({ node: -1, pair: -1, group: -1, ego: 0 });
    }
  }

  /** Write the state behind the # of the address. */
  private write(): void {
    const text = encodeState(this.store.state);
    if (text === this.written) return;
    try {
      history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
      this.written = text;
    } catch {
      // Some browsers allow only so many changes in a while, as when a slider is dragged.
      setTimeout(() => this.write(), 1000);
    }
  }

  /** Take the state from the address. */
  private read(): void {
    const state = decodeState(location.hash, this.bounds);
    this.written = location.hash.slice(1);
    this.store.set({ ...START, ...state });
    if (state.camera)
      this.picture.look({ x: state.camera[0], y: state.camera[1], scale: state.camera[2] });
    else this.picture.fit();
  }

  private copyLink(): void {
    this.write();
    const done = () => this.say("The link is copied: it shows the page as it is now.");
    const failed = () => this.say("Copy the address of this page: it shows the page as it is now.");
    if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(done, failed);
    else failed();
  }

  private say(text: string): void {
    this.said.textContent = text;
    setTimeout(() => (this.said.textContent = ""), 4000);
  }
}
