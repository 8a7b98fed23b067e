import { EXAMPLE_HASH } from '../api/example-ids.ts';
import { sha256Hash } from '../hash.ts';
import { recordId } from '../ids.ts';
import { timestampOf } from '../time.ts';
import { type Declaration, name, names, pastTime, person, sha256, text, time, word } from './declaration.ts';

/** `POST /v1/document`: a version of a document, by the hash of its file. The file stays with its owner. */
export const DOCUMENT: Declaration = {
  kind: 'document',
  object: 'document',
  idMember: 'documentId',
  path: '/v1/document',
  listPath: '/v1/documents',
  summary: 'Records a version of a document by the hash of its file',
  description:
    'Technical documentation, instructions, policies, plans and the like: type, version, SHA-256 of the file, who ' +
    'approved it, from when to when it is valid, and the points of an annex that it covers. Its content is never read.',
  members: {
    docType: word(),
    docVersion: name(),
    sha256: sha256(),
    title: text(),
    systemRef: name(),
    annexPoint: names(),
    approvedBy: person(),
    approvedAt: pastTime(),
    validFrom: time(),
    validUntil: time(),
    reviewDueAt: time(),
  },
  required: ['docType', 'docVersion', 'sha256'],
  order: [['validUntil', 'validFrom']],
  example: {
    docType: 'technical-documentation',
    docVersion: '3.1',
    sha256: EXAMPLE_HASH,
    title: 'Technical documentation of the scoring model',
    systemRef: 'credit-scoring',
    annexPoint: ['IV(2)(d)'],
    approvedBy: 'head-of-model-risk',
    approvedAt: '2026-10-01',
  },
  exampleId: recordId('att_eu_01KAJ8B2C3D4E5F6G7H8J9K0M1'),
  exampleFacts: {
    annexPoint: ['IV(2)(d)'],
    approvedAt: timestampOf(Date.UTC(2026, 9, 1)),
    approvedBy: `hmac-sha256:${'5d'.repeat(32)}`,
    docType: 'technical-documentation',
    docVersion: '3.1',
    sha256: sha256Hash(EXAMPLE_HASH),
    systemRef: 'credit-scoring',
  },
};
