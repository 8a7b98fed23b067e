import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { FROM_TOLERANCE_MS } from '../../../protocol/chain/chain-state.ts';
import type { GroupTexts } from '../../../protocol/chain/derive.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import { MAX_BATCH_RECORDS } from '../../../protocol/chain/envelope-rules.ts';
import type { AttestationRecord, RecordTexts } from '../../../protocol/chain/record.ts';
import type { RefusalCode } from '../../../protocol/chain/refusal.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { isBase64url, type SignedStatement } from '../../../protocol/statement/statement.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import {
  type BatchChanges,
  type ChainBatch,
  type MemberChain,
  type RecordDraft,
  testRecordId,
  testSigner,
} from '../../fixtures/member-chain.ts';

type Drafts = readonly (readonly RecordDraft[])[];

/** The smallest change by which a batch of these drafts is refused with `code`. `pick` chooses a record or group. */
export interface Mutation {
  readonly name: string;
  readonly code: RefusalCode;
  readonly make: (chain: MemberChain, drafts: Drafts, pick: number) => Promise<ChainBatch>;
}

const US = nodeId('us');
const OTHER = hashText(nativeSuite, 'another');

/** Changes to what is hashed and signed. */
const signed: readonly (readonly [name: string, code: RefusalCode, changes: (at: Place) => BatchChanges])[] = [
  ['an envelope of another node', 'node-mismatch', () => ({ envelope: { node: US }, decided: { node: US } })],
  ['an envelope that was decided for another node', 'node-mismatch', () => ({ decided: { node: US } })],
  ['a batch number that is skipped', 'batch-mismatch', () => ({ envelope: ({ batch }) => ({ batch: batch + 1 }) })],
  [
    'a batch number that is decided already',
    'batch-mismatch',
    ({ chain }) => ({ decided: { batch: chain.state.batch } }),
  ],
  ['more records than a batch has', 'batch-too-large', () => ({ envelope: { size: MAX_BATCH_RECORDS + 1 } })],
  ['another envelope before it', 'prev-mismatch', () => ({ envelope: { prev: OTHER } })],
  ['a range that leaves a record out', 'range-gap', () => ({ envelope: ({ first }) => ({ first: first + 1 }) })],
  [
    'a range that ends before it begins in time',
    'sealed-before-from',
    () => ({
      envelope: ({ sealedAt }) => ({ from: shifted(sealedAt, 1) }),
    }),
  ],
  [
    'a beginning more than five minutes before what came before',
    'from-too-early',
    ({ chain }) => ({
      envelope: { from: shifted(chain.state.since, -FROM_TOLERANCE_MS - 1) },
    }),
  ],
  ['another key than was decided', 'key-not-decided', () => ({ decided: { keyId: OTHER } })],
  [
    'an envelope by a key that nobody certified',
    'key-not-certified',
    () => {
      const signer = testSigner('uncertified');
      return { envelopeSigner: signer, envelope: { keyId: signer.keyId } };
    },
  ],
  ['an envelope that another key has signed', 'signature-invalid', () => ({ envelopeSigner: testSigner('another') })],
  [
    'a group by a key that nobody certified',
    'key-not-certified',
    () => {
      const groupSigner = testSigner('uncertified');
      return { groupSigner, group: () => ({ keyId: groupSigner.keyId }) };
    },
  ],
  ['a group that another key has signed', 'signature-invalid', () => ({ groupSigner: testSigner('another') })],
  ['a group of another node', 'group-gap', () => ({ group: () => ({ node: US }) })],
  [
    'a group that leaves a record out',
    'group-gap',
    ({ seq }) => ({
      group: ({ first, size }) => (holds(first, size, seq) ? { first: first + 1 } : {}),
    }),
  ],
  [
    'a group with another root',
    'group-root-mismatch',
    ({ seq }) => ({
      group: ({ first, size }) => (holds(first, size, seq) ? { root: OTHER } : {}),
    }),
  ],
  [
    'groups past the end of their batch',
    'group-out-of-batch',
    () => ({
      envelope: ({ size }) => ({ size: Math.max(1, size - 1) }),
    }),
  ],
  [
    'a head that is not canonical',
    'record-malformed',
    ({ seq }) => textsOf(seq, ({ head, body }) => ({ head: ` ${head}`, body })),
  ],
  [
    'an id that names another node',
    'record-malformed',
    ({ seq }) => recordOf(seq, () => ({ id: testRecordId(US, 'stranger') })),
  ],
  [
    'a first record of a source that names one before it',
    'record-malformed',
    ({ seq }) => recordOf(seq, () => ({ sourceSeq: 1, sourcePrev: OTHER })),
  ],
  [
    'a record in the place of another',
    'record-out-of-place',
    ({ seq }) => recordOf(seq, (record) => ({ seq: record.seq + 1 })),
  ],
  [
    'a record of another node',
    'record-out-of-place',
    ({ seq }) => recordOf(seq, () => ({ node: US, id: testRecordId(US, 'stranger') })),
  ],
  [
    'a record from before the batch',
    'submitted-outside-batch',
    ({ seq }) => ({
      ...recordOf(seq, ({ submittedAt }) => ({ submittedAt: shifted(submittedAt, -1) })),
      envelope: ({ first, from }) => ({ from: shifted(from, 1000 * (seq - first)) }),
    }),
  ],
  [
    'a record from after the seal',
    'submitted-outside-batch',
    ({ seq }) => ({
      ...recordOf(seq, ({ submittedAt }) => ({ submittedAt: shifted(submittedAt, 1) })),
      envelope: ({ first, from }) => ({ sealedAt: shifted(from, 1000 * (seq - first)) }),
    }),
  ],
  [
    'a record of its source that is left out',
    'source-skipped',
    ({ seq }) =>
      recordOf(seq, ({ sourceSeq, sourcePrev }) => ({ sourceSeq: sourceSeq + 1, sourcePrev: sourcePrev ?? OTHER })),
  ],
  [
    'an invented history of a source',
    'source-skipped',
    ({ seq }) => recordOf(seq, () => ({ sourceSeq: 900, sourcePrev: OTHER })),
  ],
  ['another root of the batch', 'root-mismatch', () => ({ envelope: { root: OTHER } })],
];

/** Changes to a batch that is made and signed. */
const carried: readonly (readonly [
  name: string,
  code: RefusalCode,
  change: (batch: ChainBatch, pick: number) => ChainBatch,
])[] = [
  [
    'another envelope of the same batch',
    'envelope-not-decided',
    (batch) => ({ ...batch, envelope: { ...batch.envelope, statement: later(batch.envelope) } }),
  ],
  [
    'an envelope without end',
    'envelope-not-decided',
    (batch) => ({ ...batch, envelope: { ...batch.envelope, statement: 'x'.repeat(5000) } }),
  ],
  [
    'an envelope that is no text',
    'envelope-not-decided',
    (batch) => ({ ...batch, envelope: { ...batch.envelope, statement: '\ud800' } }),
  ],
  [
    'a decided envelope that is not canonical',
    'envelope-malformed',
    (batch) => {
      const statement = ` ${batch.envelope.statement}`;
      return {
        ...batch,
        envelope: { ...batch.envelope, statement },
        decided: { ...batch.decided, envelope: hashText(nativeSuite, statement) },
      };
    },
  ],
  [
    'a changed signature of the envelope',
    'signature-invalid',
    (batch) => ({ ...batch, envelope: flipped(batch.envelope) }),
  ],
  [
    'a changed signature of a group',
    'signature-invalid',
    groupOf((group) => ({ ...group, signed: flipped(group.signed) })),
  ],
  [
    'a signature without end',
    'signature-invalid',
    groupOf((group) => ({ ...group, signed: withSignature(group.signed, 'A'.repeat(100_000)) })),
  ],
  [
    'a group statement that is not canonical',
    'group-malformed',
    groupOf((group) => ({ ...group, signed: { ...group.signed, statement: `${group.signed.statement} ` } })),
  ],
  [
    'a group statement without end',
    'group-malformed',
    groupOf((group) => ({ ...group, signed: { ...group.signed, statement: 'x'.repeat(5000) } })),
  ],
  ['a group twice', 'group-gap', ({ groups, ...batch }) => ({ ...batch, groups: [...groups.slice(0, 1), ...groups] })],
  [
    'a group without its last record',
    'group-incomplete',
    groupOf((group) => ({ ...group, records: group.records.slice(0, -1) })),
  ],
  [
    'a group with a record more',
    'group-incomplete',
    groupOf((group) => ({ ...group, records: [...group.records, ...group.records.slice(0, 1)] })),
  ],
  [
    'a changed head',
    'group-root-mismatch',
    firstRecord(({ head, body }) => ({ head: head.replace('"v":2', '"v":3'), body })),
  ],
  ['a head that is no text', 'group-root-mismatch', firstRecord(({ body }) => ({ head: '\ud800', body }))],
  ['a changed body', 'body-mismatch', firstRecord(({ head, body }) => ({ head, body: `${body} ` }))],
  ['a body that is withheld', 'body-mismatch', firstRecord(({ head }) => ({ head, body: null }))],
  ['a body that is no text', 'body-mismatch', firstRecord(({ head }) => ({ head, body: '\ud800' }))],
  ['a head without end', 'record-too-long', firstRecord(({ body }) => ({ head: 'x'.repeat(2000), body }))],
  ['a body without end', 'record-too-long', firstRecord(({ head }) => ({ head, body: 'x'.repeat((1 << 20) + 1) }))],
  [
    'a batch without its last group',
    'batch-incomplete',
    ({ groups, ...batch }) => ({ ...batch, groups: groups.slice(0, -1) }),
  ],
];

/** Of these the chain needs a past: a batch before, or a record before of the same source. */
const withPast: readonly Mutation[] = [
  {
    name: 'an id that an earlier batch has given',
    code: 'id-repeated',
    make: (chain, drafts, pick) => {
      const [held = testRecordId(chain.node, 'none')] = chain.places.keys();
      return chain.seal(
        drafts,
        recordOf(placeOf(chain, drafts, pick).seq, () => ({ id: held })),
      );
    },
  },
  {
    name: 'an id that is given twice in a batch',
    code: 'id-repeated',
    make: (chain, drafts) => chain.seal(drafts, { record: () => ({ id: testRecordId(chain.node, 'twice') }) }),
  },
  {
    name: 'another record before it of its source',
    code: 'source-prev-mismatch',
    make: (chain, drafts) =>
      chain.seal(drafts, { record: ({ sourceSeq }) => (sourceSeq === 1 ? {} : { sourcePrev: OTHER }) }),
  },
];

/** All of them hold for any batch of two groups or more, with two records of one source, after another batch. */
export const MUTATIONS: readonly Mutation[] = [
  ...signed.map(([name, code, changes]): Mutation => ({
    name,
    code,
    make: (chain, drafts, pick) => chain.seal(drafts, changes(placeOf(chain, drafts, pick))),
  })),
  ...carried.map(([name, code, change]): Mutation => ({
    name,
    code,
    make: async (chain, drafts, pick) => change(await chain.seal(drafts), pick),
  })),
  ...withPast,
];

interface Place {
  readonly chain: MemberChain;
  readonly seq: number;
}

function placeOf(chain: MemberChain, drafts: Drafts, pick: number): Place {
  return { chain, seq: chain.state.next + (pick % drafts.flat().length) };
}

function holds(first: number, size: number, seq: number): boolean {
  return seq >= first && seq < first + size;
}

type Unsealed = Omit<AttestationRecord, 'body' | 'v'>;

function recordOf(seq: number, change: (record: Unsealed) => Partial<Unsealed>): BatchChanges {
  return { record: (record) => (record.seq === seq ? change(record) : {}) };
}

function textsOf(seq: number, change: (texts: RecordTexts) => RecordTexts): BatchChanges {
  return { texts: (texts, at) => (at === seq ? change(texts) : texts) };
}

function groupOf(change: (group: GroupTexts) => GroupTexts): (batch: ChainBatch, pick: number) => ChainBatch {
  return (batch, pick) => {
    const at = pick % batch.groups.length;
    return { ...batch, groups: batch.groups.map((group, i) => (i === at ? change(group) : group)) };
  };
}

function firstRecord(change: (texts: RecordTexts) => RecordTexts): (batch: ChainBatch, pick: number) => ChainBatch {
  return groupOf((group) => ({
    ...group,
    records: group.records.map((texts, i) => (i === 0 ? change(texts) : texts)),
  }));
}

function flipped(statement: SignedStatement): SignedStatement {
  const { signature } = statement;
  return withSignature(statement, `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`);
}

function withSignature({ statement }: SignedStatement, signature: string): SignedStatement {
  if (!isBase64url(signature)) throw new RangeError('not base64url');
  return { statement, signature };
}

function later({ statement }: SignedStatement): string {
  const envelope = envelopeStatement.parse(statement);
  return envelopeStatement.write({ ...envelope, sealedAt: shifted(envelope.sealedAt, 1) });
}

function shifted(at: Timestamp, milliseconds: number): Timestamp {
  return timestampOf(Date.parse(at) + milliseconds);
}
