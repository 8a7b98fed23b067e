import type { Logger } from 'pino';
import type { NodeId } from '../../protocol/ids.ts';
import { envelopeStatement } from '../../protocol/chain/envelope.ts';
import { keyCertificateStatement } from '../../protocol/keys/certificate.ts';
import { checkpointStatement, type SignedCheckpoint } from '../../protocol/log/checkpoint.ts';
import { revocationStatement } from '../../protocol/log/revocation.ts';
import { type SignedStatement, StatementError } from '../../protocol/statement/statement.ts';
import { readBatch } from '../records/batch-tables.ts';
import type { TopicPoint } from '../anchoring/ledger/topic-point.ts';
import type { Store } from '../store/store.ts';
import type { Chains } from '../log/chains.ts';
import { type Equivocation, type Equivocations, openEnvelope } from './equivocations.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import { decodeGossip, type GossipMessage } from './gossip-forms.ts';
import type { PeerFaults } from '../log/peer-faults.ts';
import { PeerStatementError } from '../log/members/peer-statement-error.ts';
import type { ValidationResult } from '../transport/contract.ts';

/** Announced envelopes kept a node, ahead of their bodies: a rival of one of them is an equivocation too. */
const MAX_ANNOUNCED = 256;
/** An envelope is announced as it is sealed: one dated further from now than this shows a wrong clock, or a lie. */
const MISDATED_MS = 120_000;

type Told = Extract<GossipMessage, { readonly type: 'told' }>;

export interface GossipOptions {
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly equivocations: Equivocations;
  readonly faults: PeerFaults;
  readonly now: () => number;
  readonly log: Logger;
  readonly onLead: (node: NodeId, peer: NodeId, batch: number) => void;
  readonly onEquivocation: (proof: Equivocation) => void;
  /** A member says how far its own sources agree on the ledger's topic. */
  readonly onTold: (from: NodeId, point: TopicPoint) => void;
  /** A checkpoint came. Throws `PeerStatementError` where it does not hold. */
  readonly onCheckpoint: (signed: SignedCheckpoint) => Promise<unknown>;
  /** A statement came by a key that nobody has certified here yet. */
  readonly onUnknownKey: (peer: NodeId) => void;
}

/**
 * Judges what arrives on the gossip topics. Gossip is a doorbell: an envelope only says whom to pull from; a
 * checkpoint, certificate or proof is checked and kept. Taking the same message twice changes nothing.
 *
 * Only faults that hold whatever this node knows are rejected, since a reject also punishes those who forward.
 */
export class GossipHandler {
  readonly #options: GossipOptions;
  readonly #announced = new Map<NodeId, Map<number, SignedStatement>>();
  /** By member, when it told last, by its own clock. */
  readonly #toldAt = new Map<NodeId, number>();

  constructor(options: GossipOptions) {
    this.#options = options;
  }

  async receive(data: Uint8Array, from: NodeId): Promise<ValidationResult> {
    try {
      return await this.#take(decodeGossip(data), from);
    } catch (error) {
      if (!(error instanceof PeerStatementError)) {
        this.#options.log.error({ err: error, from }, 'gossip could not be taken');
        return 'ignore';
      }
      this.#options.log.warn({ err: error, from }, 'gossip that does not hold');
      this.#options.faults.noteError(from, error);
      if (error.fault === 'unknown-key') this.#options.onUnknownKey(from);
      return error.fault === 'malformed' || error.fault === 'forged' ? 'reject' : 'ignore';
    }
  }

  /** A member has come: one that told by a clock that was ahead, and was set since, may tell anew. */
  noteConnected(peer: NodeId): void {
    if ((this.#toldAt.get(peer) ?? 0) > this.#options.now()) this.#toldAt.delete(peer);
  }

  /** Looks for a rival of an envelope among those stored and announced; keeps and reports the proof. */
  async watch(signed: SignedStatement): Promise<void> {
    const { keys, store } = this.#options;
    const { node, batch } = openEnvelope(keys, signed);
    const announced = this.#announced.get(node) ?? new Map<number, SignedStatement>();
    this.#announced.set(node, announced);
    const stored = await readBatch(store, node, batch);
    for (const rival of [stored?.signed, announced.get(batch)]) {
      if (rival === undefined || rival.statement === signed.statement) continue;
      await this.learn({ first: rival, second: signed });
    }
    if (!announced.has(batch)) announced.set(batch, signed);
    for (const old of announced.keys()) {
      if (announced.size <= MAX_ANNOUNCED) break;
      announced.delete(old);
    }
  }

  /**
   * The last envelope that a node announced of a batch after number `held`, but for those by a compromised key;
   * undefined for none.
   */
  announced(node: NodeId, held: number): SignedStatement | undefined {
    const { directory } = this.#options.keys;
    const able = [...(this.#announced.get(node) ?? [])].filter(([batch, { statement }]) => {
      if (batch <= held) return false;
      return directory.compromisedSince(node, envelopeStatement.parse(statement).keyId) === null;
    });
    return able.toSorted(([a], [b]) => b - a)[0]?.[1];
  }

  /** Keeps and reports a proof that was not known. Throws `PeerStatementError` where it proves nothing. */
  async learn(proof: Equivocation): Promise<void> {
    if (await this.#options.equivocations.learn(proof)) this.#options.onEquivocation(proof);
  }

  async #take(message: GossipMessage, from: NodeId): Promise<ValidationResult> {
    if (message.type === 'told') return this.#takeTold(message, from);
    // Who leaves is heard of itself alone.
    if (!this.#options.keys.isMember(from) && nodeOf(message) !== from) return 'ignore';
    await this.#takeSigned(message, from);
    return 'accept';
  }

  /**
   * What a member told before says nothing any more: anyone who keeps its message can pass it on as often as it likes,
   * and would take back what it told since.
   */
  #takeTold({ node, at, point }: Told, from: NodeId): ValidationResult {
    if (node !== from) throw new PeerStatementError('forged', `${from} tells for ${node}`);
    if (at <= (this.#toldAt.get(from) ?? -1)) return 'ignore';
    this.#toldAt.set(from, at);
    this.#options.onTold(from, point);
    return 'accept';
  }

  async #takeSigned(message: Exclude<GossipMessage, Told>, from: NodeId): Promise<void> {
    const { keys, chains, onLead } = this.#options;
    switch (message.type) {
      case 'envelope': {
        const { node, batch, sealedAt } = openEnvelope(keys, message.signed);
        const age = this.#options.now() - Date.parse(sealedAt);
        if (node === from && Math.abs(age) > MISDATED_MS) this.#options.faults.note(node, 'misdated');
        await this.watch(message.signed);
        if (batch > chains.head(node).batch) onLead(node, from, batch);
        return;
      }
      case 'equivocation':
        return this.learn(message.proof);
      case 'certificate':
        await keys.learnCertificate(message.signed);
        return;
      case 'revocation':
        await keys.learnRevocation(message.signed);
        return;
      case 'checkpoint':
        await this.#options.onCheckpoint(message.signed);
    }
  }
}

/** The node that a statement is of; null for a proof, which is of another. */
function nodeOf(message: Exclude<GossipMessage, Told>): NodeId | null {
  switch (message.type) {
    case 'envelope':
      return parsed(() => envelopeStatement.parse(message.signed.statement).node);
    case 'checkpoint':
      return parsed(() => checkpointStatement.parse(message.signed.text).node);
    case 'certificate':
      return parsed(() => keyCertificateStatement.parse(message.signed.statement).node);
    case 'revocation':
      return parsed(() => revocationStatement.parse(message.signed.statement).node);
    case 'equivocation':
      return null;
  }
}

function parsed(read: () => NodeId): NodeId | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof StatementError) return null;
    throw error;
  }
}
