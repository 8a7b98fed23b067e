import { Problem } from './problem.ts';

/** Bytes of a file, `end` not included. */
export interface ByteRange {
  readonly from: number;
  readonly end: number;
}

const ONE_RANGE = /^bytes=(\d*)-(\d*)$/;

/**
 * The part of a file that a `Range` header asks for (RFC 9110 §14); null for all of it: of no header, of one that is not
 * understood or asks for several parts, and where `If-Range` names another file. Throws `Problem` 416.
 */
export function byteRange(
  headers: { readonly range: string; readonly ifRange: string },
  file: { readonly bytes: number; readonly tag: string },
): ByteRange | null {
  const { range, ifRange } = headers;
  const [, first = '', last = ''] = ONE_RANGE.exec(range) ?? [];
  if ((first === '' && last === '') || (ifRange !== '' && ifRange !== file.tag)) return null;
  const from = first === '' ? Math.max(0, file.bytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? file.bytes : Math.min(file.bytes, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < from) return null;
  if (from < end) return { from, end };
  throw new Problem('range-not-satisfiable', `The file has ${file.bytes} bytes.`, {
    headers: { 'Content-Range': `bytes */${file.bytes}` },
  });
}
