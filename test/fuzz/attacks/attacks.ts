import type { AttackName } from '../../../scripts/bench/attacks/attack-target.ts';
import type { Attack } from './attack.ts';
import { dearestRecord } from './dearest-record.ts';
import { foreignBundles } from './foreign-bundles.ts';
import { forgedPayments } from './forged-payments.ts';
import { generatedRequests } from './generated-requests.ts';
import { greedyMember } from './greedy-member.ts';
import { manyVerifications } from './many-verifications.ts';
import { poorWallet } from './poor-wallet.ts';
import { slowBodies } from './slow-bodies.ts';

export const ATTACKS: Readonly<Record<AttackName, Attack>> = {
  'many-verifications': manyVerifications,
  'dearest-record': dearestRecord,
  'slow-bodies': slowBodies,
  'foreign-bundles': foreignBundles,
  'forged-payments': forgedPayments,
  'poor-wallet': poorWallet,
  'greedy-member': greedyMember,
  'generated-requests': generatedRequests,
};
