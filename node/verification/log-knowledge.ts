import { LRUCache } from 'lru-cache';
import { isSha256Hash, type Sha256Hash } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import type { KnownRevocation } from '../../protocol/keys/known-revocations.ts';
import type { DecisionState } from '../../protocol/log/decision-state.ts';
import { type Decision, decisionText } from '../../protocol/log/decision.ts';
import type { CountedCheckpoint, LogView } from '../../protocol/verdict/known.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { identityKeysOf } from '../log/checkpoint-standing.ts';
import type { CheckpointStore } from '../log/checkpoint-store.ts';
import type { KnownCheckpoint } from '../log/known-checkpoint.ts';
import { type FederationLog, LogDamagedError } from '../log/federation-log.ts';
import type { NodeKey } from './signing-keys.ts';

/** Of the log, what is remembered: it never changes once it is decided. A decision takes one or two kilobytes. */
const MAX_ROOTS = 4_096;
const MAX_DECISIONS = 8_192;

export interface LogSources {
  readonly federationLog: Pick<
    FederationLog,
    'decisionOf' | 'entry' | 'pathAt' | 'rootAt' | 'rosterText' | 'size' | 'state'
  >;
  readonly checkpointStore: Pick<CheckpointStore, 'kept'>;
  readonly keys: Pick<FederationKeys, 'directory'>;
}

/** What a verdict asks a node's log about: all that the bundle which it is on names. */
export interface LogQuestions {
  /** Places of decisions. */
  readonly places: readonly number[];
  /** Sizes of trees. */
  readonly sizes: readonly number[];
  readonly batches: readonly { readonly node: NodeId; readonly batch: number }[];
}

/** A roster in force, and the text of the decision that brought it there; null for the genesis. */
export interface RosterInForce {
  readonly text: string;
  readonly decision: string | null;
}

/** A revocation in force, and the text of its decision. */
export interface RevocationInForce extends Pick<KnownRevocation, 'revocation' | 'signed'> {
  readonly decision: string;
}

interface KnownDecision {
  readonly decision: Decision;
  readonly text: string;
}

/** What a node's log answers, as plain data that a thread can be told. */
export interface LogAnswers {
  readonly roots: ReadonlyMap<number, Sha256Hash>;
  readonly decisions: ReadonlyMap<number, string>;
  /** By `batchName`. */
  readonly batches: ReadonlyMap<string, string>;
  readonly rosters: readonly RosterInForce[];
  readonly revocations: readonly RevocationInForce[];
  /** Keys of which a revocation is in force whose text is not here yet: what they signed may stand, or fall. */
  readonly unclear: readonly NodeKey[];
  readonly checkpoints: readonly CountedCheckpoint[];
}

/**
 * Whether it is not known if something that one of these keys signed stands: then no member's word makes it verified.
 */
export function isUnclear({ unclear }: Pick<LogAnswers, 'unclear'>, keys: readonly NodeKey[]): boolean {
  return unclear.some(({ node, keyId }) => keys.some((key) => key.node === node && key.keyId === keyId));
}

/** The answers in the form that a verdict asks in. */
export function logViewOf({ roots, decisions, batches, rosters, revocations, checkpoints }: LogAnswers): LogView {
  return {
    rootAt: (size) => roots.get(size),
    decisionAt: (index) => decisions.get(index),
    decidedBatch: (node, batch) => batches.get(batchName(node, batch)),
    rosters,
    revocations: revocations.map(({ signed, decision }) => ({ statement: signed.statement, decision })),
    checkpoints,
  };
}

/** What this node knows by its own log (protocol §8). Holds only what it has decided. */
export class LogKnowledge {
  readonly #sources: LogSources;
  readonly #roots = new LRUCache<number, Sha256Hash>({ max: MAX_ROOTS });
  readonly #texts = new LRUCache<number, string>({ max: MAX_DECISIONS });
  readonly #batches = new LRUCache<string, KnownDecision>({ max: MAX_DECISIONS });
  #rosters: { readonly of: DecisionState['rosters']; readonly entries: readonly RosterInForce[] } | undefined;

  constructor(sources: LogSources) {
    this.#sources = sources;
  }

  /** Throws `LogDamagedError` where the log misses a part of itself. */
  async ask({ places, sizes, batches }: LogQuestions): Promise<LogAnswers> {
    const [rosters, revocations] = await Promise.all([this.rosters(), this.revocations()]);
    const unclear = this.#unclear();
    const decided = await Promise.all(batches.map(async (each) => (await this.#decided(each.node, each.batch))?.text));
    const texts = await Promise.all(places.map((place) => this.#text(place)));
    const counted = this.#sources.checkpointStore.kept();
    const roots = await Promise.all(sizes.map((size) => this.#rootAt(size)));
    return {
      roots: new Map([...counted.map(rootOf), ...pairs(sizes, roots)]),
      decisions: new Map(pairs(places, texts)),
      batches: new Map(
        pairs(
          batches.map(({ node, batch }) => batchName(node, batch)),
          decided,
        ),
      ),
      rosters,
      revocations,
      unclear,
      checkpoints: counted
        .filter(({ checkpoint }) => !isUnclear({ unclear }, [checkpoint]))
        .flatMap((known) => this.#counted(known)),
    };
  }

  /** Rosters in force so far, from the genesis on. */
  async rosters(): Promise<readonly RosterInForce[]> {
    const { rosters } = this.#sources.federationLog.state;
    if (this.#rosters?.of === rosters) return this.#rosters.entries;
    const entries = await Promise.all(
      rosters.map(async ({ hash, index }): Promise<RosterInForce> => {
        const text = await this.#sources.federationLog.rosterText(hash);
        if (text === undefined) throw new LogDamagedError(`the text of roster ${hash} is missing`);
        return { text, decision: index === null ? null : await this.#required(index) };
      }),
    );
    this.#rosters = { of: rosters, entries };
    return entries;
  }

  /** Revocations in force whose texts are here. */
  async revocations(): Promise<readonly RevocationInForce[]> {
    const { federationLog, keys } = this.#sources;
    const found: RevocationInForce[] = [];
    for (const [node, revoked] of Object.entries(federationLog.state.revoked)) {
      for (const [keyId, decided] of Object.entries(revoked)) {
        if (!isSha256Hash(keyId)) throw new LogDamagedError(`the log revokes the key ${keyId}`);
        for (const { statement, index } of decided) {
          const known = keys.directory.revocations(nodeId(node), keyId).find(({ hash }) => hash === statement);
          if (known === undefined) continue;
          found.push({ ...known, decision: await this.#required(index) });
        }
      }
    }
    return found;
  }

  #unclear(): readonly NodeKey[] {
    const { federationLog, keys } = this.#sources;
    return Object.entries(federationLog.state.revoked).flatMap(([name, revoked]) =>
      Object.entries(revoked).flatMap(([keyId, decided]): readonly NodeKey[] => {
        const node = nodeId(name);
        if (!isSha256Hash(keyId)) throw new LogDamagedError(`the log revokes the key ${keyId}`);
        const known = new Set(keys.directory.revocations(node, keyId).map(({ hash }) => hash));
        return decided.every(({ statement }) => known.has(statement)) ? [] : [{ node, keyId }];
      }),
    );
  }

  /** The decision that names a batch; undefined while there is none. Throws `LogDamagedError`. */
  async decisionOf(node: NodeId, batch: number): Promise<Decision | undefined> {
    return (await this.#decided(node, batch))?.decision;
  }

  async #decided(node: NodeId, batch: number): Promise<KnownDecision | undefined> {
    const name = batchName(node, batch);
    const known = this.#batches.get(name);
    if (known !== undefined) return known;
    const decision = await this.#sources.federationLog.decisionOf(node, batch);
    if (decision === undefined) return undefined;
    const decided = { decision, text: decisionText.write(decision) };
    this.#batches.set(name, decided);
    this.#texts.set(decision.index, decided.text);
    return decided;
  }

  async #text(place: number): Promise<string | undefined> {
    return place < this.#sources.federationLog.size ? this.#required(place) : undefined;
  }

  async #required(place: number): Promise<string> {
    const known = this.#texts.get(place);
    if (known !== undefined) return known;
    const text = await this.#sources.federationLog.entry(place);
    if (text === undefined) throw new LogDamagedError(`decision ${place} is missing`);
    this.#texts.set(place, text);
    return text;
  }

  async #rootAt(size: number): Promise<Sha256Hash | undefined> {
    if (size > this.#sources.federationLog.size) return undefined;
    const known = this.#roots.get(size);
    if (known !== undefined) return known;
    const root = await this.#sources.federationLog.rootAt(size);
    this.#roots.set(size, root);
    return root;
  }

  /** A checkpoint that counts here, once for each identity key of its member that certified its key. */
  #counted({ checkpoint }: KnownCheckpoint): readonly CountedCheckpoint[] {
    return identityKeysOf(this.#sources.keys, checkpoint).map((identityKey) => ({ checkpoint, identityKey }));
  }
}

function batchName(node: NodeId, batch: number): string {
  return `${node} ${batch}`;
}

/** The node's own tree of that size has this root: that is why the checkpoint counts. */
function rootOf({ checkpoint: { size, root } }: KnownCheckpoint): readonly [number, Sha256Hash] {
  return [size, root];
}

function pairs<Key, Value>(
  keys: readonly Key[],
  values: readonly (Value | undefined)[],
): readonly (readonly [Key, Value])[] {
  return keys.flatMap((key, i): readonly (readonly [Key, Value])[] => {
    const value = values[i];
    return value === undefined ? [] : [[key, value]];
  });
}
