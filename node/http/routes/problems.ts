import { Problem } from '../problem.ts';
import { isProblemCode, PROBLEM_KINDS } from '../problem-codes.ts';
import { PROBLEM_MEANINGS } from '../problem-meanings.ts';
import type { FreeRoute } from '../route.ts';

/** `GET /problems/:code`: what the `type` of a problem points to (RFC 9457 §3.1.1). */
export function problemRoute(): FreeRoute {
  return {
    method: 'GET',
    path: '/problems/:code',
    access: 'free',
    async answer({ params: { code = '' } }) {
      if (!isProblemCode(code)) throw new Problem('route-not-found', 'There is no problem of this code.');
      return { body: { code, ...PROBLEM_KINDS[code], meaning: PROBLEM_MEANINGS[code] } };
    },
  };
}
