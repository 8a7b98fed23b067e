import Type, { type Static } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import { isJsonObject, type JsonObject } from '../../protocol/json/value.ts';
import { Closed } from '../../protocol/shapes.ts';
import { timestampOf } from '../../protocol/time.ts';
import { anchorExpectedBy } from '../verification/attestation/attestation-answer.ts';
import { PaymentDamagedError } from './payment-cipher.ts';
import type { Publication } from './payment-tables.ts';

/** What an answer says of its records that is known only once they are made. */
const PUBLISHED_FACTS = ['submittedAt', 'anchorExpectedBy', 'groupRoot'] as const;

const BlankShape = Closed({
  /** Names of the members that lead to it. */
  at: Type.Array(Type.String(), { minItems: 1 }),
  is: Type.Enum([...PUBLISHED_FACTS]),
});
/** A member of an answer that publication fills. */
export type Blank = Readonly<Static<typeof BlankShape>>;

/** An answer as the work leaves it: the members that `blanks` lead to are null until its records are made. */
export interface AnswerDraft {
  readonly body: JsonObject;
  readonly blanks: readonly Blank[];
}

/** Tier that paid calls are promised anchoring by: within 60 s (api-rules §8). */
const PROMISED_AS = 'standard';

const compiledBlanks = Compile(Type.Array(BlankShape));

/** The answer, with all that publication says of its records. */
export function completeAnswer({ body, blanks }: AnswerDraft, publication: Publication | null): JsonObject {
  if (blanks.length === 0) return body;
  if (publication === null) throw new RangeError('an answer is completed once its records are made');
  const facts = {
    ...publication,
    anchorExpectedBy: timestampOf(anchorExpectedBy(publication, PROMISED_AS)),
  } satisfies Record<Blank['is'], string>;
  return blanks.reduce((filled, { at, is }) => filledAt(filled, at, facts[is]), body);
}

/** An answer as it was sealed. Throws `HeldDamagedError` on anything else. */
export function answerDraft({ body, blanks }: JsonObject): AnswerDraft {
  const found: unknown = blanks;
  if (body !== undefined && isJsonObject(body) && compiledBlanks.Check(found)) return { body, blanks: found };
  throw new PaymentDamagedError('the answer of a payment holds something else');
}

function filledAt(value: JsonObject, [name = '', ...rest]: readonly string[], text: string): JsonObject {
  if (rest.length === 0) return { ...value, [name]: text };
  const inner = value[name];
  if (inner === undefined || !isJsonObject(inner)) throw new RangeError(`an answer has no member ${name} to complete`);
  return { ...value, [name]: filledAt(inner, rest, text) };
}
