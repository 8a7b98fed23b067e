import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Compile } from 'typebox/compile';
import type { Tier } from '../../node/accounts/accounts.ts';
import { type NodeId, nodeId } from '../../protocol/ids.ts';
import { AccountKeysAnswerShape } from '../../node/operator/account-forms.ts';
import { operatorRequest } from '../../node/operator/operator-client.ts';
import { httpRequest } from '../../node/outbound/http-client.ts';
import type { Plan, PlannedNode } from '../plan.ts';
import { type DemoKeys, DemoKeysShape } from './demo-keys-shape.ts';
import { StartError } from './start-error.ts';
import { STARTING_ANSWER_MS } from './starting-node.ts';

const KEY_BYTES = 24;
/** Home of the demo accounts, which name every node of the local cluster. */
const HOME = nodeId('us');

/** Tier of each demo account. */
const DEMO_TIERS = {
  developer: 'developer',
  standard: 'standard',
  professional: 'professional',
  enterprise: 'enterprise',
  bench: 'unmetered',
} as const satisfies Record<string, Tier>;

/** Pause between two looks whether a key works, in milliseconds. */
const LOOK_MS = 250;
/** Of one look. */
const LIMITS = { timeoutMs: STARTING_ANSWER_MS, maxBytes: 1 << 20 };
const OK = 200;
/** Of a key that is known, and whose minute is used up. */
const TOO_MANY_REQUESTS = 429;

const compiled = Compile(DemoKeysShape);
const isAccount = Compile(AccountKeysAnswerShape);

/** The demo API keys, made at the first start. */
export async function ensureDemoKeys(home: string): Promise<DemoKeys> {
  const file = join(home, 'demo-keys.json');
  if (!existsSync(file)) {
    const keys = Object.fromEntries(Object.keys(DEMO_TIERS).map((name) => [name, newKey(name)]));
    await writeFile(`${file}.new`, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
  const keys: unknown = JSON.parse(await readFile(file, 'utf8'));
  if (!compiled.Check(keys)) throw new Error(`${file} is damaged`);
  return keys;
}

/**
 * Makes the demo accounts at their home, where they name every node of the plan beside those that they name, and waits
 * until their keys work at all of them: a version of a statement must be decided for that. Doing it again changes
 * nothing.
 */
export async function grantDemoKeys(home: string, { nodes }: Plan, keys: DemoKeys): Promise<void> {
  const socket = join(home, HOME, 'operator.sock');
  const ids = nodes.map(({ id }) => id);
  for (const [name, tier] of Object.entries(DEMO_TIERS)) {
    const apiKey = Object.entries(keys).find(([key]) => key === name)?.[1] ?? '';
    const id = `acc_${HOME}_demo-${name}`;
    await operatorRequest(socket, 'POST', '/accounts', { id, tier, apiKey }, STARTING_ANSWER_MS);
    const named = await nodesOf(socket, id);
    if (ids.every((node) => named.includes(node))) continue;
    const all = [...new Set([...named, ...ids])];
    await operatorRequest(socket, 'POST', `/accounts/${id}/nodes`, { nodes: all }, STARTING_ANSWER_MS);
  }
  const deadline = performance.now() + STARTING_ANSWER_MS;
  await Promise.all(nodes.map((node) => untilKnown(node, keys, deadline)));
}

async function nodesOf(socket: string, account: string): Promise<readonly NodeId[]> {
  const answer: unknown = JSON.parse(
    await operatorRequest(socket, 'GET', `/accounts/${account}/keys`, undefined, STARTING_ANSWER_MS),
  );
  if (!isAccount.Check(answer)) throw new StartError(`${HOME}: the account ${account} cannot be read`);
  return answer.account.nodes ?? [HOME];
}

/**
 * The key without limits is asked with until it works: of the others one answer is enough, and they keep their minute.
 */
async function untilKnown({ id, baseUrl }: PlannedNode, keys: DemoKeys, deadline: number): Promise<void> {
  for (const apiKey of [keys.bench, ...Object.values(keys)]) {
    while (!(await isKnown(baseUrl, apiKey))) {
      if (performance.now() > deadline) throw new StartError(`${id}: the demo keys do not work there`);
      await sleep(LOOK_MS);
    }
  }
}

async function isKnown(baseUrl: string, apiKey: string): Promise<boolean> {
  const { status } = await httpRequest(`${baseUrl}/v1/account`, { ...LIMITS, headers: { 'x-api-key': apiKey } });
  return status === OK || status === TOO_MANY_REQUESTS;
}

function newKey(name: string): string {
  return `mk_demo_${name}_${randomBytes(KEY_BYTES).toString('base64url')}`;
}
