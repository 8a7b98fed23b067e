import type { ApiDocument } from '../fixtures/api-document.ts';
import {
  bytesOfBody,
  type Head,
  type FuzzedRequest,
  maybe,
  never,
  type Sound,
  soundHeaders,
  wire,
} from './fuzzed-request.ts';
import type { Random } from './random.ts';

export interface HeadTools {
  readonly random: Random;
  readonly document: ApiDocument;
  readonly apiKey: string;
}

/** What is done to the head of a sound request. */
interface Trick {
  readonly what: string;
  /** Lines beside those of the sound request. */
  readonly add?: readonly string[];
  /** Names of lines that are left out, in lower case. */
  readonly drop?: readonly string[];
  readonly head?: Omit<Head, 'headers'>;
  /** Its body is broken, so that it cannot be accepted whatever its head says. */
  readonly spoilBody?: boolean;
  /**
   * Who may accept it: no endpoint (the default), those that take no key, those that can do without one, those that take
   * no body, all.
   */
  readonly passes?: 'free' | 'keyless' | 'bodiless' | 'all';
  readonly noBody?: boolean;
}

const LONG = 'y'.repeat(17_000);
const KNOWN_BUT_UNUSED = ['PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'SEARCH', 'LOCK'];

const FRAMING: readonly Trick[] = [
  { what: 'two content lengths', add: ['Content-Length: 2', 'Content-Length: 3'], drop: ['content-length'] },
  { what: 'one content length twice', add: ['Content-Length: 2', 'Content-Length: 2'], drop: ['content-length'] },
  { what: 'a content length and chunks', add: ['Content-Length: 2', 'Transfer-Encoding: chunked'] },
  { what: 'an encoding after chunks', add: ['Transfer-Encoding: chunked, gzip'], drop: ['content-length'] },
  { what: 'an encoding of no such name', add: ['Transfer-Encoding: xchunked'], drop: ['content-length'] },
  { what: 'chunks that are none', add: ['Transfer-Encoding: chunked'], drop: ['content-length'], passes: 'bodiless' },
  ...['-1', '+2', '1e3', '0x10', '99999999999999999999', '2, 2', '2 3', 'NaN'].map((length) => ({
    what: `a content length of ${length}`,
    add: [`Content-Length: ${length}`],
    drop: ['content-length'],
  })),
  { what: 'no host', drop: ['host'] },
  { what: 'two hosts', add: ['Host: other.example'] },
  { what: 'a folded header', add: ['X-Folded: a', ' b'] },
  { what: 'a header name with a space', add: ['X-Spaced : a'] },
  { what: 'a header with a NUL', add: ['X-Nul: a\u0000b'] },
  { what: 'a header with a lone line feed', add: ['X-Feed: a\nX-Other: b'] },
  { what: 'a header with a lone carriage return', add: ['X-Return: a\rb'] },
  { what: 'a header without a colon', add: ['nonsense'] },
  { what: 'a header of very many bytes', add: [`X-Long: ${LONG}`] },
  { what: 'very many headers', add: Array.from({ length: 3_000 }, (_, i) => `a${i}: b`) },
];

const VERSIONS: readonly Trick[] = ['HTTP/0.9', 'HTTP/2.0', 'HTTP/1.2', 'HTTP/1.1.1', 'http/1.1', ''].map(
  (version) => ({
    what: `the version ${version}`,
    head: { version },
  }),
);

const METHODS: readonly Trick[] = [
  ...KNOWN_BUT_UNUSED.map((method) => ({ what: `the method ${method}`, head: { method } })),
  ...['FOO', 'get', 'GET\t', ''].map((method) => ({ what: `the method ${method}`, head: { method } })),
  { what: 'the method HEAD', head: { method: 'HEAD' }, noBody: true, passes: 'all' as const },
  { what: 'the method OPTIONS', head: { method: 'OPTIONS' }, passes: 'all' as const },
  { what: 'a method override', add: ['X-HTTP-Method-Override: DELETE'], spoilBody: true, passes: 'all' as const },
];

const KEYS: readonly Trick[] = [
  ...['', ' ', 'x', 'mk_', `mk_${'A'.repeat(49)}`, 'k'.repeat(9_000), 'clé', '__proto__', 'a b', '\u0080\u00ff'].map(
    (key) => ({
      what: `the key ${key.slice(0, 20)}`,
      add: [`x-api-key: ${key}`],
      drop: ['x-api-key'],
      passes: 'free' as const,
    }),
  ),
  { what: 'no key', drop: ['x-api-key'], passes: 'keyless' },
  { what: 'two keys', add: ['x-api-key: mk_other'], passes: 'free' },
  { what: 'a key as a bearer', add: ['Authorization: Bearer x'], drop: ['x-api-key'], passes: 'free' },
];

const MEANINGS: readonly Trick[] = [
  ...['', ' ', 'k'.repeat(129), 'k'.repeat(5_000), 'clé', '__proto__', '"quoted"', '\u0080'].map((key) => ({
    what: `the idempotency key ${key.slice(0, 20)}`,
    add: [`Idempotency-Key: ${key}`],
    passes: 'all' as const,
  })),
  { what: 'two idempotency keys', add: ['Idempotency-Key: a', 'Idempotency-Key: b'], passes: 'all' as const },
  ...['wait=-1', 'wait=999999999999', 'wait=1e9', 'wait', 'respond-async', 'wait=9, wait=9', 'w'.repeat(5_000)].map(
    (prefer) => ({
      what: `the preference ${prefer.slice(0, 20)}`,
      add: [`Prefer: ${prefer}`],
      spoilBody: true,
      passes: 'all' as const,
    }),
  ),
  ...[
    'text/plain',
    'application/json; charset=utf-7',
    'application/json, text/plain',
    'multipart/form-data',
    'application',
    '',
  ].map((type) => ({
    what: `the type ${type}`,
    add: [`Content-Type: ${type}`],
    drop: ['content-type'],
    passes: 'all' as const,
  })),
  ...['gzip', 'br', 'gzip, identity', 'compress'].map((encoding) => ({
    what: `the encoding ${encoding}`,
    add: [`Content-Encoding: ${encoding}`],
    passes: 'all' as const,
  })),
  ...['100-continue', '200-ok'].map((expected) => ({
    what: `expecting ${expected}`,
    add: [`Expect: ${expected}`],
    spoilBody: true,
    passes: 'all' as const,
  })),
  {
    what: 'an upgrade to websocket',
    add: ['Connection: Upgrade', 'Upgrade: websocket'],
    spoilBody: true,
    passes: 'all' as const,
  },
  {
    what: 'an upgrade to HTTP/2',
    add: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA'],
    spoilBody: true,
    passes: 'all' as const,
  },
  {
    what: 'a forged address',
    add: ['X-Forwarded-For: 1.2.3.4, evil', 'X-Real-IP: 1.2.3.4', 'Forwarded: for=1.2.3.4'],
    passes: 'all' as const,
  },
  {
    what: 'another host forged',
    add: ['X-Forwarded-Host: evil.example', 'X-Original-URL: /accounts', 'X-Rewrite-URL: /accounts'],
    passes: 'all' as const,
  },
  { what: 'an odd request id', add: ['X-Request-Id: <script>"\\'], passes: 'all' as const },
  {
    what: 'conditions and ranges',
    add: ['If-None-Match: *', 'If-Match: "x"', 'Range: bytes=0-1,5-', 'If-Modified-Since: never'],
    passes: 'all' as const,
  },
  {
    what: 'odd things accepted',
    add: ['Accept: */*;q=x, text/html', 'Accept-Encoding: *;q=0', `Accept-Language: ${'x,'.repeat(2_000)}`],
    passes: 'all' as const,
  },
  {
    what: 'a long origin',
    add: [`Origin: https://${'a'.repeat(4_000)}`, 'Access-Control-Request-Method: X'],
    passes: 'all' as const,
  },
];

/** Requests whose framing, method or version is wrong: what comes after them on the connection cannot be trusted. */
export function brokenHead(sound: Sound, tools: HeadTools): FuzzedRequest {
  // A method that the path has is no wrong one.
  const { template } = sound.operation;
  const known = new Set<string>(
    tools.document.operations.flatMap((one) => (one.template === template ? [one.method] : [])),
  );
  const methods = METHODS.filter(({ head }) => head?.method === undefined || !known.has(head.method));
  const trick = tools.random.pick([...FRAMING, ...VERSIONS, ...methods]);
  return { ...tricked(sound, tools, trick), after: 'leave' };
}

/** Header fields with values that nobody sends: keys, idempotency keys, preferences, types. */
export function oddHeader(sound: Sound, tools: HeadTools): FuzzedRequest {
  return tricked(sound, tools, tools.random.pick([...KEYS, ...MEANINGS]));
}

/** Bytes after the end of the body, that may be meant as a request of its own. */
export function smuggled(sound: Sound, { apiKey }: HeadTools): FuzzedRequest {
  const body = Buffer.from('[]');
  const tail = Buffer.from('GET /accounts HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2));
  const piece = Buffer.concat([wire(sound, { headers: soundHeaders(sound, apiKey, body) }, body), tail]);
  const mayPass = sound.body === undefined ? maybe : never;
  return {
    what: 'requests in the tail',
    operation: sound.operation,
    pieces: [piece],
    after: 'leave',
    noBody: false,
    mayPass,
  };
}

function isTaken({ operation, body }: Sound, passes: Trick['passes']): boolean {
  if (passes === 'free') return !operation.keyed;
  if (passes === 'keyless') return !operation.keyed || operation.keyOptional;
  return passes === 'all' || (passes === 'bodiless' && body === undefined);
}

function tricked(sound: Sound, { apiKey }: HeadTools, trick: Trick): FuzzedRequest {
  const { what, add = [], drop = [], head = {}, spoilBody = false, passes, noBody = false } = trick;
  const sent = bytesOfBody(sound);
  const body = spoilBody && sent !== undefined ? Buffer.from('[]') : sent;
  const lines = soundHeaders(sound, apiKey, body).filter(
    (line) => !drop.includes(line.split(':')[0]?.toLowerCase() ?? ''),
  );
  const piece = wire(sound, { ...head, headers: [...lines, ...add] }, body);
  return {
    what,
    operation: sound.operation,
    pieces: [piece],
    after: 'stay',
    noBody,
    mayPass: () => isTaken(sound, passes),
  };
}
