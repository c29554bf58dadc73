/** Text that fits: SVG neither wraps nor shortens it, so that long names would cover each other. */

export const NAME = { size: 13, weight: 550 };
export const VALUE = { size: 12, weight: 400 };

type Font = typeof NAME;

let canvas: CanvasRenderingContext2D | null = null;

/** The width of a text in pixels. */
export function widthOf(text: string, { size, weight }: Font): number {
  canvas ??= document.createElement("canvas").getContext("2d");
  if (!canvas) return text.length * size;
  canvas.font = `${weight} ${size}px ${getComputedStyle(document.body).fontFamily}`;
  return canvas.measureText(text).width;
}

/** The text, or as much of its beginning as fits, with an ellipsis. */
export function fitted(text: string, room: number, font: Font): string {
  if (widthOf(text, font) <= room) return text;
  const letters = [...text];
  let few = 0;
  let many = letters.length;
  // The longest beginning that fits, by halving.
  while (few < many) {
    const middle = Math.ceil((few + many) / 2);
    if (widthOf(`${letters.slice(0, middle).join("")}…`, font) <= room) few = middle;
    else many = middle - 1;
  }
  return few ? `${letters.slice(0, few).join("").trimEnd()}…` : "";
}
