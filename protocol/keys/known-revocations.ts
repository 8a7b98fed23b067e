import { decodeBase64url } from '../bytes.ts';
import { hashText, type Sha256Hash } from '../hash.ts';
import type { NodeId } from '../ids.ts';
import { MAX_REVOCATIONS_OF_KEY, MAX_REVOKED_KEYS } from '../log/decision-state.ts';
import { isWholeRevocation, type Revocation, revocationStatement } from '../log/revocation.ts';
import type { Base64url } from '../shapes.ts';
import { signatureHolds, type SignedStatement } from '../statement/statement.ts';
import type { Suite } from '../suite/suite.ts';
import { KeyError } from './key-error.ts';

/** Longest revocation and signature that are read, in UTF-16 units. */
const MAX_LENGTH = 8192;

/**
 * Keys of a node whose revocations the ledger names none of: it can make up any number of them, and all that is kept of
 * its keys has to fit into one answer.
 */
export const MAX_OPEN_REVOKED_KEYS = 256;

/** A revocation that one of its node's identity keys has signed. */
export interface KnownRevocation {
  readonly revocation: Revocation;
  readonly signed: SignedStatement;
  /** Hash of its text, by which the ledger names it. */
  readonly hash: Sha256Hash;
}

/** What became of one: how it is kept, and which one gave way to it. */
export interface RevocationTaken {
  readonly known: KnownRevocation;
  readonly dropped: KnownRevocation | null;
}

/**
 * The revocations of nodes' signing keys. Of one key any number may be in force, and the text of each is needed for as
 * long as anything is judged: one that the ledger names is never dropped. Of those that it does not name, as many are
 * kept of a key as can be in force, those that reach furthest back, so that all nodes come to keep the same.
 */
export class KnownRevocations {
  readonly #suite: Suite;
  readonly #isNamed: (known: KnownRevocation) => boolean;
  /** By node and key id, furthest reaching first. */
  readonly #revocations = new Map<NodeId, Map<Sha256Hash, readonly KnownRevocation[]>>();

  /** `isNamed`: whether the ledger names the revocation: it is in force, or a member has named it. */
  constructor(suite: Suite, isNamed: (known: KnownRevocation) => boolean) {
    this.#suite = suite;
    this.#isNamed = isNamed;
  }

  /**
   * Takes a revocation that one of the node's identity keys has signed: those in any roster known. Throws `KeyError`,
   * also where there is no room for it: then the ledger does not name it.
   */
  add(signed: SignedStatement, identityKeysOf: (node: NodeId) => readonly Base64url[]): RevocationTaken {
    const revocation = readRevocation(signed);
    const { node, keyId } = revocation;
    const found: KnownRevocation = { revocation, signed, hash: hashText(this.#suite, signed.statement) };
    const known = this.of(node, keyId);
    const same = known.find(({ hash }) => hash === found.hash);
    if (same !== undefined) return { known: same, dropped: null };
    const dropped = this.#isNamed(found) ? null : this.#makeSpace(found, known);
    const identityKeys = identityKeysOf(node);
    if (identityKeys.length === 0) throw new KeyError('unknown-member', `${node} is in no roster`);
    if (!identityKeys.some((key) => this.#isSignedBy(signed, key))) {
      throw new KeyError('revocation-unsigned', `the revocation of ${node} is not signed by it`);
    }
    const keys = this.#revocations.get(node) ?? new Map<Sha256Hash, readonly KnownRevocation[]>();
    keys.set(keyId, [...known.filter((other) => other !== dropped), found].toSorted(furthestFirst));
    this.#revocations.set(node, keys);
    return { known: found, dropped };
  }

  /** Those of one key, the one that reaches furthest back first. */
  of(node: NodeId, keyId: Sha256Hash): readonly KnownRevocation[] {
    return this.#revocations.get(node)?.get(keyId) ?? [];
  }

  /** Those of all keys of a node. */
  ofNode(node: NodeId): readonly KnownRevocation[] {
    return [...(this.#revocations.get(node)?.values() ?? [])].flat();
  }

  all(): readonly KnownRevocation[] {
    return [...this.#revocations.keys()].flatMap((node) => this.ofNode(node));
  }

  /** The one that gives way; null where there is room. Throws `KeyError` `too-many`. */
  #makeSpace(found: KnownRevocation, known: readonly KnownRevocation[]): KnownRevocation | null {
    const { node } = found.revocation;
    if (known.length === 0) this.#requireCapacityForKey(node);
    const open = known.filter((other) => !this.#isNamed(other));
    if (open.length < MAX_REVOCATIONS_OF_KEY) return null;
    const last = open.at(-1);
    if (last !== undefined && furthestFirst(found, last) < 0) return last;
    throw new KeyError('too-many', `${node} has revoked one key ${MAX_REVOCATIONS_OF_KEY} times`);
  }

  /** Throws `KeyError` `too-many`. */
  #requireCapacityForKey(node: NodeId): void {
    const keys = this.#revocations.get(node) ?? new Map<Sha256Hash, readonly KnownRevocation[]>();
    if (keys.size < MAX_OPEN_REVOKED_KEYS) return;
    const open = [...keys.values()].filter((ofKey) => !ofKey.some(this.#isNamed)).length;
    if (keys.size < MAX_REVOKED_KEYS && open < MAX_OPEN_REVOKED_KEYS) return;
    throw new KeyError('too-many', `${node} has revoked ${keys.size} keys, ${open} of which no member has named`);
  }

  #isSignedBy(signed: SignedStatement, identityKey: Base64url): boolean {
    try {
      return signatureHolds(this.#suite, revocationStatement, signed, decodeBase64url(identityKey));
    } catch {
      return false;
    }
  }
}

function readRevocation({ statement, signature }: SignedStatement): Revocation {
  if (statement.length > MAX_LENGTH || signature.length > MAX_LENGTH) {
    throw new KeyError('revocation-malformed', 'the revocation is too long');
  }
  const revocation = parseRevocation(statement);
  if (isWholeRevocation(revocation)) return revocation;
  throw new KeyError('revocation-malformed', 'a revocation has a time exactly where its key was compromised');
}

function parseRevocation(text: string): Revocation {
  try {
    return revocationStatement.parse(text);
  } catch (error) {
    throw new KeyError('revocation-malformed', error instanceof Error ? error.message : 'unreadable');
  }
}

/** The earliest compromise first, and a key that was only rotated last. */
function furthestFirst(
  { revocation: a, hash }: KnownRevocation,
  { revocation: b, hash: other }: KnownRevocation,
): number {
  if (a.compromisedSince === b.compromisedSince) return hash < other ? -1 : 1;
  if (a.compromisedSince === null) return 1;
  if (b.compromisedSince === null) return -1;
  return a.compromisedSince < b.compromisedSince ? -1 : 1;
}
