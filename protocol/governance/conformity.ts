import { EXAMPLE_HASH } from '../api/example-ids.ts';
import { sha256Hash } from '../hash.ts';
import { recordId } from '../ids.ts';
import { timestampOf } from '../time.ts';
import { type Declaration, name, sha256, text, time, word } from './declaration.ts';

/** `POST /v1/conformity`: a conformity assessment, its procedure and what it came to. */
export const CONFORMITY: Declaration = {
  kind: 'conformity',
  object: 'conformity',
  idMember: 'conformityId',
  path: '/v1/conformity',
  listPath: '/v1/conformities',
  summary: 'Records a conformity assessment',
  description:
    'By internal control, with a notified body, or under sector law; the certificate and until when it is valid, and the ' +
    'hash of the declaration of conformity. What it came to is the caller’s word.',
  members: {
    procedure: word(),
    outcome: word(['conforming', 'not-conforming', 'suspended', 'withdrawn']),
    notifiedBody: name(),
    certificate: name(),
    declaration: text(),
    sha256: sha256(),
    validFrom: time(),
    validUntil: time(),
    systemRef: name(),
  },
  required: ['procedure', 'outcome'],
  order: [['validUntil', 'validFrom']],
  example: {
    procedure: 'annex-vi',
    outcome: 'conforming',
    sha256: EXAMPLE_HASH,
    validFrom: '2026-10-01',
    systemRef: 'credit-scoring',
  },
  exampleId: recordId('att_eu_01KAJ8K0M1N2P3Q4R5S6T7V8W9'),
  exampleFacts: {
    outcome: 'conforming',
    procedure: 'annex-vi',
    sha256: sha256Hash(EXAMPLE_HASH),
    systemRef: 'credit-scoring',
    validFrom: timestampOf(Date.UTC(2026, 9, 1)),
  },
};
