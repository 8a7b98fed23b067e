import { test } from 'uvu';
import * as assert from 'uvu/assert';
import Type from 'typebox';
import { Problem } from '../../../node/http/problem.ts';
import { validator } from '../../../node/http/validation.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import { AttestRequestShape } from '../../../protocol/api/attest.ts';

const MANY = 60_000;
/** Of a loop that serves others meanwhile. In milliseconds; generous, for a busy machine. */
const LONGEST_MS = 1000;
/** The fastest counts: other processes share the machine. */
const TRIES = 3;

const validate = validator(AttestRequestShape);

/** How a body is refused. */
function refusalOf(body: JsonObject, check: (value: JsonObject) => unknown = validate): Problem {
  try {
    check(body);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error('it was accepted');
}

function many(item: JsonValue): JsonValue[] {
  return Array.from({ length: MANY }, () => item);
}

test('a fault is named also where another member is very large', () => {
  const { code, detail, errors } = refusalOf({ sourceId: 's', data: { vector: many(0.5) }, confidenceScore: 2 });
  assert.is(code, 'invalid-field');
  assert.match(detail, /^confidenceScore /);
  assert.is(errors.length, 1);
  assert.is(refusalOf({ data: { vector: many(1) } }).detail, 'sourceId is required');
});

test('a member that is left out of the look is not called missing', () => {
  const { errors } = refusalOf({ data: { vector: many(0) }, confidenceScore: 'high' });
  assert.equal(errors.map(({ field }) => field).sort(), ['confidenceScore', 'sourceId']);
});

test('a member with the name of something that every object has is one that is not known', () => {
  const closed = validator(Type.Object({ a: Type.String() }, { additionalProperties: false }));
  for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    const { code, errors } = refusalOf(
      Object.fromEntries([
        ['a', 'x'],
        [name, 1],
      ]),
      closed,
    );
    assert.is(code, 'invalid-field');
    assert.equal(
      errors.map(({ field }) => field),
      [name],
    );
  }
});

/** Milliseconds that this thread worked. */
function cpuOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

test('hostile bodies are refused in bounded time, with bounded answers', () => {
  const closed = validator(Type.Object({ list: Type.Array(Type.String()) }, { additionalProperties: false }));
  const names = Object.fromEntries(many(0).map((_, index) => [`k${index}`, index]));
  const deep = many({ id: 1, version: [], other: {} });
  const asks: [JsonObject, typeof validate | typeof closed][] = [
    [{ sourceId: 's', data: {}, referenceDatabase: deep }, validate],
    [{ sourceId: 's', data: many(0), referenceDatabase: deep }, validate],
    [{ list: many(1) }, closed],
    [{ list: 1, ...names }, closed],
    [names, validate],
  ];
  for (const [body, check] of asks) {
    const { status, errors, detail } = refusalOf(body, check);
    const spent = Math.min(...Array.from({ length: TRIES }, () => cpuOf(() => refusalOf(body, check))));
    assert.ok(spent < LONGEST_MS, `${spent} ms`);
    assert.is(status, 400);
    assert.ok(errors.length <= 20 && detail.length < 300);
  }
});

test.run();
