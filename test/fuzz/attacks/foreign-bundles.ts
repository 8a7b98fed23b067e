import { FederationLog } from '../../fixtures/federation-log.ts';
import { bundleOf } from '../../fixtures/federation-log-bundle.ts';
import { type Attack, attackers } from './attack.ts';
import { AttackClient, strangersHeader } from './attack-client.ts';

const MEMBERS = 200;
const TOGETHER = 8;
const LETTERS = 'abcdefghijklmnopqrst';

let made: Promise<string> | undefined;

/** The bundle of a federation that somebody made up: everything in it holds, and every member has signed. Made once. */
export function foreignBundle(): Promise<string> {
  made ??= makeBundle();
  return made;
}

async function makeBundle(): Promise<string> {
  const nodes = Array.from({ length: MEMBERS }, (_, i) => `${letter(i / LETTERS.length)}${letter(i)}`);
  const log = await FederationLog.create({ nodes, quorum: MEMBERS - 1, seed: 'foreign' });
  const sealed = await log.record(nodes[0] ?? '');
  return JSON.stringify(await bundleOf(log, sealed));
}

/** Bundles with 200 checkpoints and 200 keys, to be judged for nothing. */
export const foreignBundles: Attack = async ({ port }) => {
  const client = new AttackClient(port);
  const body = Buffer.from(await foreignBundle());
  return (requests) =>
    attackers({
      count: TOGETHER,
      requests,
      send: (n, outcomes) =>
        client.send({ method: 'POST', path: '/v1/bundles/verify', headers: strangersHeader(n), body }, outcomes),
      close: () => client.close(),
    });
};

function letter(i: number): string {
  return LETTERS.charAt(Math.floor(i) % LETTERS.length);
}
