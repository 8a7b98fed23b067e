import { isJsonObject, type JsonValue } from '../../protocol/json/value.ts';
import type { Judgement } from '../fixtures/schema-judge.ts';
import { bytesOfBody, type FuzzedRequest, never, type Sound, soundHeaders, wire } from './fuzzed-request.ts';
import { spoil } from './json-text.ts';
import type { Random } from './random.ts';
import { breakText } from './text-bytes.ts';

export interface BodyTools {
  readonly random: Random;
  readonly apiKey: string;
  /** By the request schema of the operation. */
  readonly judge: (sound: Sound) => Judgement;
}

/** More bytes than any body may have, and than a bundle may have. */
const OVER_BODY = (1 << 20) + 1;
const OVER_BUNDLE = (8 << 20) + 1;
const CHUNK = Buffer.alloc(64 << 10, ' ');
const MANY_VALUES = 140_000;

/** Another value, name or nothing where the body has a member. */
export function spoiltBody(sound: Sound, tools: BodyTools): FuzzedRequest {
  const { properties } = sound.operation.request?.schema ?? {};
  const text = spoil(sound.body ?? {}, Object.keys(isJsonObject(properties) ? properties : {}), tools.random);
  const body = Buffer.from(text, 'utf8');
  return inOnePiece(sound, tools, `a spoilt body ${text.slice(0, 60)}`, body);
}

/** What is no JSON text at all, or none that is taken. */
export function brokenBody(sound: Sound, tools: BodyTools): FuzzedRequest {
  const body = breakText(JSON.stringify(sound.body ?? {}), tools.random);
  return inOnePiece(sound, tools, `a broken body ${Buffer.from(body).toString('latin1').slice(0, 60)}`, body);
}

/** More bytes or values than are read, announced or not. */
export function largeBody(sound: Sound, tools: BodyTools): FuzzedRequest {
  const size = sound.operation.id === 'postBundlesVerify' ? OVER_BUNDLE : OVER_BODY;
  if (tools.random.chance(0.5)) {
    const values = Buffer.from(`{"data":[${'0,'.repeat(MANY_VALUES)}0]}`, 'latin1');
    return inOnePiece(sound, tools, 'a body of very many values', values);
  }
  if (tools.random.chance(0.5)) return inOnePiece(sound, tools, 'a huge body', Buffer.alloc(size, ' '));
  const headers = [
    ...soundHeaders(sound, tools.apiKey, undefined),
    'Content-Type: application/json',
    'Transfer-Encoding: chunked',
  ];
  const chunks = Array.from({ length: Math.ceil(size / CHUNK.length) }, () => chunk(CHUNK));
  const body = Buffer.concat([...chunks, chunk(Buffer.alloc(0))]);
  return request(sound, 'a huge body in chunks', [wire(sound, { headers }, body)]);
}

/** A body that never comes whole, or comes slowly. */
export function slowBody(sound: Sound, tools: BodyTools): FuzzedRequest {
  const { random, apiKey } = tools;
  const body = bytesOfBody(sound) ?? Buffer.from('{}');
  const at = 1 + random.int(Math.max(1, body.length - 1));
  const headers = soundHeaders(sound, apiKey, body);
  const start = wire(sound, { headers }, body.subarray(0, at));
  if (random.chance(0.3)) return { ...request(sound, 'a body that is cut off', [start]), after: 'cut' };
  if (random.chance(0.4)) return { ...request(sound, 'a body that ends early', [start]), after: 'half-close' };
  const spoilt = Buffer.from(body);
  spoilt[0] = 0x5b;
  const slow = [wire(sound, { headers }, spoilt.subarray(0, at)), spoilt.subarray(at)];
  return request(
    sound,
    'a slow body',
    slow.filter((piece) => piece.length > 0),
  );
}

function inOnePiece(sound: Sound, tools: BodyTools, what: string, body: Uint8Array): FuzzedRequest {
  const piece = wire(sound, { headers: soundHeaders(sound, tools.apiKey, body) }, body);
  return { ...request(sound, what, [piece]), mayPass: () => isSound(sound, tools, body) };
}

/** Whether the bytes are, after all, a body as it is described. */
function isSound(sound: Sound, { judge }: BodyTools, body: Uint8Array): boolean {
  if (body.length === 0) return !sound.operation.requestRequired;
  try {
    const value: JsonValue = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
    return isJsonObject(value) && !hasLoneSurrogate(value) && judge(sound)(value) === null;
  } catch {
    return false;
  }
}

/** Which are written as escapes, and only those of the surrogates are. */
function hasLoneSurrogate(value: JsonValue): boolean {
  return /\\ud[89a-f]/.test(JSON.stringify(value));
}

function request(sound: Sound, what: string, pieces: readonly Uint8Array[]): FuzzedRequest {
  return { what, operation: sound.operation, pieces, after: 'stay', noBody: false, mayPass: never };
}

function chunk(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}
