import { join } from 'node:path';
import { operatorRequest } from '../../../node/operator/operator-client.ts';
import { type Roster, rosterStatement } from '../../../protocol/log/roster.ts';
import { hashText, type Sha256Hash } from '../../../protocol/hash.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import type { TestNode } from '../../fixtures/test-node.ts';
import { until } from '../../fixtures/until.ts';

let recorded = 0;

/** The text of the roster in force at a node with a change, as its next. */
export function nextRoster({ context }: TestNode, change: Partial<Roster>): string {
  const { current, hash } = context.keys.currentRosters.inForce;
  return rosterStatement.write({ ...current, version: current.version + 1, previous: hash, ...change });
}

export function rosterHash(text: string): Sha256Hash {
  return hashText(nativeSuite, text);
}

/** Has a node's operator sign a roster and name it. */
export async function vote({ config }: TestNode, statement: string): Promise<void> {
  await operatorRequest(join(config.home, 'operator.sock'), 'POST', '/rosters', { statement });
}

/** Waits until a roster is in force at all of these nodes, and they go by it. */
export function inForce(nodes: readonly TestNode[], text: string): Promise<void> {
  return until(`${rosterHash(text)} to be in force`, () =>
    nodes.every(({ context }) => context.keys.currentRosters.inForce.hash === rosterHash(text)),
  );
}

/** Waits until the log of each of these nodes shows which roster each member named. */
export function named(nodes: readonly TestNode[], names: Readonly<Record<string, string>>): Promise<void> {
  return until('the names of rosters', () =>
    nodes.every(({ context }) => {
      const { open } = context.federationLog.state;
      return Object.entries(names).every(([member, text]) => open[member]?.roster === rosterHash(text));
    }),
  );
}

/** Waits until a record of a node is confirmed at all of `nodes`. */
export async function confirms(origin: TestNode, nodes: readonly TestNode[]): Promise<string> {
  const id = await origin.attest({ input: ++recorded });
  await origin.seal();
  for (const node of nodes) {
    await until(
      `${node.config.id} to verify ${id}`,
      async () => (await node.get(`/v1/verify/${id}`)).body.verified === true,
    );
  }
  return id;
}
