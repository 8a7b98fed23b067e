import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Naming } from '../../../node/anchoring/anchor-submission.ts';
import { type LedgerClient, transactionId } from '../../../node/anchoring/ledger/ledger-client.ts';
import {
  outboxEntry,
  outboxTable,
  statementOutboxClosedTable,
  statementOutboxTable,
} from '../../../node/anchoring/outbox.ts';
import { beginReread, endReread } from '../../../node/federation/reread.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { FederationLog } from '../../../node/log/federation-log.ts';
import { type RangeOptions, Store } from '../../../node/store/store.ts';
import { hashText } from '../../../protocol/hash.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { until } from '../../fixtures/until.ts';
import { fastFederation } from '../federation/member-fixture.ts';
import { AnchoringNode, anchorMessage, NODE, sealedBatch, temporaryDirectory } from './anchoring-node.ts';
import { LedgerProcess } from './ledger/ledger-process.ts';

const test = suite('rows of the outbox that are out of date');
const ledger = await LedgerProcess.start();
test.after(() => ledger[Symbol.asyncDispose]());

/** A store on which one reading of a table's rows comes to anyone who asked only when a test lets it. */
class HeldReading {
  readonly store: Store;
  readonly #table: string;
  #held: { readonly read: () => void; readonly going: Promise<void> } | undefined;

  constructor(store: Store, table: string) {
    this.#table = table;
    const range = (options: RangeOptions) => this.#range(store, options);
    this.store = new Proxy(store, {
      get(target, name) {
        if (name === 'range') return range;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  /** Holds the next reading. `read` resolves once its rows were read, and `release` hands them out. */
  hold(): { readonly read: Promise<void>; readonly release: () => void } {
    const [read, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    this.#held = { read: read.resolve, going: going.promise };
    return { read: read.promise, release: going.resolve };
  }

  async *#range(store: Store, options: RangeOptions): AsyncGenerator<[string, Uint8Array]> {
    const isWanted = [options.gte, options.gt].some((from) => from?.startsWith(`${this.#table}/`) === true);
    const held = isWanted ? this.#held : undefined;
    if (held === undefined) return yield* store.range(options);
    this.#held = undefined;
    const rows = await Array.fromAsync(store.range(options));
    held.read();
    await held.going;
    yield* rows;
  }
}

/** Keeps what it is to sign, and reaches nobody. */
function keptMessages(): LedgerClient & { readonly messages: string[] } {
  const messages: string[] = [];
  return {
    messages,
    async prepare(message) {
      const seconds = Math.floor(Date.now() / 1000);
      const id = transactionId(`0.0.1001@${seconds}.${String(messages.push(message)).padStart(9, '0')}`);
      return { transactionId: id, bytes: 'AAAA', validUntil: seconds + 120 };
    },
    submit: async () => 'ambiguous',
    receipt: async () => ({ kind: 'unknown' }),
    [Symbol.asyncDispose]: async () => {},
  };
}

test('batches that the ledger read anew did not decide are named before later ones, though those are taken already', async () => {
  await using directory = await temporaryDirectory();
  const client = keptMessages();
  const decided = new Set<string>();
  const naming: Naming = {
    standingOf: async (message) => (decided.has(message) ? 'decided' : 'open'),
    mayName: ({ batch }) => batch === 1,
    readToEnd: async () => undefined,
    readSoon: () => undefined,
    noteReceipt: () => undefined,
  };
  const config = ledger.config(await ledger.createTopic());
  await using node = await AnchoringNode.start(directory.path, { config, ledger: client, naming });
  const first = anchorMessage(sealedBatch(1));
  decided.add(first);
  await node.seal(1);
  await node.allConfirmed([1]);
  await node.seal(2);
  await until('the second is taken', async () => (await node.anchoring.state()).inFlight === 1);
  decided.clear();
  const [genesis = ''] = (await fastFederation()).rosters;
  const key = hashText(nativeSuite, 'a key');
  await beginReread(node.store, key);
  const revoked: string[] = [];
  await endReread({
    self: NODE,
    store: node.store,
    follower: { federationLog: await FederationLog.open(node.store, genesis), readToEnd: async () => undefined },
    anchoring: node.anchoring,
    ownKeys: { revoke: async (keyId) => void revoked.push(keyId) },
    now: Date.now,
    signal: new AbortController().signal,
  });
  await until('the first is named again', () => client.messages.includes(first));
  assert.equal([client.messages, revoked], [[first], [key]]);
});

test('a batch that was replaced while its row was read is named by what took its place', async () => {
  await using directory = await temporaryDirectory();
  await using stored = await Store.open(`${directory.path}/held`);
  const reading = new HeldReading(stored, outboxTable.name);
  const client = keptMessages();
  const [first, second] = [sealedBatch(1), sealedBatch(1, 1)];
  const at = timestampOf(Date.now());
  await stored.write([outboxEntry(1, anchorMessage(first), at)]);
  // Its first reading is the one that is held: a row that is taken is read no more.
  const { read, release } = reading.hold();
  await using node = await AnchoringNode.start(`${directory.path}/node`, {
    config: ledger.config(await ledger.createTopic()),
    ledger: client,
    store: reading.store,
  });
  await read;
  await node.anchoring.withdraw(1);
  await stored.write([node.anchoring.outboxEntry(second, at)]);
  node.anchoring.resume();
  release();
  await until('a name', () => client.messages.length > 0);
  assert.equal(client.messages, [anchorMessage(second)]);
});

test('a statement whose name was confirmed while its row was read is not sent again, and may be named anew', async () => {
  await using directory = await temporaryDirectory();
  await using stored = await Store.open(`${directory.path}/held`);
  const reading = new HeldReading(stored, statementOutboxTable.name);
  const topicId = await ledger.createTopic();
  await using node = await AnchoringNode.start(`${directory.path}/node`, {
    config: ledger.config(topicId),
    store: reading.store,
  });
  const federation = await fastFederation(['eu']);
  const roster = { type: 'roster', text: federation.addRoster({ name: 'next' }) } as const;
  const statement = hashText(nativeSuite, roster.text);
  const sent = async () => [...(await ledger.messageCounts(topicId)).values()].reduce((sum, count) => sum + count, 0);
  const confirmed = () =>
    until('confirmed', async () => (await statementOutboxClosedTable.get(stored, statement)) !== undefined);
  await stored.write([node.anchoring.statementEntry(roster, timestampOf(Date.now()))]);
  node.anchoring.noteSealed();
  await until('it is sent', async () => (await statementOutboxTable.get(stored, statement))?.status === 'submitted');
  const { read, release } = reading.hold();
  node.anchoring.noteSealed();
  await read;
  await confirmed();
  release();
  // The loop looks at statements before it takes a batch.
  await stored.write([node.anchoring.outboxEntry(sealedBatch(1), timestampOf(Date.now()))]);
  node.anchoring.noteSealed();
  await until('the batch', async () => (await sent()) >= 2);
  assert.is(await sent(), 2);
  assert.is(await statementOutboxTable.get(stored, statement), undefined);
  node.reader.fall();
  await node.anchoring.ensureStatement(roster, timestampOf(Date.now()), {
    since: timestampOf(Date.now() + 1),
    everyMs: 0,
  });
  await until('the name anew', async () => (await sent()) === 3);
});

test.run();
