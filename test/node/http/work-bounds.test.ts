import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Problem } from '../../../node/http/problem.ts';
import type { OperatorRoute } from '../../../node/http/route.ts';
import { WorkBounds } from '../../../node/http/work-bounds.ts';
import { CLASS_BOUNDS, weightOf } from '../../../node/limits/route-weights.ts';

/** What memory all bounded calls together may take. In KiB. */
const MOST_MEMORY_KIB = 600 << 10;

const routeOf = (path: string): OperatorRoute => ({ method: 'GET', path, access: 'free', answer: async () => ({ body: {} }) });
const status = routeOf('/v1/status/:id');
const health = routeOf('/v1/health');

test('one call more than there are places is refused at once, and told when to come again; a place that is free is had', async () => {
  const bounds = new WorkBounds();
  const end = Promise.withResolvers<void>();
  const { places } = CLASS_BOUNDS.proof;
  const running = Array.from({ length: places }, () => bounds.do(status, () => end.promise));
  const refused: unknown = await bounds.do(status, async () => 'done').catch((error: unknown) => error);
  if (!(refused instanceof Problem)) throw new Error('it was done');
  assert.equal([refused.status, refused.headers['Retry-After'], refused.isFault], [503, '1', false]);
  end.resolve();
  await Promise.all(running);
  assert.is(await bounds.do(status, async () => 'done'), 'done');
});

test('whatever is under way, health is asked, and other classes are served', async () => {
  const bounds = new WorkBounds();
  const end = Promise.withResolvers<void>();
  const running = Array.from({ length: CLASS_BOUNDS.proof.places }, () => bounds.do(status, () => end.promise));
  assert.is(await bounds.do(health, async () => 'ok'), 'ok');
  assert.is(await bounds.do(routeOf('/v1/federation'), async () => 'read'), 'read');
  end.resolve();
  await Promise.all(running);
});

test('a call that fails gives its place back', async () => {
  const bounds = new WorkBounds();
  for (let i = 0; i <= CLASS_BOUNDS.proof.places; i++) {
    const error: unknown = await bounds.do(status, () => Promise.reject(new Error('no'))).catch((thrown: unknown) => thrown);
    assert.match(String(error), 'no');
  }
});

test('as many calls as are let in at once take a bounded memory', () => {
  const { verdict, proof, read } = CLASS_BOUNDS;
  const kib = ({ path, access }: OperatorRoute) => weightOf({ method: 'GET', path, access }).memoryKiB;
  const all =
    verdict.places * kib(routeOf('/v1/verify/:id')) +
    proof.places * kib(routeOf('/v1/bundles/:id')) +
    read.places * kib(routeOf('/v1/federation'));
  assert.ok(all <= MOST_MEMORY_KIB, `${all} KiB`);
});

test.run();
