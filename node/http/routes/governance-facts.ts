import { AssertedShape, type Asserted } from '../../../protocol/chain/asserted.ts';
import { shapeFault } from '../../../protocol/shape-fault.ts';
import { Compile } from '../../../protocol/shape-check.ts';
import type { Declaration, Member } from '../../../protocol/governance/declaration.ts';
import type { JsonObject, JsonValue } from '../../../protocol/json/value.ts';
import { timestampOf } from '../../../protocol/time.ts';
import type { Pseudonyms } from '../../governance/subjects.ts';
import { fieldProblem } from '../problem.ts';
import { type AssertedTime, readTimeOrDay, requireOrder, requirePast } from '../recording/asserted-times.ts';

const compiled = Compile(AssertedShape);
const HASH_PREFIX = 'sha256:';

/** What a request asserts is signed under an account. */
export interface FactTerms {
  readonly account: string;
  readonly pseudonyms: Pick<Pseudonyms, 'assertedSubject' | 'person'>;
  /** Epoch milliseconds. */
  readonly now: number;
}

/**
 * The signed facts of a request of a kind. Throws `Problem`: `missing-field`, `invalid-field`, `time-in-future` or
 * `time-order`, which name the member.
 */
export function assertedOf(declaration: Declaration, body: JsonObject, terms: FactTerms): Asserted {
  requireOneOf(declaration, body);
  const times = timesOf(declaration, body, terms.now);
  for (const [later, earlier] of declaration.order ?? []) {
    const [last, first] = [times.get(later), times.get(earlier)];
    if (last !== undefined && first !== undefined) requireOrder(later, last, earlier, first);
  }
  const facts = new Map<string, JsonValue>();
  for (const [name, member] of Object.entries(declaration.members)) {
    const value = body[name];
    const fact = value === undefined ? undefined : factOf(member, value, times.get(name), terms);
    if (fact !== undefined) facts.set(member.as ?? name, fact);
  }
  const asserted: JsonObject = Object.fromEntries(facts);
  if (compiled.Check(asserted)) return asserted;
  throw new RangeError(`the facts of a ${declaration.kind}: ${shapeFault(compiled, asserted).message}`);
}

/** Times as they were read, by member. */
function timesOf({ members }: Declaration, body: JsonObject, now: number): Map<string, AssertedTime> {
  const times = new Map<string, AssertedTime>();
  for (const [name, { treatment, isPast }] of Object.entries(members)) {
    const value = body[name];
    if (treatment !== 'time' || typeof value !== 'string') continue;
    const at = readTimeOrDay(name, value);
    if (isPast === true) requirePast(name, at, now);
    times.set(name, at);
  }
  return times;
}

/** Undefined where nothing of the member is signed in clear. */
function factOf(
  { treatment }: Member,
  value: JsonValue,
  at: AssertedTime | undefined,
  { account, pseudonyms }: FactTerms,
): JsonValue | undefined {
  if (treatment === 'asserted') return value;
  if (treatment === 'time') return at && timestampOf(at.first);
  if (typeof value !== 'string') return undefined;
  if (treatment === 'person') return pseudonyms.person(account, value);
  if (treatment === 'subject') return pseudonyms.assertedSubject(account, value);
  if (treatment === 'hash') return value.startsWith(HASH_PREFIX) ? value : HASH_PREFIX + value;
  return undefined;
}

function requireOneOf({ oneOf }: Declaration, body: JsonObject): void {
  if (oneOf === undefined || oneOf.some((name) => body[name] !== undefined)) return;
  const [first = '', ...others] = oneOf;
  throw fieldProblem(first, 'required', `or ${others.join(' or ')} is required`, 'missing-field');
}
