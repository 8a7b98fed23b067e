import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../../node/keys/native-suite.ts';
import { batchOperations } from '../../../../node/records/batch-tables.ts';
import { groupOperations } from '../../../../node/records/record-tables.ts';
import { Confirmations, ConfirmationWatch } from '../../../../node/verification/attestation/confirmation-watch.ts';
import { type Evidence, readEvidence } from '../../../../node/verification/evidence.ts';
import { ProofTrees } from '../../../../node/verification/proof-trees.ts';
import { envelopeStatement } from '../../../../protocol/chain/envelope.ts';
import { openRecord } from '../../../../protocol/chain/record.ts';
import { hashText, writeSha384 } from '../../../../protocol/hash.ts';
import { entityId } from '../../../../protocol/ids.ts';
import type { Decision } from '../../../../protocol/log/decision.ts';
import { writeLedgerMessage } from '../../../../protocol/log/message.ts';
import { TileTree } from '../../../../protocol/merkle/tiles.ts';
import { groupStatement } from '../../../../protocol/statement/group.ts';
import { type ChainBatch, MemberChain } from '../../../fixtures/member-chain.ts';
import { until } from '../../../fixtures/until.ts';
import { LogStore } from '../../log/log-store.ts';

const FEDERATION = hashText(nativeSuite, 'genesis');
const NEVER_MS = 600_000;
/** Turns of the microtask queue from the last answer to the end of a look, and some more. */
const TICKS = 24;

/** Batches of a node, callers that wait for records of them, and what checkpoints have confirmed. */
class Waiting implements AsyncDisposable {
  readonly chain: MemberChain;
  readonly woken: number[] = [];
  readonly decided = new Set<number>();
  readonly confirmed = new Set<number>();
  /** Batches whose records were looked at, in order. */
  readonly looked: number[] = [];
  readonly watch: ConfirmationWatch;
  /** Called with every record that is looked at. */
  onLook: () => void = () => undefined;
  readonly #confirmations = new Confirmations();
  readonly #gone = new AbortController();
  readonly #disk: LogStore;
  readonly #waits: Promise<void>[] = [];
  readonly #batches: ChainBatch[] = [];

  private constructor(chain: MemberChain, disk: LogStore) {
    this.chain = chain;
    this.#disk = disk;
    const { store } = disk;
    this.watch = new ConfirmationWatch({
      self: chain.node,
      store,
      confirmations: this.#confirmations,
      evidence: (id) =>
        readEvidence(
          { store, trees: new ProofTrees(), decisionOf: async (_node, batch) => this.#decisionOf(batch) },
          id,
        ),
      view: { of: async (evidence) => this.#factsOn(evidence) },
      log: pino({ level: 'silent' }),
    });
  }

  static async open(): Promise<Waiting> {
    return new Waiting(await MemberChain.create(), await LogStore.open());
  }

  /** Seals a batch of so many records, and has a caller wait for each. Resolves to their numbers. */
  async seal(count: number, isStored = true): Promise<readonly number[]> {
    const batch = await this.chain.seal([Array.from({ length: count }, () => ({}))]);
    this.chain.append(batch);
    this.#batches.push(batch);
    if (isStored) await this.#store(batch);
    for (const { record } of batch.records) {
      const wait = this.#confirmations.wait(record, NEVER_MS, this.#gone.signal);
      this.#waits.push(wait.then(() => void this.woken.push(record.seq)));
    }
    return batch.records.map(({ record }) => record.seq);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watch[Symbol.asyncDispose]();
    this.#gone.abort();
    await Promise.all(this.#waits);
    await this.#disk[Symbol.asyncDispose]();
  }

  async #store({ envelope, groups, records }: ChainBatch): Promise<void> {
    const { store } = this.#disk;
    for (const { signed, records: texts } of groups) {
      const written = texts.map(({ head, body }) => {
        const both = { head, body: body ?? '' };
        return { texts: both, record: openRecord(nativeSuite, both) };
      });
      await store.write(groupOperations({ group: groupStatement.parse(signed.statement), signed, records: written }));
    }
    const tree = new TileTree(nativeSuite);
    for (const { leaf } of records) tree.append(leaf);
    await store.write(
      batchOperations({ envelope: envelopeStatement.parse(envelope.statement), signed: envelope }, tree.tiles()),
    );
  }

  #decisionOf(batch: number): Decision | undefined {
    const sealed = this.#batches[batch - 1];
    if (!this.decided.has(batch) || sealed === undefined) return undefined;
    const { consensusTimestamp, ...decided } = sealed.decided;
    const message = writeLedgerMessage({ ...decided, v: 2, type: 'batch', federation: FEDERATION });
    return {
      v: 1,
      type: 'decision',
      index: batch - 1,
      network: 'testnet',
      topicId: entityId('0.0.5005'),
      sequence: String(batch),
      consensusTimestamp,
      payer: entityId('0.0.1001'),
      message,
      runningHash: writeSha384(nativeSuite.sha384(message)),
    };
  }

  #factsOn({ batch }: Evidence) {
    const number = batch?.envelope.batch ?? 0;
    this.looked.push(number);
    this.onLook();
    const status = this.confirmed.has(number) ? ('confirmed' as const) : ('anchored' as const);
    return {
      status,
      isDenied: false,
      anchoredAt: null,
      confirmedAt: null,
      ledger: null,
      transactionId: null,
      history: [],
    };
  }
}

test('a batch that is confirmed wakes whoever waits for any record of it, and is looked at once', async () => {
  await using waiting = await Waiting.open();
  const [first, second] = [await waiting.seal(3), await waiting.seal(2)];
  for (const batch of [1, 2]) waiting.decided.add(batch);
  waiting.confirmed.add(1);
  waiting.watch.noteCounted();
  await until('both looked at', () => waiting.looked.length === 2);
  await until('the first', () => waiting.woken.length === first.length);
  assert.equal([waiting.woken, waiting.looked], [first, [1, 2]]);
  waiting.confirmed.add(2);
  waiting.watch.noteCounted();
  await until('the second', () => waiting.woken.length === first.length + second.length);
  assert.equal(
    [waiting.woken, waiting.looked],
    [
      [...first, ...second],
      [1, 2, 2],
    ],
  );
});

test('what is in no batch, or not decided, is not confirmed yet', async () => {
  await using waiting = await Waiting.open();
  const [decided] = [await waiting.seal(1), await waiting.seal(1), await waiting.seal(1, false)];
  for (const batch of [1, 2, 3]) waiting.confirmed.add(batch);
  waiting.decided.add(1);
  waiting.watch.noteCounted();
  await until('the first', () => waiting.woken.length > 0);
  assert.equal([waiting.woken, waiting.looked], [decided, [1]]);
  waiting.decided.add(2);
  waiting.watch.noteCounted();
  await until('the second', () => waiting.woken.length === 2);
});

test('where it cannot be seen, the next checkpoint is looked at all the same', async () => {
  await using waiting = await Waiting.open();
  await waiting.seal(1);
  waiting.decided.add(1);
  waiting.confirmed.add(1);
  waiting.onLook = () => {
    waiting.onLook = () => undefined;
    throw new Error('the disk is gone');
  };
  waiting.watch.noteCounted();
  await until('the fault', () => waiting.looked.length === 1);
  waiting.watch.noteCounted();
  await until('the record', () => waiting.woken.length === 1);
});

test('a checkpoint that counts just as a look ends is not missed', async () => {
  for (let ticks = 0; ticks < TICKS; ticks++) {
    await using waiting = await Waiting.open();
    await waiting.seal(1);
    waiting.decided.add(1);
    waiting.onLook = () => {
      waiting.onLook = () => undefined;
      void afterTicks(ticks).then(() => {
        waiting.confirmed.add(1);
        waiting.watch.noteCounted();
      });
    };
    waiting.watch.noteCounted();
    await until(`the record, ${ticks} ticks later`, () => waiting.woken.length === 1);
  }
});

async function afterTicks(ticks: number): Promise<void> {
  for (let i = 0; i < ticks; i++) await undefined;
}

test.run();
