/** Text cells; the first row names the columns. */
export type TextTable = readonly (readonly string[])[];

const GAP = '  ';
const MEBIBYTE = 1 << 20;

/** The table as aligned text: the first column to the left, numbers to the right. */
export function tableText(table: TextTable): string {
  const columns = Math.max(0, ...table.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  );
  return table
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function count(value: number): string {
  return whole.format(value);
}

export function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(1)} ms`;
}

export function microseconds(value: number): string {
  return `${whole.format(value)} µs`;
}

export function mebibytes(bytes: number): string {
  return `${whole.format(bytes / MEBIBYTE)} MiB`;
}

export function ratio(value: number): string {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(0)}×`;
}
