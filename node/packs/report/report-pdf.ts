import PDFDocument from 'pdfkit';
import { printable } from '../../certificates/printable-text.ts';
import { omittedWords, type ReportDocument, type ReportTable } from './report-document.ts';

/** In points (1/72 inch): A4 (ISO 216), and its margins. */
const PAGE = { width: 595.28, height: 841.89 };
const MARGIN = 42;
const CONTENT_WIDTH = PAGE.width - 2 * MARGIN;
const BOTTOM = PAGE.height - MARGIN - 14;
const CELL_PADDING = 2;
const LINE_GAP = 1;
const FACES = { normal: 'Helvetica', bold: 'Helvetica-Bold' } as const;
const SIZES = { title: 18, heading: 13, text: 9.5, caption: 9, cell: 6.5, page: 7.5 } as const;
const INK = '#111111';
const RULE_INK = '#999999';
const HEAD_INK = '#eeeeee';
/** Of one text of a table, and of one paragraph. */
const MAX_CELL = 900;
const MAX_PARAGRAPH = 6_000;
/** Rows by whose texts the widths of columns are found, and the fewest and most characters that one counts for. */
const MEASURED_ROWS = 50;
const MEASURE = { least: 6, most: 44 };

/** A bold character beside a usual one. */
const HEAD_WIDTH = 1.3;

type Structure = ReturnType<PDFKit.PDFDocument['struct']>;

/**
 * A report as a PDF of as many pages as it takes, with tags for those who have it read to them. Streams stay uncompressed
 * and the only date is the given one: the same report is the same bytes.
 */
export async function reportPdf(report: ReportDocument, at: Date): Promise<Uint8Array> {
  const pages = new ReportPages(report.title, at);
  pages.heading('H1', report.title, SIZES.title);
  for (const [name, text] of report.cover) pages.paragraph(`${name}: ${text}`);
  for (const text of report.introduction) pages.paragraph(text);
  for (const { title, paragraphs, tables } of report.sections) {
    pages.heading('H2', title, SIZES.heading);
    for (const text of paragraphs) pages.paragraph(text);
    for (const table of tables) pages.table(table);
  }
  return pages.finish();
}

/** Pages that are written from the first one's top down. */
class ReportPages {
  readonly #doc: PDFKit.PDFDocument;
  readonly #root: Structure;
  #y = MARGIN;
  #page = 0;

  constructor(title: string, at: Date) {
    this.#doc = new PDFDocument({
      size: 'A4',
      margin: MARGIN,
      autoFirstPage: false,
      pdfVersion: '1.7',
      compress: false,
      tagged: true,
      lang: 'en',
      displayTitle: true,
      info: { Title: printable(title, MAX_CELL), Creator: 'Meridian', CreationDate: at, ModDate: at },
    });
    this.#root = this.#doc.struct('Document');
    this.#doc.addStructure(this.#root);
    this.#turn();
  }

  heading(tag: 'H1' | 'H2', text: string, size: number): void {
    // A heading stands on the page of what follows it.
    this.#require(size * 6);
    this.#y += size * 0.6;
    this.#block(tag, text, { size, face: 'bold' });
  }

  paragraph(text: string): void {
    this.#block('P', text, { size: SIZES.text, face: 'normal' });
  }

  table(table: ReportTable): void {
    const { caption, columns, rows } = table;
    if (rows.length === 0) return this.paragraph(`${caption}: none.`);
    const widths = widthsOf(table);
    this.#require(SIZES.caption * 8);
    this.#y += SIZES.caption * 0.5;
    this.#block('Caption', caption, { size: SIZES.caption, face: 'bold' });
    const element = this.#doc.struct('Table');
    this.#root.add(element);
    this.#row(element, 'TH', columns, widths);
    for (const row of rows) {
      if (this.#y + this.#heightOf(row, widths, 'normal') > BOTTOM) {
        this.#turn();
        this.#row(element, 'TH', columns, widths);
      }
      this.#row(element, 'TD', row, widths);
    }
    element.end();
    const omitted = omittedWords(table);
    if (omitted !== null) this.paragraph(omitted);
  }

  async finish(): Promise<Uint8Array> {
    this.#root.end();
    this.#doc.end();
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#doc) if (chunk instanceof Uint8Array) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  #row(table: Structure, tag: 'TD' | 'TH', cells: readonly string[], widths: readonly number[]): void {
    const face = tag === 'TH' ? 'bold' : 'normal';
    const height = Math.min(this.#heightOf(cells, widths, face), BOTTOM - MARGIN);
    const top = this.#y;
    this.#frame(widths, top, height, tag === 'TH');
    const row = this.#doc.struct('TR');
    table.add(row);
    let x = MARGIN;
    for (const [i, cell] of cells.entries()) {
      const width = widths[i] ?? 0;
      const left = x + CELL_PADDING;
      const box = { width: width - 2 * CELL_PADDING, height: height - CELL_PADDING, lineGap: LINE_GAP, ellipsis: true };
      this.#use(face, SIZES.cell);
      const text = printable(cell, MAX_CELL);
      row.add(this.#doc.struct(tag, {}, () => void this.#doc.text(text, left, top + CELL_PADDING, box)));
      x += width;
    }
    row.end();
    this.#y = top + height;
  }

  #frame(widths: readonly number[], top: number, height: number, isHead: boolean): void {
    this.#doc.markContent('Artifact', { type: 'Layout' });
    let x = MARGIN;
    for (const width of widths) {
      const cell = this.#doc.rect(x, top, width, height).lineWidth(0.5);
      if (isHead) cell.fillAndStroke(HEAD_INK, RULE_INK);
      else cell.stroke(RULE_INK);
      x += width;
    }
    this.#doc.endMarkedContent();
  }

  #heightOf(cells: readonly string[], widths: readonly number[], face: keyof typeof FACES): number {
    this.#use(face, SIZES.cell);
    const heights = cells.map((cell, i) =>
      this.#doc.heightOfString(printable(cell, MAX_CELL) || ' ', {
        width: (widths[i] ?? 0) - 2 * CELL_PADDING,
        lineGap: LINE_GAP,
      }),
    );
    return Math.max(...heights) + 2 * CELL_PADDING;
  }

  #block(
    tag: string,
    text: string,
    { size, face }: { readonly size: number; readonly face: keyof typeof FACES },
  ): void {
    const shown = printable(text, MAX_PARAGRAPH);
    this.#use(face, size);
    const options = { width: CONTENT_WIDTH, lineGap: LINE_GAP };
    const height = this.#doc.heightOfString(shown, options);
    this.#require(Math.min(height, BOTTOM - MARGIN));
    this.#use(face, size);
    const top = this.#y;
    const box = { ...options, height: BOTTOM - top, ellipsis: true };
    this.#root.add(this.#doc.struct(tag, {}, () => void this.#doc.text(shown, MARGIN, top, box)));
    this.#y = top + Math.min(height, BOTTOM - top) + size * 0.4;
  }

  #use(face: keyof typeof FACES, size: number): void {
    this.#doc.font(FACES[face]).fontSize(size).fillColor(INK);
  }

  /** Begins a page where so much does not fit any more. */
  #require(height: number): void {
    if (this.#y + height > BOTTOM) this.#turn();
  }

  #turn(): void {
    this.#doc.addPage();
    this.#page++;
    this.#y = MARGIN;
    this.#doc.markContent('Artifact', { type: 'Pagination' });
    this.#use('normal', SIZES.page);
    this.#doc.text(String(this.#page), MARGIN, BOTTOM + 4, { width: CONTENT_WIDTH, align: 'right', lineBreak: false });
    this.#doc.endMarkedContent();
  }
}

/** In proportion to how long the texts of a column are. */
function widthsOf({ columns, rows }: ReportTable): readonly number[] {
  const measured = rows.slice(0, MEASURED_ROWS);
  const weights = columns.map((name, i) => {
    const lengths = measured.map((row) => Math.min(MEASURE.most, row[i]?.length ?? 0));
    const mean = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, lengths.length);
    return Math.max(MEASURE.least, HEAD_WIDTH * name.length, mean);
  });
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return weights.map((weight) => (weight / sum) * CONTENT_WIDTH);
}
