import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LargeBodies } from '../../../node/http/large-bodies.ts';
import { Problem } from '../../../node/http/problem.ts';

function codeOf(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    return error instanceof Problem ? error.code : String(error);
  }
}

test('large bodies are worked on until their bytes are too many together; each gives its place back once', () => {
  const bodies = new LargeBodies(100);
  const first = bodies.enter(60);
  const second = bodies.enter(40);
  assert.is(
    codeOf(() => bodies.enter(1)),
    'dependency-unavailable',
  );
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  assert.is(
    codeOf(() => bodies.enter(61)),
    'dependency-unavailable',
  );
  const third = bodies.enter(60);
  for (const place of [second, third]) place[Symbol.dispose]();
  assert.is(
    codeOf(() => bodies.enter(100)),
    null,
  );
});

test.run();
