import type { Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import {
  type DecisionState,
  MAX_OPEN_NAMES,
  type OpenBatch,
  type OpenNames,
  type OpenRevocation,
} from './decision-state.ts';

/**
 * What members named that is not decided, each under the member that named it. All are members of the roster in force.
 */
export type Open = DecisionState['open'];

const NOTHING: OpenNames = { roster: null, batches: [], revocations: [] };

/** With a member's name of a batch of another node, in the place of what it named for that node before. */
export function nameBatch(open: Open, member: NodeId, { node, batch, envelope, keyId }: OpenBatch): Open {
  const names = open[member] ?? NOTHING;
  const others = names.batches.filter((other) => other.node !== node);
  const batches = [...others, { node, batch, envelope, keyId }].slice(-MAX_OPEN_NAMES);
  return { ...open, [member]: { ...names, batches } };
}

/** Members that name this batch alike. */
export function batchSupport(open: Open, name: OpenBatch): number {
  return count(open, ({ batches }) => batches.some((other) => isSameBatch(other, name)));
}

/** Without the names of a node's batch: its number was decided. */
export function withoutBatchesOf(open: Open, node: NodeId): Open {
  return keepBatches(open, (name) => name.node !== node);
}

/** Without the names of batches of a key that was revoked. */
export function withoutKey(open: Open, node: NodeId, keyId: Sha256Hash): Open {
  return keepBatches(open, (name) => name.node !== node || name.keyId !== keyId);
}

/** With a member's name of a revocation, the newest of its names also where it named that one before. */
export function nameRevocation(open: Open, member: NodeId, { node, keyId, statement }: OpenRevocation): Open {
  const names = open[member] ?? NOTHING;
  const name = { node, keyId, statement };
  const others = names.revocations.filter((other) => !isSameRevocation(other, name));
  const revocations = [...others, name].slice(-MAX_OPEN_NAMES);
  return { ...open, [member]: { ...names, revocations } };
}

/** Members that name this revocation. */
export function revocationSupport(open: Open, name: OpenRevocation): number {
  return count(open, ({ revocations }) => revocations.some((other) => isSameRevocation(other, name)));
}

/** Without the names that `falls` says of. */
export function withoutRevocations(open: Open, falls: (name: OpenRevocation) => boolean): Open {
  return change(open, (names) => {
    if (!names.revocations.some(falls)) return names;
    return { ...names, revocations: names.revocations.filter((name) => !falls(name)) };
  });
}

/** With the roster that a member names to follow the one in force, in the place of the one that it named before. */
export function nameRoster(open: Open, member: NodeId, statement: Sha256Hash): Open {
  return { ...open, [member]: { ...(open[member] ?? NOTHING), roster: statement } };
}

/** Members that name this roster. */
export function rosterSupport(open: Open, statement: Sha256Hash): number {
  return count(open, ({ roster }) => roster === statement);
}

/** Without the names of a roster that cannot come into force. */
export function withoutRoster(open: Open, statement: Sha256Hash): Open {
  return change(open, (names) => (names.roster === statement ? { ...names, roster: null } : names));
}

function isSameRevocation(a: OpenRevocation, b: OpenRevocation): boolean {
  return a.node === b.node && a.keyId === b.keyId && a.statement === b.statement;
}

function isSameBatch(a: OpenBatch, b: OpenBatch): boolean {
  return a.node === b.node && a.batch === b.batch && a.envelope === b.envelope && a.keyId === b.keyId;
}

function keepBatches(open: Open, keeps: (name: OpenBatch) => boolean): Open {
  return change(open, (names) => {
    if (names.batches.every(keeps)) return names;
    return { ...names, batches: names.batches.filter(keeps) };
  });
}

/** The same value where no member's names change: nearly always nothing is open. A member without names is absent. */
function change(open: Open, next: (names: OpenNames) => OpenNames): Open {
  const entries = Object.entries(open);
  const changed = entries.map(([member, names]): readonly [string, OpenNames] => [member, next(names)]);
  if (changed.every(([, names], at) => names === entries[at]?.[1])) return open;
  return Object.fromEntries(changed.filter(([, names]) => !isNothing(names)));
}

function isNothing({ roster, batches, revocations }: OpenNames): boolean {
  return roster === null && batches.length === 0 && revocations.length === 0;
}

function count(open: Open, names: (by: OpenNames) => boolean): number {
  return Object.values(open).filter(names).length;
}
