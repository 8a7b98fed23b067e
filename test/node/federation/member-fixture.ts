import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Chains } from '../../../node/log/chains.ts';
import type { ChainBesides } from '../../../node/federation/chain-assembler.ts';
import { Equivocations, type JudgePair } from '../../../node/federation/equivocations.ts';
import { FederationSync, type FederationOptions } from '../../../node/federation/federation.ts';
import type { FederationKeys } from '../../../node/log/members/federation-keys.ts';
import { PageServer } from '../../../node/federation/page-server.ts';
import { encodeGossip, type GossipMessage } from '../../../node/federation/gossip-forms.ts';
import type { ValidationResult } from '../../../node/transport/contract.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import type { FederationLog } from '../../../node/log/federation-log.ts';
import { groupOperations } from '../../../node/records/record-tables.ts';
import { batchOperations } from '../../../node/records/batch-tables.ts';
import { StartAnswers } from '../../../node/federation/start/start-answers.ts';
import { Store } from '../../../node/store/store.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { TileTree } from '../../../protocol/merkle/tiles.ts';
import { TestFederation } from '../../fixtures/federation.ts';
import { openLogAndKeys } from '../../fixtures/federation-keys.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { NOTHING_DECIDED } from '../../fixtures/nothing-decided.ts';
import type { FakeNetwork } from './fake-network.ts';

export const silent = pino({ level: 'silent' });
const NO_CHECKPOINTS = { signedTextsOf: () => [] };
const NO_ROWS: ChainBesides = { group: async () => [], batch: () => [], onWritten: () => {} };

/** A federation whose members sign fast. */
export function fastFederation(nodes: readonly string[] = ['us', 'eu', 'ca', 'sg', 'jp']): Promise<TestFederation> {
  return TestFederation.create({ nodes, signerOf: nativeSigner });
}

export type FixtureOptions = Partial<FederationOptions> & {
  readonly network?: FakeNetwork;
  /** Whether the certificates of all members are known from the start. Default: yes. */
  readonly certified?: boolean;
  /** What two envelopes come to. Default: as where the ledger names both. */
  readonly judge?: JudgePair;
};

/** One member's store and the parts of the federation over it, on a folder of its own. */
export class MemberFixture implements AsyncDisposable {
  readonly node: NodeId;
  readonly store: Store;
  readonly federationLog: FederationLog;
  readonly keys: FederationKeys;
  readonly chains: Chains;
  readonly equivocations: Equivocations;
  readonly pages: PageServer;
  readonly #federation: FederationSync | undefined;

  private constructor(
    parts: Pick<MemberFixture, 'node' | 'store' | 'federationLog' | 'keys' | 'chains' | 'equivocations'>,
    federation: FederationSync | undefined,
  ) {
    this.node = parts.node;
    this.store = parts.store;
    this.federationLog = parts.federationLog;
    this.keys = parts.keys;
    this.chains = parts.chains;
    this.equivocations = parts.equivocations;
    this.pages = new PageServer(parts);
    this.#federation = federation;
  }

  /** Opens what the folder holds; with a network, the federation too, not yet started. */
  static async open(
    home: string,
    test: TestFederation,
    name: string,
    { network, certified = true, judge, ...options }: FixtureOptions = {},
  ): Promise<MemberFixture> {
    const { node } = test.member(name);
    const store = await Store.open(join(home, name));
    const { log: federationLog, keys } = await openLogAndKeys(store, test.given);
    if (certified) for (const certificate of test.certificates) await keys.learnCertificate(certificate);
    const names = test.members.map((member) => member.node);
    const parts = {
      node,
      store,
      federationLog,
      keys,
      chains: await Chains.open(store, names),
      equivocations: await Equivocations.open(store, keys, judge ?? namedByAll(keys)),
    };
    if (network === undefined) return new MemberFixture(parts, undefined);
    const starts = await StartAnswers.open({ store, chains: parts.chains, checkpointStore: NO_CHECKPOINTS }, names);
    const transport = network.transport(node, names, (_topic, data, from) => federation.receive(data, from));
    const federation: FederationSync = new FederationSync({
      ...parts,
      self: node,
      transport,
      now: Date.now,
      log: silent,
      decided: NOTHING_DECIDED,
      askRosters: async () => ({ rosters: [], named: [] }),
      starts,
      besidesOwn: NO_ROWS,
      outbox: { withdraw: async () => {}, resume: () => {} },
      onHalt: () => {},
      onTold: () => {},
      isMember: () => true,
      onReplicated: () => {},
      onReplaced: () => {},
      random: Math.random,
      onCheckpoint: async () => {},
      ...options,
    });
    return new MemberFixture(parts, federation);
  }

  get federation(): FederationSync {
    if (this.#federation === undefined) throw new Error('opened without a network');
    return this.#federation;
  }

  /** Stores a batch as its origin would have. */
  async hold(batch: TestBatch): Promise<void> {
    await storeBatch(this.store, batch);
    this.chains.advance(batch);
  }

  /** Takes a gossiped message. */
  hear(message: GossipMessage, from: NodeId): Promise<ValidationResult> {
    return this.federation.receive(encodeGossip(message), from);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#federation?.[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

export async function storeBatch(store: Store, { groups, envelope, signed, records }: TestBatch): Promise<void> {
  for (const group of groups) {
    await store.write(groupOperations(group));
  }
  const tree = new TileTree(nativeSuite);
  for (const { leaf } of records) tree.append(leaf);
  await store.write(batchOperations({ envelope, signed }, tree.tiles()));
}

/** What two envelopes come to where their node's own account named both. */
function namedByAll({ directory }: FederationKeys): JudgePair {
  return async ({ first, second }) => {
    const keys = [first, second].map(({ statement }) => envelopeStatement.parse(statement));
    const isCompromised = keys.some(({ node, keyId }) => directory.compromisedSince(node, keyId) !== null);
    return isCompromised ? 'key-revoked' : 'proven';
  };
}

export type TemporaryHome = AsyncDisposable & { readonly path: string };

export async function temporaryHome(): Promise<TemporaryHome> {
  const path = await mkdtemp(join(tmpdir(), 'federation-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Every row of a store, by key, as hex. */
export async function rowsOf(store: Store, tables?: readonly string[]): Promise<Map<string, string>> {
  const rows = new Map<string, string>();
  for await (const [key, value] of store.range({})) {
    const isWanted = tables === undefined || tables.some((table) => key.startsWith(`${table}/`));
    if (isWanted) rows.set(key, Buffer.from(value).toString('hex'));
  }
  return rows;
}

/** Tables of a node's chain as every member holds them. */
export const CHAIN_TABLES = ['envelope', 'batch-first', 'tile', 'group', 'body', 'record'];
