/** Numbers as people read them. */

/** Return a number with three digits or so. */
export function short(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (value === Infinity) return "∞";
  if (value === -Infinity) return "−∞";
  const size = Math.abs(value);
  if (size !== 0 && size < 0.001) return minus(value.toExponential(1));
  const text = size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
  return minus(Number(text) === 0 ? text.replace("-", "") : text);
}

/** Return how many there are: a whole number as it is, sums of weights with three digits or so. */
export function amount(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : short(value);
}

/** Return a p- or q-value; what is too small for a number is said to be below. */
export function tiny(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (value === 0) return "< 1e−300";
  if (value < 0.001) return minus(value.toExponential(1));
  return value.toFixed(3);
}

/** Return a share as a percentage, never rounded to 0 or 100 unless it is. */
export function percent(value: number): string {
  if (Number.isNaN(value)) return "–";
  if (value === 0 || value === 1) return `${100 * value} %`;
  if (value < 0.001) return "< 0.1 %";
  if (value > 0.999) return "> 99.9 %";
  return `${(100 * value).toFixed(1)} %`;
}

export function signed(value: number): string {
  const text = short(value);
  return value > 0 && text !== "0.00" ? `+${text}` : text;
}

export function count(n: number, noun: string): string {
  return `${n.toLocaleString("en-US")} ${noun}${n === 1 ? "" : "s"}`;
}

function minus(text: string): string {
  return text.replaceAll("-", "−");
}

/** Letters that are no other letter with an accent, but are searched for as one. */
const PLAIN: Record<string, string> = {
  ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i",
}; // prettier-ignore

/** Return a text as it is searched for: without accents, in small letters. */
export function folded(text: string): string {
  return text
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .toLowerCase()
    .replace(/[ßæœøłđðþı]/g, (letter) => PLAIN[letter]);
}

/** Return a text cut to a number of characters; those that are pairs of code units stay whole. */
export function cut(text: string, most: number): string {
  const points = Array.from(text);
  return points.length <= most ? text : `${points.slice(0, most - 1).join("")}…`;
}
