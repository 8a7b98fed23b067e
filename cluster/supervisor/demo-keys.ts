import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import type { Tier } from '../../node/accounts/accounts.ts';
import { nodeId } from '../../protocol/ids.ts';
import { operatorRequest } from '../../node/operator/operator-client.ts';
import type { Plan } from '../plan.ts';
import { type DemoKeys, DemoKeysShape } from './demo-keys-shape.ts';
import { STARTING_ANSWER_MS } from './starting-node.ts';

const KEY_BYTES = 24;
/** Home of the demo accounts, which every node of the local cluster knows. */
const HOME = nodeId('us');

/** Tier of each demo account. */
const DEMO_TIERS = {
  developer: 'developer',
  standard: 'standard',
  professional: 'professional',
  enterprise: 'enterprise',
  bench: 'unmetered',
} as const satisfies Record<string, Tier>;

const compiled = Compile(DemoKeysShape);

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

/** Makes every demo key known to every node. Doing it again changes nothing. */
export async function grantDemoKeys(home: string, plan: Plan, keys: DemoKeys): Promise<void> {
  for (const { id } of plan.nodes) {
    const socket = join(home, id, 'operator.sock');
    for (const [name, tier] of Object.entries(DEMO_TIERS)) {
      const apiKey = Object.entries(keys).find(([key]) => key === name)?.[1] ?? '';
      const account = { id: `acc_${HOME}_demo-${name}`, tier, apiKey };
      await operatorRequest(socket, 'POST', '/accounts', account, STARTING_ANSWER_MS);
    }
  }
}

function newKey(name: string): string {
  return `mk_demo_${name}_${randomBytes(KEY_BYTES).toString('base64url')}`;
}
