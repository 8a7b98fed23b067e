import { hashText, type Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { StatementError } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { BatchMessage, RevocationMessage, RosterMessage } from './message.ts';
import { revocationStatement } from './revocation.ts';
import { rosterStatement } from './roster.ts';

type Hasher = Pick<Suite, 'sha256Hex'>;

/** What a batch message says beside the envelope's hash, which covers all the rest of the envelope. */
interface NamedEnvelope {
  readonly node: NodeId;
  readonly batch: number;
  readonly keyId: Sha256Hash;
}

/** A text, beside batches, that messages of the ledger name: as it was signed. */
export interface NamedStatement {
  readonly type: 'roster' | 'revocation';
  readonly text: string;
}

/** The message that names an envelope of this text. `federation`: hash of the genesis roster. */
export function nameEnvelope(
  suite: Hasher,
  federation: Sha256Hash,
  { node, batch, keyId }: NamedEnvelope,
  text: string,
): BatchMessage {
  return { v: 2, type: 'batch', federation, node, batch, envelope: hashText(suite, text), keyId };
}

/** The message that names a roster or revocation. Throws `StatementError` on another text, and on a genesis roster. */
export function nameStatement(
  suite: Hasher,
  federation: Sha256Hash,
  { type, text }: NamedStatement,
): RosterMessage | RevocationMessage {
  const statement = hashText(suite, text);
  if (type === 'revocation') {
    const { node, keyId } = revocationStatement.parse(text);
    return { v: 2, type, federation, node, keyId, statement };
  }
  const { previous } = rosterStatement.parse(text);
  if (previous === null) throw new StatementError('roster: nothing names a genesis roster on the ledger');
  return { v: 2, type, federation, previous, statement };
}
