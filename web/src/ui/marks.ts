/**
 * Characters that cannot be seen, or that turn the text around them: a reader must see that they
 * are there, and they must do nothing.
 */
const NAMES: Record<string, string> = {
  "\u00ad": "soft hyphen",
  "\u061c": "Arabic letter mark",
  "\u200b": "zero width space",
  "\u200c": "zero width non-joiner",
  "\u200d": "zero width joiner",
  "\u200e": "left-to-right mark",
  "\u200f": "right-to-left mark",
  "\u2028": "line separator",
  "\u2029": "paragraph separator",
  "\u202a": "left-to-right embedding",
  "\u202b": "right-to-left embedding",
  "\u202c": "pop directional formatting",
  "\u202d": "left-to-right override",
  "\u202e": "right-to-left override",
  "\u2060": "word joiner",
  "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate",
  "\u2068": "first strong isolate",
  "\u2069": "pop directional isolate",
  "\ufeff": "byte order mark",
};

/** As above, the other controls, and the tags block, in runs of the same character. */
const UNSEEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /([\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}])\1*/gu;

/** Parts of an emoji that is made of several: joined by U+200D, or a flag spelled with tags. */
const JOINED =
  /\p{Extended_Pictographic}\ufe0f?\p{EMod}?(?:\u200d\p{Extended_Pictographic}\ufe0f?\p{EMod}?)+|\p{Extended_Pictographic}[\u{e0020}-\u{e007f}]+/gu;
const KNOWN = /^\p{RGI_Emoji}$/v;

/** A text of many marks is not worth as many elements: the rest are written into the text. */
const MOST_MARKS = 2_000;

export interface Piece {
  text: string;
  /** What the mark stands for; undefined for plain text. */
  mark?: string;
  at: number;
}

/** A text in pieces: what can be shown as it is, and marks for what cannot be seen. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  const emoji = emojiIn(text);
  let end = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (emoji.has(match.index)) continue;
    if (found.length > 2 * MOST_MARKS) {
      found.push({ text: marked(text.slice(end)), at: end });
      return found;
    }
    if (match.index > end) found.push({ text: text.slice(end, match.index), at: end });
    end = match.index + match[0].length;
    found.push({ text: label(match[0]), mark: name(match[0]), at: match.index });
  }
  if (end < text.length) found.push({ text: text.slice(end), at: end });
  return found;
}

/** A text on one line where nothing can be marked up: the marks stand in it as words. */
export function marked(text: string): string {
  const emoji = emojiIn(text);
  return text.replace(UNSEEN, (unseen, _one, at: number) =>
    emoji.has(at) ? unseen : label(unseen),
  );
}

/**
 * Where characters are that cannot be seen but belong to an emoji, such as the joiners of a family.
 * Only sequences that Unicode recommends: elsewhere a joiner could hide something.
 */
function emojiIn(text: string): Set<number> {
  const places = new Set<number>();
  for (const { 0: sequence, index } of text.matchAll(JOINED)) {
    if (!KNOWN.test(sequence) && !KNOWN.test(qualified(sequence))) continue;
    for (const part of sequence.matchAll(UNSEEN)) places.add(index + part.index);
  }
  return places;
}

/** A sequence with every variation selector: many programs leave them out. */
function qualified(sequence: string): string {
  return sequence
    .split("\u200d")
    .map((part) => part.replace(/^(\P{Emoji_Presentation})(?![\ufe0f\p{EMod}])/u, "$1\ufe0f"))
    .join("\u200d");
}

function code(unseen: string): string {
  return `U+${(unseen.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function label(unseen: string): string {
  const times = [...unseen].length;
  return times === 1 ? code(unseen) : `${code(unseen)}×${times}`;
}

function name(unseen: string): string {
  const first = String.fromCodePoint(unseen.codePointAt(0) ?? 0);
  return `${NAMES[first] ?? "control character"} (${label(unseen)})`;
}
