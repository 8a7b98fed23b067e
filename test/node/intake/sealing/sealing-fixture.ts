import { join } from 'node:path';
import { pino } from 'pino';
import { recordTime } from '../../../../node/intake/record-time.ts';
import { Intake } from '../../../../node/intake/intake.ts';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { type StoredBatch, envelopeTable } from '../../../../node/records/batch-tables.ts';
import { Sealer, type SealerOptions } from '../../../../node/intake/sealing/sealer.ts';
import { RecordCounters } from '../../../../node/records/record-counters.ts';
import { Store } from '../../../../node/store/store.ts';
import type { ChainRefusal } from '../../../../protocol/chain/refusal.ts';
import { timestampOf } from '../../../../protocol/time.ts';
import { hashText } from '../../../../protocol/hash.ts';
import { type Envelope, envelopeStatement } from '../../../../protocol/chain/envelope.ts';
import { signatureHolds } from '../../../../protocol/statement/statement.ts';
import * as assert from 'uvu/assert';
import { draftOf, NODE, signer, cipher } from '../intake-fixture.ts';

const NEVER_MS = 3_600_000;
/** Written beside each batch, as the anchor's outbox entry is. */
export const BESIDE_KEY = 'beside';

/** Intake and sealer over a real store. Opened again on the same directory, it is the node after a restart. */
export class SealingFixture implements AsyncDisposable {
  readonly store: Store;
  readonly intake: Intake;
  readonly sealer: Sealer;
  readonly sealed: StoredBatch[];
  readonly refused: ChainRefusal[];
  /** Refuses the next writes of the sealer. */
  refusals = 0;

  private constructor(store: Store, intake: Intake, sealer: Sealer, sealed: StoredBatch[], refused: ChainRefusal[]) {
    this.store = store;
    this.intake = intake;
    this.sealer = sealer;
    this.sealed = sealed;
    this.refused = refused;
    const write = store.write.bind(store);
    store.write = (operations) => {
      const isSealing = operations.some(({ key }) => key.startsWith(`${envelopeTable.name}/`));
      return isSealing && this.refusals-- > 0 ? Promise.reject(new Error('the disk refused')) : write(operations);
    };
  }

  static async open(directory: string, options: Partial<SealerOptions> = {}): Promise<SealingFixture> {
    await using opening = new AsyncDisposableStack();
    const store = opening.use(await Store.open(join(directory, 'store')));
    const sealed: StoredBatch[] = [];
    const refused: ChainRefusal[] = [];
    const { now = Date.now, signer: key = () => signer } = options;
    const sealer = await Sealer.open({
      node: NODE,
      store,
      signer: () => signer,
      now,
      intervalMs: NEVER_MS,
      chainStart: async () => timestampOf(0),
      decisionOf: async () => undefined,
      publicKeyOf: (keyId) => (keyId === signer.keyId ? signer.publicKey : undefined),
      onRefused: (refusal) => void refused.push(refusal),
      besides: ({ envelope }) => [{ type: 'put', key: BESIDE_KEY, value: Buffer.from(String(envelope.batch)) }],
      onSealed: (batch) => void sealed.push(batch),
      log: pino({ level: 'silent' }),
      ...options,
    });
    const intake = await Intake.open({
      node: NODE,
      store,
      signer: key,
      cipher,
      now,
      projections: [],
      counters: new RecordCounters(store, []),
      timeOf: (first, last) => recordTime({ now, isClockOff: () => false, sealer }, first, last),
      onCommitted: (group) => sealer.add(group),
    });
    intake.start();
    sealer.start();
    opening.move();
    return new SealingFixture(store, intake, sealer, sealed, refused);
  }

  /** Records a group of this many. */
  async record(count: number): Promise<void> {
    await this.intake.submitAll(Array.from({ length: count }, (_, i) => draftOf('s', { i })));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.intake[Symbol.asyncDispose]();
    await this.sealer[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

/** The envelopes that the store holds. Fails unless they are one signed chain without gap. */
export async function requireChain(store: Store): Promise<Envelope[]> {
  const envelopes: Envelope[] = [];
  let prev: string | null = null;
  let next = 1;
  for await (const [, signed] of envelopeTable.under(store, [NODE])) {
    const envelope = envelopeStatement.parse(signed.statement);
    assert.ok(signatureHolds(nativeSuite, envelopeStatement, signed, signer.publicKey));
    assert.equal([envelope.batch, envelope.first, envelope.prev], [envelopes.length + 1, next, prev]);
    prev = hashText(nativeSuite, signed.statement);
    next += envelope.size;
    envelopes.push(envelope);
  }
  return envelopes;
}
