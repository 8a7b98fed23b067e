import { EXAMPLE_IDS } from '../../../protocol/api/example-ids.ts';
import {
  EndedSignInAnswerShape,
  isSignInId,
  SIGN_IN_HOURS,
  SIGN_INS_EXAMPLE,
  SignInIdShape,
  SignInsAnswerShape,
} from '../../../protocol/api/sign-ins.ts';
import { signInAnswer } from '../../accounts/sign-ins/sign-in-table.ts';
import type { SignIns } from '../../accounts/sign-ins/sign-ins.ts';
import { Problem } from '../problem.ts';
import type { KeyRoute } from '../route.ts';
import { requireWholeAccount } from '../whole-account.ts';

const PATH = '/v1/sign-ins';

/** `GET /v1/sign-ins` and `DELETE /v1/sign-ins/:id` (api-rules §2.10): who is signed in at the console of this node. */
export function signInRoutes(signIns: Pick<SignIns, 'end' | 'list'>): readonly KeyRoute[] {
  return [listRoute(signIns), endRoute(signIns)];
}

function listRoute(signIns: Pick<SignIns, 'list'>): KeyRoute {
  return {
    method: 'GET',
    path: PATH,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Who is signed in at the console of this node',
      description:
        `The newest first. Each ends by itself after ${SIGN_IN_HOURS} hours, and with the key that it was made with. ` +
        'Not for a key that is limited to sources or to a period.',
      answer: { shape: SignInsAnswerShape, example: SIGN_INS_EXAMPLE.list },
      problems: [],
    },
    async answer(_call, caller) {
      requireWholeAccount(caller, 'The list has all sign-ins of the account');
      return { body: { success: true, signIns: (await signIns.list(caller.account.id)).map(signInAnswer) } };
    },
  };
}

function endRoute(signIns: Pick<SignIns, 'end'>): KeyRoute {
  return {
    method: 'DELETE',
    path: `${PATH}/:id`,
    access: 'key',
    scope: 'keys:admin',
    documentation: {
      summary: 'Ends a sign-in',
      params: { id: { description: 'Id of the sign-in.', shape: SignInIdShape, example: EXAMPLE_IDS.signIn } },
      answer: { shape: EndedSignInAnswerShape, example: SIGN_INS_EXAMPLE.ended },
      problems: ['sign-in-not-found'],
    },
    async answer({ params: { id = '' } }, { account, key }) {
      const isEnded = isSignInId(id) && (await signIns.end(account.id, id, { key: key.id }));
      if (!isEnded) throw new Problem('sign-in-not-found', 'There is no sign-in of this id.');
      return { body: { success: true, signInId: id } };
    },
  };
}
