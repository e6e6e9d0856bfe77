// What the browser test asks a page: each function is sent into the browser and runs there, alone.

/** As much of a browser's DOM as is used here; the project's own types know none. */
interface PageNode {
  readonly nodeType: number;
  readonly textContent: string | null;
}
interface PageElement extends PageNode {
  readonly tagName: string;
  readonly className: string;
  readonly parentElement: PageElement | null;
  readonly childNodes: Iterable<PageNode>;
  readonly dataset: Readonly<Record<string, string | undefined>>;
  readonly scrollWidth: number;
  readonly clientWidth: number;
  open: boolean;
  closest(selector: string): PageElement | null;
  checkVisibility(): boolean;
  getAttributeNames(): string[];
}
declare const document: {
  readonly documentElement: PageElement;
  readonly body: PageElement;
  readonly title: string;
  readonly links: Iterable<{ readonly protocol: string }>;
  readonly images: Iterable<{ readonly naturalWidth: number }>;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement> & { readonly length: number };
};
declare const getComputedStyle: (element: PageElement) => { readonly color: string; readonly backgroundColor: string };

/** Unfolds everything. */
export function openAll(): void {
  for (const details of document.querySelectorAll("details")) details.open = true;
}

/** What is in the page that should not be, and some of what should. */
export function inspect() {
  const banned = "script, iframe, object, embed, form, input, base, math, foreignObject";
  return {
    spoiled: document.documentElement.dataset.spoiled,
    banned: document.querySelectorAll(banned).length,
    handlers: [...document.querySelectorAll("*")].flatMap((element) =>
      element.getAttributeNames().filter((name) => name.startsWith("on") || name === "style"),
    ),
    targets: [...document.links].map(({ protocol }) => protocol),
    title: document.title,
    text: document.body.textContent ?? "",
    end: document.querySelector("main > article:last-of-type .prose")?.textContent?.trim(),
    images: [...document.images].map(({ naturalWidth }) => naturalWidth),
  };
}

/** How wide the page is, with what can be reached by scrolling. */
export function pageWidth(): number {
  return document.documentElement.scrollWidth;
}

/** How many blocks of code are wider than what is seen of them. */
export function scrollingBlocks(): number {
  return [...document.querySelectorAll("pre")].filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .length;
}

export type Colour = readonly [red: number, green: number, blue: number, alpha: number];

/** Of each element with text of its own its colour, and what lies behind it, the nearest first. */
export function coloursOfTexts(): { text: string; ink: Colour; papers: Colour[] }[] {
  const parse = (css: string): Colour => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (css.match(/[\d.]+/g) ?? []).map(Number);
    return [red, green, blue, alpha];
  };
  const textNode = 3;
  const shown = [...document.querySelectorAll("body *")].filter(
    (element) =>
      element.closest("svg") === null &&
      [...element.childNodes].some((node) => node.nodeType === textNode && node.textContent?.trim()) &&
      element.checkVisibility(),
  );
  return shown.map((element) => {
    const papers: Colour[] = [];
    for (let at: PageElement | null = element; at; at = at.parentElement) {
      papers.push(parse(getComputedStyle(at).backgroundColor));
    }
    const text = `${element.tagName}.${element.className}: ${element.textContent?.trim().slice(0, 30)}`;
    return { text, ink: parse(getComputedStyle(element).color), papers };
  });
}
