import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { makeRecord, openRecord } from '../../../protocol/chain/record.ts';
import type { PageItem } from '../../../node/federation/page-forms.ts';
import { nativeSigner, nativeSuite } from '../../../node/keys/native-suite.ts';
import { groupAnew } from '../../../node/log/group-anew.ts';
import { certifyKey, seedOf } from '../../fixtures/federation-member.ts';
import { anotherKind, assemblerOf, at, NINE, Rebuilding, withItem, withTexts } from './rebuilding.ts';

/**
 * A page that its sender changed, the fault that it is refused with, and the groups before it that count all the same.
 */
interface MaliciousPage {
  readonly name: string;
  readonly change: (page: PageItem[], rebuilding: Rebuilding) => PageItem[] | Promise<PageItem[]>;
  readonly fault: string;
  readonly stored: readonly number[];
}

const MALICIOUS: readonly MaliciousPage[] = [
  {
    name: 'a record whose body was changed',
    change: (page) =>
      withTexts(page, 1, (records) =>
        records.map(({ head, body }) => ({ head, body: body.replace('"loans"', '"Loans"') })),
      ),
    fault: 'malformed',
    stored: [1],
  },
  {
    name: 'a record whose head was changed',
    change: (page) => withTexts(page, 1, (records) => records.map(anotherKind)),
    fault: 'forged',
    stored: [1],
  },
  {
    name: 'a record with the body of another',
    change: (page) => withTexts(page, 1, ([a, b, c]) => (a && b && c ? [{ ...a, body: b.body }, b, c] : [])),
    fault: 'malformed',
    stored: [1],
  },
  {
    name: 'a record whose body is cut off',
    change: (page) => withTexts(page, 1, (records) => records.map(({ head }) => ({ head, body: '' }))),
    fault: 'malformed',
    stored: [1],
  },
  {
    name: 'a record that is no canonical text',
    change: (page) => withTexts(page, 1, (records) => records.map(({ head, body }) => ({ head: ` ${head}`, body }))),
    fault: 'malformed',
    stored: [1],
  },
  {
    name: 'two records in each other’s place',
    change: (page) => withTexts(page, 1, ([a, b, c]) => (a && b && c ? [b, a, c] : [])),
    fault: 'malformed',
    stored: [1],
  },
  {
    name: 'a record of another node',
    change: (page, { federation }) => {
      const foreign = federation.records('us').append({}, federation.tick());
      return withTexts(page, 0, ([, ...rest]) => [foreign.texts, ...rest]);
    },
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'a record with another number than its place has',
    change: (page) =>
      withTexts(page, 0, ([a, ...rest]) => [
        ...(a === undefined ? [] : [makeRecord(nativeSuite, { ...openRecord(nativeSuite, a), seq: 2 }).texts]),
        ...rest,
      ]),
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
      const foreign = await federation.sealBatch('us', NINE);
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
    name: 'a group by another key of its node than the batch',
    change: async (page, { federation, own }) => {
      const { node, identity } = federation.member('eu');
      const terms = { validFrom: federation.tick(), seqFrom: 1 };
      const { signer, signed } = await certifyKey(node, identity, nativeSigner(seedOf('another')), terms);
      await own.keys.learnCertificate(signed);
      const index = at(page, 'group', 1);
      const item = page[index];
      const anew = item?.kind === 'group' ? await groupAnew(item.signed, signer) : null;
      return anew === null ? page : withItem(page, index, { kind: 'group', signed: anew.signed });
    },
    fault: 'malformed',
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
    change: (page) => withTexts(page, 0, (records) => [...records, ...records]),
    fault: 'malformed',
    stored: [],
  },
  {
    name: 'a certificate among the groups',
    change: (page) => {
      const [envelope] = page;
      return envelope?.kind === 'envelope'
        ? [...page.slice(0, 3), { kind: 'certificate', signed: envelope.signed }]
        : page;
    },
    fault: 'malformed',
    stored: [1],
  },
];

for (const { name, change, fault, stored } of MALICIOUS) {
  for (const isApart of [false, true]) {
    const where = isApart ? ', its groups checked apart' : '';
    test(`refused as ${fault}, and only whole signed groups stay: ${name}${where}`, async () => {
      await using rebuilding = await Rebuilding.start();
      rebuilding.isApart = isApart;
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
}

test.run();
