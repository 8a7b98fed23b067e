import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { PROBLEM_CONTENT_TYPE, type ProblemCode } from '../../node/http/problem.ts';
import { isProblemCode, LINK_PROBLEMS, PROBLEM_KINDS } from '../../node/http/problem-codes.ts';
import type { HttpAnswer } from '../../node/outbound/http-client.ts';

/**
 * With these a node refuses a decision, or a batch as a whole. Each is said only of what was not recorded before under
 * the same idempotency key (api-rules §7, §8 item 2).
 */
const NOTHING_RECORDED: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'missing-field',
  'invalid-field',
  'invalid-json',
  'model-binding-invalid',
  'source-mismatch',
  'time-in-future',
  'payload-too-large',
  ...LINK_PROBLEMS,
  'daily-cap-exceeded',
]);

const ProblemShape = Type.Object({
  success: Type.Literal(false),
  status: Type.Integer(),
  code: Type.String(),
  errors: Type.Array(Type.Object({ field: Type.String() })),
});
const problem = Compile(ProblemShape);

/**
 * Whether an answer proves that nothing is recorded of what was sent. Whatever is not known as a node's own word, as
 * that of a proxy, proves nothing. `isFirst`: no node may have looked at it before.
 */
export function provesNothingRecorded(answer: HttpAnswer, isFirst: boolean): boolean {
  const said = problemOf(answer);
  if (said === null || !isProblemCode(said.code) || PROBLEM_KINDS[said.code].status !== answer.status) return false;
  // The key is not for this source, which is looked at before what was recorded.
  if (said.code === 'scope-forbidden') return isFirst && said.errors.some(({ field }) => field === 'sourceId');
  return NOTHING_RECORDED.has(said.code);
}

/** Whether a node says that it has not looked at what was sent, as the account asks too often. */
export function isBeforeWork(answer: HttpAnswer): boolean {
  return problemOf(answer)?.code === 'rate-limited';
}

function problemOf({ status, headers, bytes }: HttpAnswer): Static<typeof ProblemShape> | null {
  if (headers.get('content-type')?.startsWith(PROBLEM_CONTENT_TYPE) !== true) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString());
    return problem.Check(value) && value.status === status ? value : null;
  } catch {
    return null;
  }
}
