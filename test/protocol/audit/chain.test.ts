import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import {
  AuditChainError,
  type AuditChainName,
  type AuditEnd,
  beginAuditChain,
  extendAuditChain,
} from '../../../protocol/audit/chain.ts';
import { auditDay, dayEnd, dayOf, dayStart, isAuditDay } from '../../../protocol/audit/day.ts';
import { type AuditFacts, auditLine } from '../../../protocol/audit/entry.ts';
import { verifyAuditLog } from '../../../protocol/audit/walk.ts';
import { nodeId } from '../../../protocol/ids.ts';
import { nobleSuite } from '../../../protocol/suite/noble.ts';
import { timestampOf } from '../../../protocol/time.ts';
import { fc } from '../../fixtures/properties.ts';

const NAME: AuditChainName = { node: nodeId('eu'), account: 'acme' };
const START = Date.UTC(2026, 10, 19, 22);
const HOUR = 3_600_000;

const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const orNull = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: null });
const factsArbitrary: fc.Arbitrary<AuditFacts> = fc.record({
  action: fc.constantFrom('POST /v1/attest', 'key.created', 'GET /v1/audit-log'),
  address: orNull(fc.ipV4()),
  by: fc.constantFrom('key_eu_01J00000000000000000000001', 'operator'),
  requestId: orNull(text),
  status: orNull(fc.integer({ min: 100, max: 599 })),
  subject: orNull(text),
});
/** Steps in time may go back. */
const stepsArbitrary = fc.array(fc.tuple(factsArbitrary, fc.integer({ min: -2 * HOUR, max: 20 * HOUR })), {
  minLength: 2,
  maxLength: 12,
});

function chainOf(steps: readonly (readonly [AuditFacts, number])[]): { lines: string[]; end: AuditEnd } {
  const lines: string[] = [];
  let end = beginAuditChain(nativeSuite, NAME);
  let at = START;
  for (const [facts, step] of steps) {
    at += step;
    const next = extendAuditChain(nativeSuite, end, facts, timestampOf(at));
    lines.push(next.line);
    end = next.end;
  }
  return { lines, end };
}

function faultOf(lines: readonly string[], name?: AuditChainName): string {
  try {
    verifyAuditLog(nativeSuite, lines, name);
    return 'none';
  } catch (error) {
    return error instanceof AuditChainError ? error.fault : String(error);
  }
}

test('a chain verifies from its name, and in both suites alike; its times never go back', () => {
  fc.assert(
    fc.property(stepsArbitrary, (steps) => {
      const { lines, end } = chainOf(steps);
      const verdict = verifyAuditLog(nativeSuite, lines, NAME);
      assert.equal(verdict, verifyAuditLog(nobleSuite, lines, NAME));
      assert.equal([verdict?.first, verdict?.last, verdict?.head], [1, lines.length, end.hash]);
      const times = lines.map((line) => auditLine.parse(line).entry.at);
      assert.equal(times, [...times].sort());
    }),
    { numRuns: 50 },
  );
});

test('its days hold every line once, each with the hash of its last', () => {
  fc.assert(
    fc.property(stepsArbitrary, (steps) => {
      const { lines } = chainOf(steps);
      const { days = [] } = verifyAuditLog(nativeSuite, lines, NAME) ?? {};
      const entries = lines.map((line) => auditLine.parse(line).entry);
      for (const { day, first, entries: count, head } of days) {
        const own = entries.filter(({ at }) => dayOf(at) === day);
        assert.equal([own.length, own[0]?.seq], [count, first]);
        assert.is(head, verifyAuditLog(nativeSuite, lines.slice(0, first + count - 1), NAME)?.head);
      }
      assert.is(
        days.reduce((sum, { entries: count }) => sum + count, 0),
        lines.length,
      );
    }),
    { numRuns: 50 },
  );
});

test('an excerpt is consistent with itself, and its head is that of the whole', () => {
  fc.assert(
    fc.property(stepsArbitrary, fc.nat(), (steps, from) => {
      const { lines, end } = chainOf(steps);
      const first = 1 + (from % lines.length);
      const verdict = verifyAuditLog(nativeSuite, lines.slice(first - 1));
      assert.equal([verdict?.first, verdict?.head], [first, end.hash]);
    }),
    { numRuns: 50 },
  );
});

test('a changed byte anywhere but in the last line is found, and there it changes the head', () => {
  fc.assert(
    fc.property(stepsArbitrary, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 127 }), (steps, row, column, flip) => {
      const { lines, end } = chainOf(steps);
      const at = row % lines.length;
      const bytes = Buffer.from(lines[at] ?? '');
      const index = column % bytes.length;
      bytes[index] = (bytes[index] ?? 0) ^ flip;
      const changed = lines.with(at, bytes.toString());
      const found = faultOf(changed, NAME);
      const isLast = at === lines.length - 1;
      if (found === 'none') assert.ok(isLast && verifyAuditLog(nativeSuite, changed, NAME)?.head !== end.hash);
    }),
    { numRuns: 300 },
  );
});

test('a line dropped, doubled, moved or put in is found', () => {
  fc.assert(
    fc.property(stepsArbitrary, fc.nat(), (steps, place) => {
      const { lines } = chainOf(steps);
      const at = place % (lines.length - 1);
      const [line = '', next = ''] = lines.slice(at, at + 2);
      assert.is.not(faultOf(lines.toSpliced(at, 1), NAME), 'none', 'dropped');
      assert.is.not(faultOf(lines.toSpliced(at, 0, line), NAME), 'none', 'doubled');
      assert.is.not(faultOf(lines.toSpliced(at, 2, next, line), NAME), 'none', 'moved');
      const before = beginAuditChain(nativeSuite, NAME);
      const stranger = extendAuditChain(nativeSuite, before, { ...steps[0]?.[0], ...FORGED }, timestampOf(START)).line;
      assert.is.not(faultOf(lines.toSpliced(at + 1, 0, stranger), NAME), 'none', 'put in');
    }),
    { numRuns: 50 },
  );
});

test('a chain rewritten from a line on has another head', () => {
  fc.assert(
    fc.property(stepsArbitrary, fc.nat(), (steps, place) => {
      const { end } = chainOf(steps);
      const at = place % steps.length;
      const [facts, step] = steps[at] ?? [FORGED, 0];
      const forged = chainOf(steps.with(at, [{ ...facts, status: facts.status === 200 ? 403 : 200 }, step]));
      assert.is(faultOf(forged.lines, NAME), 'none');
      assert.is.not(forged.end.hash, end.hash);
    }),
    { numRuns: 50 },
  );
});

test('no chain passes for that of another account or node', () => {
  const { lines } = chainOf([[FORGED, 0]]);
  assert.is(faultOf(lines, NAME), 'none');
  assert.is(faultOf(lines, { ...NAME, account: 'globex' }), 'broken-link');
  assert.is(faultOf(lines, { ...NAME, node: nodeId('us') }), 'broken-link');
});

test('lines with another member, another order or a time that goes back are refused, each by its name', () => {
  const { lines, end } = chainOf([
    [FORGED, 0],
    [FORGED, HOUR],
  ]);
  const [first = '', second = ''] = lines;
  assert.is(faultOf([first, second.replace('"v":1', '"v":1,"x":1')], NAME), 'malformed');
  assert.is(faultOf([first, ` ${second}`], NAME), 'malformed');
  assert.is(faultOf([second], NAME), 'seq-gap');
  const { entry } = auditLine.parse(second);
  const third = auditLine.write({ entry: { ...entry, seq: 3, at: timestampOf(START) }, prev: end.hash });
  assert.is(faultOf([first, second, third], NAME), 'time-order');
});

test('lost entries are summed, and a log without a line is null', () => {
  const lost = (count: number): AuditFacts => ({ ...FORGED, action: 'entries.lost', lost: count });
  const { lines } = chainOf([
    [lost(3), 0],
    [FORGED, 0],
    [lost(4), 0],
  ]);
  assert.is(verifyAuditLog(nativeSuite, lines, NAME)?.lost, 7);
  assert.is(verifyAuditLog(nativeSuite, [], NAME), null);
});

test('a day is a day that exists, and begins and ends at midnight of UTC', () => {
  assert.ok(isAuditDay('2028-02-29'));
  const none = ['2027-02-29', '2026-13-01', '2026-1-1', '2026-11-20T', '', '+002026-11-20'];
  for (const no of none) assert.not(isAuditDay(no));
  assert.throws(() => auditDay('yesterday'));
  const day = auditDay('2026-11-20');
  assert.is(dayOf(timestampOf(dayStart(day))), day);
  assert.is(dayOf(timestampOf(dayEnd(day) - 1)), day);
  assert.is(dayOf(timestampOf(dayEnd(day))), '2026-11-21');
});

const FORGED: AuditFacts = {
  action: 'key.revoked',
  address: null,
  by: 'operator',
  requestId: null,
  status: null,
  subject: null,
};

test.run();
