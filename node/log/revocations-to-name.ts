import type { Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { KnownRevocation } from '../../protocol/keys/known-revocations.ts';
import { type DecisionState, MAX_OPEN_NAMES } from '../../protocol/log/decision-state.ts';
import { mayRevoke } from '../../protocol/log/in-force.ts';

/** Undecided revocations of one node that are named at once, beside those of keys that signed decided batches. */
const MAX_AT_ONCE = 8;
/** Names of a day that a revocation leaves to those that matter more, by its rank. */
const LEAVES = [0, 2, 4] as const;
type Rank = 0 | 1 | 2;

/** What is known of a node's keys. */
export interface KeysOfNode {
  /** Whether the node has certified the key: by any other nothing ever counts. */
  readonly isCertified: (keyId: Sha256Hash) => boolean;
  /** Keys by which its decided batches are signed, as far as they are derived here, each with its last batch. */
  readonly sealing: ReadonlyMap<string, number>;
  /** Keys by which its newest checkpoints are signed. */
  readonly witnessing: ReadonlySet<Sha256Hash>;
}

export interface RevocationToName {
  readonly known: KnownRevocation;
  /** Names of the day for that node that are to be left for what matters more. */
  readonly leaves: number;
}

/**
 * The revocations of one node that a member names now, what matters most first, in the same order at every member: a
 * majority has to name the same. Anyone who holds an identity key of the node can sign any number of them, and names a
 * day are few (protocol §2), so of each key the one that reaches furthest back is named, and another only where it says
 * more than those in force and those named. The first of a key that signed decided batches comes before all: whoever
 * lacks the node's account cannot make such a key. What says more, and keys that signed checkpoints alone, leave it two
 * names of a day; keys that nobody saw in use leave four.
 */
export function revocationsToName(
  state: DecisionState,
  self: NodeId,
  revocations: readonly KnownRevocation[],
  { isCertified, sealing, witnessing }: KeysOfNode,
): readonly RevocationToName[] {
  const own = state.open[self]?.revocations ?? [];
  const candidates = [...byKey(revocations)].flatMap(([keyId, ofKey]) => {
    const said = ofKey.filter(({ revocation, hash }) => isSaid(state, own, revocation.node, keyId, hash));
    const next = ofKey.find(
      (known) => mayRevoke(state, nameOf(known)) && said.every((other) => reach(known) < reach(other)),
    );
    if (next === undefined || !isCertified(keyId) || lacksText(state, ofKey)) return [];
    const isFirst = said.length === 0;
    const lastBatch = sealing.get(keyId) ?? 0;
    const rank: Rank = lastBatch > 0 && isFirst ? 0 : lastBatch > 0 || witnessing.has(keyId) ? 1 : 2;
    return [{ known: next, rank, lastBatch }];
  });
  candidates.sort((a, b) => {
    return (
      a.rank - b.rank ||
      b.lastBatch - a.lastBatch ||
      reach(a.known) - reach(b.known) ||
      (a.known.hash < b.known.hash ? -1 : 1)
    );
  });
  const [node] = revocations.map(({ revocation }) => revocation.node);
  let space = Math.min(
    MAX_AT_ONCE - own.filter((name) => name.node === node).length,
    MAX_OPEN_NAMES - MAX_AT_ONCE - own.length,
  );
  return candidates.flatMap(({ known, rank }) => {
    if (rank > 0 && space-- <= 0) return [];
    return [{ known, leaves: LEAVES[rank] }];
  });
}

/** Of each key, the one that reaches furthest back first. */
function byKey(revocations: readonly KnownRevocation[]): ReadonlyMap<Sha256Hash, readonly KnownRevocation[]> {
  const keys = new Map<Sha256Hash, KnownRevocation[]>();
  for (const known of revocations.toSorted((a, b) => reach(a) - reach(b) || (a.hash < b.hash ? -1 : 1))) {
    const { keyId } = known.revocation;
    const ofKey = keys.get(keyId);
    if (ofKey === undefined) keys.set(keyId, [known]);
    else ofKey.push(known);
  }
  return keys;
}

function nameOf({ revocation: { node, keyId }, hash }: KnownRevocation) {
  return { node, keyId, statement: hash };
}

/** Whether it is in force, or this member has named it. */
function isSaid(
  { revoked }: DecisionState,
  own: DecisionState['open'][string]['revocations'],
  node: NodeId,
  keyId: Sha256Hash,
  hash: Sha256Hash,
): boolean {
  const isInForce = revoked[node]?.[keyId]?.some(({ statement }) => statement === hash) === true;
  return isInForce || own.some(({ statement }) => statement === hash);
}

/** Whether one of the key is in force whose text is not here: what another says more cannot be told. */
function lacksText({ revoked }: DecisionState, ofKey: readonly KnownRevocation[]): boolean {
  const [first] = ofKey;
  if (first === undefined) return false;
  const { node, keyId } = first.revocation;
  const inForce = revoked[node]?.[keyId] ?? [];
  return inForce.some(({ statement }) => !ofKey.some(({ hash }) => hash === statement));
}

/** What it reaches back to, in epoch milliseconds; a key that was only rotated fells nothing. */
function reach({ revocation: { compromisedSince } }: KnownRevocation): number {
  return compromisedSince === null ? Number.POSITIVE_INFINITY : Date.parse(compromisedSince);
}
