/** What OFAC writes into the free text of its remarks, beside much else. */
export interface RemarksContent {
  readonly weakAliases: readonly string[];
  /** Digital currency addresses, whatever the ticker says. */
  readonly addresses: readonly string[];
}

/**
 * `a.k.a. 'X'`, `f.k.a. 'X'`, `n.k.a. 'X'`. X may hold an apostrophe, so it ends at a quote before `;`, `.` or the end;
 * other quoted text is no name. An alias is short: what is longer is a quote that was never closed.
 */
const WEAK_ALIAS = /\b[afn]\.k\.a\. '(.{1,350}?)'(?=[;.]|\s*$)/gsu;
/** `Digital Currency Address - XBT 1abc…;`, with `alt.` before it or not. */
const ADDRESS = /\bDigital Currency Address - [A-Z0-9]{2,10} ([0-9A-Za-z:]{10,128})/gu;

/** Reads remarks to which their overflow has been joined. */
export function readRemarks(remarks: string): RemarksContent {
  return {
    weakAliases: [...remarks.matchAll(WEAK_ALIAS)].map(([, name = '']) => name),
    addresses: [...remarks.matchAll(ADDRESS)].map(([, address = '']) => address),
  };
}
