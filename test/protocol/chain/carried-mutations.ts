import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { GroupTexts } from '../../../protocol/chain/derive.ts';
import { envelopeStatement } from '../../../protocol/chain/envelope.ts';
import type { RecordTexts } from '../../../protocol/chain/record.ts';
import type { RefusalCode } from '../../../protocol/chain/refusal.ts';
import { hashText } from '../../../protocol/hash.ts';
import { isBase64url, type SignedStatement } from '../../../protocol/statement/statement.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { ChainBatch } from '../../fixtures/member-chain.ts';

/** Changes to a batch that is made and signed. */
export const CARRIED: readonly (readonly [
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
  ['a head without end', 'group-root-mismatch', firstRecord(({ body }) => ({ head: 'x'.repeat(2000), body }))],
  ['a body without end', 'body-mismatch', firstRecord(({ head }) => ({ head, body: 'x'.repeat((1 << 20) + 1) }))],
  [
    'a batch without its last group',
    'batch-incomplete',
    ({ groups, ...batch }) => ({ ...batch, groups: groups.slice(0, -1) }),
  ],
];

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
  return envelopeStatement.write({ ...envelope, sealedAt: timestampOf(Date.parse(envelope.sealedAt) + 1) });
}
