import type { Logger } from 'pino';
import type { NodeId, RecordId } from '../../protocol/ids.ts';
import { statementFor } from '../accounts/elsewhere/statement-payloads.ts';
import type { Refusals } from '../accounts/limits/refusals.ts';
import type { Anchoring } from '../anchoring/anchoring.ts';
import type { LogFollower } from '../federation/log-follower.ts';
import type { Chains } from '../log/chains.ts';
import type { FederationKeys } from '../log/members/federation-keys.ts';
import type { PayloadCipher } from '../records/payload/payload-cipher.ts';
import { GatheredReads } from '../store/gathered-reads.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/contract.ts';
import { AnchoringView } from './attestation/anchoring-view.ts';
import { type Evidence, type EvidenceSources, readEvidence } from './evidence.ts';
import { type EvidenceSearch, findEvidence, findPayload, ownPayload } from './evidence-search.ts';
import { ReviewEvidences } from './evidence-states.ts';
import { type LinkedEvidence, LinkedReader } from './linked-evidence.ts';
import { LogKnowledge } from './log-knowledge.ts';
import { Misdeeds } from './misdeeds.ts';
import { ProofTrees } from './proof-trees.ts';
import { ReceiptsNotKept } from './receipts-not-kept.ts';
import { RecordExchange } from './record-exchange.ts';
import { RecordJudge } from './record-judge.ts';
import { BundleJudge, type PayloadAnswer, Verifier } from './verifier.ts';

/** How records are proved. */
export interface VerificationServices extends AsyncDisposable {
  readonly verifier: Verifier;
  readonly view: AnchoringView;
  /**
   * Evidence about a record, from this store or from the node that made it. There is none of one that is not paid for.
   */
  readonly evidence: (id: RecordId) => Promise<Evidence | undefined>;
  /** Evidence about the records linked to one, from this store. */
  readonly linked: (evidence: Evidence) => Promise<LinkedEvidence>;
  readonly payload: (evidence: Evidence) => Promise<PayloadAnswer>;
  /** Asks a member for the statement of an account that names this node. */
  readonly askStatement: RecordExchange['askStatement'];
  /** What this node knows by its own log. */
  readonly knowledge: LogKnowledge;
  /** What members did against the protocol. */
  readonly misdeeds: Misdeeds;
  /** Receipts that the decided batch does not keep. */
  readonly receiptsNotKept: ReceiptsNotKept;
}

interface VerificationServicesOptions {
  readonly config: { readonly id: NodeId; readonly payloadResidency: 'region' | 'federation' };
  readonly now: () => number;
  readonly store: Store;
  readonly keys: FederationKeys;
  readonly log: Logger;
  readonly transport: Transport;
  readonly anchoring: Pick<Anchoring, 'outboxOf'>;
  readonly chains: Chains;
  readonly follower: Pick<LogFollower, 'checkpointStore' | 'federationLog'>;
  readonly cipher: PayloadCipher;
  /** Told of members that ask for what is not theirs. */
  readonly refusals: Pick<Refusals, 'note'>;
}

/** Records are proved from this store, with the help of the nodes that made them. */
export function openVerificationServices(services: VerificationServicesOptions): VerificationServices {
  const { config, now, store, keys, log, cipher, transport, anchoring, follower, refusals } = services;
  const self = config.id;
  const { federationLog, checkpointStore } = follower;
  const knowledge = new LogKnowledge({ federationLog, checkpointStore, keys });
  const sources: EvidenceSources = {
    store,
    trees: new ProofTrees(),
    decisionOf: (node, batch) => knowledge.decisionOf(node, batch),
  };
  const records = new RecordJudge({ keys, knowledge });
  const exchange = new RecordExchange({
    ...services,
    self,
    transport,
    decisionOf: sources.decisionOf,
    evidence: (id) => readEvidence(sources, id),
    payload: async (id) => {
      if (config.payloadResidency === 'region') return 'withheld';
      const evidence = await readEvidence(sources, id);
      return evidence === undefined ? 'unknown' : ownPayload(sources, cipher, evidence.record);
    },
    statement: (id, member) =>
      statementFor({ self, store, ownPayload: (record) => ownPayload(sources, cipher, record) }, id, member),
    onUnnamed: (id) => refusals.note({ class: 'member', holder: { kind: 'member', id }, reason: 'unnamed' }),
  });
  const search: EvidenceSearch = { self, sources, cipher, exchange };
  const evidence = (id: RecordId) => findEvidence(search, id);
  const payload = (found: Evidence) => findPayload(search, found);
  const view = new AnchoringView({ self, outbox: anchoring.outboxOf, records });
  const links = new LinkedReader({ sources: { ...sources, store: new GatheredReads(store) }, marks: store, log });
  const anchored = view.isAnchored.bind(view);
  const bundles = new BundleJudge();
  const receipts = new ReceiptsNotKept({
    store,
    trees: sources.trees,
    federationLog,
    checkpointStore,
    keys,
    knowledge,
    log,
  });
  const verifier = new Verifier({
    evidence,
    linked: links,
    payload,
    reviewEvidence: new ReviewEvidences(store, self),
    anchored,
    records,
    knowledge,
    now,
    bundles,
    receipts,
    log,
  });
  return {
    verifier,
    view,
    evidence,
    linked: (found) => links.read(found),
    payload,
    askStatement: (id, member) => exchange.askStatement(id, member),
    knowledge,
    misdeeds: new Misdeeds({ federationLog, checkpointStore, keys, knowledge }),
    receiptsNotKept: receipts,
    [Symbol.asyncDispose]: () => bundles[Symbol.asyncDispose](),
  };
}
