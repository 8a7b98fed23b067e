import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { MemberProtocol } from '../../../node/accounts/limits/route-weights.ts';
import { encodeGossip } from '../../../node/federation/gossip-forms.ts';
import { FEDERATION_LIMITS } from '../../../node/federation/limits.ts';
import { pageRequest, recordRequest, STATUS_REQUEST } from '../../../node/federation/page-forms.ts';
import { nativeSuite } from '../../../node/keys/native-suite.ts';
import { readNodeKeys } from '../../../node/keys/node-keys.ts';
import { logRequest } from '../../../node/log/log-forms.ts';
import { TOPICS } from '../../../node/transport/contract.ts';
import { createTransport } from '../../../node/transport/transport.ts';
import { nodeId, nodeOfRecord, recordId } from '../../../protocol/ids.ts';
import { RosterChain } from '../../../protocol/keys/roster-chain.ts';
import { parseRosterFile } from '../../../protocol/keys/roster-file.ts';
import { encodeSignature } from '../../../protocol/statement/statement.ts';
import { randomHash } from '../../fixtures/random-hash.ts';
import { until } from '../../fixtures/until.ts';
import { type Attack, attackers } from './attack.ts';

/** Requests under way at a time. */
const TOGETHER = 64;
/** Messages that are gossiped with each request. */
const MESSAGES = 4;
const REFUSED_PAUSE_MS = 20;

/**
 * A member with its key asks the node that is attacked for pages of chains, keys, checkpoints, statuses and records as
 * fast as it is answered, and gossips what nobody can use.
 */
export const greedyMember: Attack = async ({ member, records }) => {
  const self = nodeId(member.id);
  const rosters = RosterChain.open(nativeSuite, parseRosterFile(await readFile(member.rosterFile, 'utf8')));
  const [first = ''] = records;
  const victim = nodeOfRecord(recordId(first));
  const { peerSeed } = await readNodeKeys(member.home);
  const transport = createTransport({
    self,
    seed: peerSeed,
    listen: ['/ip4/127.0.0.1/tcp/0'],
    digest: rosters.digest,
    members: rosters.current.members,
    receive: () => 'ignore',
    log: pino({ level: 'silent' }),
    limits: FEDERATION_LIMITS,
  });
  await transport.start();
  await until('the member to be connected', () =>
    transport.peers().some(({ node, connected }) => node === victim && connected),
  );
  const questions: (readonly [protocol: MemberProtocol, request: Uint8Array])[] = [
    ['batches', pageRequest.encode({ want: 'chain', node: victim, batch: 1, seq: 1 })],
    ['batches', pageRequest.encode({ want: 'keys', node: victim })],
    ['batches', pageRequest.encode({ want: 'equivocations' })],
    ['batches', pageRequest.encode({ want: 'roster', hash: rosters.genesis })],
    ['log', logRequest([])],
    ['status', STATUS_REQUEST],
    ['record', recordRequest.encode({ id: recordId(first) })],
  ];
  return (requests) =>
    attackers({
      count: TOGETHER,
      requests,
      async send(n, outcomes) {
        const [protocol, request] = questions[n % questions.length] ?? ['status', STATUS_REQUEST];
        for (let m = 0; m < MESSAGES; m++) {
          const topic = TOPICS[(n + m) % TOPICS.length] ?? 'batch';
          const reached = await transport
            .publish(topic, m % 2 === 0 ? junk() : Buffer.from(randomHash()))
            .catch(() => 0);
          if (reached > 0) outcomes.add('messages sent');
        }
        try {
          for await (const frame of transport.request(victim, protocol, request)) {
            outcomes.add('bytes received', frame.length);
          }
          outcomes.add('answered');
        } catch {
          outcomes.add('refused');
          await sleep(REFUSED_PAUSE_MS);
        }
      },
      close: async () => transport[Symbol.asyncDispose](),
    });
};

/** A message of the right form, with a certificate that is none. */
function junk(): Uint8Array {
  const signed = { statement: randomHash(), signature: encodeSignature(new Uint8Array(1)) };
  return encodeGossip({ type: 'certificate', signed });
}
