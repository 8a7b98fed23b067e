import type { Decided } from '../../../node/log/decidable.ts';
import type { HaltReason } from '../../../node/federation/own-chain.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { groupOperations } from '../../../node/records/record-tables.ts';
import { envelopeTable, readBatch, type StoredBatch } from '../../../node/records/batch-tables.ts';
import { signAnew } from '../../../node/intake/sealing/sign-anew.ts';
import type { Store } from '../../../node/store/store.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import { certifyKey, seedOf, type TestKey } from '../../fixtures/federation-member.ts';
import { MemberNetwork } from './member-network.ts';
import { CHAIN_TABLES, type MemberFixture, type FixtureOptions, rowsOf, storeBatch } from './member-fixture.ts';

export const EU = nodeId('eu');
const NODES = ['eu', 'us', 'jp'];
/** Batches of the tail, after one that was decided under the first key; the last one is not sealed in the copy. */
const TAIL = [2, 3, 4];
const LAST = 4;
/** Two receipts each. */
const RECORDS = 6;

/** A write of the copy's store. */
export interface Write {
  readonly keys: readonly string[];
}

/**
 * `eu` is a copy that holds a decided batch, two that are not, and records that are not sealed, all by one key. That
 * key was revoked since, and its node signed all of it again by another key, as `us` and `jp` hold it.
 */
export class OwnTail implements AsyncDisposable {
  readonly network: MemberNetwork;
  readonly batches: readonly TestBatch[];
  readonly old: TestKey;
  readonly key: TestKey;
  readonly halts: HaltReason[] = [];
  /** What the log has decided of the tail, by number. A test adds to it. */
  readonly decided = new Map<number, Sha256Hash>();
  readonly revoked = new Set<Sha256Hash>();

  private constructor(network: MemberNetwork, batches: readonly TestBatch[], old: TestKey, key: TestKey) {
    this.network = network;
    this.batches = batches;
    this.old = old;
    this.key = key;
    this.revoked.add(old.signer.keyId);
    const [first] = batches;
    if (first !== undefined) this.decided.set(1, first.hash);
  }

  static async create(): Promise<OwnTail> {
    const network = await MemberNetwork.create(NODES);
    const { federation } = network;
    const { identity, key: old } = federation.member('eu');
    const batches: TestBatch[] = [];
    for (let i = 0; i <= TAIL.length; i++) batches.push(await network.batch('eu', {}, RECORDS));
    const terms = { validFrom: federation.tick(), seqFrom: 1 };
    const key = await certifyKey(EU, identity, nativeSigner(seedOf('anew')), terms);
    federation.certificates.push(key.signed);
    await federation.revokeKey('eu', { keyId: old.signer.keyId, compromisedSince: timestampOf(0) });
    const tail = new OwnTail(network, batches, old, key);
    await network.start('us', 'jp');
    for (const name of ['us', 'jp']) for (const batch of batches) await network.memberFixture(name).hold(batch);
    for (const signed of federation.revocations) {
      for (const name of ['us', 'jp']) await network.memberFixture(name).keys.learnRevocation(signed);
    }
    const { store } = network.memberFixture('us');
    await signAnew({ store, ...tail.signing });
    await tail.bring('us', 'jp');
    const eu = await network.open('eu');
    for (const batch of batches.slice(0, -1)) await storeBatch(eu.store, batch);
    for (const group of batches.at(-1)?.groups ?? []) await eu.store.write(groupOperations(group));
    await network.stop('eu');
    return tail;
  }

  /** What signing the tail again takes. */
  get signing() {
    const isRevoked = (keyId: Sha256Hash) => this.revoked.has(keyId);
    const terms = { requireRunning: () => {}, withdraw: async () => {}, besides: () => [] };
    return { ...terms, node: EU, decided: 1, signer: this.key.signer, isRevoked };
  }

  /** Gives a member the chain that another holds. */
  async bring(from: string, to: string): Promise<void> {
    const { store, chains } = this.network.memberFixture(to);
    const rows = await rowsOf(this.network.memberFixture(from).store, CHAIN_TABLES);
    await store.write([...rows].map(([key, value]) => ({ type: 'put', key, value: Buffer.from(value, 'hex') })));
    for (const name of [from, to]) this.network.memberFixture(name).chains.advance(await batchIn(store, LAST));
    chains.advance(await batchIn(store, LAST));
  }

  /** The log decides batches of the tail as a member holds them. */
  async decide(name: string, ...numbers: readonly number[]): Promise<void> {
    for (const number of numbers) {
      const { signed } = await batchIn(this.network.memberFixture(name).store, number);
      this.decided.set(number, hashText(nativeSuite, signed.statement));
    }
  }

  /** Another envelope than the one that a member holds takes its place there. */
  async put(name: string, batch: StoredBatch): Promise<void> {
    const { store, chains } = this.network.memberFixture(name);
    await store.write([envelopeTable.put([EU, batch.envelope.batch], batch.signed)]);
    if (chains.head(EU).batch === batch.envelope.batch) chains.advance(batch);
  }

  /** What the log of the copy says. */
  get log(): Decided {
    return {
      envelopeOf: async (node, batch) => (node === EU ? this.decided.get(batch) : undefined),
      isRevoked: (node, keyId) => node === EU && this.revoked.has(keyId),
    };
  }

  /** The copy starts, as far as asking for its own chain. */
  async open(options: FixtureOptions = {}): Promise<MemberFixture> {
    const memberFixture = await this.network.open('eu', {
      decided: this.log,
      onHalt: (reason) => this.halts.push(reason),
      ...options,
    });
    for (const signed of this.network.federation.revocations) await memberFixture.keys.learnRevocation(signed);
    await memberFixture.federation.start();
    return memberFixture;
  }

  /** Rows of the chain, at a member. */
  rows(name: string): Promise<Map<string, string>> {
    return rowsOf(this.network.memberFixture(name).store, CHAIN_TABLES);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.network[Symbol.asyncDispose]();
  }
}

export async function batchIn(store: Store, number: number): Promise<StoredBatch> {
  const batch = await readBatch(store, EU, number);
  if (batch === undefined) throw new Error(`no batch ${number}`);
  return batch;
}
