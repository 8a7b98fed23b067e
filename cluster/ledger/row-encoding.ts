/** A row is plain data whose leaves may also be bigints and byte arrays. */
interface RowEncoding<T> {
  readonly name: string;
  readonly format: 'utf8';
  encode(row: T): string;
  decode(text: string): T;
}

const BIGINT_MARK = '$n';
const BYTES_MARK = '$b';

/** Writes a row as JSON; the same row always gives the same text, which is what block hashes are taken over. */
export function encodeRow(row: unknown): string {
  return JSON.stringify(row, function (this: Record<string, unknown>, key: string, value: unknown): unknown {
    // `value` has been through Buffer.toJSON already; the holder still has the bytes.
    const original = this[key];
    if (typeof original === 'bigint') return { [BIGINT_MARK]: original.toString() };
    if (original instanceof Uint8Array) return { [BYTES_MARK]: Buffer.from(original).toString('base64') };
    return value;
  });
}

export function rowEncoding<T>(): RowEncoding<T> {
  return {
    name: 'ledger-row',
    format: 'utf8',
    encode: encodeRow,
    decode: (text) => JSON.parse(text, revive),
  };
}

function revive(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (BIGINT_MARK in value && typeof value[BIGINT_MARK] === 'string') return BigInt(value[BIGINT_MARK]);
  if (BYTES_MARK in value && typeof value[BYTES_MARK] === 'string') return strictBytes(value[BYTES_MARK]);
  return value;
}

/** Throws unless the text is what `encodeRow` writes for its bytes, so that no two texts give the same row. */
function strictBytes(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new Error('a stored row is not canonical base64');
  return bytes;
}
