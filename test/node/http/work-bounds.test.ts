import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Holder, NO_HOLDER, OPERATOR } from '../../../node/accounts/limits/holder-counts.ts';
import {
  BODY_BYTES,
  CLASS_BOUNDS,
  COMPUTED_VERDICTS,
  weightOf,
  type WorkClass,
} from '../../../node/accounts/limits/route-weights.ts';
import { Problem } from '../../../node/http/problem.ts';
import { WorkBounds } from '../../../node/http/work-bounds.ts';

/** What memory all that is under way at the same time may take. In KiB. */
const MOST_MEMORY_KIB = 1_280 << 10;
const BOUNDED = ['bundle', 'paid', 'proof', 'read', 'record', 'sign-up', 'verdict'] as const;

const account = (id: string): Holder => ({ kind: 'account', id });

async function refusalOf(entering: Promise<Disposable>): Promise<Problem> {
  const refused: unknown = await entering.then(
    () => null,
    (error: unknown) => error,
  );
  if (!(refused instanceof Problem)) throw new Error('there was a place');
  return refused;
}

/** Takes every place of a class, for as many holders as it needs. */
async function takeAll(bounds: WorkBounds, of: (typeof BOUNDED)[number]): Promise<Disposable[]> {
  const { places } = CLASS_BOUNDS[of];
  return Promise.all(Array.from({ length: places }, (_, i) => bounds.enter(of, account(`holder ${i % 4}`))));
}

test('one call more than a class has places is refused at once and told when to come again; a place that is free is had', async () => {
  for (const of of BOUNDED) {
    const bounds = new WorkBounds();
    const [first] = await takeAll(bounds, of);
    const refused = await refusalOf(bounds.enter(of, account('late')));
    const told = [refused.status, refused.code, refused.headers['Retry-After'], refused.reason, refused.isFault];
    assert.equal(told, [503, 'dependency-unavailable', '1', 'places', false], of);
    first?.[Symbol.dispose]();
    first?.[Symbol.dispose]();
    await bounds.enter(of, account('late'));
    assert.is((await refusalOf(bounds.enter(of, account('later')))).reason, 'places', of);
  }
});

test('one holder takes half of a class, whatever it asks, and another is served beside it', async () => {
  for (const of of BOUNDED) {
    const bounds = new WorkBounds();
    const share = CLASS_BOUNDS[of].places / 2;
    const [first] = await Promise.all(Array.from({ length: share }, () => bounds.enter(of, account('attacker'))));
    assert.is((await refusalOf(bounds.enter(of, account('attacker')))).reason, 'share', of);
    for (let i = 0; i < share; i++) await bounds.enter(of, account(`honest ${i}`));
    first?.[Symbol.dispose]();
    await bounds.enter(of, account('attacker'));
  }
});

test('an account, an address and a wallet of one name have shares of their own; the operator and tests of routes have none', async () => {
  const bounds = new WorkBounds();
  const share = CLASS_BOUNDS['sign-up'].places / 2;
  for (let i = 0; i < share; i++) await bounds.enter('sign-up', { kind: 'address', id: 'a' });
  await bounds.enter('sign-up', { kind: 'wallet', id: 'a' });
  for (const holder of [OPERATOR, NO_HOLDER]) {
    const all = new WorkBounds();
    for (let i = 0; i < CLASS_BOUNDS['sign-up'].places; i++) await all.enter('sign-up', holder);
  }
});

test('while all places of every class are held, the health is asked without end, and classes take nothing of each other', async () => {
  const bounds = new WorkBounds();
  for (const of of BOUNDED) {
    await takeAll(bounds, of);
    for (let i = 0; i < 1_000; i++) await bounds.enter('health', account('anyone'));
  }
});

test('as much as is let in at once takes a bounded memory', () => {
  const kib = (method: 'GET' | 'POST', path: string, access: 'free' | 'key' | 'paid') =>
    weightOf({ method, path, access }).memoryKiB;
  const heaviest: Record<Exclude<WorkClass, 'health' | 'verdict'>, number> = {
    bundle: kib('POST', '/v1/bundles/verify', 'free'),
    paid: kib('POST', '/v1/x402/tiered-attest-batch-xl', 'paid'),
    proof: kib('GET', '/v1/bundles/:id', 'key'),
    read: kib('GET', '/v1/federation', 'free'),
    record: kib('POST', '/v1/attest', 'key'),
    'sign-up': kib('POST', '/v1/sign-up', 'free'),
  };
  // Calls for verdicts wait for one that is computed.
  let all = COMPUTED_VERDICTS.places * kib('GET', '/v1/verify/:id', 'free');
  for (const of of BOUNDED) if (of !== 'verdict') all += CLASS_BOUNDS[of].places * heaviest[of];
  for (const bytes of Object.values(BODY_BYTES)) all += bytes >> 10;
  assert.ok(all <= MOST_MEMORY_KIB, `${all} KiB`);
});

test.run();
