import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { INITIAL_RUNNING_HASH, nextRunningHash } from '../../../protocol/ledger/running-hash.ts';
import type { EntityNumber, RunningHashInput } from '../../../protocol/ledger/running-hash.ts';
import { testWhere } from '../../fixtures/test-where.ts';

interface Vector {
  topic_id: string;
  payer_account_id: string;
  consensus_timestamp: string;
  sequence_number: number;
  message: string;
  running_hash: string;
}
interface Run {
  topic_id: string;
  first: number;
  last: number;
  previous_running_hash: string | null;
}

const FIXTURE = new URL('../../fixtures/hcs/mainnet-vectors.json', import.meta.url);
/** More of the main network's messages, in runs, kept beside the project: too many to be part of it. */
const MORE_VECTORS = fileURLToPath(new URL('../../../../shared/data/hcs/mainnet-topic-vectors.json', import.meta.url));

const sha384 = (data: Uint8Array): Uint8Array => createHash('sha384').update(data).digest();
const read = <T>(file: URL | string): T => JSON.parse(readFileSync(file, 'utf8'));
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

const fixture = read<{ previous_running_hash: string; messages: Vector[] }>(FIXTURE);

test('recomputes the running hashes of real mainnet messages', () => {
  assert.is(fixture.messages.length, 12);
  assert.is(recompute(fixture.previous_running_hash, fixture.messages), 12);
});

testWhere(existsSync(MORE_VECTORS), `${MORE_VECTORS} is not here`)(
  'recomputes every message of many runs that has a known predecessor',
  () => {
    const { runs, messages } = read<{ runs: Run[]; messages: Vector[] }>(MORE_VECTORS);
    let checked = 0;
    for (const run of runs) {
      const own = messages.filter(
        (m) => m.topic_id === run.topic_id && m.sequence_number >= run.first && m.sequence_number <= run.last,
      );
      own.sort((a, b) => a.sequence_number - b.sequence_number);
      const [head, ...rest] = own;
      checked += run.previous_running_hash
        ? recompute(run.previous_running_hash, own)
        : recompute(head?.running_hash ?? '', rest);
    }
    const without = runs.filter((run) => !run.previous_running_hash).length;
    assert.is(checked, messages.length - without);
  },
);

test('every input changes the hash', () => {
  const base: RunningHashInput = {
    previous: INITIAL_RUNNING_HASH,
    payer: entity('0.0.2'),
    topic: entity('0.0.3'),
    seconds: 4n,
    nanos: 5,
    sequence: 6n,
    message: Uint8Array.of(7),
  };
  const previous = new Uint8Array(48);
  previous[47] = 1;
  const variants: Partial<RunningHashInput>[] = [
    {},
    { previous },
    { payer: entity('1.0.2') },
    { payer: entity('0.1.2') },
    { payer: entity('0.0.9') },
    { topic: entity('1.0.3') },
    { topic: entity('0.1.3') },
    { topic: entity('0.0.9') },
    { seconds: 9n },
    { nanos: 9 },
    { sequence: 9n },
    { message: Uint8Array.of(9) },
  ];
  const hashes = variants.map((change) => base64(nextRunningHash(sha384, { ...base, ...change })));
  assert.is(new Set(hashes).size, variants.length);
});

test('refuses a previous hash, a digest or nanoseconds of the wrong size', () => {
  const input = { ...inputOf(required(fixture.messages[0])), previous: INITIAL_RUNNING_HASH };
  assert.throws(() => nextRunningHash(sha384, { ...input, previous: new Uint8Array(47) }), /48 bytes/);
  assert.throws(() => nextRunningHash(() => new Uint8Array(32), input), /48 bytes/);
  assert.throws(() => nextRunningHash(sha384, { ...input, nanos: 1_000_000_000 }), /nanos/);
});

function recompute(previous: string, messages: Vector[]): number {
  let hash: Uint8Array = Buffer.from(previous, 'base64');
  for (const message of messages) {
    hash = nextRunningHash(sha384, { ...inputOf(message), previous: hash });
    assert.is(base64(hash), message.running_hash, `sequence ${message.sequence_number}`);
  }
  return messages.length;
}

function inputOf(message: Vector): Omit<RunningHashInput, 'previous'> {
  const [seconds = '', nanos = ''] = message.consensus_timestamp.split('.');
  return {
    payer: entity(message.payer_account_id),
    topic: entity(message.topic_id),
    seconds: BigInt(seconds),
    nanos: Number(nanos),
    sequence: BigInt(message.sequence_number),
    message: Buffer.from(message.message, 'base64'),
  };
}

function entity(text: string): EntityNumber {
  const [shard = 0n, realm = 0n, num = 0n] = text.split('.').map(BigInt);
  return { shard, realm, num };
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('fixture is incomplete');
  return value;
}

test.run();
