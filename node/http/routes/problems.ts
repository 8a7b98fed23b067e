import Type from 'typebox';
import { ProblemPageShape } from '../../../protocol/api/node-answers.ts';
import type { JsonObject } from '../../../protocol/json/value.ts';
import type { Pages } from '../../pages/pages.ts';
import { Problem } from '../problem.ts';
import { isProblemCode, PROBLEM_KINDS, type ProblemCode } from '../problem-codes.ts';
import { PROBLEM_MEANINGS } from '../problem-meanings.ts';
import { pageAnswer, wantsPage } from '../pages/page-answer.ts';
import type { FreeRoute } from '../route.ts';

/** The pages change with the version of the node alone. In seconds. */
const MAX_AGE_SECONDS = 3600;
const HEADERS = { 'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`, Vary: 'Accept' };

/** `GET /problems/:code`: what the `type` of a problem points to (RFC 9457 §3.1.1); a page for who reads HTML. */
export function problemRoute(pages: Pick<Pages, 'files'>): FreeRoute {
  return {
    method: 'GET',
    path: '/problems/:code',
    access: 'free',
    documentation: {
      summary: 'What a problem code means',
      params: {
        code: { description: 'A code of any refusal.', shape: Type.String(), example: 'duplicate-attestation' },
      },
      answer: { shape: ProblemPageShape, example: pageOf('duplicate-attestation') },
      problems: ['route-not-found'],
    },
    async answer({ context, params: { code = '' } }) {
      if (!isProblemCode(code)) throw new Problem('route-not-found', 'There is no problem of this code.');
      if (!wantsPage(context)) return { body: pageOf(code), headers: HEADERS };
      const { title, status } = PROBLEM_KINDS[code];
      const page = { name: 'problem', code, title, status, meaning: PROBLEM_MEANINGS[code] } as const;
      const { headers, ...answer } = await pageAnswer(pages, page, '../');
      return { ...answer, headers: { ...headers, ...HEADERS } };
    },
  };
}

function pageOf(code: ProblemCode): JsonObject {
  return { code, ...PROBLEM_KINDS[code], meaning: PROBLEM_MEANINGS[code] };
}
