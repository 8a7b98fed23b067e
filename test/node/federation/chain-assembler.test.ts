import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { utf8 } from '../../../protocol/bytes.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import { leafHash } from '../../../protocol/merkle/hash.ts';
import { merkleRoot } from '../../../protocol/merkle/tree.ts';
import { type Group, groupStatement } from '../../../protocol/statement/group.ts';
import { recordText } from '../../../protocol/statement/record.ts';
import { type SignedStatement, signStatement } from '../../../protocol/statement/statement.ts';
import { ChainAssembler, ChainContradictionError } from '../../../node/federation/chain-assembler.ts';
import { decodeItem, type PageItem } from '../../../node/federation/page-forms.ts';
import { PeerStatementError } from '../../../node/federation/statement-check.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { TestFederation } from '../../fixtures/federation.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import {
  CHAIN_TABLES,
  fastFederation,
  MemberRooms,
  rowsOf,
  temporaryHome,
  type TemporaryHome,
} from './member-rooms.ts';

const NINE = Array.from({ length: 9 }, () => ({}));

/** `eu` made a chain; `us` assembles it from pages. */
class Rebuilding implements AsyncDisposable {
  readonly federation: TestFederation;
  readonly home: TemporaryHome;
  readonly origin: MemberRooms;
  own: MemberRooms;
  assembler: ChainAssembler;

  private constructor(
    federation: TestFederation,
    home: TemporaryHome,
    origin: MemberRooms,
    own: MemberRooms,
    assembler: ChainAssembler,
  ) {
    this.federation = federation;
    this.home = home;
    this.origin = origin;
    this.own = own;
    this.assembler = assembler;
  }

  static async start(): Promise<Rebuilding> {
    const federation = await fastFederation(['eu', 'us']);
    const home = await temporaryHome();
    const origin = await MemberRooms.open(home.path, federation, 'eu');
    const own = await MemberRooms.open(home.path, federation, 'us');
    return new Rebuilding(federation, home, origin, own, await assemblerOf(own, origin));
  }

  /** Closes the store and opens it again, as after a crash. */
  async reopen(): Promise<void> {
    await this.own[Symbol.asyncDispose]();
    this.own = await MemberRooms.open(this.home.path, this.federation, 'us');
    this.assembler = await assemblerOf(this.own, this.origin);
  }

  async seal(
    drafts: Parameters<TestFederation['sealBatch']>[1],
    options: Parameters<TestFederation['sealBatch']>[2] = {},
  ) {
    const batch = await this.federation.sealBatch('eu', drafts, { witnesses: [], ...options });
    await this.origin.hold(batch);
    return batch;
  }

  /** The page that the origin gives to what is wanted. */
  async page(): Promise<PageItem[]> {
    const frames = this.origin.pages.serve({ want: 'chain', node: this.origin.node, ...this.assembler.wanted });
    const items: PageItem[] = [];
    for await (const frame of frames) items.push(decodeItem(frame));
    return items;
  }

  /** Takes a page; answers how it ended: the batches that became whole, or the fault. */
  async take(items: readonly PageItem[]): Promise<string> {
    this.assembler.beginPage();
    const whole: number[] = [];
    try {
      for (const item of items) {
        const batch = await this.assembler.take(item);
        if (batch !== undefined) whole.push(batch.envelope.batch);
      }
    } catch (error) {
      if (error instanceof PeerStatementError) return error.fault;
      if (error instanceof ChainContradictionError) return 'contradiction';
      throw error;
    }
    return `batches ${whole.join(' ')}`.trim();
  }

  /** Numbers of the first records of the groups that were stored; each must be the origin's own, byte for byte. */
  async stored(): Promise<number[]> {
    const origin = await rowsOf(this.origin.store, CHAIN_TABLES);
    const own = await rowsOf(this.own.store, CHAIN_TABLES);
    for (const [key, value] of own) assert.is(value, origin.get(key), key);
    return [...own.keys()].flatMap((key) => (key.startsWith('group/') ? Number(key.split('/')[2]) : []));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.own[Symbol.asyncDispose]();
    await this.origin[Symbol.asyncDispose]();
    await this.home[Symbol.asyncDispose]();
  }
}

function assemblerOf({ store, keys, chains }: MemberRooms, { node }: MemberRooms): Promise<ChainAssembler> {
  return ChainAssembler.recover({ node, store, keys, chains });
}

/** Index of a page's item of a kind, the n-th of them. */
function at(items: readonly PageItem[], kind: PageItem['kind'], n = 0): number {
  return items.flatMap((item, i) => (item.kind === kind ? i : []))[n] ?? -1;
}

/** The page with one item replaced. */
function withItem(items: readonly PageItem[], index: number, item: PageItem): PageItem[] {
  return items.toSpliced(index, 1, item);
}

/** The page with the texts of its n-th frame of records changed. */
function withTexts(items: readonly PageItem[], n: number, change: (texts: readonly string[]) => string[]): PageItem[] {
  const index = at(items, 'records', n);
  const item = items[index];
  if (item?.kind !== 'records') throw new Error('no such frame');
  return withItem(items, index, { kind: 'records', texts: change(item.texts) });
}

/** A group over any texts, under the origin's own signature. */
function signGroup(federation: TestFederation, first: number, texts: readonly string[]): Promise<SignedStatement> {
  const { node, key } = federation.member('eu');
  const leaves = texts.map((text) => leafHash(nativeSuite, utf8(text)));
  const group: Group = {
    v: 1,
    type: 'group',
    node,
    first,
    size: texts.length,
    root: writeSha256(merkleRoot(nativeSuite, leaves)),
    keyId: key.signer.keyId,
    signedAt: federation.tick(),
  };
  return signStatement(groupStatement, group, key.signer);
}

function textsOf(batch: TestBatch): string[] {
  return batch.records.map(({ text }) => text);
}

test('a valid chain is stored and is the origin’s, byte for byte', async () => {
  await using rebuilding = await Rebuilding.start();
  const sizes = [1, 9, 300, 2];
  for (const size of sizes)
    await rebuilding.seal(
      Array.from({ length: size }, () => ({})),
      { groupSize: 130 },
    );
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches 1 2 3 4');
  assert.equal(await rowsOf(rebuilding.own.store, CHAIN_TABLES), await rowsOf(rebuilding.origin.store, CHAIN_TABLES));
  assert.equal(
    rebuilding.own.chains.head(rebuilding.origin.node),
    rebuilding.origin.chains.head(rebuilding.origin.node),
  );
});

test('a page of what is held already brings nothing', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  assert.is(await rebuilding.take(page), 'batches 1');
  assert.equal(await rebuilding.page(), []);
  assert.is(await rebuilding.take(page), 'malformed');
});

/** A page that its sender changed, the fault that it is refused with, and the groups before it that count all the same. */
interface HostilePage {
  readonly name: string;
  readonly change: (page: PageItem[], rebuilding: Rebuilding) => PageItem[] | Promise<PageItem[]>;
  readonly fault: string;
  readonly stored: readonly number[];
}

const HOSTILE: readonly HostilePage[] = [
  {
    name: 'a record whose body was changed',
    change: (page) => withTexts(page, 1, (texts) => texts.map((text) => text.replace('"loans"', '"Loans"'))),
    fault: 'forged',
    stored: [1],
  },
  {
    name: 'a record that is no canonical text',
    change: (page) => withTexts(page, 1, (texts) => texts.map((text) => ` ${text}`)),
    fault: 'malformed',
    stored: [1],
  },
  {
    name: 'two records in each other’s place',
    change: (page) => withTexts(page, 1, ([a = '', b = '', c = '']) => [b, a, c]),
    fault: 'malformed',
    stored: [1],
  },
  {
    name: 'a record of another node',
    change: (page, { federation }) => {
      const foreign = federation.records('us').append({}, federation.tick());
      return withTexts(page, 0, ([, ...rest]) => [foreign.text, ...rest]);
    },
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'a record with another number than its place has',
    change: (page) =>
      withTexts(page, 0, ([a = '', ...rest]) => [recordText.write({ ...recordText.parse(a), seq: 2 }), ...rest]),
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'groups in another order',
    change: (page) => {
      const [first, second] = [at(page, 'group', 0), at(page, 'group', 1)];
      return [...page.slice(0, first), ...page.slice(second, second + 2), ...page.slice(first, second)];
    },
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'a group left out',
    change: (page) => page.toSpliced(at(page, 'group', 1), 2),
    fault: 'malformed',
    stored: [1],
  },
  {
    name: 'a group of another member',
    change: async (page, { federation }) => {
      const foreign = await federation.sealBatch('us', NINE, { witnesses: [] });
      const signed = foreign.groups[0]?.signed;
      return signed === undefined ? page : withItem(page, at(page, 'group'), { kind: 'group', signed });
    },
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'a group under a signature that does not hold',
    change: (page) => {
      const [a, b] = [page[at(page, 'group', 0)], page[at(page, 'group', 1)]];
      if (a?.kind !== 'group' || b?.kind !== 'group') throw new Error('no groups');
      const signed = { statement: b.signed.statement, signature: a.signed.signature };
      return withItem(page, at(page, 'group', 1), { kind: 'group', signed });
    },
    fault: 'forged',
    stored: [1],
  },
  {
    name: 'an envelope under a signature that does not hold',
    change: (page) => {
      const [envelope, group] = [page[0], page[1]];
      if (envelope?.kind !== 'envelope' || group?.kind !== 'group') throw new Error('another page');
      const signed = { ...envelope.signed, signature: group.signed.signature };
      return withItem(page, 0, { kind: 'envelope', signed });
    },
    fault: 'forged',
    stored: [],
  },
  {
    name: 'an envelope that was not asked for',
    change: async (page, rebuilding) => {
      const { signed } = await rebuilding.seal(NINE);
      return withItem(page, 0, { kind: 'envelope', signed });
    },
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'an envelope in the middle of a group',
    change: (page) => {
      const [envelope] = page;
      return envelope === undefined ? page : page.toSpliced(at(page, 'records'), 0, envelope);
    },
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'records outside a group',
    change: (page) => page.toSpliced(at(page, 'group'), 1),
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'a group before its envelope',
    change: (page) => page.slice(1),
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'a group in the middle of a group',
    change: (page) => page.toSpliced(at(page, 'records'), 1),
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'more records than the group has',
    change: (page) => withTexts(page, 0, (texts) => [...texts, ...texts]),
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'a cosignature among the groups',
    change: (page) => {
      const [envelope] = page;
      return envelope?.kind === 'envelope'
        ? [...page.slice(0, 3), { kind: 'cosignature', signed: envelope.signed }]
        : page;
    },
    fault: 'malformed',
    stored: [1],
  },
];

for (const { name, change, fault, stored } of HOSTILE) {
  test(`refused as ${fault}, and only whole signed groups stay: ${name}`, async () => {
    await using rebuilding = await Rebuilding.start();
    await rebuilding.seal(NINE);
    const page = await rebuilding.page();
    assert.is(await rebuilding.take(await change(page, rebuilding)), fault);
    assert.equal(await rebuilding.stored(), stored);
    assert.is(rebuilding.own.chains.head(rebuilding.origin.node).batch, 0);
    // The honest page still makes the batch whole.
    rebuilding.assembler = await assemblerOf(rebuilding.own, rebuilding.origin);
    const honest = await rebuilding.page();
    assert.match(await rebuilding.take(honest), /^batches 1/);
  });
}

test('a statement under a key that is not certified here is told apart from a forged one', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.federation.rotateKey('eu');
  await rebuilding.seal(NINE);
  assert.is(await rebuilding.take(await rebuilding.page()), 'unknown-key');
  assert.equal(await rebuilding.stored(), []);
  for (const certificate of rebuilding.federation.certificates) await rebuilding.own.keys.learnCertificate(certificate);
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches 1');
});

test('a page that was cut goes on where its last whole group ended', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  assert.is(await rebuilding.take(page.slice(0, at(page, 'records', 1))), 'batches');
  assert.equal(rebuilding.assembler.wanted, { batch: 1, seq: 4 });
  const rest = await rebuilding.page();
  assert.is(rest.filter((item) => item.kind === 'group').length, 2);
  assert.is(await rebuilding.take(rest), 'batches 1');
  assert.equal(await rebuilding.stored(), [1, 4, 7]);
});

test('a store opened again in the middle of a batch goes on from its whole groups', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  await rebuilding.take(page.slice(0, at(page, 'records', 4)));
  await rebuilding.reopen();
  assert.equal(rebuilding.assembler.wanted, { batch: 2, seq: 13 });
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches 2');
  assert.equal(await rowsOf(rebuilding.own.store, CHAIN_TABLES), await rowsOf(rebuilding.origin.store, CHAIN_TABLES));
});

test('a batch whose groups are all here is made whole by its envelope alone', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  const { store } = rebuilding.own;
  const write = store.write.bind(store);
  store.write = (operations) =>
    operations.some(({ key }) => key.startsWith('envelope/'))
      ? Promise.reject(new Error('the disk is full'))
      : write(operations);
  await rebuilding.take(page).catch(() => undefined);
  await rebuilding.reopen();
  assert.equal(rebuilding.assembler.wanted, { batch: 1, seq: 10 });
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches 1');
});

test('a batch whose root is not that of its signed records is its origin’s contradiction', async () => {
  await using rebuilding = await Rebuilding.start();
  const root = writeSha256(leafHash(nativeSuite, utf8('another')));
  await rebuilding.seal(NINE, { envelope: { root } });
  assert.is(await rebuilding.take(await rebuilding.page()), 'contradiction');
  assert.is(rebuilding.own.chains.head(rebuilding.origin.node).batch, 0);
  assert.equal(await rebuilding.stored(), [1, 4, 7]);
});

test('a batch that does not follow the one held is its origin’s contradiction', async () => {
  await using rebuilding = await Rebuilding.start();
  const first = await rebuilding.seal(NINE);
  assert.is(await rebuilding.take(await rebuilding.page()), 'batches 1');
  await rebuilding.seal(NINE, { envelope: { prev: first.envelope.root } });
  assert.is(await rebuilding.take(await rebuilding.page()), 'contradiction');
  assert.is(rebuilding.own.chains.head(rebuilding.origin.node).batch, 1);
});

test('a group that reaches past its batch is its origin’s contradiction', async () => {
  await using rebuilding = await Rebuilding.start();
  await rebuilding.seal(NINE, { envelope: { size: 8 } });
  assert.is(await rebuilding.take(await rebuilding.page()), 'contradiction');
  assert.equal(await rebuilding.stored(), [1, 4]);
});

test('a second signed group over records that are held is not taken', async () => {
  await using rebuilding = await Rebuilding.start();
  const batch = await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  await rebuilding.take(page.slice(0, at(page, 'records', 1)));
  const texts = textsOf(batch).slice(0, 3);
  const group: PageItem = { kind: 'group', signed: await signGroup(rebuilding.federation, 1, texts) };
  assert.is(await rebuilding.take([...page.slice(0, 1), group, { kind: 'records', texts }]), 'malformed');
  assert.equal(await rebuilding.stored(), [1]);
});

test('a record id that is given twice is its origin’s contradiction', async () => {
  await using rebuilding = await Rebuilding.start();
  const batch = await rebuilding.seal(NINE);
  const page = await rebuilding.page();
  const [first = ''] = textsOf(batch);
  const { id } = recordText.parse(first);
  const later = textsOf(batch)
    .slice(3, 6)
    .map((text) => recordText.write({ ...recordText.parse(text), id }));
  const signed = await signGroup(rebuilding.federation, 4, later);
  const hostile = [...page.slice(0, 3), { kind: 'group', signed } as const, { kind: 'records', texts: later } as const];
  assert.is(await rebuilding.take(hostile), 'contradiction');
  assert.equal(await rebuilding.stored(), [1]);
});

test.run();
