import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Value } from 'typebox/value';
import { AnswerError, misdeedProofsAnswer } from '../../../node/federation/public-answers.ts';
import { MISDEED_PROOFS_EXAMPLE, MisdeedProofsAnswerShape } from '../../../protocol/api/equivocations.ts';

/** An answer of `GET /v1/equivocations/:node` with so many proofs. */
function answerOf(count: number) {
  const [proof] = MISDEED_PROOFS_EXAMPLE.proofs;
  return { ...MISDEED_PROOFS_EXAMPLE, proofs: Array.from({ length: count }, () => proof) };
}

test('as many proofs of misbehaviour are read as a node may show in one answer, and no more', () => {
  let most = 0;
  while (Value.Check(MisdeedProofsAnswerShape, answerOf(most + 1))) most++;
  assert.is(most, 10);
  assert.is(misdeedProofsAnswer(JSON.stringify(answerOf(most))).proofs.length, most);
  assert.throws(
    () => misdeedProofsAnswer(JSON.stringify(answerOf(most + 1))),
    (error: unknown) => error instanceof AnswerError,
  );
});

test.run();
