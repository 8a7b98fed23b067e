import { setTimeout as sleep } from 'node:timers/promises';
import { type Attack, attackers } from './attack.ts';
import { AttackClient, strangersHeader } from './attack-client.ts';

/** Strangers that ask at a time, and the pause of each: some 60 a second, six times what once took all of a node. */
const TOGETHER = 64;
const PAUSE_MS = 1_000;

/** The one record that costs most to verify, again and again, each time from another address. */
export const dearestRecord: Attack = async ({ port, dearest }) => {
  const client = new AttackClient(port);
  return (requests) =>
    attackers({
      count: TOGETHER,
      requests,
      async send(n, outcomes) {
        await client.send({ path: `/v1/verify/${dearest}`, headers: strangersHeader(n) }, outcomes);
        if (requests === Number.POSITIVE_INFINITY) await sleep(PAUSE_MS);
      },
      close: () => client.close(),
    });
};
