import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Holder, NO_HOLDER } from '../../../node/accounts/limits/holder-counts.ts';
import { BodiesUnderWork } from '../../../node/http/body.ts';
import { Problem } from '../../../node/http/problem.ts';

const ACME: Holder = { kind: 'account', id: 'acme' };
const OTHER: Holder = { kind: 'account', id: 'other' };

/** Why a body found no room; null where it found some. */
function refusalOf(work: () => unknown): Problem | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

test('bodies are worked on until their bytes are too many together; each gives its room back once', () => {
  const bodies = new BodiesUnderWork(100);
  const first = bodies.enter(60, NO_HOLDER);
  const second = bodies.enter(40, NO_HOLDER);
  const refused = refusalOf(() => bodies.enter(1, NO_HOLDER));
  assert.equal(
    [refused?.status, refused?.code, refused?.reason, refused?.headers['Retry-After']],
    [503, 'dependency-unavailable', 'memory', '2'],
  );
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  assert.is(refusalOf(() => bodies.enter(61, NO_HOLDER))?.reason, 'memory');
  const third = bodies.enter(60, NO_HOLDER);
  for (const fixture of [second, third]) fixture[Symbol.dispose]();
  assert.is(
    refusalOf(() => bodies.enter(100, NO_HOLDER)),
    null,
  );
});

test('one holder has half of the bytes, and others find room beside it', () => {
  const bodies = new BodiesUnderWork(100);
  const first = bodies.enter(30, ACME);
  bodies.enter(20, ACME);
  assert.is(refusalOf(() => bodies.enter(1, ACME))?.reason, 'share');
  bodies.enter(50, OTHER);
  first[Symbol.dispose]();
  assert.is(
    refusalOf(() => bodies.enter(30, ACME)),
    null,
  );
});

test('a body that is larger than a share is worked on alone', () => {
  const bodies = new BodiesUnderWork(100);
  const large = bodies.enter(80, ACME);
  assert.is(refusalOf(() => bodies.enter(1, ACME))?.reason, 'share');
  assert.is(
    refusalOf(() => bodies.enter(20, OTHER)),
    null,
  );
  large[Symbol.dispose]();
  assert.is(
    refusalOf(() => bodies.enter(1, ACME)),
    null,
  );
});

test.run();
