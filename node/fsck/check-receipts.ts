import { hashBytes, writeSha256 } from '../../protocol/hash.ts';
import { rootFromPath } from '../../protocol/merkle/inclusion.ts';
import { groupStatement } from '../../protocol/statement/group.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import { receiptNotKeptTable } from '../verification/receipts-not-kept.ts';
import { checkSigned, type TableCheck } from './check.ts';
import { readRows } from './rows.ts';

/** Receipts that a decided batch does not keep: signed by their node, and over the leaf that they are kept for. */
export const receiptCheck: TableCheck = {
  tables: [receiptNotKeptTable],
  async run(check) {
    const { report } = check;
    for await (const { key, parts, value } of readRows(check, receiptNotKeptTable)) {
      if (value === undefined) continue;
      const { statement, signature, leaf, path } = value;
      const signed = { statement, signature };
      const group = checkSigned(check, receiptNotKeptTable, key, groupStatement, signed, ({ node, keyId, first }) => ({
        node,
        keyId,
        first,
      }));
      if (group === undefined) continue;
      report.count('receiptsNotKept');
      const seq = Number(parts[1]);
      const root = rootFromPath(nativeSuite, hashBytes(leaf), seq - group.first, group.size, path.map(hashBytes));
      if (key !== receiptNotKeptTable.key(group.node, seq)) {
        report.problem(receiptNotKeptTable.name, key, `is a receipt of ${group.node}`);
      } else if (root === null || writeSha256(root) !== group.root) {
        report.problem(receiptNotKeptTable.name, key, 'does not walk to the root of the receipt');
      }
    }
  },
};
