import { homeOf } from '../../protocol/accounts/account-id.ts';
import type { Account } from '../../node/accounts/account.ts';
import type { KeyAnswer } from '../../protocol/api/keys.ts';
import type { Outcome } from './ask.ts';
import type { Changed } from './changes.ts';

type Row = readonly string[];

const GAP = '  ';
const NONE = '–';

export function changeTable(outcomes: readonly Outcome<Changed>[]): string {
  const rows = outcomes.map((one) => (one.ok ? [one.node, one.answer.subject, one.answer.words] : refusedRow(one)));
  return tableText([['node', 'subject', 'state'], ...rows]);
}

export function accountTable(outcomes: readonly Outcome<readonly Account[]>[]): string {
  const rows = merged(outcomes, (account) => [
    account.id,
    account.tier,
    account.name ?? NONE,
    account.email ?? NONE,
    account.compressPayloads === true ? 'compressed' : NONE,
    account.nodes?.join(' ') ?? homeOf(account.id) ?? NONE,
  ]);
  return tableText([['account', 'tier', 'name', 'e-mail', 'payloads', 'works at', 'nodes'], ...rows]);
}

export function keyTable(outcomes: readonly Outcome<readonly KeyAnswer[]>[]): string {
  const rows = merged(outcomes, (key) => [
    key.id,
    key.name ?? NONE,
    key.status,
    key.preset ?? key.scopes.join(' '),
    key.sources?.join(' ') ?? 'all',
    key.addresses?.join(' ') ?? 'any',
    key.expiresAt?.slice(0, 'yyyy-mm-ddThh:mm'.length) ?? 'never',
    key.lastUsedDay ?? NONE,
  ]);
  return tableText([['key', 'name', 'status', 'may', 'sources', 'from', 'ends', 'used', 'nodes'], ...rows]);
}

function refusedRow({ node, error }: Extract<Outcome<Changed>, { readonly ok: false }>): Row {
  return [node, NONE, error];
}

/** What several nodes say in the same words is one row, which names them. */
function merged<Item>(outcomes: readonly Outcome<readonly Item[]>[], cells: (item: Item) => Row): Row[] {
  const nodes = new Map<string, { readonly row: Row; readonly nodes: string[] }>();
  for (const outcome of outcomes) {
    for (const item of outcome.ok ? outcome.answer : []) {
      const row = cells(item);
      const known = nodes.get(row.join('\0'));
      if (known === undefined) nodes.set(row.join('\0'), { row, nodes: [outcome.node] });
      else known.nodes.push(outcome.node);
    }
  }
  return [...nodes.values()].map((entry) => entry.row.concat(entry.nodes.join(' ')));
}

/** Cells in columns; the first row is the header. */
export function tableText(rows: readonly Row[]): string {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}
