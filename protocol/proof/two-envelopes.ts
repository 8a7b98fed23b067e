import { type Envelope, envelopeStatement } from '../chain/envelope.ts';
import { hashText } from '../hash.ts';
import { parseLedgerMessage } from '../log/message.ts';
import { StatementError } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import type { Authority } from '../verdict/authority.ts';
import { memberOfAccount } from '../verdict/roster-links.ts';
import { type Charge, NoChargeError, type ProofKnown, type ReadMessage, type Shortfall } from './charge.ts';
import type { TwoEnvelopes } from './misdeed.ts';

interface Named {
  readonly text: string;
  readonly envelope: Envelope;
  readonly sequence: string;
}

/**
 * Two envelopes of one number, both named from the node's own account (protocol §2, §8). An envelope that was signed
 * again under another key is none: the name by the key before it came when that was revoked, and counts for nothing.
 * Throws `NoChargeError` and `StatementError`.
 */
export function twoEnvelopes(suite: Suite, { first, second }: TwoEnvelopes): Charge {
  const named = [first, second].map(({ statement: text, sequence }): Named => {
    return { text, sequence, envelope: envelopeStatement.parse(text) };
  });
  const { node, batch } = envelopeStatement.parse(first.statement);
  if (first.statement === second.statement) throw new NoChargeError('it shows one envelope twice');
  if (named.some(({ envelope }) => envelope.node !== node || envelope.batch !== batch)) {
    throw new NoChargeError('the two envelopes are not of one number');
  }
  return {
    accused: node,
    batch,
    signed: [first, second].map(({ statement: text, signature }) => {
      const { keyId } = envelopeStatement.parse(text);
      // An envelope may be signed again by a key that is certified for later records.
      return { kind: envelopeStatement, text, signature, node, keyId, first: undefined, index: null };
    }),
    judge: (authority, known) => shortfallOf(suite, authority, known, named),
  };
}

function shortfallOf(
  suite: Suite,
  authority: Authority,
  { messageAt }: ProofKnown,
  named: readonly Named[],
): Shortfall | null {
  const read = named.map(({ sequence }) => messageAt?.(sequence));
  for (const [i, each] of named.entries()) {
    const message = read[i];
    const shortfall = message === undefined ? null : nameShortfall(suite, authority, each, message);
    if (shortfall !== null) return shortfall;
  }
  if (!read.includes(undefined)) return null;
  const { withdrawals } = authority;
  // Of an envelope that was signed again the key before it is revoked; where its name stands, if there is any, is not
  // known.
  if (named.some(({ envelope: { node, keyId } }) => withdrawals.isRevoked(node, keyId))) {
    return { word: 'key-revoked', detail: 'a key that signed was revoked, and the ledger was not read there' };
  }
  return { word: 'two-signed', detail: 'the node signed both; whether it named both on the ledger was not read' };
}

function nameShortfall(
  suite: Suite,
  { line, withdrawals }: Authority,
  { text, envelope: { node, batch, keyId }, sequence }: Named,
  { payer, message, index }: ReadMessage,
): Shortfall | null {
  const named = readName(message);
  const isThis =
    named?.type === 'batch' &&
    named.federation === line.federation &&
    named.node === node &&
    named.batch === batch &&
    named.keyId === keyId &&
    named.envelope === hashText(suite, text);
  if (!isThis) return { word: 'contradicted', detail: `message ${sequence} of the ledger does not name that envelope` };
  if (memberOfAccount(line.inForceAt(index).roster, payer) !== node) {
    return { word: 'two-signed', detail: `the node signed both; message ${sequence} is not from its own account` };
  }
  if (!withdrawals.isInForceAt(node, keyId, index)) return null;
  return { word: 'key-revoked', detail: `the key of the envelope was revoked before message ${sequence}` };
}

function readName(text: string): ReturnType<typeof parseLedgerMessage> | null {
  try {
    return parseLedgerMessage(text);
  } catch (error) {
    if (error instanceof StatementError) return null;
    throw error;
  }
}
