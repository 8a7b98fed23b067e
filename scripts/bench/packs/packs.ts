import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { verifierFiles } from '../../../node/pages/verifier-files.ts';
import { type Sha256Hash, sha256Hash } from '../../../protocol/hash.ts';
import { judgePackFile } from '../../verify/pack-file.ts';
import { mostResidentBytes, residentBytes } from '../attacks/resident-memory.ts';
import { type FilledCluster, fillCluster } from '../federation/filled-cluster.ts';
import { member } from '../federation/cluster-client.ts';
import type { BenchOptions, Part, Result } from '../part.ts';
import { count, mebibytes } from '../table.ts';
import { until } from '../until.ts';

const FULL_RECORDS = 100_000;
const QUICK_RECORDS = 5_000;
/** Sources of the bodies that the bench records. */
const SOURCES = Array.from({ length: 20 }, (_, i) => `llm/model-${i}`);
const PATIENCE_MS = 1_800_000;
const SETTLE_MS = 5_000;

/** What making a pack took. */
interface Made {
  readonly id: string;
  readonly seconds: number;
  /** Most memory of the node beyond what it had before, in bytes. */
  readonly grown: number;
  readonly bytes: number;
}

/** A pack of evidence: made, killed and gone on with, and verified. */
export const packs: Part = {
  name: 'pack',
  title: 'A pack of evidence: made, killed in the middle and gone on with, verified',
  async run(options): Promise<Result> {
    const records = options.quick ? QUICK_RECORDS : FULL_RECORDS;
    await using filled = await fillCluster(options.home, records, options);
    const asOf = new Date().toISOString();
    const whole = await makeWhole(filled, asOf, options);
    const path = join(options.home, 'pack.zip');
    const bytes = await download(filled, whole.id, path);
    const killed = await makeKilled(filled, asOf, whole.id, options);
    const isSame = bytes.equals(await download(filled, whole.id, join(options.home, 'again.zip')));
    if (!isSame) throw new Error('the pack that was gone on with is another one');
    const pin = await pinOf(filled);
    const native = await verifyNative(path, pin);
    const single = await verifySingle(path, pin, options);
    const perSecond = (seconds: number): string => `${count(records / seconds)}/s`;
    return {
      table: [
        ['', 'seconds', 'records', 'memory'],
        [
          'made, in a thread of the node',
          whole.seconds.toFixed(1),
          perSecond(whole.seconds),
          `+${mebibytes(whole.grown)}`,
        ],
        ['killed in the middle: from when it is gone on with', killed.toFixed(1), '', ''],
        ['verified, native suite, one core', native.seconds.toFixed(1), perSecond(native.seconds), ''],
        [
          'verified by meridian-verify.mjs, one core',
          single.seconds.toFixed(1),
          perSecond(single.seconds),
          mebibytes(single.memory),
        ],
      ],
      notes: [
        `${count(records)} confirmed records of 20 sources, bodies of 1,100 bytes, of 100 connections; the file has ${mebibytes(whole.bytes)}.`,
        'Made: from the question to `ready`, beside a federation of five nodes on the same machine. Memory: of the node’s own',
        '(RssAnon), beyond what it had before; of the verifier all that it had at most. The pack that was killed in the middle is',
        'the same, byte for byte. Verified: every byte read, every record and every signature checked.',
      ],
    };
  },
};

function questionOf(asOf: string) {
  return { sources: SOURCES, from: '2026-01-01', to: '2100-01-01', asOf };
}

function originOf({ cluster }: FilledCluster): { readonly baseUrl: string; readonly pid: number } {
  const { baseUrl } = cluster.node(0);
  const pid = cluster.file.nodes[0]?.pid;
  if (pid === null || pid === undefined) throw new Error('the node does not run');
  return { baseUrl, pid };
}

async function makeWhole(filled: FilledCluster, asOf: string, { signal, say }: BenchOptions): Promise<Made> {
  const { baseUrl, pid } = originOf(filled);
  await sleep(SETTLE_MS);
  const before = (await residentBytes(pid)).own;
  const over = new AbortController();
  const most = mostResidentBytes(pid, over.signal);
  const began = performance.now();
  const { id, bytes } = await made(filled, baseUrl, asOf, signal);
  const seconds = (performance.now() - began) / 1000;
  over.abort();
  const grown = Math.max(0, (await most).own - before);
  say(`made in ${seconds.toFixed(1)} s, ${mebibytes(bytes)}, ${mebibytes(grown)} more memory`);
  return { id, seconds, grown, bytes };
}

/** Seconds from when the node goes on with it until the pack is made. */
async function makeKilled(filled: FilledCluster, asOf: string, id: string, options: BenchOptions): Promise<number> {
  const { client } = filled;
  const { baseUrl, pid } = originOf(filled);
  await client.delete(`${baseUrl}/v1/evidence-packs/${id}`);
  await client.post(`${baseUrl}/v1/evidence-packs`, questionOf(asOf));
  await until('half of the pack to be done', PATIENCE_MS, options.signal, async () => {
    const { done, total } = await progressOf(filled, baseUrl, id);
    return total !== null && done > total / 2;
  });
  process.kill(pid, 'SIGKILL');
  await until('the node to answer again', PATIENCE_MS, options.signal, async () => {
    const progress = await progressOf(filled, baseUrl, id).catch(() => undefined);
    if (progress?.total === undefined || progress.total === null) return false;
    options.say(`killed, and goes on with ${count(progress.done)} records done`);
    return true;
  });
  const began = performance.now();
  await ready(filled, baseUrl, id, options.signal);
  return (performance.now() - began) / 1000;
}

async function made(filled: FilledCluster, baseUrl: string, asOf: string, signal: AbortSignal) {
  const asked = await filled.client.post(`${baseUrl}/v1/evidence-packs`, questionOf(asOf));
  const id = String(member(asked, 'packId'));
  return { id, bytes: Number(member(await ready(filled, baseUrl, id, signal), 'bytes')) };
}

async function ready({ client }: FilledCluster, baseUrl: string, id: string, signal: AbortSignal): Promise<unknown> {
  let answer: unknown;
  await until('the pack to be made', PATIENCE_MS, signal, async () => {
    answer = await client.get(`${baseUrl}/v1/evidence-packs/${id}`);
    if (member(answer, 'state') === 'failed') throw new Error(String(member(answer, 'failure')));
    return member(answer, 'state') === 'ready';
  });
  return answer;
}

async function progressOf({ client }: FilledCluster, baseUrl: string, id: string) {
  const progress = member(await client.get(`${baseUrl}/v1/evidence-packs/${id}`), 'progress');
  const total = member(progress, 'total');
  return { done: Number(member(progress, 'done')), total: typeof total === 'number' ? total : null };
}

async function download(filled: FilledCluster, id: string, path: string): Promise<Buffer> {
  const { baseUrl } = originOf(filled);
  const answer = await fetch(`${baseUrl}/v1/evidence-packs/${id}/file`, {
    headers: { 'x-api-key': filled.cluster.apiKey },
  });
  if (answer.status !== 200) throw new Error(await answer.text());
  const bytes = Buffer.from(await answer.arrayBuffer());
  await writeFile(path, bytes);
  return bytes;
}

/** The hash of the genesis roster, as the node itself names it. */
async function pinOf(filled: FilledCluster): Promise<Sha256Hash> {
  const fingerprint = member(await filled.client.get(`${originOf(filled).baseUrl}/v1/federation`), 'fingerprint');
  return sha256Hash(String(fingerprint));
}

async function verifyNative(path: string, pin: Sha256Hash): Promise<{ readonly seconds: number }> {
  const began = performance.now();
  const { word, problems } = await judgePackFile(nativeSuite, path, { pin }, null);
  if (word !== 'verified') throw new Error(`the pack is ${word}: ${JSON.stringify(problems.slice(0, 3))}`);
  return { seconds: (performance.now() - began) / 1000 };
}

async function verifySingle(path: string, pin: string, { home }: BenchOptions) {
  const script = join(home, 'meridian-verify.mjs');
  const file = (await verifierFiles()).find(({ name }) => name === 'meridian-verify.mjs');
  await writeFile(script, file?.bytes ?? '');
  const began = performance.now();
  const child = spawn(process.execPath, [script, path, '--roster', pin], { stdio: ['ignore', 'ignore', 'inherit'] });
  const over = new AbortController();
  const most = mostResidentBytes(child.pid ?? 0, over.signal);
  const [code]: unknown[] = await once(child, 'exit');
  over.abort();
  if (code !== 0) throw new Error(`meridian-verify.mjs ended with ${String(code)}`);
  return { seconds: (performance.now() - began) / 1000, memory: (await most).own };
}
