import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { HederaClient } from '../../../node/anchoring/ledger/hedera-client.ts';
import type {
  LedgerClient,
  PreparedTransaction,
  ReceiptOutcome,
  SubmitOutcome,
  TransactionId,
} from '../../../node/anchoring/ledger/ledger-client.ts';
import type { EntityId } from '../../../protocol/ids.ts';
import { anchorMessage, AnchoringNode, sealedBatch, temporaryDirectory } from './anchoring-node.ts';
import { until } from '../../fixtures/until.ts';
import { LedgerProcess } from './ledger/ledger-process.ts';

/** The node dies between any two steps of a batch's way to the ledger, and is opened again on what the disk holds. */
const test = suite('a crash between two steps of anchoring');

const ledger = await LedgerProcess.start();
test.after(() => ledger[Symbol.asyncDispose]());

type Step = 'signing' | 'sending' | 'answering' | 'noting' | 'confirming';

/** A client that stops dead at one step, as the process would; what it did before stays done. */
class StoppingClient implements LedgerClient {
  readonly #inner: LedgerClient;
  readonly #step: Step;
  readonly #reached: () => void;

  constructor(inner: LedgerClient, step: Step, reached: () => void) {
    this.#inner = inner;
    this.#step = step;
    this.#reached = reached;
  }

  async prepare(message: string): Promise<PreparedTransaction> {
    const prepared = await this.#inner.prepare(message);
    if (this.#step !== 'signing') return prepared;
    this.#reached();
    throw new Error('died after signing, before the bytes were on the disk');
  }

  async submit(prepared: PreparedTransaction, signal?: AbortSignal): Promise<SubmitOutcome> {
    if (this.#step === 'sending') return this.#die(signal);
    const outcome = await this.#inner.submit(prepared, signal);
    return this.#step === 'answering' ? this.#die(signal) : outcome;
  }

  receipt(id: TransactionId, signal?: AbortSignal): Promise<ReceiptOutcome> {
    return this.#inner.receipt(id, signal);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#inner[Symbol.asyncDispose]();
  }

  async #die(signal?: AbortSignal): Promise<SubmitOutcome> {
    this.#reached();
    const { promise, resolve } = Promise.withResolvers<void>();
    signal?.addEventListener('abort', () => resolve());
    await promise;
    return 'ambiguous';
  }
}

const STATUS_AFTER: Readonly<Record<Step, readonly string[]>> = {
  signing: ['queued'],
  sending: ['prepared'],
  answering: ['prepared'],
  noting: ['submitted'],
  // Its message was read, the row may or may not be closed.
  confirming: ['submitted', 'prepared', 'confirmed'],
};

for (const step of ['signing', 'sending', 'answering', 'noting', 'confirming'] as const) {
  test(`${step}: the batch is anchored once all the same`, async () => {
    await using directory = await temporaryDirectory();
    const topicId = await ledger.createTopic();
    await dieAt(step, directory.path, topicId);
    await using node = await AnchoringNode.start(directory.path, { config: ledger.config(topicId) });
    await node.allConfirmed([1]);
    assert.is((await node.anchoring.status(1))?.attempts, 1, 'one transaction was ever prepared');
    const counts = await ledger.messageCounts(topicId);
    assert.equal([...counts], [[anchorMessage(sealedBatch(1)), 1]]);
  });
}

async function dieAt(step: Step, directory: string, topicId: EntityId): Promise<void> {
  const config = ledger.config(topicId);
  const reached = Promise.withResolvers<void>();
  const node = await AnchoringNode.start(directory, {
    config,
    ledger: new StoppingClient(new HederaClient(config), step, reached.resolve),
  });
  // While no mirror answers, a row that is noted as submitted stays so.
  await ledger.setFaults({ mirrorDown: step === 'noting' });
  await node.seal(1);
  if (step === 'noting') await until('noted', async () => (await node.anchoring.status(1))?.status === 'submitted');
  else if (step === 'confirming') {
    await until('read back', () => node.reader.sequence === 1);
  } else await reached.promise;
  if (step === 'answering') {
    await until('on the ledger', async () => (await ledger.messageCounts(topicId)).size === 1);
  }
  await node[Symbol.asyncDispose]();
  await ledger.setFaults({ mirrorDown: false });
  // Asked of the disk, before anything runs again.
  const dead = await AnchoringNode.start(directory, {
    config: { ...config, mirrors: ['http://127.0.0.1:9'] },
    ledger: nobody,
  });
  const status = (await dead.anchoring.status(1))?.status ?? 'none';
  await dead[Symbol.asyncDispose]();
  assert.ok(STATUS_AFTER[step].includes(status), `${status} after ${step}`);
}

/** A ledger that is not there, and cannot even sign: what it is asked leaves the disk as it is. */
const nobody: LedgerClient = {
  prepare: () => Promise.reject(new Error('no signer')),
  submit: () => Promise.resolve('ambiguous'),
  receipt: () => Promise.resolve({ kind: 'unknown' }),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

test.run();
