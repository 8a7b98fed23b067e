import { type Cosignature, cosignatureStatement } from '../../protocol/statement/cosignature.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { cosignatureTable, cosignedTable } from '../federation/cosignatures.ts';
import { type Check, checkSigned, type TableCheck } from './check.ts';
import { heldBatch } from './held-batch.ts';
import { readRows } from './rows.ts';

/** Whole up to a batch, and the highest batch of all, by the key of the watermark that speaks of them. */
type Reached = Map<string, { upTo: number; last: number }>;

/**
 * Cosignatures: signed by their witnesses, about an envelope held here, one not held yet, or a rival of it. Watermarks:
 * every cosignature up to them is here. Memory grows with pairs of members.
 */
export const cosignatureCheck: TableCheck = {
  tables: [cosignatureTable, cosignedTable],
  async run(check) {
    const reached: Reached = new Map();
    for await (const { key, value } of readRows(check, cosignatureTable)) {
      const cosignature = value && open(check, key, value);
      if (cosignature === undefined) continue;
      const { node, batch, witness } = cosignature;
      const name = cosignedTable.key(node, witness);
      const { upTo } = reached.get(name) ?? { upTo: 0 };
      reached.set(name, { upTo: batch === upTo + 1 ? batch : upTo, last: batch });
      await countAgainstEnvelope(check, cosignature);
    }
    await checkWatermarks(check, reached);
  },
};

function open(check: Check, key: string, signed: SignedStatement): Cosignature | undefined {
  const { report } = check;
  const cosignature = checkSigned(check, cosignatureTable, key, cosignatureStatement, signed, (value) => ({
    node: value.witness,
    keyId: value.keyId,
    at: value.at,
    first: 0,
  }));
  if (cosignature === undefined) return undefined;
  const { node, batch, witness } = cosignature;
  if (key !== cosignatureTable.key(node, batch, witness)) {
    report.problem(cosignatureTable.name, key, `holds the cosignature of ${witness} on batch ${node}/${batch}`);
    return undefined;
  }
  if (witness === node) report.problem(cosignatureTable.name, key, 'a node cannot witness its own batch');
  return cosignature;
}

async function countAgainstEnvelope({ store, report }: Check, { node, batch, envelope }: Cosignature): Promise<void> {
  const held = await heldBatch(store, node, batch);
  if (held === undefined) report.count('cosignaturesAhead');
  else report.count(held.hash === envelope ? 'cosignatures' : 'cosignaturesRival');
}

async function checkWatermarks(check: Check, reached: Reached): Promise<void> {
  const { report } = check;
  for await (const { key, value } of readRows(check, cosignedTable)) {
    const { upTo, last } = reached.get(key) ?? { upTo: 0, last: 0 };
    reached.delete(key);
    if (value === undefined) continue;
    if (value > upTo) report.problem(cosignedTable.name, key, `says ${value}, but only up to ${upTo} all are here`);
    else if (value < upTo) report.warning(cosignedTable.name, key, `says ${value}, though up to ${upTo} all are here`);
    if (last === 0) report.problem(cosignedTable.name, key, 'belongs to no cosignature');
  }
  for (const key of reached.keys()) report.problem(cosignedTable.name, key, 'is missing');
}
