import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { operatorRequest } from '../../node/operator/operator-client.ts';
import { parseJson } from '../../protocol/json/parse.ts';
import type { Plan } from '../plan.ts';
import { STARTING_ANSWER_MS } from './starting-node.ts';

const FILE = join(import.meta.dirname, '../samples/regwatch/items.json');

/** Gives every node the sample items of the regulatory feed. Doing it again changes nothing. */
export async function giveSampleItems(home: string, plan: Plan): Promise<void> {
  const items = parseJson(await readFile(FILE, 'utf8'));
  await Promise.all(
    plan.nodes.map(({ id }) =>
      operatorRequest(join(home, id, 'operator.sock'), 'POST', '/regwatch/items', { items }, STARTING_ANSWER_MS),
    ),
  );
}
