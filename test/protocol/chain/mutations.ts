import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { FROM_TOLERANCE_MS } from '../../../protocol/chain/chain-state.ts';
import { MAX_BATCH_RECORDS } from '../../../protocol/chain/envelope-rules.ts';
import type { AttestationRecord, RecordTexts } from '../../../protocol/chain/record.ts';
import type { RefusalCode } from '../../../protocol/chain/refusal.ts';
import { hashText } from '../../../protocol/hash.ts';
import { nodeId } from '../../../protocol/ids.ts';
import type { Group } from '../../../protocol/statement/group.ts';
import { type Timestamp, timestampOf } from '../../../protocol/time.ts';
import {
  type BatchChanges,
  type ChainBatch,
  type MemberChain,
  type RecordDraft,
  testRecordId,
  testSigner,
} from '../../fixtures/member-chain.ts';
import { CARRIED } from './carried-mutations.ts';

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
    'group-key-mismatch',
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
    'a body that is longer than any that is read',
    'record-too-long',
    ({ seq }) => recordOf(seq, () => ({ sourceId: 'x'.repeat((1 << 20) + 1) })),
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

/** Of these the chain needs a past: a key before, a batch before, or a record before of the same source. */
const withPast: readonly Mutation[] = [
  {
    name: 'a group by another key that its node certified',
    code: 'group-key-mismatch',
    make: async (chain, drafts, pick) => {
      const { signer: before } = chain;
      const now = await chain.rotateKey();
      const { seq } = placeOf(chain, drafts, pick);
      const signerOf = ({ first, size }: Group) => (holds(first, size, seq) ? before : now);
      return chain.seal(drafts, { groupSigner: signerOf, group: (group) => ({ keyId: signerOf(group).keyId }) });
    },
  },
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
  ...CARRIED.map(([name, code, change]): Mutation => ({
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

function shifted(at: Timestamp, milliseconds: number): Timestamp {
  return timestampOf(Date.parse(at) + milliseconds);
}
