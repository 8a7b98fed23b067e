import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  RemovedSecondFactorsShape,
  SECOND_FACTORS_EXAMPLE,
  SecondFactorHolderShape,
  SecondFactorListShape,
} from '../../../protocol/api/second-factors.ts';
import { secondFactorsAnswer } from '../../accounts/second-factors/second-factor-table.ts';
import type { SecondFactors } from '../../accounts/second-factors/second-factors.ts';
import type { KeyRoute } from '../route.ts';
import { requireWholeAccount } from '../whole-account.ts';

const PATH = '/v1/second-factors';

/** `/v1/second-factors` (api-rules §2.10): what people show beside a mailed link, at this node. */
export function secondFactorRoutes(factors: Pick<SecondFactors, 'list' | 'removeAll'>): readonly KeyRoute[] {
  return [listRoute(factors), removeRoute(factors)];
}

function listRoute(factors: Pick<SecondFactors, 'list'>): KeyRoute {
  return {
    method: 'GET',
    path: PATH,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Who shows a second factor to sign in',
      description:
        'People add their own at the console. Secrets are in no answer. Not for a key that is limited to sources or to a period.',
      answer: { shape: SecondFactorListShape, example: SECOND_FACTORS_EXAMPLE.list },
      problems: [],
    },
    async answer(_call, caller) {
      requireWholeAccount(caller, 'The list has all people of the account');
      return { body: { success: true, items: (await factors.list(caller.account.id)).map(secondFactorsAnswer) } };
    },
  };
}

function removeRoute(factors: Pick<SecondFactors, 'removeAll'>): KeyRoute {
  return {
    method: 'DELETE',
    path: `${PATH}/:holder`,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Takes away the second factors of somebody who lost them',
      description: 'A mailed link alone signs them in from then on. They are told by mail.',
      params: {
        holder: { description: 'Whose.', shape: SecondFactorHolderShape, example: EXAMPLE_IDS.person },
      },
      answer: { shape: RemovedSecondFactorsShape, example: SECOND_FACTORS_EXAMPLE.removed },
      problems: ['second-factor-not-found'],
    },
    async answer({ params: { holder = '' } }, { account, key }) {
      await factors.removeAll(account.id, holder, { key: key.id });
      return { body: { success: true, holder } };
    },
  };
}
