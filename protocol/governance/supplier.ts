import { recordId } from '../ids.ts';
import { timestampOf } from '../time.ts';
import { type Declaration, name, pastTime, text, time } from './declaration.ts';

/** `POST /v1/supplier`: who supplies which component, by which contract, and when that was looked at. */
export const SUPPLIER: Declaration = {
  kind: 'supplier',
  object: 'supplier',
  idMember: 'supplierId',
  path: '/v1/supplier',
  listPath: '/v1/suppliers',
  summary: 'Records a supplier of a component, and when it was reviewed',
  description:
    'A vendor of a model, of data or of a tool, or the provider of a general-purpose model that a system uses.',
  members: {
    supplier: name(),
    component: name(),
    version: name(),
    contractRef: text(),
    evidenceRef: text(),
    reviewedAt: pastTime(),
    nextReviewAt: time(),
    systemRef: name(),
  },
  required: ['supplier', 'component'],
  order: [['nextReviewAt', 'reviewedAt']],
  example: {
    supplier: 'Example Models Ltd',
    component: 'scoring-model',
    version: '4.2',
    contractRef: 'C-2026-118',
    reviewedAt: '2026-06-30',
    nextReviewAt: '2027-06-30',
    systemRef: 'credit-scoring',
  },
  exampleId: recordId('att_eu_01KAJ8J9K0M1N2P3Q4R5S6T7V8'),
  exampleFacts: {
    component: 'scoring-model',
    nextReviewAt: timestampOf(Date.UTC(2027, 5, 30)),
    reviewedAt: timestampOf(Date.UTC(2026, 5, 30)),
    supplier: 'Example Models Ltd',
    systemRef: 'credit-scoring',
    version: '4.2',
  },
};
