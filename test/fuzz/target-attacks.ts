import { isJsonObject } from '../../protocol/json/value.ts';
import type { ApiDocument, Parameter } from '../fixtures/api-document.ts';
import type { Judgement } from '../fixtures/schema-judge.ts';
import { bytesOfBody, type FuzzedRequest, maybe, never, type Sound, soundHeaders, wire } from './fuzzed-request.ts';
import type { Random } from './random.ts';

export interface TargetTools {
  readonly random: Random;
  readonly apiKey: string;
  readonly document: ApiDocument;
  readonly judgeParameter: (parameter: Parameter) => Judgement;
}

const SEGMENTS = [
  '%00',
  '%2F',
  '%2F..%2F',
  '..',
  '.',
  '%2e%2e',
  '%E0%A4%A',
  '%',
  '%zz',
  '%ff%fe',
  '%F0%9F%98%80',
  '%ED%A0%80',
  '%20',
  '%0d%0a',
  '*',
  ';',
  "'",
  '"',
  '<script>',
  '{id}',
  ':id',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  '-1',
  '0',
  'x'.repeat(600),
  'x'.repeat(12_000),
  '%41'.repeat(3_000),
  'att_eu_01KAJ5M0E8Q2V7XN4T9RCB6WDZ',
  'ATT_EU_01KAJ5M0E8Q2V7XN4T9RCB6WDZ',
];
const VALUES = [
  '',
  '0',
  '-1',
  '1e9',
  'NaN',
  'Infinity',
  '99999999999999999999',
  'true',
  'null',
  '%00',
  '%ff',
  '%',
  '%zz',
  '%ED%A0%80',
  '[]',
  '{}',
  '2026-02-30',
  '2026-13-01T00:00:00Z',
  '0000-00-00',
  '9999-12-31T23:59:59.999Z',
  'x'.repeat(3_000),
  '%F0%9F%98%80',
  '..%2F',
  "'%20OR%201=1",
  '__proto__',
];
const FORMS: readonly ((path: string) => string)[] = [
  (path) => `http://evil.example${path}`,
  (path) => `https://evil.example:99999${path}`,
  (path) => `/${path}`,
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => `/verify${path}`,
  (path) => `/verify/verify${path}`,
  (path) => path.toUpperCase(),
  (path) => path.replaceAll('/', '%2F'),
  (path) => path.replaceAll('/', '\\'),
  (path) => `${path}#fragment`,
  (path) => `${path};v=1`,
  (path) => path.slice(1),
  (path) => `${path} `,
  (path) => `${path}\u00e9`,
  (path) => `${path}\t`,
  () => '*',
  () => '',
  () => 'http://',
  () => '/'.repeat(10_000),
  () => `/${'a/'.repeat(5_000)}`,
];

/** Path parameters that name nothing or are no text. Some routes take any name. */
export function oddPath(sound: Sound, tools: TargetTools): FuzzedRequest {
  const { template } = sound.operation;
  if (!template.includes('{') || tools.random.chance(0.3)) return oddTarget(sound, tools);
  const segment = tools.random.pick(SEGMENTS);
  const path = template.replace(/\{[^}]+\}/, segment);
  return to(sound, tools, `the path ${segment.slice(0, 30)}`, path + sound.query, maybe);
}

/** Query parameters doubled, unknown, of other values, very long. */
export function oddQuery(sound: Sound, tools: TargetTools): FuzzedRequest {
  const { random } = tools;
  const names = sound.operation.parameters.filter(({ place }) => place === 'query').map(({ name }) => name);
  const name = random.pick([...names, ...names, 'unknown', '__proto__', 'limit', 'a[]', 'a[b]', '%00', '']);
  const pair = `${name}=${random.pick(VALUES)}`;
  const query = random.pick([
    `?${pair}`,
    `${sound.query || '?'}&${pair}`,
    `?${pair}&${pair}`,
    `?${`${pair}&`.repeat(20)}`.slice(0, 14_000),
    `?${'&'.repeat(5_000)}${pair}`,
    `?${pair};${pair}`,
    `?${name}`,
    '??',
    '?%',
  ]);
  return to(sound, tools, `the query ${query.slice(0, 60)}`, sound.path + query, () =>
    isSoundQuery(sound, tools, query),
  );
}

/** Whether the parameters are, after all, as they are described. Where none is described, none is looked at. */
function isSoundQuery({ operation }: Sound, { judgeParameter }: TargetTools, query: string): boolean {
  const described = new Map(
    operation.parameters.filter(({ place }) => place === 'query').map((one) => [one.name, one]),
  );
  if (described.size === 0) return true;
  const given = [...new URLSearchParams(query)];
  if (new Set(given.map(([name]) => name)).size < given.length) return false;
  return given.every(([name, value]) => {
    const parameter = described.get(name);
    return parameter !== undefined && judgeParameter(parameter)(value) === null;
  });
}

function oddTarget(sound: Sound, tools: TargetTools): FuzzedRequest {
  const path = tools.random.pick(FORMS)(sound.path);
  const target = path + sound.query;
  const { operation } = sound;
  return {
    ...to(sound, tools, `the target ${target.slice(0, 40)}`, target, maybe),
    // `/facts/all;v=1` is `/facts/{fact}`, whatever it was made of.
    operation: tools.document.operationAt(operation.method, path) ?? operation,
    after: 'leave',
  };
}

/** With a body that cannot be accepted, so that it is the target alone that decides what happens. */
function to(
  sound: Sound,
  { apiKey }: TargetTools,
  what: string,
  target: string,
  mayPass: () => boolean,
): FuzzedRequest {
  const body = isJsonObject(sound.body) ? Buffer.from('[]') : bytesOfBody(sound);
  const piece = wire(sound, { target, headers: soundHeaders(sound, apiKey, body) }, body);
  const passes = sound.body === undefined ? mayPass : never;
  return { what, operation: sound.operation, pieces: [piece], after: 'stay', noBody: false, mayPass: passes };
}
