import { readHead, recordLeaf } from '../../protocol/chain/record.ts';
import { EncodingError } from '../../protocol/bytes.ts';
import { type Sha256Hash, writeSha256 } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Base64url } from '../../protocol/shapes.ts';
import { StatementError } from '../../protocol/statement/statement.ts';
import type { Suite } from '../../protocol/suite/suite.ts';
import type { Bundle } from '../../protocol/verdict/bundle.ts';

/** A receipt that somebody shows, of which nothing was checked: a node's word that a record with this leaf is its `seq`-th. */
export interface GivenReceipt {
  readonly node: NodeId;
  readonly seq: number;
  readonly leaf: Sha256Hash;
  readonly statement: string;
  readonly signature: Base64url;
  /** From the leaf to the root of the receipt. */
  readonly path: readonly Sha256Hash[];
}

/** The receipt of a bundle's own record; null where the record cannot be read. */
export function givenReceipt(
  suite: Suite,
  { record, receipt }: Pick<Bundle, 'receipt' | 'record'>,
): GivenReceipt | null {
  try {
    const { node, seq } = readHead(record.head);
    return { node, seq, leaf: writeSha256(recordLeaf(suite, record.head)), ...receipt };
  } catch (error) {
    if (error instanceof StatementError || error instanceof EncodingError) return null;
    throw error;
  }
}
