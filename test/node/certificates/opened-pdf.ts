import { decodeQR } from 'qr/decode.js';

/** Pixels of a module of a QR code that is looked at, and modules of white around it. */
const MODULE_PIXELS = 4;
const QUIET_MODULES = 4;
const OBJECT = /(?<=^|\n)(\d+) 0 obj\n([\s\S]*?)\nendobj\n/g;
const STREAM = /\nstream\n/;
const LENGTH = /\/Length (\d+)/;
const SHOWN_TEXT = /\[((?:<[0-9a-f]*>|[ \d.-])*)\] TJ/g;
const HEX = /<([0-9a-f]*)>/g;
const MATRIX = /1 0 0 1 ([\d.-]+) ([\d.-]+) Tm/g;
const RECTANGLE = /^([\d.-]+) ([\d.-]+) ([\d.-]+) ([\d.-]+) re$/gm;
const WIN_ANSI = new TextDecoder('windows-1252');

/** What stands in an uncompressed PDF of this node, as a reader finds it. */
export interface OpenedPdf {
  /** The whole file, a character a byte. */
  readonly source: string;
  readonly pages: number;
  /** Lines of text in the order in which they are written. */
  readonly lines: readonly string[];
  /** The same, in one line. */
  readonly text: string;
  /** How far above the lower edge of the page the lowest line stands. In points. */
  readonly lowest: number;
  readonly attachments: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  /** What its QR code says. */
  readonly code: string;
  /** All dates, as PDF writes them, each once. */
  readonly dates: readonly string[];
}

/** Reads a PDF of this node. Throws where its cross-references do not lead to its objects, or it has no QR code. */
export function openPdf(bytes: Uint8Array): OpenedPdf {
  const source = Buffer.from(bytes).toString('latin1');
  requireReferences(source);
  const objects = [...source.matchAll(OBJECT)].map(([, , body = '']) => body);
  const content = objects.filter((body) => body.includes(' TJ')).map(streamOf);
  if (content.length !== 1) throw new RangeError(`${content.length} pages with text`);
  const [page = ''] = content;
  const files = objects.filter((body) => body.includes('/Type /EmbeddedFile'));
  const names = [...source.matchAll(/\/UF \((.*)\)/g)].map(([, name = '']) => name);
  const lines = [...page.matchAll(SHOWN_TEXT)].map(([, shown = '']) => textOf(shown));
  return {
    source,
    lines,
    text: lines.join(' ').replaceAll(/ +/g, ' '),
    pages: Number(/\/Type \/Pages\n\/Count (\d+)/.exec(source)?.[1]),
    lowest: Math.min(...[...page.matchAll(MATRIX)].map(([, , y]) => Number(y))),
    attachments: files.map((body, i) => ({ name: names[i] ?? '', bytes: Buffer.from(streamOf(body), 'latin1') })),
    code: codeOf(page),
    dates: [...new Set(source.match(/D:\d{14}Z?/g))],
  };
}

function streamOf(body: string): string {
  const length = Number(LENGTH.exec(body)?.[1]);
  const start = body.search(STREAM) + '\nstream\n'.length;
  return body.slice(start, start + length);
}

function textOf(shown: string): string {
  const hex = [...shown.matchAll(HEX)].map(([, digits = '']) => digits).join('');
  return WIN_ANSI.decode(Buffer.from(hex, 'hex'));
}

/** Paints the rectangles of a page, and reads what they say. */
function codeOf(page: string): string {
  const rectangles = [...page.matchAll(RECTANGLE)].map((found) => found.slice(1).map(Number));
  const [left, top] = [0, 1].map((at) => Math.min(...rectangles.map((rectangle) => rectangle[at] ?? 0)));
  const module = Math.min(...rectangles.map(([, , , height = 0]) => height));
  const right = Math.max(...rectangles.map(([x = 0, , width = 0]) => x + width));
  const side = (Math.round((right - (left ?? 0)) / module) + 2 * QUIET_MODULES) * MODULE_PIXELS;
  const data = new Uint8Array(side * side * 3).fill(255);
  const pixel = (from: number, origin: number) =>
    Math.round((Math.round((from - origin) / module) + QUIET_MODULES) * MODULE_PIXELS);
  for (const [x = 0, y = 0, width = 0] of rectangles) {
    for (let row = pixel(y, top ?? 0); row < pixel(y + module, top ?? 0); row++) {
      data.fill(0, (row * side + pixel(x, left ?? 0)) * 3, (row * side + pixel(x + width, left ?? 0)) * 3);
    }
  }
  return decodeQR({ width: side, height: side, data });
}

function requireReferences(source: string): void {
  const at = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(source)?.[1]);
  const rows = [...source.slice(at).matchAll(/^(\d{10}) 00000 n $/gm)];
  rows.forEach(([, offset], i) => {
    if (!source.startsWith(`${i + 1} 0 obj`, Number(offset))) throw new RangeError(`object ${i + 1} is elsewhere`);
  });
  if (rows.length === 0) throw new RangeError('no cross-references');
}
