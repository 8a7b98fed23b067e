import type { Sha256Hash } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import type { TopicMessage } from '../../../protocol/log/decide.ts';
import { type BatchMessage, type LedgerMessage, parseLedgerMessage } from '../../../protocol/log/message.ts';
import { type Roster, rosterStatement } from '../../../protocol/log/roster.ts';

interface Said {
  readonly member: NodeId;
  readonly named: LedgerMessage;
}

/**
 * What protocol §2 says, read naively: everything that counted since the roster in force is kept, and looked through
 * whole at each message. `follows` gives the text of a roster that may come into force. It has no bounds, so it speaks
 * of short topics alone. Returns the sequence numbers of the messages that decide.
 */
export function referenceDecisions(
  genesis: Roster,
  federation: Sha256Hash,
  messages: readonly TopicMessage[],
  follows: (statement: Sha256Hash) => string | null,
): number[] {
  const decisions: number[] = [];
  const batches = new Map<NodeId, number>(genesis.members.map(({ node }) => [node, 0]));
  const revoked: string[] = [];
  let inForce = { roster: genesis, hash: federation };
  let said: Said[] = [];
  /** Names of rosters that cannot come into force: they stand in the place of what their member said before. */
  const fallen = new Set<Said>();

  for (const { sequence, payer, message } of messages) {
    const member = inForce.roster.members.find(({ accounts }) => accounts.includes(payer))?.node;
    const named = parse(message);
    if (member === undefined || named === null || named.federation !== federation) continue;
    if (!counts(named)) continue;
    said.push({ member, named });
    const alike = new Set(said.filter((one) => isHeld(one) && isSame(one.named, named)).map((one) => one.member));
    const own = named.type === 'batch' && named.node === member;
    if (!own && alike.size * 2 <= inForce.roster.members.length) continue;
    if (put(named)) decisions.push(sequence);
  }
  return decisions;

  function counts(named: LedgerMessage): boolean {
    if (named.type === 'batch') return isNext(named) && !revoked.some((text) => text.startsWith(keyOf(named)));
    if (named.type === 'roster') return named.previous === inForce.hash;
    return batches.has(named.node) && !revoked.includes(keyOf(named) + named.statement);
  }

  function isNext({ node, batch }: BatchMessage): boolean {
    const last = batches.get(node);
    return last !== undefined && batch === last + 1;
  }

  /** Whether it is what its member said last of that roster or batch number, and still counts. */
  function isHeld(one: Said): boolean {
    const later = said.slice(said.indexOf(one) + 1).filter(({ member }) => member === one.member);
    return counts(one.named) && !fallen.has(one) && !later.some(({ named }) => isOfOneThing(named, one.named));
  }

  function put(named: LedgerMessage): boolean {
    if (named.type === 'batch') batches.set(named.node, named.batch);
    if (named.type === 'revocation') revoked.push(keyOf(named) + named.statement);
    if (named.type !== 'roster') return true;
    const text = follows(named.statement);
    if (text === null) {
      for (const one of said) if (isSame(one.named, named)) fallen.add(one);
      return false;
    }
    said = [];
    inForce = { roster: rosterStatement.parse(text), hash: named.statement };
    for (const { node } of inForce.roster.members) batches.set(node, batches.get(node) ?? 0);
    return true;
  }
}

function isOfOneThing(a: LedgerMessage, b: LedgerMessage): boolean {
  if (a.type === 'batch') return b.type === 'batch' && a.node === b.node && a.batch === b.batch;
  return a.type === 'roster' && b.type === 'roster';
}

function isSame(a: LedgerMessage, b: LedgerMessage): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function keyOf({ node, keyId }: { readonly node: NodeId; readonly keyId: Sha256Hash }): string {
  return `${node} ${keyId} `;
}

function parse(bytes: Uint8Array): LedgerMessage | null {
  try {
    return parseLedgerMessage(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return null;
  }
}
