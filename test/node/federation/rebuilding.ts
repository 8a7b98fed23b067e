import * as assert from 'uvu/assert';
import { ChainAssembler, ChainContradictionError } from '../../../node/federation/chain-assembler.ts';
import { givenGroups, packGroups, unpackGroups } from '../../../node/federation/packed-page.ts';
import { type ArrivedPage, type PageTaker, takeArrived } from '../../../node/federation/page-ahead.ts';
import { checkPage } from '../../../node/federation/page-check.ts';
import { decodeItem, encodeItem, type PageItem } from '../../../node/federation/page-forms.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { Decided } from '../../../node/log/decidable.ts';
import { PeerStatementError } from '../../../node/log/members/peer-statement-error.ts';
import { recordLeaf, type WholeTexts } from '../../../protocol/chain/record.ts';
import { writeSha256 } from '../../../protocol/hash.ts';
import type { NodeId } from '../../../protocol/ids.ts';
import { merkleRoot } from '../../../protocol/merkle/tree.ts';
import { type Group, groupStatement } from '../../../protocol/statement/group.ts';
import { type SignedStatement, signStatement } from '../../../protocol/statement/statement.ts';
import type { TestBatch } from '../../fixtures/federation-batch.ts';
import type { TestFederation } from '../../fixtures/federation.ts';
import { NOTHING_DECIDED } from '../../fixtures/nothing-decided.ts';
import { NEWEST } from './fake-network.ts';
import {
  CHAIN_TABLES,
  fastFederation,
  MemberFixture,
  rowsOf,
  temporaryHome,
  type TemporaryHome,
} from './member-fixture.ts';

export const NINE = Array.from({ length: 9 }, () => ({}));

/** `eu` made a chain; `us` assembles it from pages. */
export class Rebuilding implements AsyncDisposable {
  readonly federation: TestFederation;
  readonly home: TemporaryHome;
  readonly origin: MemberFixture;
  own: MemberFixture;
  assembler: ChainAssembler;
  /** Whether the groups of a page are checked as another thread does. A test sets it. */
  isApart = false;

  private constructor(
    federation: TestFederation,
    home: TemporaryHome,
    origin: MemberFixture,
    own: MemberFixture,
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
    const origin = await MemberFixture.open(home.path, federation, 'eu');
    const own = await MemberFixture.open(home.path, federation, 'us');
    return new Rebuilding(federation, home, origin, own, await assemblerOf(own, origin));
  }

  /** Closes the store and opens it again, as after a crash. */
  async reopen(): Promise<void> {
    await this.own[Symbol.asyncDispose]();
    this.own = await MemberFixture.open(this.home.path, this.federation, 'us');
    this.assembler = await assemblerOf(this.own, this.origin);
  }

  async seal(
    drafts: Parameters<TestFederation['sealBatch']>[1],
    options: Parameters<TestFederation['sealBatch']>[2] = {},
  ) {
    const batch = await this.federation.sealBatch('eu', drafts, options);
    await this.origin.hold(batch);
    return batch;
  }

  /** The page that the origin gives to what is wanted. */
  async page(): Promise<PageItem[]> {
    const request = { want: 'chain', node: this.origin.node, ...this.assembler.wanted } as const;
    const frames = this.origin.pages.serve(request, NEWEST);
    const items: PageItem[] = [];
    for await (const frame of frames) items.push(decodeItem(frame));
    return items;
  }

  /** Takes a page of a peer; answers how it ended: the batches that became whole, or the fault. */
  async take(items: readonly PageItem[], peer: NodeId = this.origin.node): Promise<string> {
    this.assembler.beginPage(peer);
    const taker: PageTaker = { assembler: this.assembler, batches: [] };
    try {
      await takeArrived(taker, arrivedPage(items, this.isApart));
    } catch (error) {
      if (error instanceof PeerStatementError) return error.fault;
      if (error instanceof ChainContradictionError) return 'contradiction';
      throw error;
    } finally {
      await this.assembler.endPage();
    }
    return `batches ${taker.batches.map(({ envelope }) => envelope.batch).join(' ')}`.trim();
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

/** A page of these items; where it is checked apart, its groups go there and back as they do between threads. */
function arrivedPage(items: readonly PageItem[], isApart: boolean): ArrivedPage {
  const frames = items.map((item) => {
    return { frame: encodeItem(item), signed: item.kind === 'group' ? item.signed : undefined, isLookedAt: undefined };
  });
  const packed = packGroups(isApart ? checkPage(frames.map(({ frame }) => frame)) : []);
  const sent = structuredClone(packed, { transfer: givenGroups(packed) });
  return { frames, next: null, groups: Promise.resolve(unpackGroups(sent)) };
}

export function assemblerOf(
  { store, keys, chains }: MemberFixture,
  { node }: MemberFixture,
  decided: Decided = NOTHING_DECIDED,
): Promise<ChainAssembler> {
  return ChainAssembler.recover({ node, store, keys, chains, decided });
}

/** Index of a page's item of a kind, the n-th of them. */
export function at(items: readonly PageItem[], kind: PageItem['kind'], n = 0): number {
  return items.flatMap((item, i) => (item.kind === kind ? i : []))[n] ?? -1;
}

/** The page with one item replaced. */
export function withItem(items: readonly PageItem[], index: number, item: PageItem): PageItem[] {
  return items.toSpliced(index, 1, item);
}

/** The page with the texts of its n-th frame of records changed. */
export function withTexts(
  items: readonly PageItem[],
  n: number,
  change: (records: readonly WholeTexts[]) => WholeTexts[],
): PageItem[] {
  const index = at(items, 'records', n);
  const item = items[index];
  if (item?.kind !== 'records') throw new Error('no such frame');
  return withItem(items, index, { kind: 'records', records: change(item.records) });
}

/** A group over any records, under the origin's own signature. */
export function signGroup(
  federation: TestFederation,
  first: number,
  records: readonly WholeTexts[],
): Promise<SignedStatement> {
  const { node, key } = federation.member('eu');
  const leaves = records.map(({ head }) => recordLeaf(nativeSuite, head));
  const group: Group = {
    v: 1,
    type: 'group',
    node,
    first,
    size: records.length,
    root: writeSha256(merkleRoot(nativeSuite, leaves)),
    keyId: key.signer.keyId,
    signedAt: federation.tick(),
  };
  return signStatement(groupStatement, group, key.signer);
}

export function textsOf(batch: TestBatch): WholeTexts[] {
  return batch.records.map(({ texts }) => texts);
}

/** Texts that are a record by themselves, and not the one that was signed. */
export function anotherKind({ head, body }: WholeTexts): WholeTexts {
  return { head: head.replace('"kind":"decision"', '"kind":"incident"'), body };
}
