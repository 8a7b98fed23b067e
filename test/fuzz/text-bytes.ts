import type { Random } from './random.ts';

const STRAY_BYTES = [0x00, 0x80, 0xff, 0xc0, 0xed, 0x1f, 0x22, 0x5c, 0x7b, 0x2c];

const BREAKS: readonly ((text: string, random: Random) => Uint8Array)[] = [
  (text, random) => bytes(text.slice(0, random.int(text.length))),
  (text, random) => splice(text, random, Buffer.of(random.pick(STRAY_BYTES))),
  (text) => Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), bytes(text)]),
  (text) => Buffer.from(text, 'utf16le'),
  (text, random) => splice(text, random, Buffer.of(0xc0, 0xaf)),
  (text, random) => splice(text, random, Buffer.of(0xed, 0xa0, 0x80)),
  (text, random) => splice(text, random, Buffer.of(0xf4, 0x90, 0x80, 0x80)),
  (text) => bytes(`${text}${text}`),
  (text) => bytes(`${text}\u0000`),
  (text) => bytes(`[${text}]`),
  (text) => bytes(JSON.stringify(text)),
  (text) => bytes(text.replaceAll('"', "'")),
  (text) => bytes(text.replace('{', '{/* a comment */')),
  (text) => bytes(`${text.slice(0, -1)},}`),
  (text) => bytes(`)]}',\n${text}`),
  (text) => bytes(doubled(text)),
  (text) => bytes(doubled(text).replace(/"([a-z])/i, (_, letter: string) => `"\\u00${hex(letter)}`)),
  (text) => bytes('['.repeat(100_000) + text),
  (text) => bytes('{"a":'.repeat(50_000) + text),
  () => bytes(`{"a":${'9'.repeat(5_000)}}`),
  () => bytes('a=1&b=2'),
  () => bytes('<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><x>&y;</x>'),
  () => new Uint8Array(0),
];

/**
 * The bytes of a JSON text broken in its form: cut, badly encoded, with doubled members, or something else altogether.
 */
export function breakText(text: string, random: Random): Uint8Array {
  return random.pick(BREAKS)(text, random);
}

/** Every member of the outermost object twice. */
function doubled(text: string): string {
  return text.length > 2 ? `{${text.slice(1, -1)},${text.slice(1)}` : '{"a":1,"a":2}';
}

function splice(text: string, random: Random, stray: Buffer): Uint8Array {
  const whole = bytes(text);
  const at = random.int(whole.length + 1);
  return Buffer.concat([whole.subarray(0, at), stray, whole.subarray(at)]);
}

function hex(letter: string): string {
  return letter.charCodeAt(0).toString(16).padStart(2, '0');
}

function bytes(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}
