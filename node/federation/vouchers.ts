import { hashText, type Sha256Hash } from '../../protocol/hash.ts';
import type { NodeId } from '../../protocol/ids.ts';
import type { Envelope } from '../../protocol/chain/envelope.ts';
import type { SignedStatement } from '../../protocol/statement/statement.ts';
import { nativeSuite } from '../keys/native-suite.ts';
import type { Lanes } from '../lanes.ts';
import type { Chains } from './chains.ts';
import { envelopeStands } from './envelope-standing.ts';
import { openEnvelope } from './equivocations.ts';
import type { FederationKeys } from './federation-keys.ts';
import type { LedgerView } from './ledger-view.ts';
import { decodeItem, pageRequest } from './page-forms.ts';
import { PeerStatementError } from './peer-statement-error.ts';
import type { Transport } from './transport/contract.ts';

export interface VouchersOptions {
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly ledger: LedgerView;
  readonly transport: Pick<Transport, 'request'>;
  readonly lanes: Lanes<NodeId>;
  readonly signal: AbortSignal;
}

/**
 * Envelopes that one search reads at most: two years of them at one every fifteen seconds, for a leak is often found late.
 * What no envelope that near vouches for waits for the ledger.
 */
const MAX_LOOK = 1 << 22;
/** Envelopes that one search vouches for at most; the next one begins behind them. */
const MAX_VOUCHED = 1 << 16;

/**
 * Which envelopes by revoked keys are history all the same: those that a later envelope of their node builds on which
 * stands. Their node itself went on from them, so they are taken, to keep its chain whole; what they say counts no more
 * than before. Whatever a thief signs nobody builds on.
 */
export class Vouchers {
  readonly #options: VouchersOptions;
  /** By node: batch → hash of the one envelope that is vouched for. */
  readonly #vouched = new Map<NodeId, Map<number, Sha256Hash>>();

  constructor(options: VouchersOptions) {
    this.#options = options;
  }

  /** Throws `PeerStatementError` `unvouched` on an envelope that neither stands nor is vouched for. */
  async requireStanding(envelope: Envelope, signed: SignedStatement): Promise<void> {
    const { node, batch } = envelope;
    if (await this.stands(envelope, signed)) return;
    if (this.#vouched.get(node)?.get(batch) === hashText(nativeSuite, signed.statement)) return;
    throw new PeerStatementError('unvouched', `batch ${node}/${batch} is by a revoked key`);
  }

  /** Whether an envelope stands by itself. */
  stands(envelope: Envelope, { statement }: SignedStatement): Promise<boolean> {
    const { keys, ledger } = this.#options;
    return envelopeStands(keys.directory, ledger, envelope, statement);
  }

  /** Takes an envelope as vouched for. The first one of a batch stays. */
  vouch(node: NodeId, batch: number, envelope: Sha256Hash): void {
    const held = this.#options.chains.head(node).batch;
    const vouched = this.#vouched.get(node) ?? new Map<number, Sha256Hash>();
    this.#vouched.set(node, vouched);
    for (const passed of vouched.keys()) if (passed <= held) vouched.delete(passed);
    if (!vouched.has(batch)) vouched.set(batch, envelope);
  }

  /**
   * Follows the peer's envelopes from the end of the chain as it is held here, up to batch `upTo`, until one stands:
   * all before it are vouched for. Resolves to whether the next batch is, and was not before: a peer that then still
   * offers another one has none to offer. Throws `PeerStatementError` where the envelopes are no chain, `TransportError`.
   */
  async search(peer: NodeId, node: NodeId, upTo: number): Promise<boolean> {
    const head = this.#options.chains.head(node);
    if (this.#vouched.get(node)?.has(head.batch + 1) === true) return false;
    const passed: Sha256Hash[] = [];
    let prev = head.hash;
    const last = Math.min(upTo, head.batch + MAX_LOOK);
    for (let batch = head.batch + 1; batch <= last;) {
      const page = await this.#page(peer, node, batch);
      if (page.length === 0) return false;
      for (const signed of page) {
        const envelope = openEnvelope(this.#options.keys, signed);
        if (envelope.node !== node || envelope.batch !== batch || envelope.prev !== prev) return false;
        if (await this.stands(envelope, signed)) {
          passed.forEach((hash, i) => this.vouch(node, head.batch + 1 + i, hash));
          return passed.length > 0;
        }
        prev = hashText(nativeSuite, signed.statement);
        if (passed.length < MAX_VOUCHED) passed.push(prev);
        batch++;
      }
    }
    return false;
  }

  async #page(peer: NodeId, node: NodeId, from: number): Promise<SignedStatement[]> {
    const { transport, lanes, signal } = this.#options;
    const request = pageRequest.encode({ want: 'envelopes', node, from });
    const frames = await lanes.exclusive(peer, () =>
      Array.fromAsync(transport.request(peer, 'batches', request, { signal })),
    );
    return frames.map(decodeItem).flatMap((item) => (item.kind === 'envelope' ? [item.signed] : []));
  }
}
