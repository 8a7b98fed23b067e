import PDFDocument from 'pdfkit';

/** In points (1/72 inch): A4 (ISO 216), and its margins. */
const WIDTH = 595.28;
const MARGIN = 42;
const CONTENT_WIDTH = WIDTH - 2 * MARGIN;
const LABEL_WIDTH = 118;
const LINE_GAP = 1.5;
const HEADING_GAP = 9;

const FACES = { normal: 'Helvetica', bold: 'Helvetica-Bold', mono: 'Courier' } as const;
const INK = '#111111';
export const QUIET_INK = '#444444';
const RULE_INK = '#999999';

export interface TextStyle {
  readonly face?: keyof typeof FACES;
  /** In points. Default: 9.5, and 8.5 of `mono`. */
  readonly size?: number;
  /** Lines after which the text is cut. Default: 2. */
  readonly lines?: number;
  readonly color?: string;
}

const TEXT_SIZE = 9.5;
const MONO_SIZE = 8.5;
const TITLE_SIZE = 16;
const HEADING_SIZE = 11;
const CAPTION: TextStyle = { face: 'mono', size: 6, lines: 5 };
/** Height of the longest caption. */
const CAPTION_SPACE = 44;

/** A file inside the document. */
export interface AttachedFile {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly bytes: Uint8Array;
}

export interface SheetOptions {
  readonly title: string;
  /** The only date in the document: of its making, of its change, of its file. */
  readonly at: Date;
}

interface Box {
  readonly x: number;
  readonly width: number;
}

/**
 * One A4 page, written from its top down, with tags for those who have it read to them. Streams stay uncompressed:
 * what zlib makes of them differs between its versions, and the same page is the same bytes on every Node. Texts must
 * be `printable`. Nothing begins a second page: what is too long for its lines is cut.
 */
export class Sheet {
  readonly #doc: PDFKit.PDFDocument;
  readonly #root: ReturnType<PDFKit.PDFDocument['struct']>;
  readonly #at: Date;
  #y = MARGIN;
  /** Right of it stands what the page began with. */
  #right = MARGIN + CONTENT_WIDTH;
  #rightUntil = 0;
  #drawLast = (): void => {};

  constructor({ title, at }: SheetOptions) {
    this.#at = at;
    this.#doc = new PDFDocument({
      size: 'A4',
      margin: MARGIN,
      pdfVersion: '1.7',
      compress: false,
      tagged: true,
      lang: 'en',
      displayTitle: true,
      info: { Title: title, Creator: 'Meridian', CreationDate: at, ModDate: at },
    });
    this.#root = this.#doc.struct('Document');
    this.#doc.addStructure(this.#root);
  }

  /** Keeps room at the top right for a QR code and what it says. It is read last, after all that is written meanwhile. */
  code(modules: readonly (readonly boolean[])[], caption: string, size: number): void {
    const top = this.#y;
    const left = MARGIN + CONTENT_WIDTH - size;
    this.#right = left - HEADING_GAP * 2;
    this.#rightUntil = top + size + CAPTION_SPACE;
    this.#drawLast = () => {
      const alt = `QR code: ${caption}`;
      this.#root.add(this.#doc.struct('Figure', { alt }, () => this.#squares(modules, { left, top, size })));
      this.#write('Caption', caption, { x: left, width: size }, top + size + LINE_GAP * 2, CAPTION);
    };
  }

  title(text: string): void {
    this.#paragraph('H1', text, { face: 'bold', size: TITLE_SIZE, lines: 4 });
  }

  heading(text: string): void {
    this.#y = Math.max(this.#y, this.#rightUntil) + HEADING_GAP;
    this.#rule();
    this.#paragraph('H2', text, { face: 'bold', size: HEADING_SIZE, lines: 1 });
  }

  paragraph(text: string, style: TextStyle = {}): void {
    this.#paragraph('P', text, style);
  }

  /** A name and what it is, beside each other. */
  row(label: string, text: string, style: TextStyle = {}, labelFace: TextStyle['face'] = 'normal'): void {
    const top = this.#y;
    const labelStyle: TextStyle = { face: labelFace, color: QUIET_INK, lines: 1 };
    const labelEnd = this.#write('P', label, { x: MARGIN, width: LABEL_WIDTH }, top, labelStyle);
    const x = MARGIN + LABEL_WIDTH;
    const end = this.#write('P', text, { x, width: this.#end(top) - x }, top, style);
    this.#y = Math.max(labelEnd, end);
  }

  /** The document, with a file that it is about (ISO 32000-2 §7.11.4, §14.13.2: `AFRelationship` `Data`). */
  async finish({ name, type, description, bytes }: AttachedFile): Promise<Uint8Array<ArrayBuffer>> {
    const options = { name, type, description, creationDate: this.#at, modifiedDate: this.#at, relationship: 'Data' };
    this.#doc.file(Buffer.from(bytes), options);
    this.#drawLast();
    this.#root.end();
    this.#doc.end();
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#doc) if (chunk instanceof Uint8Array) chunks.push(chunk);
    return new Uint8Array(Buffer.concat(chunks));
  }

  /** The dark modules, as rectangles. */
  #squares(modules: readonly (readonly boolean[])[], { left, top, size }: { left: number; top: number; size: number }) {
    const module = size / modules.length;
    modules.forEach((row, y) => {
      for (const [from, to] of darkRuns(row)) {
        this.#doc.rect(left + from * module, top + y * module, (to - from) * module, module);
      }
    });
    this.#doc.fill(INK);
  }

  #paragraph(tag: string, text: string, style: TextStyle): void {
    const top = this.#y;
    this.#y = this.#write(tag, text, { x: MARGIN, width: this.#end(top) - MARGIN }, top, style);
  }

  /** Where a line that begins there ends. */
  #end(y: number): number {
    return y < this.#rightUntil ? this.#right : MARGIN + CONTENT_WIDTH;
  }

  /** Writes a text into a box from `y` on, and returns where it ends. */
  #write(tag: string, text: string, { x, width }: Box, y: number, style: TextStyle): number {
    const { face = 'normal', lines = 2, color = INK } = style;
    const { size = face === 'mono' ? MONO_SIZE : TEXT_SIZE } = style;
    const doc = this.#doc.font(FACES[face]).fontSize(size).fillColor(color);
    const lineHeight = doc.currentLineHeight(true) + LINE_GAP;
    const options = { width, height: lines * lineHeight, lineGap: LINE_GAP, ellipsis: true };
    const used = Math.min(doc.heightOfString(text, { width, lineGap: LINE_GAP }), options.height);
    this.#root.add(doc.struct(tag, {}, () => void doc.text(text, x, y, options)));
    return y + Math.max(used, lineHeight);
  }

  #rule(): void {
    const y = this.#y - HEADING_GAP / 2;
    this.#doc.markContent('Artifact', { type: 'Layout' });
    this.#doc
      .moveTo(MARGIN, y)
      .lineTo(MARGIN + CONTENT_WIDTH, y)
      .lineWidth(0.5)
      .stroke(RULE_INK);
    this.#doc.endMarkedContent();
  }
}

/** From and to of the dark modules that stand beside each other. */
function darkRuns(row: readonly boolean[]): readonly (readonly [from: number, to: number])[] {
  const runs: [number, number][] = [];
  row.forEach((isDark, x) => {
    const last = runs.at(-1);
    if (!isDark) return;
    if (last?.[1] === x) last[1] = x + 1;
    else runs.push([x, x + 1]);
  });
  return runs;
}
