import type { GovernanceKind } from '../statement/vocabulary.ts';
import { ASSIGNMENT } from './assignment.ts';
import { CONFORMITY } from './conformity.ts';
import { DATASET } from './dataset.ts';
import type { Declaration } from './declaration.ts';
import { DOCUMENT } from './document.ts';
import { EVALUATION } from './evaluation.ts';
import { NOTICE } from './notice.ts';
import { NOTIFICATION } from './notification.ts';
import { REQUEST } from './request.ts';
import { SUPPLIER } from './supplier.ts';
import { SYSTEM } from './system.ts';

/** Every kind of record of governance, and what its endpoint takes. */
export const DECLARATIONS: Readonly<Record<GovernanceKind, Declaration>> = {
  system: SYSTEM,
  document: DOCUMENT,
  notification: NOTIFICATION,
  notice: NOTICE,
  request: REQUEST,
  evaluation: EVALUATION,
  assignment: ASSIGNMENT,
  dataset: DATASET,
  supplier: SUPPLIER,
  conformity: CONFORMITY,
};
