import { pino } from 'pino';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Metrics } from '../../../../node/metrics/metrics.ts';
import { type Refusal, Refusals } from '../../../../node/accounts/limits/refusals.ts';
import { until } from '../../../fixtures/until.ts';

const lines: Record<string, unknown>[] = [];
const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });

test.before.each(() => void lines.splice(0));

function refusal(id: string, reason = 'share'): Refusal {
  return { class: 'record', holder: { kind: 'account', id }, reason };
}

test('refusals are counted by class, kind of holder and reason, and the metric names nobody', async () => {
  const metrics = new Metrics('eu');
  using refusals = new Refusals({ count: metrics.countRefused.bind(metrics), log });
  for (let i = 0; i < 3; i++) refusals.note(refusal(`acme ${i}`));
  refusals.note({ class: 'sign-up', holder: { kind: 'address', id: '192.0.2.1' }, reason: 'rate-limited' });
  const { text } = await metrics.expose();
  const shown = text.split('\n').filter((line) => line.startsWith('meridian_refused_total'));
  assert.equal(shown, [
    'meridian_refused_total{class="record",holder="account",reason="share",node="eu"} 3',
    'meridian_refused_total{class="sign-up",holder="address",reason="rate-limited",node="eu"} 1',
  ]);
});

test('however many are refused, the log has one line between two times, which names those that were refused most', async () => {
  using refusals = new Refusals({ count: () => {}, log, intervalMs: 20 });
  for (let i = 0; i < 50; i++) for (let n = 0; n <= i; n++) refusals.note(refusal(`acme ${i}`));
  assert.is(lines.length, 0);
  await until('the line is written', () => lines.length > 0);
  assert.is(lines.length, 1);
  const [line] = lines;
  assert.is(line?.refused, (50 * 51) / 2);
  const named = Array.from({ length: 10 }, (_, i) => ({
    class: 'record',
    holder: 'account',
    id: `acme ${49 - i}`,
    reason: 'share',
    count: 50 - i,
  }));
  assert.equal(line?.most, named);
});

test('what is told is not told again, and nothing is told where nobody was refused', () => {
  using refusals = new Refusals({ count: () => {}, log });
  refusals.tell();
  refusals.note(refusal('acme'));
  refusals.tell();
  refusals.tell();
  assert.equal(
    lines.map(({ refused }) => refused),
    [1],
  );
});

test('refusals of ever new addresses are counted, and take a bounded memory', () => {
  let counted = 0;
  using refusals = new Refusals({ count: () => void counted++, log });
  for (let i = 0; i < 20_000; i++) {
    refusals.note({ class: 'read', holder: { kind: 'address', id: `2001:db8:${i}::/64` }, reason: 'rate-limited' });
  }
  assert.is(counted, 20_000);
  assert.ok(refusals.apart <= 4_096);
  refusals.tell();
  assert.is(lines[0]?.refused, 20_000);
  assert.is(refusals.apart, 0);
});

test('what was refused last is told when the node stops', () => {
  {
    using refusals = new Refusals({ count: () => {}, log });
    refusals.note(refusal('acme'));
  }
  assert.is(lines.length, 1);
});

test.run();
