import { type Attack, attackers } from './attack.ts';
import { AttackClient } from './attack-client.ts';

const TOGETHER = 500;

/** Verdicts without end, 500 at a time, with one free key. */
export const manyVerifications: Attack = async ({ port, keys, records }) => {
  const client = new AttackClient(port);
  const headers = { 'x-api-key': keys.free };
  return (requests) =>
    attackers({
      count: TOGETHER,
      requests,
      send: (n, outcomes) => client.send({ path: `/v1/verify/${records[n % records.length]}`, headers }, outcomes),
      close: () => client.close(),
    });
};
