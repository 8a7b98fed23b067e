import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ListError, quoted } from '../list-error.ts';
import type { ListFile } from './format.ts';

export interface CsvForm {
  /** Default: a comma. */
  readonly delimiter?: ',' | ';';
}

/** Longest row. The longest of a real list has about 30,000 characters. In bytes. */
const MAX_ROW_BYTES = 256 << 10;

/** The rows of a CSV file (RFC 4180, any line ending, a byte order mark or none). Throws `ListError`. */
async function* csvRows(file: ListFile, { delimiter = ',' }: CsvForm = {}): AsyncGenerator<readonly string[]> {
  const parser = parse({
    bom: true,
    delimiter,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
  });
  // What ends it early is thrown by the loop below.
  pipeline(Readable.from(file.text()), parser, () => undefined);
  let row = 0;
  try {
    for await (const fields of parser) {
      row++;
      if (!isRow(fields)) throw new TypeError('a row of the CSV reader has another shape');
      yield fields;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new ListError('malformed', `${file.name}, after row ${row}: ${reasonOf(error)}`, error);
  }
}

/** Rows that each have this many fields. Throws `ListError`. */
export async function* rowsOf(file: ListFile, columns: number): AsyncGenerator<readonly string[]> {
  let row = 0;
  for await (const fields of csvRows(file)) {
    row++;
    requireColumns(file, row, fields, columns);
    yield fields;
  }
}

/** A row whose fields are asked for by the names of the header. */
export type NamedRow<Column extends string> = (column: Column) => string;

/**
 * Rows below a header, which is the first row that `isHeader` (default: the first of all). Every column that is asked
 * for must be in it, and every row as long as it. Throws `ListError`.
 */
export async function* namedRows<Column extends string>(
  file: ListFile,
  columns: readonly Column[],
  form: CsvForm & { readonly before?: (fields: readonly string[]) => boolean } = {},
): AsyncGenerator<NamedRow<Column>> {
  let header: { readonly places: ReadonlyMap<string, number>; readonly length: number } | undefined;
  let row = 0;
  for await (const fields of csvRows(file, form)) {
    row++;
    if (header !== undefined) {
      requireColumns(file, row, fields, header.length);
      const { places } = header;
      yield (column) => fields[places.get(column) ?? -1] ?? '';
    } else if (form.before?.(fields) !== true) {
      const places = new Map(fields.map((name, i) => [name.trim(), i]));
      const missing = columns.find((column) => !places.has(column));
      if (missing !== undefined) {
        throw new ListError(
          'malformed',
          `${file.name} has no column ${missing} in its header ${quoted(fields.join())}`,
        );
      }
      header = { places, length: fields.length };
    }
  }
  if (header === undefined) throw new ListError('malformed', `${file.name} has no header`);
}

function requireColumns({ name }: ListFile, row: number, fields: readonly string[], columns: number): void {
  if (fields.length === columns) return;
  const detail = `has ${fields.length} fields, not ${columns}: ${quoted(fields.join())}`;
  throw new ListError('malformed', `${name}, row ${row} ${detail}`);
}

function isRow(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((field) => typeof field === 'string');
}

/** The reader's own words, which may repeat a long piece of the file. */
function reasonOf({ code }: CsvError): string {
  return code.toLowerCase().replaceAll('_', ' ').replace(/^csv /, '');
}
