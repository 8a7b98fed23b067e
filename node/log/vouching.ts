import type { Logger } from 'pino';
import type { ChainContext } from '../../protocol/chain/batch-walk.ts';
import { type ChainState, startOfChain } from '../../protocol/chain/chain-state.ts';
import { BatchDeriver, type DecidedBatch } from '../../protocol/chain/derive.ts';
import { ChainRefusal, type RefusalCode, REFUSALS } from '../../protocol/chain/refusal.ts';
import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import { hasMember, rosterStatement } from '../../protocol/log/roster.ts';
import type { Base64url } from '../../protocol/shapes.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { type Timestamp, timestampOfConsensus } from '../../protocol/time.ts';
import { TimeSlices } from '../concurrency/time-slices.ts';
import { checkedSuite, nativeSuite } from '../keys/native-suite.ts';
import { envelopeTable } from '../records/batch-tables.ts';
import { chainStateTable, derivedOperations, ownVouchedTable, sealingKeyTable } from '../records/chain-tables.ts';
import type { Store } from '../store/store.ts';
import { type FederationLog, LogDamagedError } from './federation-log.ts';
import type { FederationKeys } from './members/federation-keys.ts';
import { storedGroups, storedHistory } from './stored-chain.ts';

/** The signing keys of members, each judged by the identity keys of the rosters up to a decision (protocol §5). */
class ChainKeys {
  readonly #keys: Pick<FederationKeys, 'directory'>;
  readonly #log: Pick<FederationLog, 'rosterText' | 'state'>;
  readonly #identityKeys = new Map<Sha256Hash, ReadonlyMap<NodeId, Base64url>>();

  constructor(keys: Pick<FederationKeys, 'directory'>, log: Pick<FederationLog, 'rosterText' | 'state'>) {
    this.#keys = keys;
    this.#log = log;
  }

  /**
   * What looks up `node`'s public key of an id, certified for records from `first` on or earlier ones, by an identity
   * key of a roster that came into force before the decision at `index`. Throws `LogDamagedError`.
   */
  async upTo(node: NodeId, index: number): Promise<(keyId: Sha256Hash, first: number) => Uint8Array | undefined> {
    const identityKeys = await this.#identityKeysUpTo(node, index);
    return (keyId, first) => this.#keys.directory.covering(node, keyId, first, identityKeys)?.publicKey;
  }

  async #identityKeysUpTo(node: NodeId, index: number): Promise<readonly Base64url[]> {
    const found = new Set<Base64url>();
    for (const roster of this.#log.state.rosters) {
      if (roster.index !== null && roster.index >= index) break;
      const key = (await this.#membersOf(roster.hash)).get(node);
      if (key !== undefined) found.add(key);
    }
    return [...found];
  }

  async #membersOf(hash: Sha256Hash): Promise<ReadonlyMap<NodeId, Base64url>> {
    const known = this.#identityKeys.get(hash);
    if (known !== undefined) return known;
    const text = await this.#log.rosterText(hash);
    if (text === undefined) throw new LogDamagedError(`roster ${hash} of the log is missing`);
    const { members } = rosterStatement.parse(text);
    const keys = new Map(members.map(({ node, identityKey }) => [node, identityKey]));
    this.#identityKeys.set(hash, keys);
    return keys;
  }
}

/** Pause after the store failed. In milliseconds. */
const RETRY_MS = 1_000;

/** A chain that goes no further here, and why. */
export interface UnderivedBatch {
  readonly node: NodeId;
  /** The batch after the last one that was derived: it was decided, and is held. */
  readonly batch: number;
  readonly code: RefusalCode;
}

/** A batch that was decided and is not held here. */
export interface LackedBatch {
  readonly node: NodeId;
  readonly batch: number;
  /** Ledger time of its decision. */
  readonly since: Timestamp;
}

export interface VouchingOptions {
  readonly self: NodeId;
  readonly store: Store;
  readonly keys: Pick<FederationKeys, 'directory' | 'onCertificate' | 'rosters'>;
  readonly federationLog: Pick<FederationLog, 'batch' | 'rosterText' | 'state' | 'timeOf'>;
  /** More is vouched for. Must not throw. */
  readonly onVouched: () => void;
  /** The log decided another envelope than the one that is held. Must not throw. */
  readonly onRivalDecided: (node: NodeId, batch: number) => void;
  readonly log: Logger;
}

/** A batch that is both decided and held. */
interface HeldBatch {
  readonly decided: DecidedBatch;
  /** Place of the decision. */
  readonly index: number;
  readonly signed: SignedStatement;
}

/**
 * Derives every batch that is decided and held whole, chain by chain in order, and knows how far this member vouches
 * for each (protocol §4). This node's own batches were walked before they were signed; of them it looks only whether
 * the log decided these.
 *
 * Crash order: the state after a batch and the heads of its sources land in one atomic write; a crash before it derives
 * the batch again.
 *
 * Ownership: the maps and the rows of other nodes' chains are moved by the loop alone, which takes one batch at a time.
 */
export class Vouching implements AsyncDisposable {
  readonly #options: VouchingOptions;
  readonly #keys: ChainKeys;
  readonly #states: Map<NodeId, ChainState>;
  readonly #underived = new Map<NodeId, UnderivedBatch>();
  readonly #lacking = new Map<NodeId, LackedBatch>();
  readonly #due = new Set<NodeId>();
  readonly #slices = new TimeSlices();
  #own: number;
  #loop: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;
  readonly #stopListening: () => void;

  private constructor(options: VouchingOptions, states: Map<NodeId, ChainState>, own: number) {
    this.#options = options;
    this.#keys = new ChainKeys(options.keys, options.federationLog);
    this.#states = states;
    this.#own = own;
    this.#stopListening = options.keys.onCertificate((node) => this.poke(node));
  }

  /** Goes on from the store; derives nothing before `start`. */
  static async open(options: VouchingOptions): Promise<Vouching> {
    const { store, self } = options;
    const states = new Map<NodeId, ChainState>();
    for await (const [, state] of chainStateTable.under(store, [])) {
      if (state.node !== self) states.set(state.node, state);
    }
    return new Vouching(options, states, (await ownVouchedTable.get(store, self)) ?? 0);
  }

  /** Looks at all chains. */
  start(): void {
    const { members, past } = this.#options.federationLog.state;
    for (const node of Object.keys({ ...members, ...past })) this.poke(nodeId(node));
  }

  /** Of each node, the last batch up to which this member has derived every one. */
  vouched(): ReadonlyMap<NodeId, number> {
    const others = [...this.#states].map(([node, { batch }]) => [node, batch] as const);
    return new Map([...others, [this.#options.self, this.#own] as const].filter(([, batch]) => batch > 0));
  }

  /** Chains that stand still at a batch that is decided and held. */
  get underived(): readonly UnderivedBatch[] {
    return [...this.#underived.values()];
  }

  /**
   * Chains that wait for a batch that was decided: any member or backup may still bring it, so that none of them is
   * `closed` for it.
   */
  get lacking(): readonly LackedBatch[] {
    return [...this.#lacking.values()];
  }

  /**
   * Nodes whose chain cannot go on: no copy of the batch that was decided would do, and of the own one there is no
   * other.
   */
  get closed(): readonly NodeId[] {
    const { self } = this.#options;
    return this.underived.flatMap(({ node, code }) => (node === self || REFUSALS[code] !== 'copy' ? [node] : []));
  }

  /** Something of this node's chain is new: a decision, a batch, a certificate. */
  poke(node: NodeId): void {
    this.#due.add(node);
    this.#wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    this.#stopListening();
    clearTimeout(this.#retry);
    await this.#loop;
  }

  #wake(): void {
    if (this.#closed || this.#retry !== undefined) return;
    this.#loop ??= this.#run().finally(() => {
      this.#loop = undefined;
      // What became due after the loop's last look, and before this.
      if (this.#due.size > 0) this.#wake();
    });
  }

  async #run(): Promise<void> {
    for (const node of this.#due) {
      if (this.#closed) return;
      this.#due.delete(node);
      try {
        // Added at the end again: the chains take turns, one batch each.
        if (await this.#advance(node)) this.#due.add(node);
      } catch (error) {
        if (this.#closed) return;
        this.#options.log.error({ err: error, node }, 'a chain could not be derived; trying again');
        this.#due.add(node);
        this.#retry = setTimeout(() => {
          this.#retry = undefined;
          this.poke(node);
        }, RETRY_MS);
        return;
      }
    }
  }

  /** Whether the chain went on by a batch. */
  async #advance(node: NodeId): Promise<boolean> {
    const { self } = this.#options;
    const isOwn = node === self;
    const batch = (isOwn ? this.#own : (this.#states.get(node)?.batch ?? 0)) + 1;
    const held = await this.#held(node, batch);
    if (held === undefined || this.#isFinal(node, batch)) return false;
    try {
      if (isOwn) await this.#takeOwn(held);
      else await this.#derive(held);
    } catch (error) {
      if (!(error instanceof ChainRefusal)) throw error;
      this.#note(node, batch, error);
      return false;
    }
    this.#underived.delete(node);
    this.#options.onVouched();
    return true;
  }

  async #held(node: NodeId, batch: number): Promise<HeldBatch | undefined> {
    const { federationLog, store } = this.#options;
    const logged = await federationLog.batch(node, batch);
    if (logged === undefined) return undefined;
    const signed = await envelopeTable.get(store, node, batch);
    const { envelope, keyId } = logged.named;
    const { consensusTimestamp, index } = logged.decision;
    if (signed === undefined) {
      this.#lacking.set(node, { node, batch, since: timestampOfConsensus(consensusTimestamp) });
      return undefined;
    }
    this.#lacking.delete(node);
    return { decided: { node, batch, envelope, keyId, consensusTimestamp }, index, signed };
  }

  async #derive({ decided, index, signed }: HeldBatch): Promise<void> {
    const { store } = this.#options;
    const { node } = decided;
    const context: ChainContext = {
      suite: checkedSuite,
      history: storedHistory(store, node),
      publicKeyOf: await this.#keys.upTo(node, index),
      rest: async () => {
        if (this.#slices.isOver) await this.#slices.rest();
      },
    };
    const before = this.#states.get(node) ?? (await this.#startOf(node));
    const deriver = BatchDeriver.open(context, before, decided, signed);
    for await (const group of storedGroups(store, deriver.envelope)) await deriver.takeGroup(group);
    const { state, sources } = deriver.finish();
    await store.write([
      ...derivedOperations(state, sources),
      sealingKeyTable.put([node, decided.keyId], decided.batch),
    ]);
    this.#states.set(node, state);
  }

  async #startOf(node: NodeId): Promise<ChainState> {
    const since = await chainStart(this.#options.federationLog, node);
    if (since === null) throw new LogDamagedError(`no roster of the log names ${node}`);
    return startOfChain(node, since);
  }

  async #takeOwn({ decided: { node, batch, envelope }, signed }: HeldBatch): Promise<void> {
    if (hashText(nativeSuite, signed.statement) !== envelope) {
      throw new ChainRefusal('envelope-not-decided', 'another envelope was decided');
    }
    await this.#options.store.write([ownVouchedTable.put([node], batch)]);
    this.#own = batch;
  }

  /** Whether no copy of the batch and nothing that may come would do. */
  #isFinal(node: NodeId, batch: number): boolean {
    const known = this.#underived.get(node);
    return known?.batch === batch && REFUSALS[known.code] !== 'copy';
  }

  #note(node: NodeId, batch: number, refusal: ChainRefusal): void {
    const { log, onRivalDecided } = this.#options;
    const { code, seq } = refusal;
    const known = this.#underived.get(node);
    if (known?.batch !== batch || known.code !== code) {
      log.error(
        { err: refusal, node, batch, code, seq },
        'a decided batch is not derived: its chain is vouched for no further',
      );
    }
    this.#underived.set(node, { node, batch, code });
    if (code === 'envelope-not-decided') onRivalDecided(node, batch);
  }
}

/**
 * When a node's chain may begin: the ledger time of the decision that admitted the node, or the `issuedAt` of the
 * genesis roster; null where no roster of the log names it. Throws `LogDamagedError`.
 */
export async function chainStart(
  log: Pick<FederationLog, 'rosterText' | 'state' | 'timeOf'>,
  node: NodeId,
): Promise<Timestamp | null> {
  for (const { hash, index } of log.state.rosters) {
    const text = await log.rosterText(hash);
    if (text === undefined) throw new LogDamagedError(`roster ${hash} of the log is missing`);
    const roster = rosterStatement.parse(text);
    if (!hasMember(roster, node)) continue;
    return index === null ? roster.issuedAt : log.timeOf(index);
  }
  return null;
}
