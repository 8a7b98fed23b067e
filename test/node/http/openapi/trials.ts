import { isJsonObject, type JsonObject, type JsonValue } from '../../../../protocol/json/value.ts';
import { type Operation, valueOf } from '../../../fixtures/api-document.ts';
import type { SchemaJudge } from '../../../fixtures/schema-judge.ts';
import type { Ask } from '../../../fixtures/test-node.ts';
import type { LiveRequest } from './live-world.ts';

/** A request that is not as described, made of one that is. */
export interface Trial {
  readonly what: string;
  readonly path: string;
  readonly body: JsonValue | undefined;
  readonly ask?: Ask;
}

/** Keys that may not call what they are tried on. */
export interface OtherKeys {
  readonly revoked: string;
  /** By scope: a key that has others. */
  readonly lacking: ReadonlyMap<string, string>;
}

const UNKNOWN_KEY = `mk_${'A'.repeat(49)}`;
const ANY_VALUES: readonly JsonValue[] = [null, 7, -1.5, '', 'x', true, [], {}, [[]], 'y'.repeat(5_000)];
const BROKEN_BODIES = ['', '{', '[]', 'null', '\ufeff{}', '{"a":1,"a":2}', '{"a":"\\ud800"}', '{"a":1e400}'];
const BROKEN_VALUES = ['', '%00', '-1', 'nonsense', 'z'.repeat(3_000)];
const BROKEN_SEGMENTS = ['%00', '%2F', '%E0%A4%A', 'x'.repeat(600), '..%2F..', '%20'];
/** More bytes than a body, or a bundle, may have. */
const OVER_BODIES = (1 << 20) + 1;
const OVER_BUNDLES = (8 << 20) + 1;

/** Calls by those who may not make them. */
export function keyTrials(
  { keyed, keyOptional, scope }: Operation,
  { path, body }: LiveRequest,
  keys: OtherKeys,
): Trial[] {
  if (!keyed) return [];
  const other = scope === null ? undefined : keys.lacking.get(scope);
  const tried: [string, string | null][] = [
    ...(keyOptional ? [] : [['no key', null] satisfies [string, null]]),
    ['an unknown key', UNKNOWN_KEY],
    ['a revoked key', keys.revoked],
    ...(other === undefined ? [] : [['a key without the scope', other] satisfies [string, string]]),
  ];
  return tried.map(([what, key]) => ({ what, path, body, ask: { key } }));
}

/** Bodies that are no JSON object, too large, of another type. */
export function bodyTrials({ id, request, requestRequired }: Operation, { path, body }: LiveRequest): Trial[] {
  if (request === null) return [];
  const broken = BROKEN_BODIES.filter((text) => text !== '' || requestRequired);
  return [
    ...broken.map((text) => ({ what: `the body ${text}`, path, body: text })),
    { what: 'a huge body', path, body: ' '.repeat(id === 'postBundlesVerify' ? OVER_BUNDLES : OVER_BODIES) },
    { what: 'plain text', path, body, ask: { headers: { 'content-type': 'text/plain' } } },
    { what: 'a zipped body', path, body, ask: { headers: { 'content-encoding': 'gzip' } } },
  ];
}

/** Every described member of the body missing where it must be there, and of a value that it cannot have. */
export function memberTrials(judge: SchemaJudge, { request }: Operation, { path, body }: LiveRequest): Trial[] {
  if (request === null || !isJsonObject(body)) return [];
  const { properties, required = [] } = request.form;
  const trials: Trial[] = [];
  for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    if (JSON.stringify(required).includes(JSON.stringify(name))) {
      const { [name]: _, ...rest } = body;
      trials.push({ what: `no ${name}`, path, body: rest });
    }
    const judged = judge.of(isJsonObject(schema) ? schema : {});
    for (const bad of ANY_VALUES.filter((value) => judged(value) !== null)) {
      trials.push({ what: `${name} is ${JSON.stringify(bad).slice(0, 20)}`, path, body: { ...body, [name]: bad } });
    }
  }
  return trials;
}

/** Query parameters that are not described, doubled, or of a value that they cannot have. */
export function queryTrials(judge: SchemaJudge, { parameters }: Operation, { path, body }: LiveRequest): Trial[] {
  const described = parameters.filter(({ place }) => place === 'query');
  if (described.length === 0) return [];
  const add = (text: string): string => `${path}${path.includes('?') ? '&' : '?'}${text}`;
  const only = (text: string): string => `${path.split('?')[0]}?${text}`;
  const trials: Trial[] = [{ what: 'an unknown parameter', path: add('nonsense=1'), body }];
  for (const { name, schema, example } of described) {
    trials.push({ what: `${name} twice`, path: only(`${name}=${example}&${name}=${example}`), body });
    for (const text of BROKEN_VALUES.filter(
      (value) => judge.of(schema)(valueOf(schema, decodeURIComponent(value))) !== null,
    )) {
      trials.push({ what: `${name} is ${text.slice(0, 20)}`, path: only(`${name}=${text}`), body });
    }
  }
  return trials;
}

/** Path parameters that name nothing, or are no text. Some routes take any name, so these may be accepted. */
export function pathTrials({ template, parameters }: Operation, { body }: LiveRequest): Trial[] {
  if (!parameters.some(({ place }) => place === 'path')) return [];
  return BROKEN_SEGMENTS.map((text) => ({
    what: `the path ${text}`,
    path: template.replace(/\{[^}]+\}/g, text),
    body,
  }));
}

/** Idempotency keys that are too long, or belong to another request. */
export function idempotencyTrials({ parameters, id }: Operation, { path, body }: LiveRequest): Trial[] {
  if (!parameters.some(({ name }) => name === 'Idempotency-Key')) return [];
  const other: JsonObject = { ...(isJsonObject(body) ? body : {}), another: 1 };
  const key = (text: string): Ask => ({ headers: { 'idempotency-key': text } });
  return [
    { what: 'a long idempotency key', path, body, ask: key('k'.repeat(129)) },
    { what: 'an idempotency key', path, body, ask: key(`used by ${id}`) },
    { what: 'an idempotency key of another request', path, body: other, ask: key(`used by ${id}`) },
  ];
}
