import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readStartAnswer, startFrames } from '../../../../node/federation/start/start-answers.ts';
import { PeerStatementError } from '../../../../node/log/members/peer-statement-error.ts';
import { utf8 } from '../../../../protocol/bytes.ts';
import { encodeSignature } from '../../../../protocol/statement/statement.ts';

const CHECKPOINT = { text: '{}', signature: encodeSignature(Uint8Array.of(1, 2, 3)) };

test('an answer is read as it was written', () => {
  for (const checkpoints of [[], [CHECKPOINT], [CHECKPOINT, CHECKPOINT]]) {
    const answer = { batch: 7, checkpoints };
    assert.equal(readStartAnswer([...startFrames(answer)]), answer);
    const more = { ...answer, announced: { statement: '{}', signature: CHECKPOINT.signature } };
    assert.equal(readStartAnswer([...startFrames(more)]), more);
  }
});

test('an answer of another shape is malformed', () => {
  const whole = [...startFrames({ batch: 7, checkpoints: [CHECKPOINT] })];
  const [told = utf8(''), checkpoint = utf8('')] = whole;
  const wrong: readonly (readonly Uint8Array[])[] = [
    [],
    [utf8('null')],
    [utf8('{"batch":-1}')],
    [utf8('{"batch":1,"more":1}')],
    [told, utf8('no JSON')],
    [told, told],
    [told, ...Array.from({ length: 5 }, () => checkpoint)],
  ];
  for (const frames of wrong) {
    assert.throws(
      () => readStartAnswer(frames),
      (error: unknown) => error instanceof PeerStatementError && error.fault === 'malformed',
    );
  }
});

test.run();
