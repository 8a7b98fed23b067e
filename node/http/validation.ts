import type { Static, TSchema } from 'typebox';
import { Compile } from '../../protocol/shape-check.ts';
import type { JsonObject, JsonValue } from '../../protocol/json/value.ts';
import { hasMoreThan, LOCATED_VALUES } from '../../protocol/shape-fault.ts';
import { type FieldError, fieldError, Problem, type ProblemCode } from './problem.ts';

/** Faults named in one answer at most: a hostile body can hold thousands. */
const MAX_FIELD_ERRORS = 20;
/** In a body of more than `LOCATED_VALUES` values, faults are located in members of up to this many. */
const LOCATED_MEMBER_VALUES = 500;

/** Members whose faults have a code of their own. */
export type FieldCodes = Readonly<Record<string, ProblemCode>>;

interface Explainer {
  Errors(value: unknown): readonly SchemaFault[];
}

interface SchemaFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

/**
 * A check of a request body against its schema. Throws `Problem` naming every field at fault: the code of the first
 * fault's top-level member in `codes`, else `missing-field` or `invalid-field`.
 */
export function validator<Shape extends TSchema>(shape: Shape, codes: FieldCodes = {}) {
  const compiled = Compile(shape);
  const known = membersNamedBy(shape);
  return (value: JsonObject): Static<Shape> => {
    if (compiled.Check(value)) return value;
    throw refusal(fieldErrorsOf(compiled, known, value), value, codes);
  };
}

function membersNamedBy(shape: TSchema): ReadonlySet<string> {
  return new Set('properties' in shape ? Object.keys(Object(shape.properties)) : []);
}

/**
 * Looking for faults visits every value however many there are, so of a body with very many only some are looked at:
 * its documented members of a sensible size, and a few others. A fault elsewhere is not located.
 */
function fieldErrorsOf(shape: Explainer, known: ReadonlySet<string>, value: JsonObject): FieldError[] {
  if (!hasMoreThan(LOCATED_VALUES, value)) return shape.Errors(value).flatMap(fieldErrors);
  const others = new Set(
    Object.keys(value)
      .filter((name) => !known.has(name))
      .slice(0, MAX_FIELD_ERRORS),
  );
  const looked = Object.entries(value).filter(
    ([name, member]) => (known.has(name) || others.has(name)) && !hasMoreThan(LOCATED_MEMBER_VALUES, member),
  );
  const found = shape.Errors(Object.fromEntries(looked)).flatMap(fieldErrors);
  return found.filter(({ code, field }) => code !== 'required' || !Object.hasOwn(value, field));
}

function refusal(found: readonly FieldError[], value: JsonObject, codes: FieldCodes): Problem {
  const errors = new Map<string, FieldError>();
  for (const error of found) {
    if (errors.size < MAX_FIELD_ERRORS && !errors.has(error.pointer)) errors.set(error.pointer, error);
  }
  const all = [...errors.values()].filter((error) => !isShadowed(error, errors));
  const first = all[0] ?? fieldError([], 'invalid', 'the body has another shape');
  const [member = ''] = first.field.split('.');
  const special = Object.hasOwn(value, member) && Object.hasOwn(codes, member) ? codes[member] : undefined;
  const code = special ?? (first.code === 'required' ? 'missing-field' : 'invalid-field');
  return new Problem(code, describe(first), { errors: all });
}

function fieldErrors({ keyword, instancePath, message, params }: SchemaFault): FieldError[] {
  const path = instancePath.split('/').slice(1).map(unescapePointer);
  const named = membersOf(params, keyword === 'required' ? 'requiredProperties' : 'additionalProperties');
  if (keyword === 'required') return named.map((name) => fieldError([...path, name], 'required', 'is required'));
  if (keyword === 'additionalProperties') {
    return named.map((name) => fieldError([...path, name], 'unknown', 'is not known here'));
  }
  if (keyword === 'boolean') return [];
  return [fieldError(path, keyword, message)];
}

/** A union also reports its branches; the fault of a member inside says more than that of the whole. */
function isShadowed(error: FieldError, errors: ReadonlyMap<string, FieldError>): boolean {
  if (error.code !== 'anyOf') return false;
  return [...errors.keys()].some((pointer) => pointer.startsWith(`${error.pointer}/`));
}

function describe({ field, code, message }: FieldError): string {
  const name = field === '' ? 'the body' : field;
  return code === 'required' ? `${name} is required` : `${name} ${message}`;
}

function membersOf(params: object, name: string): string[] {
  const list: unknown = Object.entries(params).find(([key]) => key === name)?.[1];
  if (!Array.isArray(list)) return [];
  return list.filter((item): item is string => typeof item === 'string').slice(0, MAX_FIELD_ERRORS);
}

function unescapePointer(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** The members of a body that its schema does not name: signed all the same, and pointed out to the caller. */
export function unknownMembers(value: JsonObject, known: ReadonlySet<string>): Map<string, JsonValue> {
  const unknown = new Map<string, JsonValue>();
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (!known.has(name) && member !== undefined) unknown.set(name, member);
  }
  return unknown;
}
