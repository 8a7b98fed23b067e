import { setImmediate as turn } from 'node:timers/promises';
import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { AnchorSubmission, type Freezing, type SubmissionPort } from '../../../node/anchoring/anchor-submission.ts';
import { type BatchRow, freeze, noteSubmitted, type OutboxRow, readOutbox } from '../../../node/anchoring/outbox.ts';
import {
  LedgerError,
  type ReceiptOutcome,
  type SubmitOutcome,
  transactionId,
} from '../../../node/anchoring/ledger/ledger-client.ts';
import { MirrorClient } from '../../../node/anchoring/ledger/mirror-client.ts';
import { Store } from '../../../node/store/store.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { until } from '../../fixtures/until.ts';
import { anchorMessage, sealedBatch, temporaryDirectory } from './anchoring-node.ts';

const NOW = 1_763_717_400_000;
const SECOND = 1_000;
const QUEUED: BatchRow = {
  batch: 1,
  message: anchorMessage(sealedBatch(1)),
  status: 'queued',
  attempts: 0,
  transaction: null,
  history: [],
};

/** One trip over a ledger and a clock that do what a test says. */
class SubmissionFixture {
  clock = NOW;
  /** Milliseconds that have passed, whatever the clock says. */
  passed = 0;
  readonly end = new AbortController();
  /** What was asked of the ledger, in order. */
  readonly asked: string[] = [];
  readonly contacts: (string | null)[] = [];
  /** What was logged, a line of JSON each. */
  readonly logged: string[] = [];
  submit: () => SubmitOutcome = () => 'accepted';
  receipt: () => ReceiptOutcome = () => ({ kind: 'unknown' });
  freezeNext: () => Freezing = () => ({ kind: 'held', milliseconds: 0 });
  readonly submission: AnchorSubmission;

  constructor(store: Store, row: OutboxRow) {
    this.submission = new AnchorSubmission(this.#port(store), row);
  }

  #port(store: Store): SubmissionPort {
    return {
      store,
      ledger: {
        prepare: () => Promise.reject(new Error('not asked for here')),
        submit: async () => {
          this.asked.push('submit');
          return this.submit();
        },
        receipt: async () => {
          this.asked.push('receipt');
          return this.receipt();
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      },
      mirror: new MirrorClient(['http://127.0.0.1:9']),
      naming: {
        standingOf: async () => 'open',
        readToEnd: async () => {},
        readSoon: () => {},
        noteReceipt: () => {},
      },
      now: () => this.clock,
      monotonic: () => this.passed,
      random: () => 0,
      log: pino({}, { write: (line) => void this.logged.push(line) }),
      signal: this.end.signal,
      freezeNext: async () => this.freezeNext(),
      onNamed: () => {},
      noteContact: (_outcome, refusal) => void this.contacts.push(refusal),
      onConfirmed: () => {},
    };
  }
}

/** A row whose transaction can reach the ledger for so many more seconds. */
function frozen(seconds: number): OutboxRow {
  const id = transactionId('0.0.1001@1763717400.000000001');
  const transaction = { transactionId: id, bytes: '', validUntil: NOW / SECOND + seconds };
  return freeze(QUEUED, transaction, timestampOf(NOW));
}

test('in the last ten seconds of its validity a transaction is not sent any more, and its receipt is asked for', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  for (const [seconds, first] of [
    [11, 'submit'],
    [10, 'receipt'],
    [1, 'receipt'],
  ] as const) {
    const stage = new SubmissionFixture(store, frozen(seconds));
    stage.submit = () => {
      stage.end.abort();
      return 'ambiguous';
    };
    stage.receipt = () => {
      stage.end.abort();
      return { kind: 'unknown' };
    };
    await stage.submission.run();
    assert.equal(stage.asked, [first], `${seconds} s`);
  }
});

test('a name that the spend guard holds back is asked for after its pause, or when it is woken', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const stage = new SubmissionFixture(store, QUEUED);
  let asked = 0;
  stage.freezeNext = () => {
    if (++asked > 2) stage.end.abort();
    return { kind: 'held', milliseconds: 3_600_000 };
  };
  const running = stage.submission.run();
  await until('the first time', () => asked > 0);
  for (let i = 0; i < 5; i++) await turn();
  assert.is(asked, 1);
  stage.submission.wake.notify();
  await until('the second time', () => asked > 1);
  stage.end.abort();
  await running;
  assert.is(asked, 2);
});

test('a transaction that is sent again is noted as submitted once, and a failure at consensus is told once', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const stage = new SubmissionFixture(store, frozen(100));
  let receipts = 0;
  stage.receipt = () => {
    // Nothing has shown for so long that it is sent again, with the same bytes.
    stage.clock += 4 * SECOND;
    stage.passed += 4 * SECOND;
    if (++receipts === 3) stage.end.abort();
    return { kind: 'failed', code: receipts < 3 ? 'INVALID_SIGNATURE' : 'BUSY' };
  };
  await stage.submission.run();
  assert.equal(stage.asked, ['submit', 'receipt', 'submit', 'receipt', 'submit', 'receipt']);
  assert.equal(
    stage.contacts.filter((refusal) => refusal !== null),
    ['INVALID_SIGNATURE', 'BUSY'],
  );
  const row = await readOutbox(store, 1);
  assert.equal(
    row?.history.map(({ status }) => status),
    ['prepared', 'submitted'],
  );
  // The payer's signature was there: it is the topic's that lacks.
  const failures = stage.logged.filter((line) => line.includes('failed at consensus'));
  assert.match(failures[0] ?? '', '"setting":"LEDGER_SUBMIT_KEY"');
  assert.not.match(failures[1] ?? '"setting"', '"setting"');
});

test('where a node misses the signature of who pays, the log names the setting of that key', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const stage = new SubmissionFixture(store, frozen(100));
  stage.submit = () => {
    stage.end.abort();
    throw new LedgerError('INVALID_SIGNATURE', 'the ledger refused the transaction: INVALID_SIGNATURE');
  };
  await stage.submission.run();
  assert.match(stage.logged.join(''), '"setting":"LEDGER_OPERATOR_KEY"');
});

test('an accepted transaction that the ledger lost is sent again while it is valid, whatever its clock does', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const stage = new SubmissionFixture(store, frozen(100));
  let receipts = 0;
  stage.receipt = () => {
    if (receipts === 0) stage.clock -= 3_600 * SECOND;
    stage.passed += 4 * SECOND;
    if (++receipts === 2) stage.end.abort();
    return { kind: 'unknown' };
  };
  await stage.submission.run();
  assert.equal(stage.asked, ['submit', 'receipt', 'submit', 'receipt']);
});

test('a transaction that was frozen while the clock was hours ahead is let go, unless a node has taken it', async () => {
  await using directory = await temporaryDirectory();
  await using store = await Store.open(directory.path);
  const ahead = frozen(2 * 3_600 + 116);
  for (const [row, first] of [
    [ahead, 'freeze'],
    [noteSubmitted(ahead, timestampOf(NOW)), 'submit'],
    [frozen(180), 'submit'],
  ] as const) {
    const stage = new SubmissionFixture(store, row);
    stage.submit = () => {
      stage.end.abort();
      return 'ambiguous';
    };
    stage.freezeNext = () => {
      stage.asked.push('freeze');
      stage.end.abort();
      return { kind: 'held', milliseconds: 0 };
    };
    await stage.submission.run();
    assert.equal(stage.asked, [first]);
  }
  const kept = await readOutbox(store, 1);
  assert.equal([kept?.status, kept?.transaction], ['queued', null]);
});

test.run();
