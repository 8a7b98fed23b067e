import pino from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkPage, type PageGroup } from '../../../node/federation/page-check.ts';
import { PageChecks, type PageChecksOptions } from '../../../node/federation/page-checks.ts';
import {
  decodeItem,
  encodeItem,
  openedBytes,
  type PageItem,
  type RecordsItem,
} from '../../../node/federation/page-forms.ts';
import { joinTexts } from '../../../node/records/record-lines.ts';
import { compressedTextCodec } from '../../../node/store/compressed-text.ts';
import { textCodec } from '../../../node/store/table.ts';
import type { WholeTexts } from '../../../protocol/chain/record.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { NEWEST } from './fake-network.ts';
import { CHAIN_TABLES, rowsOf, silent } from './member-fixture.ts';
import { Pulling } from './pulling.ts';
import { anotherKind } from './rebuilding.ts';

const EU = nodeId('eu');
const { signal } = new AbortController();
/** Each batch is more than one page. */
const BATCHES = 4;
const BATCH_RECORDS = 1_600;
const GROUP_RECORDS = 100;
const NO_ROW = new Uint8Array();
const ENDING_WORKER = new URL('./ending-page-worker.ts', import.meta.url);

async function startWithPages(checks: PageChecks): Promise<Pulling> {
  const pulling = await Pulling.start(checks);
  const drafts = Array.from({ length: BATCH_RECORDS }, () => ({}));
  for (let i = 0; i < BATCHES; i++) await pulling.seal('eu', ['eu'], drafts, GROUP_RECORDS);
  return pulling;
}

function checksOf(options: Partial<PageChecksOptions> = {}): PageChecks {
  return new PageChecks({ threads: 1, bytesBefore: 0, log: silent, ...options });
}

/** Notes of how many pages a thread vouched for groups, and of how many it did not. */
class WatchedChecks extends PageChecks {
  vouched = 0;
  inPlace = 0;

  override async check(...terms: Parameters<PageChecks['check']>): Promise<readonly PageGroup[]> {
    const groups = await super.check(...terms);
    if (groups.length > 0) this.vouched++;
    else this.inPlace++;
    return groups;
  }
}

/** Lines of a log. */
function listening() {
  const lines: string[] = [];
  return { lines, log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }) };
}

async function pageOf(pulling: Pulling, batch: number): Promise<Uint8Array[]> {
  const seq = (batch - 1) * BATCH_RECORDS + 1;
  return Array.fromAsync(pulling.fixture('eu').pages.serve({ want: 'chain', node: EU, batch, seq }, NEWEST));
}

function plain(groups: readonly PageGroup[]) {
  return groups.map(({ frames, ids, leaves, rows, accountRecords }) => {
    const bytes = (each: Uint8Array) => Buffer.from(each).toString('hex');
    const written = rows().map((row) => (row.type === 'put' ? [row.key, bytes(row.value)] : row.type));
    return { frames, ids, leaves: leaves.map(bytes), rows: written, accountRecords };
  });
}

/** Rows that were stored, and what the peer was caught at, once nobody is left to ask. */
async function pulled(pulling: Pulling) {
  pulling.catchUp.lead(EU, EU, BATCHES);
  await pulling.catchUp.settled(EU);
  const faults = pulling.faults.all().map(({ peer, fault, count }) => `${peer} ${fault} ${count}`);
  return { rows: await rowsOf(pulling.fixture('jp').store, CHAIN_TABLES), faults, head: pulling.head('eu') };
}

test('a thread finds of a page what is found in place', async () => {
  await using checks = checksOf();
  await using pulling = await startWithPages(checksOf());
  const page = await pageOf(pulling, 1);
  const inPlace = [...checkPage(page)];
  assert.ok(inPlace.length > 5, `${inPlace.length} groups`);
  assert.equal(plain(await checks.check(page, signal)), plain(inPlace));
});

test('small pages, the first ones and the first ones after a rest are checked in place', async () => {
  await using pulling = await startWithPages(checksOf());
  const page = await pageOf(pulling, 1);
  const bytes = page.reduce((sum, frame) => sum + openedBytes(frame), 0);
  await using checks = checksOf({ bytesBefore: bytes + 1 });
  const groups = async (frames: readonly Uint8Array[]) => (await checks.check(frames, signal)).length;
  assert.equal([await groups(page), await groups(page)], [0, 0]);
  assert.ok((await groups(page)) > 0);
  assert.is(await groups(page.slice(0, 3)), 0);
  await checks.rest();
  assert.is(await groups(page), 0);
  await using none = checksOf({ threads: 0 });
  assert.equal(await none.check(page, signal), []);
});

test('a chain whose pages threads check is the origin’s, byte for byte', async () => {
  const checks = new WatchedChecks({ threads: 1, bytesBefore: 0, log: silent });
  await using pulling = await startWithPages(checks);
  const { rows, faults, head } = await pulled(pulling);
  assert.equal([head, faults], [BATCHES, []]);
  assert.ok(checks.vouched > 2, `${checks.vouched} pages`);
  assert.equal(rows, await rowsOf(pulling.fixture('eu').store, CHAIN_TABLES));
});

/** A row as a store keeps it. */
function rowOf(records: readonly WholeTexts[]): Uint8Array {
  return compressedTextCodec.encode(joinTexts(records));
}

/** What a peer may do to the records of a page, and what it is caught at. */
const LIES: readonly {
  readonly name: string;
  readonly fault: string;
  readonly change: (item: RecordsItem) => PageItem;
}[] = [
  {
    name: 'records of another kind',
    fault: 'eu forged 1',
    change: ({ records }) => ({ kind: 'records', records: records.map(anotherKind) }),
  },
  {
    name: 'a row of records of another kind',
    fault: 'eu forged 1',
    change: ({ records }) => ({ kind: 'records', records, row: rowOf(records.map(anotherKind)) }),
  },
  {
    name: 'records in another order',
    fault: 'eu malformed 1',
    change: ({ records }) => ({ kind: 'records', records: records.toReversed() }),
  },
  {
    name: 'a damaged row',
    fault: 'eu malformed 1',
    change: ({ records, row }) => ({
      kind: 'records',
      records,
      row: row?.map((byte, i) => byte ^ Number(i === 99)) ?? NO_ROW,
    }),
  },
  {
    name: 'a row that is not compressed',
    fault: 'eu malformed 1',
    change: ({ records }) => ({ kind: 'records', records, row: textCodec.encode(joinTexts(records)) }),
  },
];

for (const { name, fault, change } of LIES) {
  test(`a damaged page is refused by a thread as it is in place, and what came before it is kept: ${name}`, async () => {
    const [inPlace, apart] = await Promise.all(
      [0, 1].map(async (threads) => {
        await using pulling = await startWithPages(checksOf({ threads }));
        let pages = 0;
        pulling.network.distortions.set('eu', async function* (frames) {
          const isFalse = ++pages === 3;
          let seen = 0;
          for await (const frame of frames) {
            const item = decodeItem(frame);
            yield isFalse && ++seen > 10 && item.kind === 'records' ? encodeItem(change(item)) : frame;
          }
        });
        const { rows, faults, head } = await pulled(pulling);
        // Keys and signatures are each federation's own.
        return { keys: [...rows.keys()].filter((key) => !key.startsWith('record/')), faults, head };
      }),
    );
    assert.equal(inPlace?.faults, [fault]);
    assert.ok(inPlace?.keys.some((key) => key.startsWith('group/')));
    assert.equal(apart, inPlace);
  });
}

test('a row of a few hundred bytes that opens to very many values ends no thread, and holds nobody up', async () => {
  const { lines, log } = listening();
  await using checks = checksOf({ log });
  await using pulling = await startWithPages(checksOf());
  const [envelope, group] = await pageOf(pulling, 1);
  assert.ok(envelope !== undefined && group !== undefined);
  const nesting = 800_000;
  const head = `{${'"\\n":0,'.repeat(350_000)}"a":${'['.repeat(nesting)}${']'.repeat(nesting)}}`;
  const row = compressedTextCodec.encode(`${head}\n{}`);
  assert.ok(row.length < 1_000, `${row.length} bytes`);
  const page = [envelope, group, encodeItem({ kind: 'records', records: [], row })];
  assert.equal(await checks.check(page, signal), []);
  assert.equal([...checkPage(page)], []);
  assert.equal(lines, []);
});

test('a thread that ends fails the page under work alone: that is checked in place, and the next one by another', async () => {
  const { lines, log } = listening();
  const checks = new WatchedChecks({ threads: 1, bytesBefore: 0, log, script: ENDING_WORKER });
  await using pulling = await startWithPages(checks);
  const counts: number[] = [];
  for (const batch of [1, 3, 2]) counts.push((await checks.check(await pageOf(pulling, batch), signal)).length);
  assert.equal(
    counts.map((count) => count > 0),
    [true, false, true],
  );
  assert.is(lines.length, 1);
  assert.match(lines[0] ?? '', 'a thread that checked a page ended');
});

test('a chain comes whole where every thread ends', async () => {
  const script = new URL('data:text/javascript,process.exit()');
  const { lines, log } = listening();
  const checks = new WatchedChecks({ threads: 1, bytesBefore: 0, log, script });
  await using pulling = await startWithPages(checks);
  const { rows, faults, head } = await pulled(pulling);
  assert.equal([head, faults, checks.vouched], [BATCHES, [], 0]);
  assert.ok(lines.length > 2);
  assert.equal(rows, await rowsOf(pulling.fixture('eu').store, CHAIN_TABLES));
});

test.run();
