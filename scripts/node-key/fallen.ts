import type { Static } from 'typebox';
import { FallenRecordsAnswerShape } from '../../node/operator/signing-key-forms.ts';
import type { Sha256Hash } from '../../protocol/hash.ts';
import { ask } from '../key/ask.ts';
import type { Target } from '../key/targets.ts';

type Answer = Static<typeof FallenRecordsAnswerShape>;

/** Prints a node's records that fell by a revocation, page by page: one a line. Rejects as `ask` does. */
export async function printFallen(
  target: Target,
  key: Sha256Hash | undefined,
  json: boolean,
  terminal: { readonly out: (line: string) => void },
): Promise<void> {
  let printed = 0;
  for (let cursor: string | null = ''; cursor !== null;) {
    const query = new URLSearchParams({ ...(key === undefined ? {} : { key }), ...(cursor === '' ? {} : { cursor }) });
    const path = `/fallen-records?${query}`;
    const page: Answer = await ask(target, { method: 'GET', path, answer: FallenRecordsAnswerShape });
    for (const record of page.records) terminal.out(json ? JSON.stringify(record) : lineOf(record));
    printed += page.records.length;
    cursor = page.nextCursor;
  }
  if (printed === 0 && !json) terminal.out('no record fell by a revocation');
}

function lineOf({ id, batch, consensus, keyId }: Answer['records'][number]): string {
  const place = batch === null ? 'not sealed' : `batch ${batch}`;
  return `${id}  ${place}, ${consensus === null ? 'not on the ledger yet' : `on the ledger ${consensus}`}, by ${keyId}`;
}
